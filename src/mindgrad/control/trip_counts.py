"""Execution counts say how often each equation of a program runs, loops included.

    times(equation) = Π lengths of the loops around it

The trip count of a ``while`` depends on the data: an assumed number is used, and the result says whether any
was assumed. Both sides of a branch are listed, as either may run; a sub-graph that serves only the derivative
of an equation (the pullback of a custom VJP) never runs and is not listed.

They bound the duration of a program, from which follows whether a user may want to interrupt it:

    seconds(program) <= Σ times(equation) · seconds(work of the equation)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mindgrad.ir.cost_model import HOST, costs
from mindgrad.ir.graph import Equation, Graph
from mindgrad.ir.inner_programs import inner_programs

__all__ = ["Run", "has_long_loops", "is_short", "runs"]


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


def has_long_loops(graph: Graph) -> bool:
    """Whether the loops of ``graph`` run as often as the data say, or very often.

    XLA runs a small program in the thread that calls it, and of a loop it counts one trip.
    """
    return any(not each.is_known or each.times > costs().long_loop_trips for each in runs(graph))


def is_short(graph: Graph) -> bool:
    """Whether ``graph`` ends, on slow CPUs too, before a user thinks of Ctrl-C.

    >>> import mindgrad as ms
    >>> from mindgrad.execution.compiled import trace
    >>> product = lambda a: ms.ops.matmul(a, a)
    >>> is_short(trace(product, ms.ops.ones((100, 100)))), is_short(trace(product, ms.ops.ones((1000, 1000))))
    (True, False)
    """
    left = HOST.interrupted_seconds
    for run in runs(graph):
        left -= run.times * _longest(run.equation)
        if left < 0.0 or not run.is_known:
            return False
    return True


def _longest(equation: Equation) -> float:
    """Seconds that one run of an equation takes at most."""
    work = equation.primitive.work
    if work.flops is not None:
        return float(work.flops(equation)) * HOST.operation_seconds
    elements = max([x.type.size for x in [*equation.inputs, *equation.outputs]], default=0)
    if work.kind == "library":
        return elements * HOST.library_seconds
    return elements * (HOST.function_seconds if work.kind == "function" else HOST.element_seconds)
