"""Reading and writing at places that are data: gather, scatter, dynamic slices, and the order of sorting.

    gather       y[b, r] = x[i(b), r]               scatter_add    y = x, then y[i(b), r] += u[b, r]
                                                    scatter_set    y = x, then y[i(b), r]  = u[b, r]

``indices`` has shape (*b, k): its last axis holds a position along each of the k ``axes`` of x, b runs
over the lookups and r over the other axes of x in their order, so y (u) has shape (*b, *r). Axes of x
in ``batch`` go along with the first axes of ``indices`` instead: lookup b reads in its own part of x.

Positions count from 0; the operators that wrap negative ones do so before. A position outside of x is
never moved to another element: reading there gives NaN (integers: the largest magnitude below zero,
the largest number if unsigned; False) or, with ``fill="zero"``, 0, and writing there does nothing. Of
several writes to one place the last one, in the order of ``indices``, stays. Both executors agree on
all of this. Dynamic slices, whose size is static, are moved inside as XLA does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.dtype import bool_, int32
from mindgrad.core.graph import Constant
from mindgrad.core.types import Shape, TensorType
from mindgrad.primitives.arithmetic import select
from mindgrad.primitives.batching import at_front, batched_along, moved, past, placed
from mindgrad.primitives.kinds import constant, full, linear, zeros
from mindgrad.primitives.precision import is_half
from mindgrad.primitives.samples import case, fixed, integers, reals
from mindgrad.primitives.structural import broadcast_in_dim, concatenate, iota, reshape

__all__ = [
    "argsort", "dynamic_slice", "dynamic_update_slice", "gather", "last_write", "scatter_add",
    "scatter_set",
]  # fmt: skip

_INT32_MAX = np.iinfo(np.int32).max


# --- what the rows share ---------------------------------------------------------------------------


def _window(rank: int, axes: Shape, batch: Shape) -> Shape:
    """The axes of x that a lookup takes whole."""
    return tuple(axis for axis in range(rank) if axis not in axes and axis not in batch)


def _lookup_shape(name: str, x: TensorType, indices: TensorType, axes: Shape, batch: Shape) -> Shape:
    """The shape (*b, *r) of what is read or written."""
    if indices.dtype.kind not in ("int", "uint"):
        raise TypeError(f"For '{name}', the indices must be integers, but got {indices.dtype}.")
    used = (*axes, *batch)
    if any(not 0 <= axis < x.rank for axis in used) or len(set(used)) != len(used):
        raise ValueError(
            f"For '{name}', the axes {axes} and batch axes {batch} must be distinct and inside the "
            f"input of shape {x.shape}."
        )
    if not indices.shape or indices.shape[-1] != len(axes):
        raise ValueError(
            f"For '{name}', the last axis of the indices must hold a position for each of the "
            f"{len(axes)} indexed axes, but the indices have shape {indices.shape}."
        )
    together = tuple(x.shape[axis] for axis in batch)
    if indices.shape[: len(batch)] != together or indices.rank <= len(batch):
        raise ValueError(
            f"For '{name}', the indices must begin with the batch axes {together} of the input, "
            f"but have shape {indices.shape}."
        )
    window = tuple(x.shape[axis] for axis in _window(x.rank, axes, batch))
    return (*indices.shape[:-1], *window)


def _places(shape: Shape, indices: Any, axes: Shape, batch: Shape) -> tuple[tuple, Any]:
    """NumPy's index into x with (batch, axes, window) axes, made valid, and which lookups are inside."""
    sizes = [shape[axis] for axis in axes]
    columns = [indices[..., k] for k in range(len(axes))]
    inside = np.ones(indices.shape[:-1], bool)
    for column, size in zip(columns, sizes, strict=True):
        inside &= (column >= 0) & (column < size)
    if not inside.all():
        columns = [np.where(inside, column, 0) for column in columns]
    grid = []
    for position, axis in enumerate(batch):
        expanded = [1] * (indices.ndim - 1)
        expanded[position] = shape[axis]
        grid.append(np.arange(shape[axis]).reshape(expanded))
    return (*grid, *columns), inside


def _arranged(x: Any, axes: Shape, batch: Shape) -> tuple[Any, tuple[int, ...]]:
    """A view of x with axes (batch, axes, window), and the permutation that made it."""
    order = (*batch, *axes, *_window(x.ndim, axes, batch))
    return np.transpose(x, order), order


def _outside(dtype: Any, fill: str) -> Any:
    """What a lookup outside of x reads."""
    if fill == "zero" or dtype.kind == "b":
        return np.zeros((), dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.asarray(limits.max if dtype.kind == "u" else limits.min, dtype)
    return np.asarray(np.nan, dtype)


def _xla_indices(jax: Any, indices: Any) -> Any:
    """Indices in a signed type that holds every position (narrow types cannot hold the sizes)."""
    if indices.dtype.kind == "u":
        indices = jax.numpy.minimum(indices, np.asarray(_INT32_MAX).astype(indices.dtype)) if (
            indices.dtype.itemsize >= 4
        ) else indices
        return indices.astype(np.int32)
    return indices.astype(np.int32) if indices.dtype.itemsize < 4 else indices
