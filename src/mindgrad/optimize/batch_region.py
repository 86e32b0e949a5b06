"""The batch region is the part of a program in which the rows of a batch stay independent.

Every equation of a finished program is of one of four kinds: it does not depend on the rows; its result
carries the rows along one axis (``ir.index_map``); it sums over the rows; or it depends on
such a sum. The equations of the second and third kind can be computed for some of the rows at a time, and
with the axis of the rows moved to any position: ``optimize.tiling`` does both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mindgrad.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.ir.index_map import REDUCED, IndexMap, index_map

__all__ = ["Region", "batch_region", "left_behind", "region_of", "row_axis", "row_label"]


class Region(NamedTuple):
    """A program in parts.

    Attributes:
        size: the number of rows; −1 where no constant counts as data.
        places: the axis of the rows of every value that carries them.
        before, rows, sums, after: its equations, each in the order of the program. ``before`` needs no
            rows; ``rows`` give values that carry them; ``sums`` are linear and add them up; ``after`` is all
            that needs sums, or rows that are mixed.
    """

    size: int
    places: dict[Any, int]
    before: list[Equation]
    rows: list[Equation]
    sums: list[Equation]
    after: list[Equation]


def row_axis(atom: Any, region: Region) -> int | None:
    """The axis of ``atom`` that carries the rows, ``None`` if it does not depend on them."""
    found = region.places.get(atom)
    return 0 if found is None and _is_data(atom, region.size) else found


def _is_data(atom: Any, size: int) -> bool:
    return (
        type(atom) is Constant and not atom.is_splat and atom.shape[0] == size and bool(atom.value.strides[0])
    )


def batch_region(graph: Graph, size: int) -> Region:
    """The parts of ``graph`` for the rows of the inputs whose first axis has ``size``."""
    return region_of(graph.equations, {v: 0 for v in graph.inputs if v.shape[:1] == (size,)}, size)


def region_of(equations: Iterable[Equation], places: dict[Any, int], size: int = -1) -> Region:
    """The parts of ``equations`` for rows that lie along the axes ``places``."""
    region = Region(size, places, [], [], [], [])
    late: set[Any] = set()
    for equation in equations:
        at = [row_axis(x, region) for x in equation.inputs]
        if not late.isdisjoint(equation.inputs):
            late.update(equation.outputs)
            region.after.append(equation)
        elif all(row_dim is None for row_dim in at):
            region.before.append(equation)
        else:
            row_dim = _carried(equation, at)
            if row_dim is not None:
                region.rows.append(equation)
                places[equation.outputs[0]] = row_dim
                continue
            late.update(equation.outputs)
            (region.sums if _adds_up(equation, at) else region.after).append(equation)
    return region


def _carried(equation: Equation, at: Sequence[int | None]) -> int | None:
    """The axis of the result that carries the rows."""
    axes = None if equation.primitive.multiple else index_map(equation)
    if axes is None:
        return None
    carrying = {axes.through(k, 0, axis) for k, axis in enumerate(at) if axis is not None}
    return carrying.pop() if len(carrying) == 1 else None


def _adds_up(equation: Equation, at: Sequence[int | None]) -> bool:
    """Whether the result is a sum over the rows."""
    axes = index_map(equation) if equation.primitive.kind in ("linear", "multilinear") else None
    if axes is None:
        return False
    labels = {axes.operands[k][axis] for k, axis in enumerate(at) if axis is not None}
    return len(labels) == 1 and axes.kind(labels.pop()) == REDUCED


def row_label(equation: Equation, axes: IndexMap, region: Region) -> int:
    """The label of the rows in the map of an equation of ``region.rows`` or ``region.sums``."""
    result = equation.outputs[0]
    if result in region.places:
        return axes.results[0][region.places[result]]
    rows = ((k, row_axis(x, region)) for k, x in enumerate(equation.inputs))
    return next(axes.operands[k][axis] for k, axis in rows if axis is not None)


def left_behind(graph: Graph, region: Region) -> list[Variable]:
    """Values of ``region.rows`` that are read behind the sums, or are results of ``graph``."""
    made = {e.outputs[0] for e in region.rows}
    read = [x for e in region.after for x in e.inputs] + list(graph.outputs)
    return [x for x in dict.fromkeys(read) if x in made]
