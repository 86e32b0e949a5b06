"""Segment reductions: ``unsorted_segment_sum``, ``_max``, ``_min`` and ``_prod``."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import comparison, creation, extremes, indexing, joining, layout, reduction, scattering
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.index_checks import OutOfRangeError, known
from mindgrad.ops.operands import operand
from mindgrad.ops.registry import public

__all__ = ["unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sum"]


@public("UnsortedSegmentSum Tensor")
def unsorted_segment_sum(input_x: Any, segment_ids: Any, num_segments: int) -> Tensor:
    """Sum the slices of each segment: Σ of x[i] with segment_ids[i] = s.

    Args:
        input_x (Tensor): tensor of shape (a, …).
        segment_ids (Tensor): integer tensor with the segment of each slice. Its shape must equal the leading
            dimensions of ``input_x``. Slices with a negative segment are ignored.
        num_segments (int): number of segments.

    Returns:
        Tensor of shape ``(num_segments, *input_x.shape[segment_ids.ndim:])``. The sum of an empty segment is
        0.

    Raises:
        TypeError: If ``segment_ids`` is not an integer tensor.
        ValueError: If the shape of ``input_x`` does not begin with the shape of ``segment_ids``.
        IndexError: If a segment is not below ``num_segments`` and its value is known at compile time.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.unsorted_segment_sum(Tensor([1.0, 2.0, 3.0]), Tensor([0, 2, 0]), 3))
    [4. 0. 2.]
    """
    return _combined("UnsortedSegmentSum", input_x, segment_ids, num_segments, 0)


@public("UnsortedSegmentMax Tensor")
def unsorted_segment_max(x: Any, segment_ids: Any, num_segments: int) -> Tensor:
    """Compute the elementwise maximum of the slices of each segment.

    Returns:
        Tensor of shape ``(num_segments, *x.shape[segment_ids.ndim:])``. The maximum of an empty segment is
        the smallest number of the dtype.

    {as unsorted_segment_sum}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.unsorted_segment_max(Tensor([1.0, 2.0, 3.0]), Tensor([0, 1, 0]), 2))
    [3. 2.]
    """
    return _combined("UnsortedSegmentMax", x, segment_ids, num_segments, "min")


@public("UnsortedSegmentMin Tensor")
def unsorted_segment_min(x: Any, segment_ids: Any, num_segments: int) -> Tensor:
    """Compute the elementwise minimum of the slices of each segment.

    Returns:
        Tensor of shape ``(num_segments, *x.shape[segment_ids.ndim:])``. The minimum of an empty segment is
        the largest number of the dtype.

    {as unsorted_segment_sum}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.unsorted_segment_min(Tensor([1.0, 2.0, 3.0]), Tensor([0, 1, 0]), 2))
    [1. 2.]
    """
    return _combined("UnsortedSegmentMin", x, segment_ids, num_segments, "max")


@public("UnsortedSegmentProd Tensor")
def unsorted_segment_prod(x: Any, segment_ids: Any, num_segments: int) -> Tensor:
    """Multiply the slices of each segment.

    Returns:
        Tensor of shape ``(num_segments, *x.shape[segment_ids.ndim:])``. The product of an empty segment is 1.

    {as unsorted_segment_sum}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.unsorted_segment_prod(Tensor([1.0, 2.0, 3.0]), Tensor([0, 1, 0]), 2))
    [3. 2.]
    """
    return _combined("UnsortedSegmentProd", x, segment_ids, num_segments, 1)


_FUNCTIONS: dict[str, Any] = {
    "UnsortedSegmentMax": scattering.tensor_scatter_max,
    "UnsortedSegmentMin": scattering.tensor_scatter_min,
    "UnsortedSegmentProd": scattering.tensor_scatter_mul,
    "UnsortedSegmentSum": scattering.tensor_scatter_add,
}
#: reductions that replace the scatter if the segments are unknown at compile time: the number of scatter
#: rounds is the number of slices in the largest segment
_OVER_ALL: dict[str, Any] = {
    "UnsortedSegmentMax": extremes.amax,
    "UnsortedSegmentMin": extremes.amin,
    "UnsortedSegmentProd": reduction.prod,
}


def _combined(operator: str, input_x: Any, segment_ids: Any, num_segments: Any, start: Any) -> Tensor:
    x, ids = operand(input_x, operator), operand(segment_ids, operator)
    count = whole_number(num_segments, operator, "num_segments", least=1)
    if ids.dtype.kind not in ("int", "uint"):
        raise TypeError(
            f"For '{operator}', the 'segment_ids' must be integers, but their type is {ids.dtype}."
        )
    if x.shape[: ids.ndim] != ids.shape or not ids.ndim:
        raise ValueError(
            f"For '{operator}', the shape of the input must begin with the shape of 'segment_ids', but got "
            f"{x.shape} and {ids.shape}."
        )
    values = known(ids)
    if values is not None and values.size and values.max() >= count:
        raise OutOfRangeError(
            f"For '{operator}', the 'segment_ids' must be below 'num_segments', {count}, but one is "
            f"{values.max()}."
        )
    part = x.shape[ids.ndim :]
    if isinstance(start, str):
        limits: Any = np.finfo if x.dtype.is_float else np.iinfo
        start = np.asarray(getattr(limits(x.dtype.numpy), start)).item()
    parts = layout.reshape(x, (ids.size, *part))
    if values is None and operator in _OVER_ALL:
        # The segments are unknown at compile time. Reduce over all slices for each segment, and mask the
        # slices of other segments.
        numbers = creation.arange(count).reshape(count, 1)  # type: ignore[attr-defined]
        own = comparison.equal(layout.reshape(ids, (1, ids.size)), numbers)
        own = layout.reshape(own, (count, ids.size, *(1 for _ in part)))
        return _OVER_ALL[operator](indexing.where(own, layout.expand_dims(parts, 0), start), 1)
    column = layout.reshape(ids, (ids.size, 1))
    if values is not None and (not values.size or values.min() >= 0):
        return _FUNCTIONS[operator](creation.full((count, *part), start, dtype=x.dtype), column, parts)  # type: ignore[no-any-return]
    # a segment ``count`` receives the slices with negative ids; it is removed after the scatter
    column = indexing.where(comparison.less(column, 0), count, column)
    target = creation.full((count + 1, *part), start, dtype=x.dtype)
    return joining.split(_FUNCTIONS[operator](target, column, parts), [count, 1])[0]
