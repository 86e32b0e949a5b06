"""A strategy computes the entries of a sparse matrix: a program, the position of each entry, and the cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.ir.graph import Equation, Graph
from mindgrad.sparse.movement_split import Cut

__all__ = ["Places", "Way"]

Places = tuple[Any, Any, Any, Any]


class Way:
    """A strategy: a program of flat *pieces*, and the position of each entry in their concatenation.

    Attributes:
        name: the strategy in words.
        cut: the program without the data movement at its ends.
        graph: from the inputs of ``cut.graph`` to the pieces.
        starts, strides: integer arrays (colors, derived values): the position of the first element of
            derived value j under color k (-1: it is zero), and 1, or 0 where all its elements are equal.
        sizes: the number of elements of each derived value: of the results, or of the parts in reverse mode.
        entries: four integer arrays ``(row, column, colour, element)``: the row of each entry among the
            elements of the outputs, or of z for a Hessian, its column among the elements of z, and the color
            and the element of the derived values where it is read.
        count: the number of colors.
        is_dense: whether nearly every column, or row, has a color of its own.
    """

    __slots__ = (
        "count",
        "cut",
        "entries",
        "graph",
        "is_dense",
        "name",
        "sizes",
        "starts",
        "strides",
    )

    def __init__(
        self,
        name: str,
        split: Cut,
        graph: Graph,
        starts: Any,
        strides: Any,
        sizes: Sequence[int],
        entries: Places,
    ) -> None:
        self.name = name
        self.cut = split
        self.graph = graph
        self.starts = starts
        self.strides = strides
        self.sizes = sizes
        self.entries = entries
        self.count = len(starts)
        self.is_dense = False

    @property
    def cost(self) -> float:
        """The approximate number of elements that the program computes."""
        return _cost(self.graph)


def _cost(graph: Graph) -> float:
    return sum(map(_work, graph.equations))


def _work(equation: Equation) -> float:
    if equation.graphs:
        return sum(map(_cost, equation.graphs.values())) * equation.parameters.get("length", 1)
    work = equation.primitive.work
    return sum(y.type.size for y in equation.outputs) if work.flops is None else work.flops(equation) / 2
