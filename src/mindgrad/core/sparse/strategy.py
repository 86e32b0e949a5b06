"""Strategy to compute a sparse matrix: a graph, indices of entries, and a cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.core.ir.graph import Equation, Graph
from mindgrad.core.ir.rules import Array
from mindgrad.core.sparse.movement_split import Cut

__all__ = ["Places", "Way"]

Places = tuple[Any, Any, Any, Any]


class Way:
    """A strategy: a graph that computes products of a sparse matrix with vectors.

    The graph computes, for each color k, the *derived values*: the tangents of all results (forward mode) or
    the cotangents of all parts of z (reverse mode). z is defined in ``sparse.movement_split``. The
    outputs of the graph are flat arrays, the *pieces*, which contain the derived values of all colors.

    Attributes:
        name: description of the strategy.
        cut: split of the function into data movement and computation.
        graph: graph from the inputs of ``cut.graph`` to the pieces.
        starts: integer array of shape (colors, derived values). ``starts[k, j]`` is the index in the
            concatenated pieces of the first element of derived value j of color k, or -1 if the value is
            zero.
        strides: integer array of the same shape: 1, or 0 if the piece stores one element for a derived value
            whose elements are all equal.
        sizes: number of elements of each derived value.
        entries: four integer arrays ``(row, column, color, element)``, with one element for each entry.
            ``row`` is the row of the entry: an element of the outputs, or of z for a Hessian. ``column`` is
            its column, an element of z. The entry is element number ``element`` of the concatenated derived
            values of color ``color``.
        count: number of colors.
        is_dense: whether nearly every column, or row, has a separate color.
    """

    __slots__ = ("count", "cut", "entries", "graph", "is_dense", "name", "sizes", "starts", "strides")

    def __init__(
        self,
        name: str,
        split: Cut,
        graph: Graph,
        starts: Array,
        strides: Array,
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
        """Approximate number of elements that ``graph`` computes."""
        return _cost(self.graph)


def _cost(graph: Graph) -> float:
    return sum(map(_work, graph.equations))


def _work(equation: Equation) -> float:
    if equation.graphs:
        return sum(map(_cost, equation.graphs.values())) * equation.parameters.get("length", 1)
    work = equation.primitive.work
    return sum(y.type.size for y in equation.outputs) if work.flops is None else work.flops(equation) / 2
