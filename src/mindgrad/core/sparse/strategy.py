"""A strategy to compute a sparse matrix: a graph, indices of entries, and a cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.core.ir.graph import Equation, Graph
from mindgrad.core.sparse.movement_split import Cut

__all__ = ["Places", "Way"]

Places = tuple[Any, Any, Any, Any]


class Way:
    """A strategy: a graph of flat *pieces*, and the index of each entry in them.

    Attributes:
        name: description of the strategy.
        cut: graph without the data movement at its ends.
        graph: graph from the inputs of ``cut.graph`` to the pieces.
        starts: integer array (colors, derived values): index of the first element of derived value j under
            color k in the concatenated pieces, or -1 if the derived value is zero.
        strides: integer array of the same shape: 1, or 0 if all elements of the derived value are equal.
        sizes: number of elements of each derived value: of the results, or of the parts in reverse mode.
        entries: four integer arrays ``(row, column, color, element)``, with one element for each entry.
            ``row`` is its row among the elements of the outputs, or of z for a Hessian. ``column`` is its
            column among the elements of z. The value is read at ``element`` of the derived values under
            ``color``.
        count: number of colors.
        is_dense: whether nearly every column, or row, has a separate color.
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
        """The approximate number of elements that the graph computes."""
        return _cost(self.graph)


def _cost(graph: Graph) -> float:
    return sum(map(_work, graph.equations))


def _work(equation: Equation) -> float:
    if equation.graphs:
        return sum(map(_cost, equation.graphs.values())) * equation.parameters.get("length", 1)
    work = equation.primitive.work
    return sum(y.type.size for y in equation.outputs) if work.flops is None else work.flops(equation) / 2
