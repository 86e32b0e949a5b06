"""Helpers for batching rules: move, insert, and broadcast batch axes.

The ``batch`` rules of primitives, which ``vmap`` applies, call these functions. A rule receives operands with
and without a batch axis: ``at[i]`` is the index of the batch axis in operand ``i``, or ``None`` if there is
no batch axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mindgrad.ir.primitive import REGISTRY

__all__ = ["aligned", "at_front", "inserted", "moved", "past", "placed"]


def inserted(values: Sequence[Any], position: int, value: Any) -> tuple[Any, ...]:
    """Insert ``value`` into ``values`` at ``position``."""
    return (*values[:position], value, *values[position:])


def past(axes: Iterable[int], at: int) -> tuple[int, ...]:
    """Return the indices of ``axes`` after a batch axis is inserted at ``at``."""
    return tuple(axis + (axis >= at) for axis in axes)


def moved(x: Any, source: int, target: int) -> Any:
    """Move axis ``source`` of ``x`` to ``target``; the other axes keep their order."""
    others = [axis for axis in range(len(x.shape)) if axis != source]
    return REGISTRY["transpose"](x, permutation=inserted(others, target, source))


def placed(size: int, x: Any, at: int | None, target: int) -> Any:
    """Move the batch axis of ``x`` to ``target``; broadcast ``x`` if it has none."""
    if at is not None:
        return moved(x, at, target)
    dims = tuple(axis for axis in range(len(x.shape) + 1) if axis != target)
    return REGISTRY["broadcast_in_dim"](x, shape=inserted(x.shape, target, size), dims=dims)


def at_front(size: int, x: Any, at: int | None) -> Any:
    """Move the batch axis of ``x`` to the front; broadcast ``x`` if it has none."""
    return placed(size, x, at, 0)


def aligned(size: int, xs: Sequence[Any], at: Sequence[int | None]) -> tuple[list[Any], int]:
    """Move all batch axes to the same index; return the operands and this index."""
    places = {axis for axis in at if axis is not None}
    target = places.pop() if len(places) == 1 else 0
    return [placed(size, x, axis, target) for x, axis in zip(xs, at, strict=True)], target
