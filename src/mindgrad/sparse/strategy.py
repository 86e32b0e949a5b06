"""One way to the entries of a sparse matrix: a program, where in its results each entry stands, its cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindgrad.ir.graph import Equation, Graph
from mindgrad.sparse.movement_split import Cut

__all__ = ["Places", "Way"]

Places = tuple[Any, Any, Any, Any]


class Way:
    """One way to the entries: a program of *pieces*, and where in them each entry stands.

    Attributes:
        name: what it is, in words.
        cut: where the program is cut.
        graph: from the inputs of the cut program to the pieces, flat.
        starts, strides: for colour k and derived value j, the place of its first element among all pieces put
            one behind the other (-1: it is zero), and 0 where all its elements are equal.
        sizes: of the values that are derived: results, or parts for reverse mode.
        entries: ``(row, column, colour, element)`` of each entry to read: its row among those of the outputs,
            or of z for a Hessian, its column among those of z, and the element of the derived values.
        count: the number of colours.
        is_dense: whether nearly every column, or row, has a colour of its own.
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
        at: Cut,
        graph: Graph,
        starts: Any,
        strides: Any,
        sizes: Sequence[int],
        entries: Places,
    ) -> None:
        self.name = name
        self.cut = at
        self.graph = graph
        self.starts = starts
        self.strides = strides
        self.sizes = sizes
        self.entries = entries
        self.count = len(starts)
        self.is_dense = False

    @property
    def cost(self) -> float:
        """About how many numbers the program computes."""
        return _cost(self.graph)


def _cost(graph: Graph) -> float:
    return sum(map(_work, graph.equations))


def _work(equation: Equation) -> float:
    inner = [v for v in equation.parameters.values() if isinstance(v, Graph)]
    if inner:
        return sum(map(_cost, inner)) * equation.parameters.get("length", 1)
    made = sum(y.type.size for y in equation.outputs)
    if equation.primitive.name == "dot":
        x, (contract, _) = equation.inputs[0], equation.parameters["contract"]
        return made * math.prod(x.shape[axis] for axis in contract)
    if equation.primitive.name == "conv":
        return made * math.prod(equation.inputs[1].shape[1:])
    return made
