"""Graph rewriter: rebuild a graph with some of its equations replaced.

The rewrites of ``optimize`` call :func:`rebuilt` with a function that returns the replacement of an equation,
or ``None`` to leave the equation unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.ir.build import Builder, building
from mindgrad.ir.graph import Equation, Graph

__all__ = ["inside", "rebuilt"]


def rebuilt(
    graph: Graph, replace: Callable[[Equation, Callable[[Any], Any]], Any], simplifies: bool = True
) -> Graph:
    """Rebuild ``graph`` with some of its equations replaced.

    Equations that do not depend on a replaced result are shared between both graphs.

    Args:
        graph: the graph to rebuild. It is not changed.
        replace: function that is called as ``replace(equation, read)`` for each equation. It emits the
            replacement and returns its result, or returns ``None`` to leave the equation unchanged. ``read``
            maps a variable or constant of ``graph`` to its value in the new graph.
        simplifies: whether to simplify all equations that depend on a replaced result. If ``False``, only
            equations that read a replaced result directly are simplified.
    """
    if any(v.linear for v in graph.inputs):  # inputs that hold tangents become ordinary inputs
        graph = _with_own_values(graph)
    builder = Builder()
    builder.inputs = list(graph.inputs)
    replaced: set[Any] = set()
    with building(builder):
        for equation in graph.equations:
            builder.source = equation.source
            result = replace(equation, builder.value)
            builder.source = None
            if result is None:
                builder.again(equation, simplifies or not replaced.isdisjoint(equation.inputs))
            else:
                builder.rebind(equation.outputs, result if equation.primitive.multiple else (result,))
                replaced.update(equation.outputs)
    return builder.close(graph.outputs)


def _with_own_values(graph: Graph) -> Graph:
    builder = Builder()
    with building(builder):
        return builder.close(builder.inline(graph, builder.inputs_like(graph.inputs)))


def inside(graph: Graph, rewrite: Callable[[Graph], Graph]) -> Graph:
    """Apply ``rewrite`` to the inner graphs of loops and branches of ``graph``.

    Returns ``graph`` itself if ``rewrite`` changes none of them.
    """
    changed: dict[Equation, dict[str, Any]] = {}
    for equation in graph.equations:
        programs = equation.graphs if equation.primitive.replaceable else None
        if programs:
            better = {name: rewrite(program) for name, program in programs.items()}
            if any(better[name] is not programs[name] for name in programs):
                changed[equation] = {**equation.parameters, **better}
    if not changed:
        return graph

    def replaced(equation: Equation, read: Callable[[Any], Any]) -> Any:
        if equation not in changed:
            return None
        return equation.primitive(*map(read, equation.inputs), **changed[equation])

    return rebuilt(graph, replaced)
