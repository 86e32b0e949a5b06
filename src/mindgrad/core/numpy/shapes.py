"""Creation of arrays, and functions that change shapes or move elements."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, SupportsIndex

import numpy as np

from mindgrad.core.arrays.getitem import element, updated
from mindgrad.core.arrays.index_checks import places, read_along, side_by_side
from mindgrad.core.arrays.operands import (
    applied,
    broadcast_shapes,
    broadcast_together,
    cast,
    inexact,
    operand,
    promoted,
)
from mindgrad.core.arrays.operands import broadcast_to as _broadcast_to
from mindgrad.core.ir.dtype import as_dtype, float32, int64
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.numpy.elementwise import add, clip, divide, greater_equal, multiply, subtract, where
from mindgrad.core.numpy.reductions import Axis, axes_of, axis_of, sum
from mindgrad.core.primitives import indexing, static_slices, structural

__all__ = [
    "append", "arange", "array", "array_split", "asarray", "astype", "atleast_1d", "atleast_2d",
    "atleast_3d", "broadcast_arrays", "broadcast_to", "column_stack", "concatenate", "copy", "delete", "diag",
    "diagonal", "diff", "dsplit", "dstack", "empty", "empty_like", "expand_dims", "eye", "flip", "fliplr",
    "flipud", "full", "full_like", "geomspace", "hsplit", "hstack", "identity", "indices", "interp",
    "linspace", "logspace", "meshgrid", "moveaxis", "ndim", "ones", "ones_like", "pad", "put_along_axis",
    "ravel", "repeat", "reshape", "roll", "rollaxis", "rot90", "shape", "size", "split", "squeeze", "stack",
    "stop_gradient", "swapaxes", "take", "take_along_axis", "tile", "transpose", "trapezoid", "tri", "tril",
    "triu", "updated", "vander", "vsplit", "vstack", "zeros", "zeros_like",
]  # fmt: skip

Shape = SupportsIndex | Sequence[SupportsIndex]


def _shape(shape: Shape) -> tuple[int, ...]:
    return (operator.index(shape),) if isinstance(shape, SupportsIndex) else tuple(map(operator.index, shape))


# -- creation ------------------------------------------------------------------------------------------


def array(object: Any, dtype: Any = None) -> Tensor:
    """Convert numbers, nested lists, arrays, and tensors to a tensor."""
    if isinstance(object, (builtins.bool, int, float, complex)):
        return Tensor(object, dtype)
    x = operand(object, "array")
    if isinstance(object, Tensor) and type(x) is not Tensor:  # a traced number
        x = make_tensor(x._array, x._type, x._scope, x._atom)
        return cast(x, Tensor(object.sample()).dtype if dtype is None else as_dtype(dtype))  # type: ignore[attr-defined]
    return x if dtype is None else cast(x, as_dtype(dtype))


asarray = array


def astype(x: Any, dtype: Any) -> Tensor:
    """Convert ``x`` to element type ``dtype``."""
    return cast(operand(x, "astype"), as_dtype(dtype))


def copy(a: Any) -> Tensor:
    """Return ``a`` as a tensor. Tensors are immutable."""
    return array(a)


def full(shape: Shape, fill_value: Any, dtype: Any = None) -> Tensor:
    """Create a tensor whose elements equal ``fill_value``."""
    return broadcast_to(array(fill_value, dtype), _shape(shape))


def zeros(shape: Shape, dtype: Any = float32) -> Tensor:
    """Create a tensor of zeros; float32 by default."""
    return _filled(0, _shape(shape), dtype)


def ones(shape: Shape, dtype: Any = float32) -> Tensor:
    """Create a tensor of ones; float32 by default."""
    return _filled(1, _shape(shape), dtype)


empty = zeros


def _filled(number: int, shape: tuple[int, ...], dtype: Any) -> Tensor:
    type_ = tensor_type(dtype, shape)
    return make_tensor(np.full(shape, number, type_.dtype.numpy), type_)


def zeros_like(a: Any, dtype: Any = None) -> Tensor:
    """Create zeros of the shape and element type of ``a``."""
    x = operand(a, "zeros_like")
    return _filled(0, x.shape, x.dtype if dtype is None else dtype)


def ones_like(a: Any, dtype: Any = None) -> Tensor:
    """Create ones of the shape and element type of ``a``."""
    x = operand(a, "ones_like")
    return _filled(1, x.shape, x.dtype if dtype is None else dtype)


empty_like = zeros_like


def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Create a tensor of the shape and element type of ``a`` whose elements equal ``fill_value``."""
    x = operand(a, "full_like")
    return full(x.shape, fill_value, x.dtype if dtype is None else dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """Create evenly spaced numbers with distance ``step``; int64 for ints, float32 for floats."""
    numbers = np.arange(start) if stop is None else np.arange(start, stop, step)
    return Tensor(numbers, _dtype_of(numbers, dtype))


def _dtype_of(numbers: np.ndarray, dtype: Any) -> Any:
    return dtype if dtype is not None else int64 if numbers.dtype.kind in "iu" else float32


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Tensor:
    """Create ``num`` evenly spaced numbers from ``start`` to ``stop``; differentiable in both."""
    fractions = np.arange(num) / builtins.max(num - 1 if endpoint else num, 1)
    if not isinstance(start, Tensor) and not isinstance(stop, Tensor):
        return Tensor(start + (stop - start) * fractions, float32 if dtype is None else dtype)
    first, last = (inexact(x) for x in promoted("linspace", start, stop))
    steps = Tensor(fractions, first.dtype if dtype is None else dtype)
    return add(multiply(first, subtract(1, steps)), multiply(last, steps))


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: Any = None
) -> Tensor:
    """Create ``num`` numbers from base^start to base^stop, evenly spaced on a logarithmic scale."""
    return Tensor(np.logspace(start, stop, num, endpoint, base), float32 if dtype is None else dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Tensor:
    """Create ``num`` numbers from ``start`` to ``stop`` with constant ratios."""
    return Tensor(np.geomspace(start, stop, num, endpoint), float32 if dtype is None else dtype)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:
    """Create a matrix with ones on diagonal ``k``, and zeros elsewhere."""
    return Tensor(np.eye(N, M, k), dtype)


def identity(n: int, dtype: Any = float32) -> Tensor:
    """Create the identity matrix of size ``n``."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:
    """Create a matrix with ones at and below diagonal ``k``, and zeros elsewhere."""
    return Tensor(np.tri(N, M, k), dtype)


def indices(dimensions: Sequence[int], dtype: Any = int64) -> Tensor:
    """Create the indices of a grid, of shape ``(len(dimensions), *dimensions)``."""
    return Tensor(np.indices(_shape(dimensions)), dtype)


def meshgrid(*xi: Any, indexing: str = "xy") -> list[Tensor]:
    """Create coordinate arrays of the grid of 1-D arrays ``xi``."""
    xs = [operand(x, "meshgrid") for x in xi]
    swapped = indexing == "xy" and len(xs) > 1
    order = [1, 0, *range(2, len(xs))] if swapped else list(range(len(xs)))
    sizes = tuple([xs[k].size for k in order])
    return [
        apply(structural.broadcast_in_dim, ravel(x), shape=sizes, dims=(order.index(k),))
        for k, x in enumerate(xs)
    ]


# -- shapes --------------------------------------------------------------------------------------------


def shape(a: Any) -> tuple[int, ...]:
    """Return the sizes of the axes of ``a``."""
    return operand(a, "shape").shape


def ndim(a: Any) -> int:
    """Return the number of axes of ``a``."""
    return operand(a, "ndim").ndim


def size(a: Any, axis: int | None = None) -> int:
    """Return the number of elements of ``a``, or the size of ``axis``."""
    x = operand(a, "size")
    return x.size if axis is None else x.shape[axis]


def reshape(a: Any, shape: Shape) -> Any:
    """Change the shape of ``a``; one size may be −1."""
    x, sizes = operand(a, "reshape"), _shape(shape)
    if -1 in sizes:
        known = math.prod(n for n in sizes if n != -1)
        if not known or x.size % known or sizes.count(-1) > 1:
            raise ValueError(f"For 'reshape', shape {x.shape} does not fit {sizes}.")
        sizes = tuple([x.size // known if n == -1 else n for n in sizes])
    return applied(structural.reshape, x, shape=sizes)


def ravel(a: Any) -> Any:
    """Return the elements of ``a`` as a 1-D tensor."""
    return reshape(a, -1) if operand(a, "ravel").size else reshape(a, 0)


def transpose(a: Any, axes: Sequence[int] | None = None) -> Any:
    """Permute the axes of ``a``; ``None`` reverses them."""
    x = operand(a, "transpose")
    order = range(x.ndim)[::-1] if axes is None else axes_of("transpose", axes, x.ndim)
    return applied(structural.transpose, x, permutation=tuple(order))


def moveaxis(a: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
    """Move axes to new positions."""
    x = operand(a, "moveaxis")
    sources, targets = axes_of("moveaxis", source, x.ndim), axes_of("moveaxis", destination, x.ndim)
    order = [k for k in range(x.ndim) if k not in sources]
    for target, k in sorted(zip(targets, sources, strict=True)):
        order.insert(target, k)
    return transpose(x, order)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """Move ``axis`` backwards until it is before axis ``start``."""
    x = operand(a, "rollaxis")
    axis, start = axis % x.ndim, start + x.ndim if start < 0 else start
    return moveaxis(x, axis, start - 1 if start > axis else start)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Exchange two axes."""
    x = operand(a, "swapaxes")
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose(x, order)


def expand_dims(a: Any, axis: int | Sequence[int]) -> Any:
    """Insert axes of size 1."""
    x = operand(a, "expand_dims")
    count = x.ndim + (1 if isinstance(axis, int) else len(axis))
    axes, sizes = axes_of("expand_dims", axis, count), iter(x.shape)
    return reshape(x, [1 if k in axes else next(sizes) for k in range(count)])


def squeeze(a: Any, axis: Axis = None) -> Any:
    """Remove axes of size 1."""
    x = operand(a, "squeeze")
    axes = [k for k, n in enumerate(x.shape) if n == 1] if axis is None else axes_of("squeeze", axis, x.ndim)
    if builtins.any(x.shape[k] != 1 for k in axes):
        raise ValueError(
            f"For 'squeeze', only axes of size 1 can be removed, but shape {x.shape} has axis {axis}."
        )
    return reshape(x, [n for k, n in enumerate(x.shape) if k not in axes])


def broadcast_to(array: Any, shape: Shape) -> Any:
    """Broadcast ``array`` to ``shape``."""
    x, sizes = operand(array, "broadcast_to"), _shape(shape)
    if broadcast_shapes("broadcast_to", x.shape, sizes) != sizes:
        raise ValueError(f"For 'broadcast_to', shape {x.shape} does not broadcast to {sizes}.")
    return _broadcast_to(x, sizes)


def broadcast_arrays(*args: Any) -> list[Any]:
    """Broadcast tensors to one shape."""
    return broadcast_together("broadcast_arrays", *[operand(x, "broadcast_arrays") for x in args])


def _at_least(name: str, count: int, place: Callable[[tuple[int, ...]], tuple[int, ...]], xs: Any) -> Any:
    tensors = [operand(x, name) for x in xs]
    found = [x if x.ndim >= count else reshape(x, place(x.shape)) for x in tensors]
    return found[0] if len(found) == 1 else found


def atleast_1d(*arys: Any) -> Any:
    """Add an axis to scalars."""
    return _at_least("atleast_1d", 1, lambda s: (1,), arys)


def atleast_2d(*arys: Any) -> Any:
    """Add leading axes until there are two."""
    return _at_least("atleast_2d", 2, lambda s: (1,) * (2 - len(s)) + s, arys)


def atleast_3d(*arys: Any) -> Any:
    """Add axes until there are three, as NumPy does."""
    forms: dict[int, Callable[..., tuple[int, ...]]] = {
        0: lambda: (1, 1, 1), 1: lambda n: (1, n, 1), 2: lambda m, n: (m, n, 1)
    }  # fmt: skip
    return _at_least("atleast_3d", 3, lambda s: forms[len(s)](*s), arys)


# -- joining and splitting -----------------------------------------------------------------------------


def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Any:
    """Join tensors along an existing axis."""
    xs = promoted("concatenate", *arrays)
    if axis is None:
        xs, axis = [ravel(x) for x in xs], 0
    return (
        xs[0]
        if len(xs) == 1
        else applied(static_slices.concatenate, *xs, axis=axis_of("concatenate", axis, xs[0].ndim))
    )


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Join tensors along a new axis."""
    return concatenate([expand_dims(x, axis) for x in promoted("stack", *arrays)], axis)


def vstack(tup: Sequence[Any]) -> Any:
    """Join tensors along the first axis; 1-D tensors become rows."""
    return concatenate([atleast_2d(x) for x in tup], 0)


def hstack(tup: Sequence[Any]) -> Any:
    """Join tensors along the second axis, or the first axis of 1-D tensors."""
    xs = [atleast_1d(x) for x in tup]
    return concatenate(xs, 0 if xs[0].ndim == 1 else 1)


def dstack(tup: Sequence[Any]) -> Any:
    """Join tensors along the third axis."""
    return concatenate([atleast_3d(x) for x in tup], 2)


def column_stack(tup: Sequence[Any]) -> Any:
    """Join 1-D tensors as columns of a matrix."""
    xs = [operand(x, "column_stack") for x in tup]
    return concatenate([x if x.ndim > 1 else reshape(x, (-1, 1)) for x in xs], 1)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Join ``arr`` and ``values``; without ``axis``, both are flattened."""
    return concatenate([arr, values], axis)


def split(ary: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    """Split into equal parts, or before the given indices."""
    x = operand(ary, "split")
    count = x.shape[axis]
    if isinstance(indices_or_sections, int) and count % indices_or_sections:
        raise ValueError(f"For 'split', size {count} is not a multiple of {indices_or_sections}.")
    return array_split(x, indices_or_sections, axis)


def array_split(ary: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    """Split into nearly equal parts, or before the given indices."""
    x = operand(ary, "array_split")
    axis, count = axis_of("array_split", axis, x.ndim), x.shape[axis]
    if isinstance(indices_or_sections, int):
        size, longer = divmod(count, indices_or_sections)
        bounds = [k * size + builtins.min(k, longer) for k in range(indices_or_sections + 1)]
    else:
        bounds = [0, *indices_or_sections, count]
    before = (slice(None),) * axis
    return [element(x, (*before, slice(a, b))) for a, b in pairwise(bounds)]


def hsplit(ary: Any, indices_or_sections: int | Sequence[int]) -> list[Any]:
    """Split along the second axis, or the first axis of a 1-D tensor."""
    return split(ary, indices_or_sections, 1 if operand(ary, "hsplit").ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: int | Sequence[int]) -> list[Any]:
    """Split along the first axis."""
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: int | Sequence[int]) -> list[Any]:
    """Split along the third axis."""
    return split(ary, indices_or_sections, 2)


# -- moving elements -----------------------------------------------------------------------------------


def flip(m: Any, axis: Axis = None) -> Any:
    """Reverse the order of elements along ``axis``."""
    x = operand(m, "flip")
    return applied(static_slices.reverse, x, axes=tuple(sorted(axes_of("flip", axis, x.ndim))))


def flipud(m: Any) -> Any:
    """Reverse the order of rows."""
    return flip(m, 0)


def fliplr(m: Any) -> Any:
    """Reverse the order of columns."""
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """Rotate by 90 degrees ``k`` times, in the plane of two axes."""
    x = operand(m, "rot90")
    for _ in range(k % 4):
        x = flip(swapaxes(x, *axes), axes[0])
    return x


def roll(a: Any, shift: int | Sequence[int], axis: Axis = None) -> Any:
    """Shift elements cyclically along ``axis``."""
    x = operand(a, "roll")
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = axes_of("roll", axis, x.ndim)
    for k, by in zip(axes, [shift] * len(axes) if isinstance(shift, int) else shift, strict=True):
        before, at = (slice(None),) * k, -by % builtins.max(x.shape[k], 1)
        x = concatenate([element(x, (*before, slice(at, None))), element(x, (*before, slice(0, at)))], k)
    return x


def tile(A: Any, reps: Shape) -> Any:
    """Repeat a tensor along its axes."""
    x, counts = operand(A, "tile"), _shape(reps)
    rank = builtins.max(x.ndim, len(counts))
    x, counts = reshape(x, (1,) * (rank - x.ndim) + x.shape), (1,) * (rank - len(counts)) + counts
    interleaved = [n for pair in zip(counts, x.shape, strict=True) for n in pair]
    spread = apply(
        structural.broadcast_in_dim, x, shape=tuple(interleaved), dims=tuple(range(1, 2 * rank, 2))
    )
    return reshape(spread, [m * n for m, n in zip(counts, x.shape, strict=True)])


def repeat(a: Any, repeats: int | Sequence[int], axis: int | None = None) -> Any:
    """Repeat elements along ``axis``."""
    x = operand(a, "repeat")
    if axis is None:
        x, axis = ravel(x), 0
    return take(x, np.repeat(np.arange(x.shape[axis]), repeats), axis)


def take(a: Any, indices: Any, axis: int | None = None) -> Any:
    """Read elements at ``indices`` along ``axis``."""
    x = operand(a, "take")
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of("take", axis, x.ndim)
    at = indices if isinstance(indices, (np.ndarray, Tensor)) else np.asarray(indices)
    return read_along(x, places(at, x.shape[axis], "take", axis), axis)


def take_along_axis(arr: Any, indices: Any, axis: int) -> Any:
    """Read elements at ``indices``, an array with as many axes as ``arr``, along ``axis``."""
    x = operand(arr, "take_along_axis")
    return applied(indexing.gather, x, _coordinates(x, indices, axis), axes=tuple(range(x.ndim)))


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int) -> Any:
    """Return a copy of ``arr`` with ``values`` at ``indices`` along ``axis``."""
    x = operand(arr, "put_along_axis")
    at = _coordinates(x, indices, axis)
    new = _broadcast_to(cast(operand(values, "put_along_axis"), x.dtype), at.shape[:-1])
    return applied(indexing.scatter_set, x, at, new, axes=tuple(range(x.ndim)))


def _coordinates(x: Tensor, indices: Any, axis: int) -> Tensor:
    """Return the coordinates of elements at ``indices`` along ``axis``, along a new last axis."""
    axis = axis_of("take_along_axis", axis, x.ndim)
    column = places(indices, x.shape[axis], "take_along_axis", axis)
    columns: list[Any] = []
    for k in range(x.ndim):
        sizes = [1] * x.ndim
        sizes[k] = column.shape[k]
        columns.append(column if k == axis else np.arange(column.shape[k], dtype=np.int32).reshape(sizes))
    return side_by_side(columns, "take_along_axis")


def delete(arr: Any, obj: int | Sequence[int], axis: int | None = None) -> Any:
    """Return a copy of ``arr`` without the elements at ``obj`` along ``axis``."""
    x = operand(arr, "delete")
    if axis is None:
        x, axis = ravel(x), 0
    return take(x, np.delete(np.arange(x.shape[axis]), obj), axis)


def pad(array: Any, pad_width: Any, constant_values: Any = 0) -> Any:
    """Add ``constant_values`` before and after each axis."""
    x = operand(array, "pad")
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    low, high = (tuple([pair[k] for pair in widths]) for k in (0, 1))
    padded = applied(static_slices.pad, x, low=low, high=high, interior=(0,) * x.ndim)
    if not isinstance(constant_values, Tensor) and not np.any(constant_values):
        return padded
    return where(np.pad(np.ones(x.shape, bool), widths), padded, constant_values)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return a diagonal along the last axis of the result."""
    x = moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = x.shape[-2:]
    count = builtins.max(builtins.min(rows + builtins.min(offset, 0), columns - builtins.max(offset, 0)), 0)
    at = np.arange(count)
    return element(x, (Ellipsis, at - builtins.min(offset, 0), at + builtins.max(offset, 0)))


def diag(v: Any, k: int = 0) -> Any:
    """Return a diagonal of a matrix, or a matrix with this diagonal."""
    x = operand(v, "diag")
    if x.ndim != 1:
        return diagonal(x, k)
    size, at = x.size + builtins.abs(k), np.arange(x.size)
    return updated(zeros((size, size), x.dtype), (at - builtins.min(k, 0), at + builtins.max(k, 0)), x)


def tril(m: Any, k: int = 0) -> Any:
    """Replace the elements above diagonal ``k`` by zeros."""
    x = operand(m, "tril")
    return where(np.tri(x.shape[-2], x.shape[-1], k, bool), x, 0)


def triu(m: Any, k: int = 0) -> Any:
    """Replace the elements below diagonal ``k`` by zeros."""
    x = operand(m, "triu")
    return where(np.tri(x.shape[-2], x.shape[-1], k - 1, bool), 0, x)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Create the matrix of powers of ``x``, with ``N`` columns."""
    x = operand(x, "vander")
    powers = [ones_like(x)]
    for _ in range((x.size if N is None else N) - 1):
        powers.append(multiply(powers[-1], x))
    return stack(powers if increasing else powers[::-1], -1)


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """Compute differences of neighbors along ``axis``, ``n`` times."""
    x = operand(a, "diff")
    before = (slice(None),) * axis_of("diff", axis, x.ndim)
    for _ in range(n):
        x = subtract(element(x, (*before, slice(1, None))), element(x, (*before, slice(None, -1))))
    return x


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Integrate ``y`` along ``axis`` by the trapezoidal rule."""
    y = moveaxis(y, axis, -1)
    widths = dx if x is None else diff(x)
    return sum(
        multiply(
            multiply(add(element(y, (..., slice(1, None))), element(y, (..., slice(None, -1)))), widths), 0.5
        ),
        -1,
    )


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """Interpolate linearly between the points (xp, fp), with constants outside; ``xp`` must increase."""
    x, xp, fp = promoted("interp", x, xp, fp, float_only=True)
    count = sum(greater_equal(expand_dims(x, -1), xp), -1)
    left = clip(subtract(count, 1), 0, xp.size - 2)
    x0, x1, y0, y1 = (take(v, add(left, k), 0) for v in (xp, fp) for k in (0, 1))
    share = clip(divide(subtract(x, x0), subtract(x1, x0)), 0.0, 1.0)
    return add(y0, multiply(share, subtract(y1, y0)))


def stop_gradient(x: Any) -> Any:
    """Return ``x`` as a constant, with derivative zero."""
    return applied(structural.stop_gradient, operand(x, "stop_gradient"))
