"""Helpers for batching rules: move, insert, and broadcast batch axes.

The ``batch`` rules of primitives, which ``vmap`` applies, call these functions. A rule receives operands with
and without a batch axis: ``at[i]`` is the index of the batch axis in operand ``i``, or ``None`` if there is
no batch axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.rules import Atoms, BatchAxes

__all__ = ["aligned", "at_front", "inserted", "moved", "past", "placed"]


def inserted(values: Sequence, position: int, value: object) -> tuple:
    return (*values[:position], value, *values[position:])


def past(axes: Iterable[int], at: int) -> tuple[int, ...]:
    """Renumber ``axes`` for an array into which a batch axis is inserted at ``at``."""
    return tuple(axis + (axis >= at) for axis in axes)


def moved(x: Atom, source: int, target: int) -> Atom:
    """Move axis ``source`` of ``x`` to ``target``. All other axes keep their order."""
    others = [axis for axis in range(len(x.shape)) if axis != source]
    return REGISTRY["transpose"](x, permutation=inserted(others, target, source))


def placed(size: int, x: Atom, at: int | None, target: int) -> Atom:
    """Move the batch axis of ``x`` to ``target``, or broadcast ``x`` if it has none."""
    if at is not None:
        return moved(x, at, target)
    dims = tuple(axis for axis in range(len(x.shape) + 1) if axis != target)
    return REGISTRY["broadcast_in_dim"](x, shape=inserted(x.shape, target, size), dims=dims)


def at_front(size: int, x: Atom, at: int | None) -> Atom:
    """Move the batch axis of ``x`` to the front, or broadcast ``x`` if it has none."""
    return placed(size, x, at, 0)


def aligned(size: int, xs: Atoms, at: BatchAxes) -> tuple[list[Atom], int]:
    """Move all batch axes to the same index; return the operands and this index."""
    places = {axis for axis in at if axis is not None}
    target = places.pop() if len(places) == 1 else 0
    return [placed(size, x, axis, target) for x, axis in zip(xs, at, strict=True)], target
