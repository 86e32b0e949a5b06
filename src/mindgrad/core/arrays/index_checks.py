"""Index checks: make indices nonnegative, and reject out-of-range indices.

In eager mode, and for constants of a compiled function, the values of an index are known. Such an index
becomes a NumPy array. It is checked immediately, and arithmetic with it adds no operators to the graph. The
values of other indices are unknown until the compiled function runs. If they are out of range, a read returns
NaN (``primitives.indexing``) and a write has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import int32, int64, promote
from mindgrad.core.ir.scope import apply, open_scopes
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.primitives import arithmetic, comparisons, indexing, static_slices, structural
from mindgrad.core.trace.operands import broadcast_shapes, broadcast_to, cast, operand

__all__ = [
    "OutOfRangeError", "known", "places", "places_nd", "read_along", "read_at", "side_by_side", "write_at",
]  # fmt: skip

Places = np.ndarray | Tensor

_INT32_MAX = np.iinfo(np.int32).max


class OutOfRangeError(IndexError, RuntimeError):
    """An out-of-range index: an ``IndexError`` that is also a ``RuntimeError``.

    Programs may catch either type: Python raises ``IndexError``, and MindSpore's kernels raise
    ``RuntimeError``.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return IndexError, self.args


# tracebacks show the error as Python's IndexError
OutOfRangeError.__name__ = OutOfRangeError.__qualname__ = "IndexError"
OutOfRangeError.__module__ = "builtins"


def known(x: Tensor) -> np.ndarray | None:
    """Return the values of ``x``, or ``None`` if they are unknown at compile time."""
    return None if x._array is None else x.host_array()


def places(index: Any, size: int, operator: str, axis: int, wraps: bool = True) -> Places:
    """Convert ``index`` to indices from 0 to ``size`` − 1.

    Args:
        index: a tensor, array, or nested list of integers.
        size: number of elements along the axis.
        operator: name of the operator in error messages.
        axis: the axis in error messages.
        wraps: whether negative indices count from the end. Otherwise, a negative index is an error.

    Raises:
        TypeError: If ``index`` does not consist of integers.
        OutOfRangeError: If the value of an index is known and out of range.
    """
    if not isinstance(index, np.ndarray):
        tensor = operand(index, operator)
        values = known(tensor)
        if values is None:
            return _unknown(tensor, size, operator, wraps)
        index = values
    if index.dtype.kind not in "iu":
        raise TypeError(
            f"For '{operator}', the index must consist of integers, but its dtype is {index.dtype}."
        )
    lowest = -size if wraps else 0
    if index.size and not (lowest <= index.min() and index.max() < size):
        outside = index[(index < lowest) | (index >= size)].flat[0]
        raise OutOfRangeError(
            f"For '{operator}', the index {outside} is out of bounds for axis {axis} with size {size}: "
            f"it must be in range [{lowest}, {size})."
        )
    wide = np.int32 if size <= _INT32_MAX else np.int64
    index = index.astype(wide)
    return np.where(index < 0, index + wide(size), index) if wraps else index


def _signed(index: Tensor, operator: str) -> Tensor:
    if index.dtype.kind not in ("int", "uint"):
        raise TypeError(
            f"For '{operator}', the index must consist of integers, but its dtype is {index.dtype}."
        )
    if index.dtype in (int32, int64):
        return index
    return cast(index, int64 if index.dtype.itemsize > 2 else int32)


def _unknown(index: Tensor, size: int, operator: str, wraps: bool) -> Tensor:
    index = _signed(index, operator)
    if not wraps:
        return index
    negative = apply(comparisons.less, index, _filled(0, index))
    return apply(arithmetic.select, negative, apply(arithmetic.add, index, _filled(size, index)), index)


def _filled(number: int, like: Tensor) -> Tensor:
    return make_tensor(np.full(like.shape, number, like.dtype.numpy))


def places_nd(indices: object, sizes: Sequence[int], operator: str) -> Tensor:
    """Check indices of shape (…, k), which select elements along k axes of ``sizes``.

    Negative indices are out of range.

    Raises:
        TypeError: If the indices are not integers.
        IndexError: If the value of an index is known and out of range.
    """
    tensor = operand(indices, operator)
    values = known(tensor)
    if values is None:
        return _signed(tensor, operator)
    columns = [
        places(np.asarray(values[..., k]), size, operator, k, wraps=False) for k, size in enumerate(sizes)
    ]
    return side_by_side(columns, operator)


def side_by_side(columns: Sequence[Places], operator: str) -> Tensor:
    """Combine k indices whose shapes broadcast to b into one index of shape (*b, k)."""
    shape = broadcast_shapes(operator, *[column.shape for column in columns])
    if all(isinstance(column, np.ndarray) for column in columns):
        spread = [np.broadcast_to(column, shape) for column in columns]
        return make_tensor(np.stack(spread, axis=-1))
    tensors = [make_tensor(c) if isinstance(c, np.ndarray) else c for c in columns]
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = promote(dtype, tensor.dtype)
    parts = [
        apply(structural.reshape, broadcast_to(cast(t, dtype), shape), shape=(*shape, 1)) for t in tensors
    ]
    if len(parts) == 1:
        return parts[0]
    return apply(static_slices.concatenate, *parts, axis=len(shape))


def read_at(x: Tensor, columns: Sequence[Places], axes: tuple[int, ...], operator: str) -> Tensor:
    """Read the elements of ``x`` at the indices ``columns[k]`` along ``axes[k]``.

    If the shapes of the indices broadcast to b, the result has shape (*b, *r), where r are the sizes of the
    remaining axes of ``x``.
    """
    return apply(indexing.gather, x, side_by_side(columns, operator), axes=axes)


def read_along(x: Tensor, index: Places, axis: int) -> Tensor:
    """Read elements along ``axis``. In the result, the axes of ``index`` replace ``axis``."""
    elements = read_at(x, [index], (axis,), "Gather")
    rank = len(index.shape)
    if axis == 0 or rank == 0:
        return elements
    order = (*range(rank, rank + axis), *range(rank), *range(rank + axis, elements.ndim))
    return apply(structural.transpose, elements, permutation=order)


def write_at(
    x: Tensor, columns: Sequence[Places], axes: tuple[int, ...], updates: Tensor, operator: str
) -> Tensor:
    """Return ``x`` with ``updates`` at the elements that :func:`read_at` would read."""
    indices = side_by_side(columns, operator)
    return apply(indexing.scatter_set, x, indices, updates, axes=axes, unique=_is_unique(indices, x, axes))


def _is_unique(indices: Tensor, x: Tensor, axes: tuple[int, ...]) -> bool:
    """Return whether the indices are known to be distinct.

    In eager mode, the indices are not compared, and the result is false if there is more than one.
    """
    if indices.size <= len(axes):
        return True
    values = known(indices)
    if values is None or not open_scopes():
        return False
    columns = [values[..., k].ravel() for k in range(len(axes))]
    flat = np.ravel_multi_index(columns, [x.shape[axis] for axis in axes])
    return len(np.unique(flat)) == len(flat)
