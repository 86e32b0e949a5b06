"""Batch region: the equations that treat each sample of a batch independently.

A *batch* is an input or a constant whose first axis indexes samples. A value that depends on the batch has a
*batch axis* if sample n of the value depends only on sample n of the batch. Every equation belongs to one of
four kinds:

1. It does not depend on the batch.
2. Its result has a batch axis (determined by the index map of the operator, ``ir.index_map``).
3. Its result is a sum over the samples.
4. It reads a result of kind 3 or 4, or it combines samples in a different way, such as sorting them.

Kinds 2 and 3 form the batch region. They can be computed for a few samples at a time, and the batch axis can
be moved to any position. ``passes.tiling`` uses both possibilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable
from mindgrad.core.ir.index_map import REDUCED, IndexMap, index_map

__all__ = ["Region", "batch_region", "left_behind", "region_of", "row_axis", "batch_label"]


class Region(NamedTuple):
    """The equations of a graph, divided into the four kinds of the module docstring.

    Attributes:
        size: number of samples. A constant whose first axis has this size counts as part of the batch. If
            ``size`` is −1, no constant is part of the batch.
        places: dict that maps each value with a batch axis to the index of its batch axis.
        before: equations that do not depend on the batch (kind 1), in the order of the graph.
        rows: equations whose results have a batch axis (kind 2), in the order of the graph.
        sums: linear equations that sum over the samples (kind 3), in the order of the graph.
        after: all other equations (kind 4), in the order of the graph.
    """

    size: int
    places: dict[Atom, int]
    before: list[Equation]
    rows: list[Equation]
    sums: list[Equation]
    after: list[Equation]


def row_axis(atom: Atom, region: Region) -> int | None:
    """Return the index of the batch axis of ``atom``, or ``None`` if it has none."""
    found = region.places.get(atom)
    return 0 if found is None and _is_data(atom, region.size) else found


def _is_data(atom: object, size: int) -> bool:
    return (
        type(atom) is Constant and not atom.is_splat and atom.shape[0] == size and bool(atom.value.strides[0])
    )


def batch_region(graph: Graph, size: int) -> Region:
    """Divide the equations of ``graph`` by kind, for a batch of ``size`` samples.

    Every input whose first axis has ``size`` elements is part of the batch.
    """
    return region_of(graph.equations, {v: 0 for v in graph.inputs if v.shape[:1] == (size,)}, size)


def region_of(equations: Iterable[Equation], places: dict[Atom, int], size: int = -1) -> Region:
    """Divide ``equations`` into the four kinds of :class:`Region`.

    ``places`` maps each input that is part of the batch to its batch axis. The function adds an entry for
    each result with a batch axis.
    """
    region = Region(size, places, [], [], [], [])
    late: set[Atom] = set()
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
    """Return the batch axis of the result, or ``None`` if the equation mixes samples.

    ``at`` contains the batch axis of each operand, or ``None`` if it has none.
    """
    axes = None if equation.primitive.multiple else index_map(equation)
    if axes is None:
        return None
    carrying = {axes.through(k, 0, axis) for k, axis in enumerate(at) if axis is not None}
    return carrying.pop() if len(carrying) == 1 else None


def _adds_up(equation: Equation, at: Sequence[int | None]) -> bool:
    """Return whether the result of ``equation`` is a sum over the samples of a batch.

    ``at`` contains the batch axis of each operand, or ``None`` if it has none.
    """
    axes = index_map(equation) if equation.primitive.kind in ("linear", "multilinear") else None
    if axes is None:
        return False
    labels = {axes.operands[k][axis] for k, axis in enumerate(at) if axis is not None}
    return len(labels) == 1 and axes.kind(labels.pop()) == REDUCED


def batch_label(equation: Equation, axes: IndexMap, region: Region) -> int:
    """Return the label of the batch axis in the index map of ``equation``."""
    result = equation.outputs[0]
    if result in region.places:
        return axes.results[0][region.places[result]]
    rows = ((k, row_axis(x, region)) for k, x in enumerate(equation.inputs))
    return next(axes.operands[k][axis] for k, axis in rows if axis is not None)


def left_behind(graph: Graph, region: Region) -> list[Variable]:
    """Return the values with a batch axis that are needed outside the batch region.

    They are outputs of ``graph`` or operands of equations of kind 4.
    """
    made = {e.outputs[0] for e in region.rows}
    read = [x for e in region.after for x in e.inputs] + list(graph.outputs)
    return [x for x in dict.fromkeys(read) if x in made]
