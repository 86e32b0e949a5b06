"""Boxes in images, and images resized, as classes."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import int64
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import boxes, padding, pooling, resizing
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.operations.base import (
    anything,
    boolean,
    classes,
    integer,
    integers,
    number,
    operation,
    text,
)
from mindgrad.ops.pool_windows import max_pooled, pool_windows

_BOX = "Tensor([[0.0, 0.0, 3.0, 3.0]])"
_FOUR = anything("four numbers", (0.0, 0.0, 0.0, 0.0))
_ONES = anything("four numbers", (1.0, 1.0, 1.0, 1.0))

IOU = operation(
    __name__, "IOU", boxes.iou, attributes={"mode": text("iou")},
    run=lambda self, anchor_boxes, gt_boxes: boxes.iou(anchor_boxes, gt_boxes, self.mode),
    example=f"ops.IOU()({_BOX}, {_BOX})", prints="[[1.]]",
)  # fmt: skip
CheckValid = operation(__name__, "CheckValid", boxes.check_valid)
NMSWithMask = operation(
    __name__, "NMSWithMask", boxes.nms_with_mask, attributes={"iou_threshold": number(0.5)},
    run=lambda self, bboxes: boxes.nms_with_mask(bboxes, self.iou_threshold),
    example="ops.NMSWithMask(0.5)(Tensor([[0.0, 0.0, 4.0, 4.0, 0.5], [0.0, 0.0, 4.0, 5.0, 0.9]]))[2]",
    prints="[ True False]",
)  # fmt: skip
BoundingBoxEncode = operation(
    __name__, "BoundingBoxEncode", boxes.bounding_box_encode, attributes={"means": _FOUR, "stds": _ONES},
    run=lambda self, anchor_box, groundtruth_box: boxes.bounding_box_encode(
        anchor_box, groundtruth_box, self.means, self.stds
    ),
    example=f"ops.BoundingBoxEncode()({_BOX}, {_BOX})", prints="[[0. 0. 0. 0.]]",
)  # fmt: skip
BoundingBoxDecode = operation(
    __name__, "BoundingBoxDecode", boxes.bounding_box_decode,
    attributes={
        "max_shape": anything("two numbers"), "means": _FOUR, "stds": _ONES, "wh_ratio_clip": number(0.016),
    },
    run=lambda self, anchor_box, deltas: boxes.bounding_box_decode(
        anchor_box, deltas, self.max_shape, self.means, self.stds, self.wh_ratio_clip
    ),
    example=f"ops.BoundingBoxDecode((9, 9))({_BOX}, Tensor([[0.0, 0.0, 0.0, 0.0]]))",
    prints="[[0. 0. 3. 3.]]",
)  # fmt: skip
ROIAlign = operation(
    __name__, "ROIAlign", boxes.roi_align,
    attributes={
        "pooled_height": integer(), "pooled_width": integer(), "spatial_scale": number(),
        "sample_num": integer(2), "roi_end_mode": integer(1),
    },
    run=lambda self, features, rois: boxes.roi_align(
        features, rois, self.pooled_height, self.pooled_width, self.spatial_scale, self.sample_num,
        self.roi_end_mode,
    ),
    example="ops.ROIAlign(1, 1, 1.0)(ops.ones((1, 1, 4, 4)), Tensor([[0.0, 0.0, 0.0, 2.0, 2.0]]))",
    prints="[[[[1.]]]]",
)  # fmt: skip
CropAndResize = operation(
    __name__, "CropAndResize", boxes.crop_and_resize,
    attributes={"method": text("bilinear"), "extrapolation_value": number(0.0)},
    run=lambda self, x, boxes_, box_indices, crop_size: boxes.crop_and_resize(
        x, boxes_, box_indices, crop_size, self.method, self.extrapolation_value
    ),
    example="ops.CropAndResize()(ops.ones((1, 4, 4, 1)), Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([0]), "
    "(2, 2)).shape",
    prints="(1, 2, 2, 1)",
)  # fmt: skip

# --- sizes --------------------------------------------------------------------------------------------


def _resized(kind: str, name: str) -> Any:
    def run(self: Any, image: Any, size: Any) -> Tensor:
        return resizing.resized_image(name, image, size, kind, self.align_corners, self.half_pixel_centers)

    return run


_CORNERS = {"align_corners": boolean(False), "half_pixel_centers": boolean(False)}
_PIXELS = "Tensor([[[[0.0, 1.0]]]])"
ResizeBilinearV2 = operation(
    __name__, "ResizeBilinearV2", resizing.interpolate, attributes=_CORNERS,
    run=_resized("linear", "ResizeBilinearV2"),
    example=f"ops.ResizeBilinearV2()({_PIXELS}, (1, 4))", prints="[[[[0.  0.5 1.  1. ]]]]",
)  # fmt: skip
ResizeNearestNeighborV2 = operation(
    __name__, "ResizeNearestNeighborV2", resizing.interpolate, attributes=_CORNERS,
    run=_resized("nearest", "ResizeNearestNeighborV2"),
    example=f"ops.ResizeNearestNeighborV2()({_PIXELS}, (1, 4))", prints="[[[[0. 0. 1. 1.]]]]",
)  # fmt: skip


def _resized_line(self: Any, x: Any, size: Any) -> Tensor:
    mode = self.coordinate_transformation_mode
    if mode not in ("align_corners", "half_pixel"):
        raise ValueError(
            f"For 'ResizeLinear1D', the 'coordinate_transformation_mode' must be 'align_corners' or "
            f"'half_pixel', but got {mode!r}."
        )
    (length,) = size.asnumpy().tolist() if isinstance(size, Tensor) else size
    return resizing.interpolate(x, length, mode="linear", align_corners=mode == "align_corners")


ResizeLinear1D = operation(
    __name__, "ResizeLinear1D", resizing.interpolate,
    attributes={"coordinate_transformation_mode": text("align_corners")},
    run=_resized_line,
    example="ops.operations.ResizeLinear1D()(Tensor([[[0.0, 1.0]]]), (3,))", prints="[[[0.  0.5 1. ]]]",
)  # fmt: skip


def _padded(self: Any, x: Any, paddings: Any, constant_value: Any = None) -> Tensor:
    flat = paddings.asnumpy().tolist() if isinstance(paddings, Tensor) else list(paddings)
    if not self.paddings_contiguous:  # all that stand before, then all that stand behind
        half = len(flat) // 2
        flat = [n for pair in zip(flat[:half], flat[half:], strict=True) for n in pair]
    return padding.pad(x, flat, self.mode, constant_value)


PadV3 = operation(
    __name__, "PadV3", padding.pad, run=_padded,
    attributes={"mode": text("constant"), "paddings_contiguous": boolean(True)},
    example="ops.PadV3()(Tensor([[1.0, 2.0]]), (1, 0), 9.0)", prints="[[9. 1. 2.]]",
)  # fmt: skip


def _max_with_places(self: Any, x: Any) -> Any:
    name = "MaxPoolWithArgmax"
    if self.data_format != "NCHW":
        raise ValueError(f"For '{name}', the 'data_format' must be 'NCHW', but got {self.data_format!r}.")
    values, places = max_pooled(
        name, 2, x,
        lambda shape: pool_windows(
            name, 2, shape, self.kernel_size, self.strides, self.pad_mode.lower(), 0, 1, False
        ),
        True,
    )  # fmt: skip
    return values, operand(places, name).astype("int32")  # type: ignore[attr-defined]


MaxPoolWithArgmax = operation(
    __name__, "MaxPoolWithArgmax", pooling.max_pool2d, run=_max_with_places,
    attributes={
        "kernel_size": integers(1), "strides": integers(1), "pad_mode": text("valid"),
        "data_format": text("NCHW"),
    },
    example="ops.MaxPoolWithArgmax(2)(Tensor([[[[1.0, 2.0], [4.0, 3.0]]]]))[1]", prints="[[[[2]]]]",
)  # fmt: skip


def _max_with_indices(self: Any, x: Any) -> Any:
    values, indices = pooling.max_pool2d(
        x, self.kernel_size, self.strides, self.pads, self.dilation, True, self.ceil_mode
    )
    return values, cast(indices, self.argmax_type)


MaxPoolWithArgmaxV2 = operation(
    __name__, "MaxPoolWithArgmaxV2", pooling.max_pool2d, run=_max_with_indices,
    attributes={
        "kernel_size": anything("an int or two"), "strides": anything("an int or two", None),
        "pads": anything("an int or two", 0), "dilation": anything("an int or two", (1, 1)),
        "ceil_mode": boolean(False), "argmax_type": anything("Int32 or Int64", int64),
    },
    example="ops.MaxPoolWithArgmaxV2(2)(Tensor([[[[1.0, 2.0], [4.0, 3.0]]]]))[1]", prints="[[[[2]]]]",
)  # fmt: skip

__all__ = list(classes(globals()))
