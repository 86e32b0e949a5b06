"""Scatter updates that combine repeated indices: multiply, divide, max, min.

    y[i] = (… ((x[i] ∘ u₁) ∘ u₂) …) ∘ uₙ        u₁ … uₙ are the updates with index i, in their order

Round k applies the k-th update of every element, so the number of rounds is the largest number of
updates of one element. If the indices are known, they are sorted into rounds beforehand. If a compiled
function computes the indices, it also sorts them, and the rounds are a loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mindgrad.core.arrays.index_checks import known, read_along
from mindgrad.core.ir.dtype import int32, int64
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.primitives import indexing
from mindgrad.core.trace import references
from mindgrad.ops import arithmetic, comparison, extremes, joining, layout
from mindgrad.ops.operands import broadcast_to, cast, choose, full_tensor
from mindgrad.ops.ordering import argsort, searchsorted
from mindgrad.solvers import iterate

__all__ = ["fold"]


def fold(primitive: Primitive, operator: str, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Apply ``primitive`` to elements of ``x`` and their updates, one by one.

    Args:
        primitive: primitive of the operation ∘.
        operator: name of the operator in errors.
        x: a tensor.
        indices: integers of shape (…, k), indices along the first k axes of ``x``. Updates at unknown indices
            that are out of range are ignored.
        updates: tensor of shape (…, the other axes of ``x``).

    Raises:
        RuntimeError: If the indices are unknown outside a compiled function.
    """
    count = indices.shape[-1]
    size = math.prod(indices.shape[:-1])
    updates = layout.reshape(updates, (size, *x.shape[count:]))
    values = known(indices)
    if values is not None:
        return _by_known_rounds(primitive, x, values.reshape(-1, count), updates)
    if not references.is_compiling():
        raise RuntimeError(
            f"For '{operator}', the values of the indices must be known when the function runs, but vmap "
            "maps over one of their axes. Compile the mapped function, jit(vmap(f)), or use "
            "tensor_scatter_add or tensor_scatter_update."
        )
    if not size:
        return x
    columns = joining.unstack(layout.reshape(cast(indices, int64), (size, count)), -1)
    return _by_loop(primitive, x, columns, updates)


def _by_known_rounds(primitive: Primitive, x: Tensor, indices: np.ndarray, updates: Tensor) -> Tensor:
    axes = tuple(range(indices.shape[1]))
    flat = indices[:, 0]
    if indices.size:
        flat = np.ravel_multi_index(list(indices.T), x.shape[: len(axes)])
    order = np.argsort(flat, kind="stable")
    starts = np.r_[True, flat[order][1:] != flat[order][:-1]] if len(order) else np.zeros(0, bool)
    first = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    rounds = np.empty(len(order), int)
    rounds[order] = np.arange(len(order)) - first
    for turn in range(int(rounds.max(initial=-1)) + 1):
        members = np.flatnonzero(rounds == turn).astype(np.int32)
        columns = make_tensor(indices[members])
        old = apply(indexing.gather, x, columns, axes=axes)
        result = apply(primitive, old, read_along(updates, members, 0))
        x = apply(indexing.scatter_set, x, columns, result, axes=axes, unique=True)
    return x


def _by_loop(primitive: Primitive, x: Tensor, columns: Sequence[Tensor], updates: Tensor) -> Tensor:
    """Run the rounds as a loop.

    The table of elements has one extra row, which collects the updates that are not due in a round.
    """
    sizes, part = x.shape[: len(columns)], x.shape[len(columns) :]
    elements, count = math.prod(sizes), updates.shape[0]
    flat = _flat_indices(columns, sizes)
    rounds = _rounds(flat, elements)
    most = extremes.amax(rounds)
    table = joining.concat([layout.reshape(x, (elements, *part)), full_tensor(1, x.dtype, (1, *part))])

    def continues(turn: Tensor, table: Tensor) -> Tensor:
        return comparison.less_equal(turn, most)

    def iteration(turn: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
        is_due = comparison.equal(rounds, turn)
        index = layout.reshape(choose(is_due, flat, elements), (count, 1))
        old = apply(indexing.gather, table, index, axes=(0,))
        mask = broadcast_to(layout.reshape(is_due, (count, *[1] * len(part))), (count, *part))
        result = choose(mask, apply(primitive, old, choose(mask, updates, 1)), old)
        table = apply(indexing.scatter_set, table, index, result, axes=(0,), unique=False)
        return arithmetic.add(turn, 1), table

    _, table = iterate.repeat(continues, iteration, full_tensor(0, int32, ()), table)
    return layout.reshape(table[:elements], x.shape)  # type: ignore[index]


def _flat_indices(columns: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """Return flat indices: the number of elements, for an index out of range."""
    flat, is_inside = columns[0], comparison.logical_and(*_bounds(columns[0], sizes[0]))
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        flat = arithmetic.add(arithmetic.mul(flat, size), column)
        for test in _bounds(column, size):
            is_inside = comparison.logical_and(is_inside, test)
    return choose(is_inside, flat, math.prod(sizes))


def _bounds(column: Tensor, size: int) -> tuple[Tensor, Tensor]:
    return comparison.greater_equal(column, 0), comparison.less(column, size)


def _rounds(flat: Tensor, elements: int) -> Tensor:
    """Count earlier updates of the same element (int32); −1 if out of range."""
    (count,) = flat.shape
    numbers = make_tensor(np.arange(count, dtype=np.int64))
    # sort by element, then by the order of the updates
    order = argsort(arithmetic.add(arithmetic.mul(flat, count), numbers))
    ordered = read_along(flat, order, 0)
    preceding = cast(arithmetic.sub(numbers, searchsorted(ordered, ordered)), int32)
    return choose(comparison.equal(flat, elements), -1, read_along(preceding, argsort(order), 0))
