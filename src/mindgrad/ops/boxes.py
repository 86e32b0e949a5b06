"""Bounding boxes: overlaps (IoU), regression targets, and ROI align.

A box is (x1, y1, x2, y2): the coordinates of its first column, first row, last column, and last row. If the
coordinates are whole pixels, the width of a box is x2 − x1 + 1.
"""

from __future__ import annotations

import math as _math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.core.ir.dtype import bool_, float32, int32
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.ops import arithmetic, clipping, indexing, joining, layout, math, ordering, reduction, rounding
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import check_axes, sizes, whole_number
from mindgrad.ops.operands import broadcast_to, cast, choose, operand
from mindgrad.ops.recurrence import over_time
from mindgrad.ops.registry import public

__all__ = [
    "bounding_box_decode", "bounding_box_encode", "check_valid", "crop_and_resize", "iou",
]  # fmt: skip


def _boxes(boxes: Any, operator: str, name: str, columns: int = 4) -> Tensor:
    x = real_operand(boxes, operator)
    if x.ndim != 2 or x.shape[1] != columns:
        raise ValueError(
            f"For '{operator}', the '{name}' must have the shape (n, {columns}), but its shape is {x.shape}."
        )
    return x


def _columns(boxes: Any) -> tuple[Any, ...]:
    return joining.unstack(boxes, -1)


# --- overlaps of boxes --------------------------------------------------------------------------------


def _shares(first: Any, second: Any, pixel: float, of_first: bool) -> Any:
    """Compute the overlap of each pair of boxes, divided by a reference area.

    The reference area is the area of the first box (``of_first``) or of the union of both boxes.
    """
    a = [layout.expand_dims(each, 1) for each in _columns(first)]
    b = [layout.expand_dims(each, 0) for each in _columns(second)]
    width = clipping.maximum(clipping.minimum(a[2], b[2]) - clipping.maximum(a[0], b[0]) + pixel, 0.0)  # type: ignore[operator]
    height = clipping.maximum(clipping.minimum(a[3], b[3]) - clipping.maximum(a[1], b[1]) + pixel, 0.0)  # type: ignore[operator]
    both = width * height  # type: ignore[operator]
    area_a = (a[2] - a[0] + pixel) * (a[3] - a[1] + pixel)  # type: ignore[operator]
    area_b = (b[2] - b[0] + pixel) * (b[3] - b[1] + pixel)  # type: ignore[operator]
    return arithmetic.div_no_nan(
        both, broadcast_to(area_a, both.shape) if of_first else area_a + area_b - both
    )


@public("IOU(mode='iou')(anchor_boxes, gt_boxes)")
def iou(anchor_boxes: Any, gt_boxes: Any, mode: str = "iou") -> Tensor:
    """Compute the intersection over union of each pair of boxes.

    Args:
        anchor_boxes (Tensor): n boxes (x1, y1, x2, y2), of shape (n, 4).
        gt_boxes (Tensor): m boxes (x1, y1, x2, y2), of shape (m, 4).
        mode (str): ``"iou"`` divides the area of the intersection by the area of the union. ``"iof"``
            divides it by the area of the box in ``gt_boxes``. Default: ``"iou"``.

    Returns:
        Tensor of shape (m, n): the ratio for each box of ``gt_boxes`` and each box of ``anchor_boxes``.

    Raises:
        TypeError: If ``anchor_boxes`` or ``gt_boxes`` is not a real tensor.
        ValueError: If the boxes do not have the shapes (n, 4) and (m, 4), or ``mode`` is neither ``"iou"``
            nor ``"iof"``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.iou(Tensor([[0.0, 0.0, 3.0, 1.0]]), Tensor([[2.0, 0.0, 5.0, 1.0]]), "iof"))
    [[0.5]]
    """
    one_of(mode, ("iou", "iof"), "IOU", "mode")
    anchors, truths = _boxes(anchor_boxes, "IOU", "anchor_boxes"), _boxes(gt_boxes, "IOU", "gt_boxes")
    return _shares(truths, anchors, 1.0, mode == "iof")


@public("CheckValid")
def check_valid(bboxes: Any, img_metas: Any) -> Tensor:
    """Check which boxes are inside an image.

    Args:
        bboxes (Tensor): n boxes (x1, y1, x2, y2), of shape (n, 4).
        img_metas (Tensor): tensor of shape (3,) with the height of the image, its width, and a scale factor
            for both.

    Returns:
        Boolean tensor of shape (n,): ``True`` for each box that is inside the image.

    Raises:
        TypeError: If an argument is not a real tensor.
        ValueError: If ``bboxes`` does not have the shape (n, 4), or ``img_metas`` the shape (3,).

    >>> from mindgrad import Tensor, ops
    >>> print(ops.check_valid(Tensor([[0.0, 0.0, 3.0, 3.0], [0.0, 0.0, 4.0, 4.0]]), Tensor([4.0, 4.0, 1.0])))
    [ True False]
    """
    x1, y1, x2, y2 = _columns(_boxes(bboxes, "CheckValid", "bboxes"))
    image = real_operand(img_metas, "CheckValid")
    if image.shape != (3,):
        raise ValueError(
            f"For 'CheckValid', the 'img_metas' must have the shape (3,), but their shape is {image.shape}."
        )
    height, width, ratio = _columns(image)
    return (x1 >= 0) & (y1 >= 0) & (x2 <= width * ratio - 1) & (y2 <= height * ratio - 1)


@public("NMSWithMask(iou_threshold=0.5)(bboxes)")
def nms_with_mask(bboxes: Any, iou_threshold: float = 0.5) -> tuple[Tensor, Tensor, Tensor]:
    """Sort boxes by score, and mark the boxes that remain (non-maximum suppression).

    A box remains if it does not overlap a remaining box with a higher score by more than ``iou_threshold``.

    Args:
        bboxes (Tensor): n boxes with scores (x1, y1, x2, y2, score), of shape (n, 5).
        iou_threshold (float): largest intersection over union that two remaining boxes may have.

    Returns:
        Three tensors: the boxes from the highest to the lowest score, of shape (n, 5), the integers from 0
        to n − 1 (int32), and a Boolean tensor of shape (n,) that is ``True`` for each box that remains.

    Raises:
        TypeError: If ``bboxes`` is not a real tensor.
        ValueError: If ``bboxes`` does not have the shape (n, 5).

    >>> from mindgrad import Tensor, ops
    >>> boxes = Tensor([[0.0, 0.0, 4.0, 4.0, 0.5], [0.0, 0.0, 4.0, 5.0, 0.9], [7.0, 7.0, 9.0, 9.0, 0.1]])
    >>> print(ops.NMSWithMask(0.5)(boxes)[2])
    [ True False  True]
    """
    x: Any = _boxes(bboxes, "NMSWithMask", "bboxes", 5)
    count = x.shape[0]
    order = ordering.argsort(x[:, 4], 0, True)
    x = indexing.gather(x, order, 0)
    later = make_tensor(np.triu(np.ones((count, count), np.float32), 1))
    overlaps = cast(_shares(x[:, :4], x[:, :4], 0.0, False) > iou_threshold, float32) * later  # type: ignore[operator]
    one_hot = make_tensor(np.eye(count, dtype=np.float32))

    def step(row: Any, suppressed: Any) -> tuple[Any, Any]:
        remains = 1.0 - reduction.sum(row[1] * suppressed)  # type: ignore[operator]
        return clipping.maximum(suppressed, row[0] * remains), remains

    rows = joining.stack([overlaps, one_hot], 1)
    remaining, _ = over_time(step, rows, make_tensor(np.zeros(count, np.float32)))
    return x, make_tensor(np.arange(count, dtype=np.int32)), cast(remaining, bool_)


# --- encoding of boxes as regression targets -------------------------------------------------------------


def _numbers(values: Any, operator: str, name: str, count: int) -> tuple[float, ...]:
    listed = tuple(values) if isinstance(values, (tuple, list)) else (values,) * count
    if len(listed) != count or any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in listed):
        raise ValueError(f"For '{operator}', the '{name}' must be {count} numbers, but got {values!r}.")
    return listed


def _centers(boxes: Any) -> tuple[Any, Any, Any, Any]:
    """Return the column and row of the center, the width, and the height."""
    x1, y1, x2, y2 = _columns(boxes)
    return (x1 + x2) * 0.5, (y1 + y2) * 0.5, x2 - x1 + 1.0, y2 - y1 + 1.0


@public(
    "BoundingBoxEncode(means: anything('four numbers')=(0.0, 0.0, 0.0, 0.0), "
    "stds: anything('four numbers')=(1.0, 1.0, 1.0, 1.0))(anchor_box, groundtruth_box)"
)
def bounding_box_encode(
    anchor_box: Any, groundtruth_box: Any, means: Any = (0.0, 0.0, 0.0, 0.0), stds: Any = (1.0, 1.0, 1.0, 1.0)
) -> Tensor:
    """Encode boxes as normalized differences from anchors (Girshick et al. 2014).

        (Δx / w, Δy / h, log w' / w, log h' / h)     minus ``means``, divided by ``stds``

    Δx and Δy are the differences between the centers of the box and the anchor. The anchor has the width w
    and the height h. The box has the width w' and the height h'.

    Args:
        anchor_box (Tensor): n anchor boxes (x1, y1, x2, y2), of shape (n, 4).
        groundtruth_box (Tensor): n ground-truth boxes (x1, y1, x2, y2), of shape (n, 4).
        means (tuple of float): four means, which are subtracted from the differences. Default: zeros.
        stds (tuple of float): four standard deviations, which divide the differences. Default: ones.

    Returns:
        Tensor of shape (n, 4): the four normalized differences for each box.

    Raises:
        TypeError: If ``anchor_box`` or ``groundtruth_box`` is not a real tensor.
        ValueError: If ``anchor_box`` or ``groundtruth_box`` does not have the shape (n, 4), or ``means`` or
            ``stds`` does not have four elements.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.bounding_box_encode(Tensor([[0.0, 0.0, 3.0, 3.0]]), Tensor([[1.0, 2.0, 4.0, 5.0]])))
    [[0.25 0.5  0.   0.  ]]
    """
    owner = "BoundingBoxEncode"
    px, py, pw, ph = _centers(_boxes(anchor_box, owner, "anchor_box"))
    gx, gy, gw, gh = _centers(_boxes(groundtruth_box, owner, "groundtruth_box"))
    deltas = [(gx - px) / pw, (gy - py) / ph, math.log(gw / pw), math.log(gh / ph)]
    mean, scale = _numbers(means, owner, "means", 4), _numbers(stds, owner, "stds", 4)
    return joining.stack([(d - m) / s for d, m, s in zip(deltas, mean, scale, strict=True)], -1)


@public(
    "BoundingBoxDecode(max_shape: anything('two numbers'), means: anything('four numbers')=(0.0, 0.0, 0.0, "
    "0.0), stds: anything('four numbers')=(1.0, 1.0, 1.0, 1.0), wh_ratio_clip=0.016)(anchor_box, deltas)"
)
def bounding_box_decode(
    anchor_box: Any,
    deltas: Any,
    max_shape: Any,
    means: Any = (0.0, 0.0, 0.0, 0.0),
    stds: Any = (1.0, 1.0, 1.0, 1.0),
    wh_ratio_clip: float = 0.016,
) -> Tensor:
    """Decode boxes from their differences from anchors.

    This is the inverse of :func:`bounding_box_encode`.

    Args:
        anchor_box (Tensor): n anchor boxes (x1, y1, x2, y2), of shape (n, 4).
        deltas (Tensor): normalized differences from the anchors, of shape (n, 4), as
            :func:`bounding_box_encode` returns them.
        max_shape (tuple of int): height and width of the image, to which coordinates are clipped.
        means (tuple of float): four means, which are subtracted from the differences. Default: zeros.
        stds (tuple of float): four standard deviations, which divide the differences. Default: ones.
        wh_ratio_clip (float): smallest ratio of the width (or height) of a box to the width (or height) of
            its anchor. The largest ratio is 1 / ``wh_ratio_clip``. Default: 0.016.

    Returns:
        Tensor of shape (n, 4) with the boxes (x1, y1, x2, y2).

    Raises:
        TypeError: If ``anchor_box`` or ``deltas`` is not a real tensor.
        ValueError: If ``anchor_box`` or ``deltas`` does not have the shape (n, 4), or ``means`` or ``stds``
            does not have four elements.

    >>> from mindgrad import Tensor, ops
    >>> anchor, deltas = Tensor([[0.0, 0.0, 3.0, 3.0]]), Tensor([[0.25, 0.5, 0.0, 0.0]])
    >>> print(ops.bounding_box_decode(anchor, deltas, (9, 9)))
    [[1. 2. 4. 5.]]
    """
    owner = "BoundingBoxDecode"
    height, width = _numbers(max_shape, owner, "max_shape", 2)
    px, py, pw, ph = _centers(_boxes(anchor_box, owner, "anchor_box"))
    mean, scale = _numbers(means, owner, "means", 4), _numbers(stds, owner, "stds", 4)
    parts = _columns(_boxes(deltas, owner, "deltas"))
    dx, dy, dw, dh = (d * s + m for d, s, m in zip(parts, scale, mean, strict=True))
    bound = abs(_math.log(wh_ratio_clip))
    gw, gh = (size * math.exp(clipping.clamp(d, -bound, bound)) for size, d in ((pw, dw), (ph, dh)))
    gx, gy = px + pw * dx, py + ph * dy
    corners = [
        (gx - gw * 0.5 + 0.5, width), (gy - gh * 0.5 + 0.5, height),
        (gx + gw * 0.5 - 0.5, width), (gy + gh * 0.5 - 0.5, height),
    ]  # fmt: skip
    return joining.stack([clipping.clamp(value, 0.0, float(most)) for value, most in corners], -1)


# --- sampling of feature maps inside boxes ------------------------------------------------------------------


def _between_pixels(rows: Any, numbers: Any, shape: Sequence[int], y: Any, x: Any, kind: str) -> Any:
    """Interpolate images at points.

    Args:
        rows: features of the pixels of all images, of shape (images · height · width, channels).
        numbers: index of the image of each box, of shape (boxes, 1, 1).
        shape: height and width of an image.
        y, x: rows and columns of points inside the image, of shapes (boxes, p, 1) and (boxes, 1, q).
        kind: ``"bilinear"`` or ``"nearest"``.

    Returns:
        Tensor of shape (boxes, p, q, channels).
    """
    height, width = shape
    if kind == "nearest":
        return indexing.gather(rows, (numbers * height + _rounded(y)) * width + _rounded(x), 0)
    low = [
        cast(clipping.clamp(rounding.floor(at), 0, max(size - 2, 0)), int32)
        for at, size in ((y, height), (x, width))
    ]
    high = [clipping.minimum(at + 1, size - 1) for at, size in zip(low, (height, width), strict=True)]  # type: ignore[operator]
    part = [layout.expand_dims(at - cast(first, at.dtype), -1) for at, first in ((y, low[0]), (x, low[1]))]
    result: Any = 0.0
    for row, share_y in ((low[0], 1.0 - part[0]), (high[0], part[0])):  # type: ignore[operator]
        for column, share_x in ((low[1], 1.0 - part[1]), (high[1], part[1])):  # type: ignore[operator]
            pixels = indexing.gather(rows, (numbers * height + row) * width + column, 0)
            result = result + pixels * (share_y * share_x)  # type: ignore[operator]
    return result


def _rounded(at: Any) -> Any:
    return cast(rounding.floor(at + 0.5), int32)


@public(
    "ROIAlign(pooled_height: integer, pooled_width: integer, spatial_scale: number, sample_num=2, "
    "roi_end_mode=1)(features, rois)"
)
def roi_align(
    features: Any,
    rois: Any,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    sample_num: int = 2,
    roi_end_mode: int = 1,
) -> Tensor:
    """Pool features inside boxes, as in Mask R-CNN (He et al. 2017).

    Each box is divided into bins. The value of a bin is the mean of the features at ``sample_num``² points,
    interpolated between pixels. Points more than one pixel outside the image count as 0. The
    result is differentiable to any order, with respect to both the features and the boxes.

    Args:
        features (Tensor): feature maps of n images, of shape (n, c, h, w).
        rois (Tensor): boxes (index of the image, x1, y1, x2, y2), of shape (m, 5).
        pooled_height (int): number of bins along the height of a box.
        pooled_width (int): number of bins along the width of a box.
        spatial_scale (float): factor that converts coordinates of boxes to pixels of ``features``.
        sample_num (int): number of sampling points in a bin along each axis. Default: 2.
        roi_end_mode (int): whether the last row and column, x2 and y2, belong to a box (1) or not (0). With
            0, a box is at least one pixel wide and high. Default: 1.

    Returns:
        Tensor of shape (m, c, ``pooled_height``, ``pooled_width``).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``features`` is not 4-D, ``rois`` does not have the shape (m, 5), or another argument
            is out of range.

    >>> from mindgrad import Tensor, ops
    >>> image = ops.reshape(ops.arange(16.0), (1, 1, 4, 4))
    >>> print(ops.ROIAlign(1, 2, 1.0, 1)(image, Tensor([[0.0, 0.0, 0.0, 3.0, 1.0]])))
    [[[[5. 7.]]]]
    """
    owner = "ROIAlign"
    x: Any = real_operand(features, owner)
    check_axes(x, "(n, c, h, w)", owner, "'features'")
    bins = [
        whole_number(n, owner, name, 1)
        for n, name in ((pooled_height, "pooled_height"), (pooled_width, "pooled_width"))
    ]
    count = whole_number(sample_num, owner, "sample_num")
    if count < 1:
        raise ValueError(
            f"For '{owner}', the 'sample_num' must be at least 1, but got {count}. MindSpore derives a "
            "smaller 'sample_num' from the sizes of the boxes, but these are unknown at compile time."
        )
    if roi_end_mode not in (0, 1):
        raise ValueError(f"For '{owner}', the 'roi_end_mode' must be 0 or 1, but got {roi_end_mode!r}.")
    number, *corners = _columns(_boxes(rois, owner, "rois", 5))
    x1, y1, x2, y2 = (corner * spatial_scale for corner in corners)
    if roi_end_mode:
        x2, y2 = x2 + spatial_scale, y2 + spatial_scale
    least = 0.0 if roi_end_mode else 1.0
    points, weights = [], []
    for start, end, parts, size in ((y1, y2, bins[0], x.shape[2]), (x1, x2, bins[1], x.shape[3])):
        step = clipping.maximum(end - start, least) / (parts * count)  # type: ignore[operator]
        places = np.arange(parts * count, dtype=np.float32) + 0.5
        at = layout.expand_dims(start, 1) + layout.expand_dims(step, 1) * make_tensor(places)  # type: ignore[operator]
        weights.append(cast((at >= -1.0) & (at <= float(size)), x.dtype))
        points.append(clipping.clamp(at, 0.0, size - 1.0))
    rows = layout.reshape(layout.transpose(x, (0, 2, 3, 1)), (-1, x.shape[1]))
    numbers = layout.reshape(cast(number, int32), (-1, 1, 1))
    y, z = layout.expand_dims(points[0], 2), layout.expand_dims(points[1], 1)
    values = _between_pixels(rows, numbers, x.shape[2:], y, z, "bilinear")
    values = values * layout.reshape(weights[0], (*weights[0].shape, 1, 1))
    values = values * layout.reshape(weights[1], (weights[1].shape[0], 1, weights[1].shape[1], 1))
    shape = (values.shape[0], bins[0], count, bins[1], count, x.shape[1])
    return layout.transpose(reduction.mean(layout.reshape(values, shape), (2, 4)), (0, 3, 1, 2))


def _inside_pixels(start: Any, end: Any, count: int, size: float) -> Tensor:
    """Return the centers of ``count`` equal parts of a range of pixels."""
    first = layout.expand_dims(rounding.trunc(start * size), 1)
    width = clipping.maximum(layout.expand_dims(rounding.trunc(end * size), 1) - first + 1.0, 1.0)  # type: ignore[operator]
    middles = make_tensor(((np.arange(count) + 0.5) / count).astype(np.float32))
    return first + clipping.clamp(middles * width - 0.5, 0.0, width - 1.0)  # type: ignore[operator,no-any-return]


@public("CropAndResize(method='bilinear', extrapolation_value=0.0)(x, boxes_, box_indices, crop_size)")
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Crop boxes from images, and resize the crops to one size.

    Args:
        image (Tensor): images with the channels last, of shape (n, h, w, c).
        boxes (Tensor): boxes (y1, x1, y2, x2), of shape (m, 4). Coordinates are fractions of height − 1 and
            width − 1. If y1 > y2 or x1 > x2, the crop is flipped.
        box_indices (Tensor): integers of shape (m,) with the index of the image for each box.
        crop_size (tuple of int): height and width of the crops.
        method (str): interpolation method: ``"bilinear"``, ``"nearest"``, or ``"bilinear_v2"``. For
            ``"bilinear_v2"``, coordinates of boxes are fractions of height and width, truncated to whole
            pixels. Default: ``"bilinear"``.
        extrapolation_value (float): value of points outside the image. ``"bilinear_v2"`` uses the
            nearest pixel instead. Default: 0.0.

    Returns:
        float32 tensor of shape (m, height, width, c) with the resized crops.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``image``, ``boxes``, or ``box_indices`` has the wrong shape, or ``method`` is not
            supported.

    >>> from mindgrad import Tensor, ops
    >>> image = ops.reshape(ops.arange(9.0), (1, 3, 3, 1))
    >>> print(ops.crop_and_resize(image, Tensor([[0.0, 0.0, 1.0, 0.5]]), Tensor([0]), (2, 2))[0, :, :, 0])
    [[0. 1.]
     [6. 7.]]
    """
    owner = "CropAndResize"
    x: Any = cast(real_operand(image, owner), float32)
    check_axes(x, "(n, h, w, c)", owner, "'image'")
    one_of(method, ("bilinear", "nearest", "bilinear_v2"), owner, "method")
    new = sizes(crop_size, owner, "crop_size", 1)
    y1, x1, y2, x2 = _columns(_boxes(boxes, owner, "boxes"))
    inside: Any = True
    points = []
    for start, end, count, size, axis in ((y1, y2, new[0], x.shape[1], 2), (x1, x2, new[1], x.shape[2], 1)):
        if method == "bilinear_v2":
            at = layout.expand_dims(_inside_pixels(start, end, count, float(size)), axis)
            points.append(clipping.clamp(at, 0.0, size - 1.0))
            continue
        shares = np.linspace(0.0, 1.0, count, dtype=np.float32) if count > 1 else np.full(1, 0.5, np.float32)
        first, last = layout.expand_dims(start, 1), layout.expand_dims(end, 1)
        at = (first + (last - first) * make_tensor(shares)) * float(size - 1)  # type: ignore[operator]
        at = layout.expand_dims(at, axis)
        inside = (
            inside & (at >= 0.0) & (at <= size - 1.0)  # type: ignore[operator]
            if inside is not True
            else (at >= 0.0) & (at <= size - 1.0)  # type: ignore[operator]
        )
        points.append(clipping.clamp(at, 0.0, size - 1.0))
    numbers = layout.reshape(cast(operand(box_indices, owner), int32), (-1, 1, 1))
    rows = layout.reshape(x, (-1, x.shape[3]))
    values = _between_pixels(rows, numbers, x.shape[1:3], points[0], points[1], method.removesuffix("_v2"))
    if inside is True:
        return values
    return choose(
        broadcast_to(layout.expand_dims(inside, -1), values.shape), values, float(extrapolation_value)
    )
