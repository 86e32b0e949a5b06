"""The graph rewriter rebuilds a graph with some of its equations replaced.

rebuilt(G, f) = G with f(equation, read) in place of each equation for which f gives something
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.ir.build import Builder, building
from mindgrad.ir.graph import Equation, Graph, Variable

__all__ = ["inside", "rebuilt"]


def rebuilt(graph: Graph, replace: Callable[[Equation, Callable[[Any], Any]], Any]) -> Graph:
    """``graph`` with what ``replace(equation, read)`` emits; ``None`` leaves an equation as it is.

    ``read`` gives for an atom of ``graph`` that of the new one.
    """
    builder = Builder()
    values: dict[Any, Any] = {v: builder.input(v.type, tainted=v.tainted) for v in graph.inputs}

    def read(atom: Any) -> Any:
        return values[atom] if type(atom) is Variable else atom

    with building(builder):
        for equation in graph.equations:
            builder.source = equation.source
            result = replace(equation, read)
            builder.source = None
            if result is None:
                outputs = builder.emit_again(equation, [read(x) for x in equation.inputs])
            else:
                outputs = result if equation.primitive.multiple else (result,)
            values.update(zip(equation.outputs, outputs, strict=True))
    return builder.close([read(x) for x in graph.outputs])


def inside(graph: Graph, rewrite: Callable[[Graph], Graph]) -> Graph:
    """``graph`` with the programs of its loops and branches rewritten; itself where they stay as they are."""
    changed: dict[Equation, dict[str, Any]] = {}
    for equation in graph.equations:
        if not equation.primitive.replaceable:
            continue
        programs = equation.graphs
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
