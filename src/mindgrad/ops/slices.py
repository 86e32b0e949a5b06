"""Slices with a start, size, or stride for each axis; the start may be a tensor."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.primitives import slicing, static_slices
from mindgrad.ops.arguments import one_or_more, sizes, whole_number
from mindgrad.ops.getitem import getitem
from mindgrad.ops.layout import reshape
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.registry import public

__all__ = ["dynamic_slice", "dynamic_update_slice", "slice", "strided_slice"]


@public("Slice")
def slice(input_x: Any, begin: Any, size: Any) -> Tensor:
    """Extract ``size`` elements beginning at ``begin`` along each axis.

    Args:
        input_x (Tensor): tensor of any shape.
        begin (tuple of int or Tensor): first index along each axis. If the values of a tensor are
            unknown at compile time, a slice that exceeds the tensor is moved inside it.
        size (tuple of int): number of elements along each axis. −1 means all elements up to the end of the
            axis; the values of ``begin`` must then be known at compile time.

    Returns:
        Tensor of shape ``size``.

    Raises:
        TypeError: If an entry of a tuple is not an int.
        ValueError: If ``begin`` or ``size`` does not have one entry for each axis, or the slice is not inside
            the tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.slice(Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), (0, 1), (2, -1)))
    [[2. 3.]
     [5. 6.]]
    """
    x = operand(input_x, "Slice")
    counts = sizes(size, "Slice", "size", least=-1)
    unknown = isinstance(begin, Tensor) and known(operand(begin, "Slice")) is None
    if unknown and -1 not in counts:
        return dynamic_slice(x, begin, counts)
    starts = sizes(begin, "Slice", "begin")
    if len(starts) != x.ndim or len(counts) != x.ndim:
        raise ValueError(
            f"For 'Slice', 'begin' and 'size' must have one entry per axis of the input of shape "
            f"{x.shape}, but got {begin} and {size}."
        )
    limits = tuple(
        n if count == -1 else first + count for first, count, n in zip(starts, counts, x.shape, strict=True)
    )
    if any(not 0 <= first <= limit <= n for first, limit, n in zip(starts, limits, x.shape, strict=True)):
        raise ValueError(
            f"For 'Slice', the slice from {starts} to {limits} does not lie inside the input of shape "
            f"{x.shape}."
        )
    return apply(static_slices.slice, x, start=starts, limit=limits, strides=(1,) * x.ndim)


def _starts(x: Tensor, begin: Any, operator: str) -> list[Tensor]:
    if isinstance(begin, Tensor):
        places_ = operand(begin, operator)
        if places_.shape != (x.ndim,) or places_.dtype.kind not in ("int", "uint"):
            raise ValueError(
                f"For '{operator}', the 'begin' must be {x.ndim} integers, one per axis of the "
                f"input of shape {x.shape}, but got a tensor {places_.type}."
            )
        return [getitem(places_, axis) for axis in range(x.ndim)]
    starts = one_or_more(begin)
    if len(starts) != x.ndim:
        raise ValueError(
            f"For '{operator}', the 'begin' must be {x.ndim} integers, one per axis of the input of "
            f"shape {x.shape}, but got {begin}."
        )
    return [
        reshape(each, ()) if isinstance(each, Tensor)
        else make_tensor(np.asarray(whole_number(each, operator, "begin"), np.int32))
        for each in starts
    ]  # fmt: skip


def dynamic_slice(input_x: Any, begin: Any, size: Any) -> Tensor:
    """Extract ``size`` elements beginning at a computed index along each axis.

    A slice that exceeds the tensor is moved inside it.

    Args:
        input_x (Tensor): tensor of any shape.
        begin (Tensor, or tuple of int or Tensor): first index along each axis.
        size (tuple of int): number of elements along each axis.

    Returns:
        Tensor of shape ``size``.

    Raises:
        TypeError: If an index or a size is not an integer.
        ValueError: If ``begin`` or ``size`` does not have one entry for each axis, or the slice is larger
            than the tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.dynamic_slice(Tensor([1.0, 2.0, 3.0]), Tensor([2]), (2,)))
    [2. 3.]
    """
    x = operand(input_x, "DynamicSlice")
    counts = sizes(size, "DynamicSlice", "size", least=0)
    if len(counts) != x.ndim or any(n > m for n, m in zip(counts, x.shape, strict=True)):
        raise ValueError(
            f"For 'DynamicSlice', the 'size' must have one entry per axis of the input of shape {x.shape}, "
            f"and no entry may exceed the size of its axis, but got {size}."
        )
    return apply(slicing.dynamic_slice, x, *_starts(x, begin, "DynamicSlice"), sizes=counts)


def dynamic_update_slice(input_x: Any, update: Any, begin: Any) -> Tensor:
    """Replace the elements beginning at a computed index along each axis.

    An update that exceeds the tensor is moved inside it.

    Args:
        input_x (Tensor): tensor of any shape.
        update (Tensor): new elements, with as many axes as ``input_x`` and no axis larger. They are converted
            to the dtype of ``input_x``.
        begin (Tensor, or tuple of int or Tensor): first index along each axis.

    Returns:
        Tensor with the shape and dtype of ``input_x``.

    Raises:
        TypeError: If an index or a size is not an integer.
        ValueError: If ``begin`` does not have one entry for each axis, or ``update`` is larger than the
            tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.dynamic_update_slice(Tensor([1.0, 2.0, 3.0]), Tensor([9.0]), (1,)))
    [1. 9. 3.]
    """
    x = operand(input_x, "DynamicUpdateSlice")
    new = cast(operand(update, "DynamicUpdateSlice"), x.dtype)
    if new.ndim != x.ndim or any(n > m for n, m in zip(new.shape, x.shape, strict=True)):
        raise ValueError(
            f"For 'DynamicUpdateSlice', the update must have as many axes as the input and be no larger, "
            f"but got the shapes {new.shape} and {x.shape}."
        )
    return apply(slicing.dynamic_update_slice, x, new, *_starts(x, begin, "DynamicUpdateSlice"))


def strided_slice(
    input_x: Any,
    begin: Any,
    end: Any,
    strides: Any,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    """Extract ``input_x[begin[0] : end[0] : strides[0], begin[1] : …]``.

    Args:
        input_x (Tensor): tensor of any shape.
        begin, end, strides (tuple of int): first index, end index, and step for each of the leading axes. The
            three tuples must have the same length.
        begin_mask (int): bit mask. If bit i is set, ``begin[i]`` is ignored, and the slice begins at the
            start of the axis.
        end_mask (int): bit mask. If bit i is set, ``end[i]`` is ignored, and the slice ends at the end of the
            axis.
        ellipsis_mask (int): bit mask. If bit i is set, entry i is an ellipsis ``...``.
        new_axis_mask (int): bit mask. If bit i is set, entry i inserts a new axis of size 1.
        shrink_axis_mask (int): bit mask. If bit i is set, entry i selects only the element ``begin[i]`` and
            removes its axis.

    Returns:
        Tensor of the selected elements.

    Raises:
        TypeError: If an entry of a tuple is not an int.
        ValueError: If ``begin``, ``end``, and ``strides`` do not have the same length, or a stride is 0.
        IndexError: If ``shrink_axis_mask`` selects an element that is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.strided_slice(Tensor([1.0, 2.0, 3.0, 4.0]), (3,), (0,), (-2,)))
    [4. 2.]
    """
    x = operand(input_x, "StridedSlice")
    starts = sizes(begin, "StridedSlice", "begin")
    stops = sizes(end, "StridedSlice", "end")
    steps = sizes(strides, "StridedSlice", "strides")
    if not len(starts) == len(stops) == len(steps):
        raise ValueError(
            f"For 'StridedSlice', 'begin', 'end' and 'strides' must have the same length, but got {begin}, "
            f"{end} and {strides}."
        )
    if 0 in steps:
        raise ValueError(f"For 'StridedSlice', the 'strides' must not contain 0, but got {strides}.")
    index: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        if ellipsis_mask >> i & 1:
            index.append(Ellipsis)
        elif new_axis_mask >> i & 1:
            index.append(None)
        elif shrink_axis_mask >> i & 1:
            index.append(start)
        else:
            first = None if begin_mask >> i & 1 else start
            index.append(builtins.slice(first, None if end_mask >> i & 1 else stop, step))
    return getitem(x, tuple(index))
