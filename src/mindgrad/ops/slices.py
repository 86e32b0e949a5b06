"""Slice functions take their positions axis by axis, also computed ones."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor, make_tensor
from mindgrad.ops.arguments import one_or_more, sizes, whole_number
from mindgrad.ops.getitem import getitem
from mindgrad.ops.index_checks import known
from mindgrad.ops.layout import reshape
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.registry import public
from mindgrad.rows import slicing, static_slices

__all__ = ["dynamic_slice", "dynamic_update_slice", "slice", "strided_slice"]


@public("Slice")
def slice(input_x: Any, begin: Any, size: Any) -> Tensor:
    """``size`` elements of ``input_x`` from ``begin`` on, along each axis.

    Args:
        input_x: the tensor.
        begin: the first places, one per axis: ints, or an integer tensor. Where the values of that
            tensor are unknown, because the program is being compiled, the slice is moved inside.
        size: how many elements, one int per axis; −1: all that follow (``begin`` must be known).

    Raises:
        TypeError: an entry is no int.
        ValueError: there is not one entry per axis, or the slice does not lie inside.

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
            f"For 'Slice', the part from {starts} to {limits} does not lie inside the input of shape "
            f"{x.shape}."
        )
    return apply(static_slices.slice, x, start=starts, limit=limits, strides=(1,) * x.ndim)


def _starts(x: Tensor, begin: Any, operator: str) -> list[Tensor]:
    if isinstance(begin, Tensor):
        places_ = operand(begin, operator)
        if places_.shape != (x.ndim,) or places_.dtype.kind not in ("int", "uint"):
            raise ValueError(
                f"For '{operator}', the first places must be {x.ndim} integers, one per axis of the "
                f"input of shape {x.shape}, but got a tensor {places_.type}."
            )
        return [getitem(places_, axis) for axis in range(x.ndim)]
    starts = one_or_more(begin)
    if len(starts) != x.ndim:
        raise ValueError(
            f"For '{operator}', the first places must be {x.ndim} integers, one per axis of the input of "
            f"shape {x.shape}, but got {begin}."
        )
    return [
        reshape(each, ()) if isinstance(each, Tensor)
        else make_tensor(np.asarray(whole_number(each, operator, "begin"), np.int32))
        for each in starts
    ]  # fmt: skip


def dynamic_slice(input_x: Any, begin: Any, size: Any) -> Tensor:
    """``size`` elements along each axis from ``begin`` on, which may be computed; moved inside.

    Args:
        input_x: the tensor.
        begin: the first places: an integer tensor, or ints and tensors in a tuple.
        size: how many elements, one int per axis.

    Raises:
        TypeError: an entry is no integer.
        ValueError: there is not one entry per axis, or ``size`` is larger than the tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.dynamic_slice(Tensor([1.0, 2.0, 3.0]), Tensor([2]), (2,)))
    [2. 3.]
    """
    x = operand(input_x, "DynamicSlice")
    counts = sizes(size, "DynamicSlice", "size", least=0)
    if len(counts) != x.ndim or any(n > m for n, m in zip(counts, x.shape, strict=True)):
        raise ValueError(
            f"For 'DynamicSlice', the 'size' must have one entry per axis, none larger than the input of "
            f"shape {x.shape}, but got {size}."
        )
    return apply(slicing.dynamic_slice, x, *_starts(x, begin, "DynamicSlice"), sizes=counts)


def dynamic_update_slice(input_x: Any, update: Any, begin: Any) -> Tensor:
    """``input_x`` with the elements from ``begin`` on replaced by ``update``, which is moved inside.

    Args:
        input_x: the tensor.
        update: a tensor of the same rank, no larger; it is converted to the same element type.
        begin: the first places: an integer tensor, or ints and tensors in a tuple.

    Raises:
        TypeError: an entry is no integer.
        ValueError: there is not one entry per axis, or ``update`` is larger than the tensor.

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
    """``input_x[begin[0] : end[0] : strides[0], begin[1] : …]``, by Python's rules.

    Args:
        input_x: the tensor.
        begin, end, strides: tuples of ints of one length, at most the rank.
        begin_mask: bit i set: entry i begins where the axis does.
        end_mask: bit i set: entry i ends where the axis does.
        ellipsis_mask: the entry whose bit is set is ``...``.
        new_axis_mask: bit i set: entry i is a new axis of size 1.
        shrink_axis_mask: bit i set: entry i is the element ``begin[i]`` and its axis disappears.

    Raises:
        TypeError: an entry is no int.
        ValueError: the tuples have not one length, or a stride is 0.
        IndexError: an element that is asked for is out of range.

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
            f"For 'StridedSlice', 'begin', 'end' and 'strides' must have one length, but got {begin}, "
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
