"""The batch region is the part of a program in which the rows of a batch stay independent.

Every equation of a finished program is of one of four kinds: it does not depend on the rows; its result
carries the rows along one axis (``transforms.axis_propagation``); it sums over the rows; or it depends on
such a sum. The equations of the second and third kind can be computed for some of the rows at a time, and
with the axis of the rows moved to any position: ``optimize.tiles`` does both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mindgrad.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.transforms.axis_propagation import through

__all__ = ["MOVABLE", "Region", "batch_region", "left_behind", "region_of", "row_axis"]

#: operators whose equations can be computed for some of the rows, apart from pointwise ones
MOVABLE = frozenset(
    [
        "broadcast_in_dim", "concatenate", "convert", "cumprod", "cumsum", "dot", "logsumexp", "norm", "pad",
        "reduce_max", "reduce_min", "reduce_prod", "reduce_sum", "reshape", "reverse", "slice", "transpose",
    ]
)  # fmt: skip


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
    primitive = equation.primitive
    if primitive.multiple or not (primitive.pointwise or primitive.name in MOVABLE):
        return None
    found = {through(equation, k, 0, place) for k, place in enumerate(at) if place is not None}
    return found.pop() if len(found) == 1 else None


def _adds_up(equation: Equation, at: Sequence[int | None]) -> bool:
    """Whether the result is a sum over the rows."""
    if equation.primitive.name == "reduce_sum":
        return at[0] in equation.parameters["axes"]
    if equation.primitive.name != "dot":
        return False
    contract = equation.parameters["contract"]
    places = [None if p is None or p not in c else c.index(p) for p, c in zip(at, contract, strict=True)]
    known = [place for p, place in zip(at, places, strict=True) if p is not None]
    return None not in known and len(set(known)) == 1


def left_behind(graph: Graph, region: Region) -> list[Variable]:
    """Values of ``region.rows`` that are read behind the sums, or are results of ``graph``."""
    made = {e.outputs[0] for e in region.rows}
    read = [x for e in region.after for x in e.inputs] + list(graph.outputs)
    return [x for x in dict.fromkeys(read) if x in made]
