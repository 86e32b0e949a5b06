"""Count how often each equation of a compiled function runs, including loops.

    times(equation) = product of the iteration counts of all loops that contain it

The iteration count of a ``while`` loop depends on the data. An assumed number replaces it, and
:attr:`Run.is_known` is then false. The equations of both branches of a conditional count, because either
branch may run. Graphs that only a derivative would run, such as the pullback of a custom VJP, do not count.

The counts give an upper bound of the run time of a compiled function. If the bound exceeds
``HOST.interrupted_seconds``, calls of the function must react to Ctrl-C:

    seconds(function) <= Σ times(equation) · seconds(equation)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mindgrad.core.ir.cost_model import HOST, costs
from mindgrad.core.ir.graph import Equation, Graph
from mindgrad.core.ir.inner_programs import inner_programs

__all__ = ["Run", "has_long_loops", "is_short", "runs"]


class Run(NamedTuple):
    """An equation and the number of times that it runs.

    Attributes:
        equation: an equation without inner graphs.
        times: number of runs of the equation, with the assumed iteration count of each ``while`` loop.
        is_known: whether ``times`` is exact, without an assumed iteration count.
    """

    equation: Equation
    times: int
    is_known: bool


def runs(graph: Graph, iterations: int = 1) -> Iterator[Run]:
    """Count how often each equation of ``graph`` and of its inner graphs runs.

    Branches and loops are not counted themselves; only the equations inside them are.

    Args:
        graph: the graph.
        iterations: assumed iteration count of a ``while`` loop.

    >>> from mindgrad.frontend.programs.compiled import trace
    >>> import mindgrad as ms
    >>> graph = trace(lambda x: ms.ops.sin(x) * 2.0, ms.Tensor([1.0]))
    >>> [(run.equation.primitive.name, run.times) for run in runs(graph)]
    [('sin', 1), ('mul', 1)]
    """
    yield from _within(graph, iterations, 1, True)


def _within(graph: Graph, iterations: int, times: int, is_known: bool) -> Iterator[Run]:
    for equation in graph.equations:
        if not equation.graphs:
            yield Run(equation, times, is_known)
            continue
        for inner in inner_programs(equation, iterations):
            yield from _within(inner.graph, iterations, times * inner.times, is_known and inner.is_known)


def has_long_loops(graph: Graph) -> bool:
    """Return whether an iteration count in ``graph`` is large or depends on data.

    XLA runs a compiled function in the calling thread if XLA's cost estimate of the function is small. The
    estimate contains only one iteration of each loop, so a long loop would block the calling thread.
    """
    return any(not each.is_known or each.times > costs().long_loop_iterations for each in runs(graph))


def is_short(graph: Graph) -> bool:
    """Return whether ``graph`` ends within ``HOST.interrupted_seconds`` on any CPU.

    >>> import mindgrad as ms
    >>> from mindgrad.frontend.programs.compiled import trace
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
    """Return an upper bound of the run time of one equation, in seconds."""
    work = equation.primitive.work
    if work.flops is not None:
        return float(work.flops(equation)) * HOST.operation_seconds
    elements = max([x.type.size for x in [*equation.inputs, *equation.outputs]], default=0)
    if work.kind == "library":
        return elements * HOST.library_seconds
    return elements * (HOST.function_seconds if work.kind == "function" else HOST.element_seconds)
