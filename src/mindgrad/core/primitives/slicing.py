"""Dynamic slices: the size is known at compile time, and the start is an operand.

    dynamic_slice         y[i] = x[s + i]            dynamic_update_slice   y = x, then y[s + i] = u[i]

``starts`` contains one scalar integer s per axis of x. As in XLA, a start is clipped so that the whole slice
is inside x: 0 ≤ s ≤ n − size. In a batch, each sample can have different starts. The slice then becomes a
gather, and the update a scatter, along the axes that the slice does not cover.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import numpy as np

from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.graph import Atom, Constant
from mindgrad.core.ir.index_map import WINDOWED, Axes, IndexMap
from mindgrad.core.ir.rules import Array, Atoms, Module, Statics
from mindgrad.core.ir.types import Shape, TensorType, tensor_type
from mindgrad.core.ir.work import MOVE
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.axes import SIZE, Entries
from mindgrad.core.primitives.batching import at_front, inserted, moved, placed
from mindgrad.core.primitives.comparisons import greater, less
from mindgrad.core.primitives.indexing import gather, scatter_set
from mindgrad.core.primitives.kinds import cut, full, linear, zeros
from mindgrad.core.primitives.patterns import sliced_anywhere, updated_anywhere
from mindgrad.core.primitives.samples import case, fixed, reals
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, iota, transpose

__all__ = ["dynamic_slice", "dynamic_update_slice"]


def _check(name: str, x: TensorType, starts: Sequence[TensorType], sizes: Shape) -> None:
    scalars = len(starts) == x.rank and all(s.rank == 0 and s.dtype.kind in ("int", "uint") for s in starts)
    if not scalars:
        raise TypeError(
            f"For '{name}', the starts must be one scalar integer per axis of the input of shape "
            f"{x.shape}, but got {', '.join(map(repr, starts)) or 'none'}."
        )
    if len(sizes) != x.rank or any(not 0 <= k <= n for k, n in zip(sizes, x.shape, strict=False)):
        raise ValueError(
            f"For '{name}', the slice of shape {sizes} must fit into the input of shape {x.shape}: one size "
            "per axis, at most the size of the axis."
        )


def _numpy_window(x: Array, starts: Sequence[Array], sizes: Shape) -> tuple[builtins.slice[int, int], ...]:
    firsts = [min(max(int(s), 0), n - k) for s, n, k in zip(starts, np.shape(x), sizes, strict=True)]
    return tuple(builtins.slice(s, s + k) for s, k in zip(firsts, sizes, strict=True))


def _xla_starts(jax: Module, x: Array, starts: Sequence[Array], sizes: Shape) -> list[Array]:
    """Return the starts as int32, clipped so that the slice is inside ``x``."""
    clamped = []
    for s, n, k in zip(starts, x.shape, sizes, strict=True):
        s = s.astype(np.int32) if s.dtype.itemsize < 4 else s
        clamped.append(jax.numpy.clip(s, 0, n - k).astype(np.int32))
    return clamped


def _inside(start: Atom, most: int) -> Atom:
    """Clip the start of a slice, or a batch of starts, to [0, ``most``], as int32."""
    if start.dtype.itemsize < 4:
        start = convert(start, dtype=int32)
    low, high = zeros(start.type), full(start.type, most)
    start = select(less(start, low), low, start)
    return convert(select(greater(start, high), high, start), dtype=int32)


def _positions(start: Atom, count: int, size: int, most: int) -> Atom:
    """Return the indices start, …, start + ``count`` − 1 for each sample of a batch.

    The result has the shape (size, count), where ``size`` is the size of the batch.
    """
    first = broadcast_in_dim(_inside(start, most), shape=(size, count), dims=(0,))
    return first + iota(shape=(size, count), axis=1, dtype=int32)


def _with_zero(starts: Atoms, at: int) -> tuple[Atom, ...]:
    """Insert the start 0 for a batch axis at position ``at``, which is not sliced."""
    like = starts[0].type if starts else tensor_type(int32, ())
    return inserted(starts, at, zeros(like))


def _slice_batch(size: int, xs: Atoms, at: Sequence, /, sizes: Shape) -> tuple[Atom, int]:
    (x, *starts), (x_at, *starts_at) = xs, at
    if not any(batch_axis is not None for batch_axis in starts_at):
        moved_starts = _with_zero(starts, x_at)
        return dynamic_slice(x, *moved_starts, sizes=inserted(sizes, x_at, size)), x_at
    # slice first along all axes with one start for all samples, then along each axis with a start per sample
    y = at_front(size, x, x_at)
    shared = [
        zeros(s.type.with_shape(())) if p is not None else s for s, p in zip(starts, starts_at, strict=True)
    ]
    first = tuple(n if p is not None else k for n, k, p in zip(y.shape[1:], sizes, starts_at, strict=True))
    y = dynamic_slice(y, *_with_zero(shared, 0), sizes=(size, *first))
    for axis, (start, batch_axis, count) in enumerate(zip(starts, starts_at, sizes, strict=True)):
        n = y.shape[axis + 1]
        if batch_axis is not None and count != n:
            where = _positions(start, count, size, n - count)
            where = broadcast_in_dim(where, shape=(size, count, 1), dims=(0, 1))
            y = moved(gather(y, where, axes=(axis + 1,), batch=(0,)), 1, axis + 1)
    return y, 0


def _splat(x: Atom, shape: Shape) -> Atom | None:
    if isinstance(x, Constant) and x.is_splat:
        return Constant(x.value, x.type.with_shape(shape))
    return None


def _slice_type(x: TensorType, *starts: TensorType, sizes: Shape) -> TensorType:
    _check("dynamic_slice", x, starts, sizes)
    return x.with_shape(sizes)


#: ``dynamic_slice(x, *starts, sizes)``: the elements of x from ``starts`` up to, but excluding, ``starts +
#: sizes``
dynamic_slice = linear(
    "dynamic_slice",
    work=MOVE,
    moves=True,
    type_rule=_slice_type,
    numpy=lambda x, *starts, sizes: x[_numpy_window(x, starts, sizes)],
    xla=lambda jax, x, *starts, sizes: jax.lax.dynamic_slice(
        x, _xla_starts(jax, x, starts, sizes), sizes, allow_negative_indices=False
    ),
    linear_in=(0,),
    transpose=lambda ct, x, *starts, sizes: [
        cut(dynamic_update_slice(zeros(x.type), ct, *starts)),
        *[None] * len(starts),
    ],
    axes=Entries({"sizes": SIZE}, moves=False),
    pattern=sliced_anywhere,
    batch=_slice_batch,
    simplify=lambda x, *starts, sizes: x if sizes == x.shape else _splat(x, sizes),
    samples=[
        case(reals()[4, 5], fixed(1), fixed(2), sizes=(2, 3)),
        case(reals()[4, 5, 2], fixed(3), fixed(-2), fixed(0), sizes=(2, 3, 2)),
        case(reals()[3], fixed(1), sizes=(0,)),
    ],
)


def _update_type(x: TensorType, update: TensorType, *starts: TensorType) -> TensorType:
    if x.dtype is not update.dtype:
        raise TypeError(
            f"For 'dynamic_update_slice', the input and the update must have the same dtype, "
            f"but got {x} and {update}."
        )
    _check("dynamic_update_slice", x, starts, update.shape)
    return x


def _update_numpy(x: Array, update: Array, *starts: Array) -> Array:
    y = np.array(x)
    y[_numpy_window(x, starts, np.shape(update))] = update
    return y


def _update_batch(size: int, xs: Atoms, at: Sequence, /) -> tuple[Atom, int]:
    (x, update, *starts), (x_at, update_at, *starts_at) = xs, at
    if not any(place is not None for place in starts_at):
        target = update_at if x_at is None else x_at
        x, update = placed(size, x, x_at, target), placed(size, update, update_at, target)
        return dynamic_update_slice(x, update, *_with_zero(starts, target)), target
    x, update = at_front(size, x, x_at), at_front(size, update, update_at)
    # write the update by one scatter along the axes that it does not cover completely
    part = [i for i in range(1, len(x.shape)) if x.shape[i] != update.shape[i]]
    if not part:
        return update, 0
    window = [i for i in range(1, len(x.shape)) if i not in part]
    counts = tuple(update.shape[i] for i in part)
    columns = []
    for k, axis in enumerate(part):
        start = at_front(size, starts[axis - 1], starts_at[axis - 1])
        where = _positions(start, counts[k], size, x.shape[axis] - counts[k])
        columns.append(broadcast_in_dim(where, shape=(size, *counts, 1), dims=(0, k + 1)))
    indices = concatenate(*columns, axis=len(counts) + 1)
    update = transpose(update, permutation=(0, *part, *window))
    return scatter_set(x, indices, update, axes=tuple(part), batch=(0,), unique=True), 0


class _UpdateAxes(Axes):
    """Index map of ``dynamic_update_slice``.

    Elements are independent along the axes that the update covers completely. All other axes are windowed.
    """

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        x, update, *starts = shapes
        labels = tuple(range(len(x)))
        of_update = tuple([k if x[k] == update[k] else len(x) + k for k in labels])
        parts = [k for k in labels if x[k] != update[k]]
        kinds = dict.fromkeys([*parts, *[len(x) + k for k in parts]], WINDOWED)
        return IndexMap((labels, of_update, *[()] * len(starts)), (labels,), kinds)


#: ``dynamic_update_slice(x, update, *starts)``: x with ``update`` written at ``starts``
dynamic_update_slice = linear(
    "dynamic_update_slice",
    work=MOVE,
    moves=True,
    type_rule=_update_type,
    numpy=_update_numpy,
    xla=lambda jax, x, update, *starts: jax.lax.dynamic_update_slice(
        x, update, _xla_starts(jax, x, starts, update.shape), allow_negative_indices=False
    ),
    linear_in=(0, 1),
    transpose=lambda ct, x, update, *starts: [
        cut(dynamic_update_slice(ct, zeros(update.type), *starts)) if x.linear else None,
        dynamic_slice(ct, *starts, sizes=update.shape) if update.linear else None,
        *[None] * len(starts),
    ],
    pattern=updated_anywhere,
    axes=_UpdateAxes(),
    batch=_update_batch,
    simplify=lambda x, update, *starts: update if update.type is x.type else None,
    samples=[
        case(reals()[4, 5], reals()[2, 3], fixed(1), fixed(2)),
        case(reals()[4, 5, 2], reals()[2, 3, 2], fixed(3), fixed(-2), fixed(0)),
        case(reals()[3], reals()[0], fixed(1)),
    ],
)
