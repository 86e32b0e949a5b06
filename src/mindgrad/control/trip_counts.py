"""Execution counts say how often each equation of a program runs, loops included.

    times(equation) = Π lengths of the loops around it

The trip count of a ``while`` depends on the data: an assumed number is used, and the result says whether any
was assumed. Both sides of a branch are listed, as either may run; a sub-graph that serves only the derivative
of an equation (the pullback of a custom VJP) never runs and is not listed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from mindgrad.ir.graph import Equation, Graph

__all__ = ["Run", "runs"]

#: the parameters whose programs run: in every trip of a loop, once for ``rows`` of them, and once
_EACH = ("condition", "body", "expensive", "step")
_TOGETHER = ("coefficients", "totals")
_ONCE = ("outside", "true", "false", "solution")


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
        parameters = equation.parameters
        if not any(isinstance(value, Graph) for value in parameters.values()):
            yield Run(equation, times, is_known)
            continue
        is_while = "condition" in parameters
        length = trips if is_while else parameters.get("length", 1)
        together = math.ceil(length / parameters.get("rows", 1))
        for names, factor in ((_EACH, length), (_TOGETHER, together), (_ONCE, 1)):
            for name in names:
                if isinstance(parameters.get(name), Graph):
                    known = is_known and not (is_while and names is not _ONCE)
                    yield from _within(parameters[name], trips, times * factor, known)
