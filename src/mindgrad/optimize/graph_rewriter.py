"""The graph rewriter rebuilds a graph with some of its equations replaced.

rebuilt(G, f) = G with f(equation, read) in place of each equation for which f gives something
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
    """``graph`` with what ``replace(equation, read)`` emits; ``None`` leaves an equation as it is.

    ``read`` gives for an atom of ``graph`` that of the new one. Equations that no replacement reaches are
    shared, not emitted again. ``simplifies``: whether all that a replacement reaches is simplified once more,
    not only what reads it.
    """
    if any(v.linear for v in graph.inputs):  # a tangent in its graph, an input like any other here
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
    """``graph`` with the programs of its loops and branches rewritten; itself where they stay as they are."""
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
