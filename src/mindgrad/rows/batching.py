"""Batch axes of operands are moved, created and skipped by these helpers of batching rules.

The ``batch`` rules of the rows are written with these. A rule is given operands of which some carry
a batch axis: ``at[i]`` is its position in operand ``i``, or ``None`` for an operand without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mindgrad.ir.primitive import REGISTRY

__all__ = ["aligned", "at_front", "inserted", "moved", "past", "placed"]


def inserted(values: Sequence[Any], position: int, value: Any) -> tuple[Any, ...]:
    """``values`` with ``value`` inserted at ``position``."""
    return (*values[:position], value, *values[position:])


def past(axes: Iterable[int], at: int) -> tuple[int, ...]:
    """The numbers that ``axes`` have once a batch axis stands at ``at``."""
    return tuple(axis + (axis >= at) for axis in axes)


def moved(x: Any, source: int, target: int) -> Any:
    """``x`` with axis ``source`` moved to position ``target``, the others in their order."""
    others = [axis for axis in range(len(x.shape)) if axis != source]
    return REGISTRY["transpose"](x, permutation=inserted(others, target, source))


def placed(size: int, x: Any, at: int | None, target: int) -> Any:
    """``x`` with its batch axis at ``target``; one without is repeated along a new one of ``size``."""
    if at is not None:
        return moved(x, at, target)
    dims = tuple(axis for axis in range(len(x.shape) + 1) if axis != target)
    return REGISTRY["broadcast_in_dim"](x, shape=inserted(x.shape, target, size), dims=dims)


def at_front(size: int, x: Any, at: int | None) -> Any:
    """``x`` with its batch axis first, repeated along a new one if it has none."""
    return placed(size, x, at, 0)


def aligned(size: int, xs: Sequence[Any], at: Sequence[int | None]) -> tuple[list[Any], int]:
    """The operands with their batch axes at one position, and that position."""
    places = {axis for axis in at if axis is not None}
    target = places.pop() if len(places) == 1 else 0
    return [placed(size, x, axis, target) for x, axis in zip(xs, at, strict=True)], target
