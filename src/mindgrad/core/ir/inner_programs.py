"""Inner graphs of an equation: branches, and the bodies of loops.

The field ``programs`` of a primitive returns which of its graphs run, how many times, and on which operands.
If a primitive has no such field, each of its graphs runs once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mindgrad.core.ir.graph import Equation, Graph

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Atom

__all__ = ["Inner", "inner_programs"]


class Inner(NamedTuple):
    """A graph that runs within an equation.

    Attributes:
        graph: the inner graph, such as the body of a loop.
        operands: the operands that the first inputs of ``graph`` receive in the first run.
        times: number of times that ``graph`` runs.
        is_known: whether ``times`` is exact. It is ``False`` if the number of iterations of a loop depends on
            data and was assumed.
    """

    graph: Graph
    operands: Sequence[Atom]
    times: int = 1
    is_known: bool = True


def inner_programs(equation: Equation, iterations: int = 1) -> Iterator[Inner]:
    """Yield the graphs that ``equation`` runs.

    ``iterations`` is the assumed number of iterations of a loop whose length depends on the data.
    """
    primitive = equation.primitive
    if primitive.programs is not None:
        yield from primitive.programs(equation, iterations)
    elif primitive.runs_graphs:
        for graph in equation.graphs.values():
            yield Inner(graph, equation.inputs)
