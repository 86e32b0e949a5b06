"""Operator classes for resizing images, padding, and pooling with indices."""

from __future__ import annotations

from typing import Any

from mindgrad._base.checks import one_of
from mindgrad.core.ir.dtype import int64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import padding, pooling, resizing
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.operations.base import anything, boolean, classes, integers, operation, text
from mindgrad.ops.pool_windows import max_pooled, pool_windows
from mindgrad.ops.registry import public

_CORNERS = "align_corners=False, half_pixel_centers=False"
_SIDES = "self.align_corners, self.half_pixel_centers"
_PIXELS = "Tensor([[[[0.0, 1.0]]]])"
public(
    f"ResizeBilinear(size: integers, {_CORNERS})(x)"
    f" -> resized_image('ResizeBilinear', x, self.size, 'linear', {_SIDES})"
    f" >>> ops.ResizeBilinear((1, 4))({_PIXELS}) => [[[[0.  0.5 1.  1. ]]]]",
    f"ResizeBilinearV2({_CORNERS})(image, size)"
    f" -> resized_image('ResizeBilinearV2', image, size, 'linear', {_SIDES})"
    f" >>> ops.ResizeBilinearV2()({_PIXELS}, (1, 4)) => [[[[0.  0.5 1.  1. ]]]]",
    "ResizeNearestNeighbor(size: integers, align_corners=False)(x)"
    " -> resized_image('ResizeNearestNeighbor', x, self.size, 'nearest', self.align_corners, False)"
    f" >>> ops.ResizeNearestNeighbor((1, 4))({_PIXELS}) => [[[[0. 0. 1. 1.]]]]",
    f"ResizeNearestNeighborV2({_CORNERS})(image, size)"
    f" -> resized_image('ResizeNearestNeighborV2', image, size, 'nearest', {_SIDES})"
    f" >>> ops.ResizeNearestNeighborV2()({_PIXELS}, (1, 4)) => [[[[0. 0. 1. 1.]]]]",
)(resizing.interpolate)


def _resized_line(self: Any, x: Any, size: Any) -> Tensor:
    mode = self.coordinate_transformation_mode
    one_of(mode, ("align_corners", "half_pixel"), "ResizeLinear1D", "coordinate_transformation_mode")
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
    if not self.paddings_contiguous:  # all numbers before the axes come first, then all numbers after them
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
    meaning="Return the largest element of each window over two axes, and its index. "
    "| The elements and their indices.",
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
    meaning="Return the largest element of each window over two axes, and its index. "
    "| The elements and their indices.",
    attributes={
        "kernel_size": anything("an int or two"), "strides": anything("an int or two", None),
        "pads": anything("an int or two", 0), "dilation": anything("an int or two", (1, 1)),
        "ceil_mode": boolean(False), "argmax_type": anything("Int32 or Int64", int64),
    },
    example="ops.MaxPoolWithArgmaxV2(2)(Tensor([[[[1.0, 2.0], [4.0, 3.0]]]]))[1]", prints="[[[[2]]]]",
)  # fmt: skip

__all__ = list(classes(globals()))
