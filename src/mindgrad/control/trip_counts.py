"""Execution counts say how often each equation of a program runs, loops included.

    times(equation) = Π lengths of the loops around it

The trip count of a ``while`` depends on the data: an assumed number is used, and the result says whether any
was assumed. Both sides of a branch are listed, as either may run; a sub-graph that serves only the derivative
of an equation (the pullback of a custom VJP) never runs and is not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mindgrad.ir.graph import Equation, Graph
from mindgrad.ir.inner_programs import inner_programs

__all__ = ["Run", "runs"]


class Run(NamedTuple):
    """An equation that computes something, and how often.

    Attributes:
        equation: the equation.
        times: how often it runs, with as many trips of each ``while`` as was assumed.
        is_known: whether no trips were assumed.
    """

    equation: Equation
    times: int
    is_known: bool


def runs(graph: Graph, trips: int = 1) -> Iterator[Run]:
    """Every equation of ``graph`` and of the programs in it that holds no program itself.

    Args:
        graph: the program.
        trips: how many trips of a ``while`` are assumed.

    >>> from mindgrad.execution.compiled import trace
    >>> import mindgrad as ms
    >>> graph = trace(lambda x: ms.ops.sin(x) * 2.0, ms.Tensor([1.0]))
    >>> [(run.equation.primitive.name, run.times) for run in runs(graph)]
    [('sin', 1), ('mul', 1)]
    """
    yield from _within(graph, trips, 1, True)


def _within(graph: Graph, trips: int, times: int, is_known: bool) -> Iterator[Run]:
    for equation in graph.equations:
        if not equation.graphs:
            yield Run(equation, times, is_known)
            continue
        for inner in inner_programs(equation, trips):
            yield from _within(inner.graph, trips, times * inner.times, is_known and inner.is_known)
