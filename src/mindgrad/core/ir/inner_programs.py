"""Inner graphs of an equation, such as branches and loop bodies.

The rule ``programs`` of a primitive (``ir.primitive``) returns which of its graphs run, how many times, and
on which operands. If a primitive has no such rule, each of its graphs runs once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mindgrad.core.ir.graph import Equation, Graph
from mindgrad.core.ir.rules import Atoms

__all__ = ["Inner", "inner_programs"]


class Inner(NamedTuple):
    """An inner graph that runs when an equation runs.

    Attributes:
        graph: the inner graph, such as the body of a loop.
        operands: the operands of the equation that the first inputs of ``graph`` receive in its first run.
        times: number of times that ``graph`` runs.
        is_known: whether ``times`` is exact. It is ``False`` if the iteration count of a loop depends on
            data, so that the number of runs is an assumption.
    """

    graph: Graph
    operands: Atoms
    times: int = 1
    is_known: bool = True


def inner_programs(equation: Equation, iterations: int = 1) -> Iterator[Inner]:
    """Yield the inner graphs that ``equation`` runs.

    ``iterations`` is the assumed iteration count of a loop whose iteration count depends on data.
    """
    inner = equation.primitive.inner
    if inner.programs is not None:
        yield from inner.programs(equation, iterations)
    elif inner.run:
        for graph in equation.graphs.values():
            yield Inner(graph, equation.inputs)
