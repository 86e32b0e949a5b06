"""Axes of lookups: the index maps of ``gather`` and ``scatter``.

    gather   x (batch, indexed, window), indices (batch, lookups, component) → (batch, lookups, window)
    scatter  x, indices, updates (batch, lookups, window) → the axes of x

A lookup selects one position along the *indexed* axes of x, and copies the *window* axes completely
(``primitives.indexing``). The three kinds of axes of ``x`` may be in any order.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.index_map import OPAQUE, Arrangement, Axes, IndexMap, Labels, Relabeling
from mindgrad.core.ir.rules import Statics
from mindgrad.core.ir.types import Shape
from mindgrad.core.primitives.axes import permuted

__all__ = ["GatherAxes", "ScatterAxes", "window_axes"]


def window_axes(rank: int, axes: Shape, batch: Shape) -> Shape:
    """Return the window axes of ``x``: the axes that a lookup copies completely."""
    return tuple(axis for axis in range(rank) if axis not in axes and axis not in batch)


class GatherAxes(Axes):
    """Index map of ``gather``: elements are independent except along indexed axes."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        return _lookups(shapes[0], shapes[1], **_axes_of(parameters))

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        lookup = _relabeled_lookups(old, new.operands)
        if lookup is None:
            return None
        changed, window = lookup
        return Relabeling({**new.parameters, **changed}, ((*new.operands[1][:-1], *window),))


class ScatterAxes(GatherAxes):
    """Index map of ``scatter``: elements are independent along batch and window axes."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        (x, indices), (updates,), kinds = _lookups(shapes[0], shapes[1], **_axes_of(parameters))
        kinds = {**kinds, **dict.fromkeys([label for label in indices if label not in x], OPAQUE)}
        return IndexMap((x, indices, updates), (x,), kinds)

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        lookup = _relabeled_lookups(old, new.operands)
        labels = {*old.operands[1], *new.operands[0]}
        if (
            lookup is None
            or not labels.issuperset(new.operands[1])
            or new.operands[2] != (*new.operands[1][:-1], *lookup[1])
        ):
            return None
        return Relabeling({**new.parameters, **lookup[0]}, (new.operands[0],))


def _axes_of(parameters: Statics) -> dict[str, Shape]:
    return {"axes": parameters["axes"], "batch": parameters.get("batch", ())}


def _lookups(x: Shape, indices: Shape, axes: Shape, batch: Shape) -> IndexMap:
    labels = tuple(range(len(x)))
    places = (*batch, *range(len(x), len(x) + len(indices) - len(batch)))
    result = (*places[:-1], *window_axes(len(x), axes, batch))
    return IndexMap((labels, places), (result,), dict.fromkeys((*axes, places[-1]), OPAQUE))


def _relabeled_lookups(old: IndexMap, operands: Sequence[Labels]) -> tuple[dict[str, Shape], Labels] | None:
    """Return the parameters of a lookup of reordered operands, and the window labels."""
    x, indices = operands[:2]
    batch = tuple([label for label in indices if label in x])
    if indices[-1] != old.operands[1][-1] or indices[: len(batch)] != batch:
        return None
    indexed = [label for label in old.kinds if label in old.operands[0]]
    window = tuple([label for label in x if label not in batch and label not in indexed])
    changed = {
        "axes": permuted(range(len(indexed)), x, tuple(indexed)),
        "batch": permuted(range(len(batch)), x, batch),
    }
    return changed, window
