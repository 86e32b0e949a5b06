"""Functions that reorder, select, repeat, pad, or interpolate elements."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.arrays.getitem import element, updated
from mindgrad.core.arrays.index_checks import places, read_along, side_by_side
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.numpy.creation import ones_like, zeros
from mindgrad.core.numpy.elementwise import add, clip, divide, greater_equal, multiply, subtract, where
from mindgrad.core.numpy.reductions import Axis, axes_of, axis_of, sum
from mindgrad.core.numpy.shapes import (
    Shape,
    concatenate,
    expand_dims,
    moveaxis,
    ravel,
    reshape,
    sizes_of,
    stack,
    swapaxes,
)
from mindgrad.core.primitives import indexing, static_slices, structural
from mindgrad.core.trace.operands import applied, cast, operand, promoted
from mindgrad.core.trace.operands import broadcast_to as _broadcast_to

__all__ = [
    "delete", "diag", "diagonal", "diff", "flip", "fliplr", "flipud", "interp", "pad", "put_along_axis",
    "repeat", "roll", "rot90", "stop_gradient", "take", "take_along_axis", "tile", "trapezoid", "tril",
    "triu", "vander", "updated",
]  # fmt: skip


def flip(m: object, axis: Axis = None) -> Any:
    """Reverse the order of elements along ``axis``."""
    x = operand(m, "flip")
    return applied(static_slices.reverse, x, axes=tuple(sorted(axes_of("flip", axis, x.ndim))))


def flipud(m: object) -> Any:
    """Reverse the order of rows."""
    return flip(m, 0)


def fliplr(m: object) -> Any:
    """Reverse the order of columns."""
    return flip(m, 1)


def rot90(m: object, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """Rotate by 90 degrees, ``k`` times, in the plane of ``axes``."""
    x = operand(m, "rot90")
    for _ in range(k % 4):
        x = flip(swapaxes(x, *axes), axes[0])
    return x


def roll(a: object, shift: int | Sequence[int], axis: Axis = None) -> Any:
    """Shift elements cyclically by ``shift`` positions along ``axis``."""
    x = operand(a, "roll")
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = axes_of("roll", axis, x.ndim)
    for k, by in zip(axes, [shift] * len(axes) if isinstance(shift, int) else shift, strict=True):
        before, at = (slice(None),) * k, -by % builtins.max(x.shape[k], 1)
        x = concatenate([element(x, (*before, slice(at, None))), element(x, (*before, slice(0, at)))], k)
    return x


def tile(A: object, reps: Shape) -> Any:
    """Repeat the whole tensor ``reps[k]`` times along each axis k."""
    x, counts = operand(A, "tile"), sizes_of(reps)
    rank = builtins.max(x.ndim, len(counts))
    x, counts = reshape(x, (1,) * (rank - x.ndim) + x.shape), (1,) * (rank - len(counts)) + counts
    interleaved = [n for pair in zip(counts, x.shape, strict=True) for n in pair]
    spread = apply(
        structural.broadcast_in_dim, x, shape=tuple(interleaved), dims=tuple(range(1, 2 * rank, 2))
    )
    return reshape(spread, [m * n for m, n in zip(counts, x.shape, strict=True)])


def repeat(a: object, repeats: int | Sequence[int], axis: int | None = None) -> Any:
    """Repeat each element ``repeats`` times along ``axis``."""
    x = operand(a, "repeat")
    if axis is None:
        x, axis = ravel(x), 0
    return take(x, np.repeat(np.arange(x.shape[axis]), repeats), axis)


def take(a: object, indices: object, axis: int | None = None) -> Any:
    """Read the elements at ``indices`` along ``axis``."""
    x = operand(a, "take")
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of("take", axis, x.ndim)
    at = indices if isinstance(indices, (np.ndarray, Tensor)) else np.asarray(indices)
    return read_along(x, places(at, x.shape[axis], "take", axis), axis)


def take_along_axis(arr: object, indices: object, axis: int) -> Any:
    """Read elements along ``axis`` at ``indices``, which have as many axes as ``arr``."""
    x = operand(arr, "take_along_axis")
    return applied(indexing.gather, x, _coordinates(x, indices, axis), axes=tuple(range(x.ndim)))


def put_along_axis(arr: object, indices: object, values: object, axis: int) -> Any:
    """Return a copy of ``arr`` with ``values`` at ``indices`` along ``axis``."""
    x = operand(arr, "put_along_axis")
    at = _coordinates(x, indices, axis)
    new = _broadcast_to(cast(operand(values, "put_along_axis"), x.dtype), at.shape[:-1])
    return applied(indexing.scatter_set, x, at, new, axes=tuple(range(x.ndim)))


def _coordinates(x: Tensor, indices: object, axis: int) -> Tensor:
    """Return all coordinates of the elements that ``indices`` select along ``axis``.

    The last axis of the result contains one coordinate for each axis of ``x``.
    """
    axis = axis_of("take_along_axis", axis, x.ndim)
    column = places(indices, x.shape[axis], "take_along_axis", axis)
    columns: list[Any] = []
    for k in range(x.ndim):
        sizes = [1] * x.ndim
        sizes[k] = column.shape[k]
        columns.append(column if k == axis else np.arange(column.shape[k], dtype=np.int32).reshape(sizes))
    return side_by_side(columns, "take_along_axis")


def delete(arr: object, obj: int | Sequence[int], axis: int | None = None) -> Any:
    """Return a copy of ``arr`` without the elements at ``obj`` along ``axis``."""
    x = operand(arr, "delete")
    if axis is None:
        x, axis = ravel(x), 0
    return take(x, np.delete(np.arange(x.shape[axis]), obj), axis)


def pad(array: object, pad_width: object, constant_values: Any = 0) -> Any:
    """Add ``pad_width`` elements with ``constant_values`` at both ends of each axis."""
    x = operand(array, "pad")
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    low, high = (tuple([pair[k] for pair in widths]) for k in (0, 1))
    padded = applied(static_slices.pad, x, low=low, high=high, interior=(0,) * x.ndim)
    if not isinstance(constant_values, Tensor) and not np.any(constant_values):
        return padded
    return where(np.pad(np.ones(x.shape, bool), widths), padded, constant_values)


def diagonal(a: object, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return diagonal ``offset`` of the matrices in axes ``axis1`` and ``axis2``.

    The diagonal is along the last axis of the result.
    """
    x = moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = x.shape[-2:]
    count = builtins.max(builtins.min(rows + builtins.min(offset, 0), columns - builtins.max(offset, 0)), 0)
    at = np.arange(count)
    return element(x, (Ellipsis, at - builtins.min(offset, 0), at + builtins.max(offset, 0)))


def diag(v: object, k: int = 0) -> Any:
    """Return diagonal ``k`` of a matrix, or a matrix with vector ``v`` as diagonal."""
    x = operand(v, "diag")
    if x.ndim != 1:
        return diagonal(x, k)
    size, at = x.size + builtins.abs(k), np.arange(x.size)
    return updated(zeros((size, size), x.dtype), (at - builtins.min(k, 0), at + builtins.max(k, 0)), x)


def tril(m: object, k: int = 0) -> Any:
    """Replace the elements above diagonal ``k`` with zeros."""
    x = operand(m, "tril")
    return where(np.tri(x.shape[-2], x.shape[-1], k, bool), x, 0)


def triu(m: object, k: int = 0) -> Any:
    """Replace the elements below diagonal ``k`` with zeros."""
    x = operand(m, "triu")
    return where(np.tri(x.shape[-2], x.shape[-1], k - 1, bool), 0, x)


def vander(x: object, N: int | None = None, increasing: bool = False) -> Any:
    """Create the matrix whose ``N`` columns are powers of ``x``."""
    x = operand(x, "vander")
    powers = [ones_like(x)]
    for _ in range((x.size if N is None else N) - 1):
        powers.append(multiply(powers[-1], x))
    return stack(powers if increasing else powers[::-1], -1)


def diff(a: object, n: int = 1, axis: int = -1) -> Any:
    """Compute differences of neighboring elements along ``axis``, ``n`` times."""
    x = operand(a, "diff")
    before = (slice(None),) * axis_of("diff", axis, x.ndim)
    for _ in range(n):
        x = subtract(element(x, (*before, slice(1, None))), element(x, (*before, slice(None, -1))))
    return x


def trapezoid(y: object, x: object = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Integrate ``y`` along ``axis`` by the trapezoidal rule."""
    heights = moveaxis(y, axis, -1)
    widths = dx if x is None else diff(x)
    sums = add(element(heights, (..., slice(1, None))), element(heights, (..., slice(None, -1))))
    return sum(multiply(multiply(sums, widths), 0.5), -1)


def interp(x: object, xp: object, fp: object) -> Any:
    """Evaluate the piecewise linear function through the points (xp, fp) at ``x``.

    ``xp`` must increase. Outside the range of ``xp``, the function is constant.
    """
    x, xp, fp = promoted("interp", x, xp, fp, float_only=True)
    count = sum(greater_equal(expand_dims(x, -1), xp), -1)
    left = clip(subtract(count, 1), 0, xp.size - 2)
    x0, x1, y0, y1 = (take(v, add(left, k), 0) for v in (xp, fp) for k in (0, 1))
    share = clip(divide(subtract(x, x0), subtract(x1, x0)), 0.0, 1.0)
    return add(y0, multiply(share, subtract(y1, y0)))


def stop_gradient(x: object) -> Any:
    """Return ``x`` as a constant, whose derivative is zero."""
    return applied(structural.stop_gradient, operand(x, "stop_gradient"))
