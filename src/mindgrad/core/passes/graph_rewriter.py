"""Graph rewriter: rebuild a graph with some of its equations replaced.

The rewrites of ``passes`` call :func:`rebuild` with a function that returns the replacement of an equation,
or ``None`` to leave the equation unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.primitives.kinds import checked

__all__ = ["Read", "rebuild", "rewrite_inner"]

#: maps a variable or constant of the old graph to its value in the new graph
Read = Callable[[Atom], Atom]


def rebuild(
    graph: Graph, replace: Callable[[Equation, Read], Atom | Atoms | None], simplifies: bool = True
) -> Graph:
    """Rebuild ``graph`` with some of its equations replaced.

    The old and the new graph share the equations that do not depend on a replaced result.

    Args:
        graph: the graph to rebuild. It is not changed.
        replace: function that is called as ``replace(equation, read)`` for each equation. It emits the
            replacement and returns its result, or returns ``None`` to leave the equation unchanged. ``read``
            maps a variable or constant of ``graph`` to its value in the new graph.
        simplifies: whether to simplify all equations that depend on a replaced result. If ``False``, only
            equations that read a replaced result directly are simplified.
    """
    if any(v.linear for v in graph.inputs):  # turn inputs that contain tangents into ordinary inputs
        graph = _with_own_values(graph)
    builder = Builder()
    builder.inputs = list(graph.inputs)
    replaced: set[Variable] = set()
    with building(builder):
        for equation in graph.equations:
            builder.source = equation.source
            result: Any = replace(equation, builder.value)
            builder.source = None
            if result is None:
                builder.again(equation, simplifies or not replaced.isdisjoint(equation.inputs))
            else:
                results = result if equation.primitive.multiple else (result,)
                if Graph.verifier is not None:
                    checked(equation.primitive, "replacement", results, equation.outputs)
                builder.rebind(equation.outputs, results)
                replaced.update(equation.outputs)
    return builder.close(graph.outputs)


def _with_own_values(graph: Graph) -> Graph:
    builder = Builder()
    with building(builder):
        return builder.close(builder.inline(graph, builder.inputs_like(graph.inputs)))


def rewrite_inner(graph: Graph, rewrite: Callable[[Graph], Graph]) -> Graph:
    """Apply ``rewrite`` to the inner graphs of the loops and branches of ``graph``.

    Returns ``graph`` itself if ``rewrite`` changes no inner graph.
    """
    changed: dict[Equation, dict[str, object]] = {}
    for equation in graph.equations:
        programs = equation.graphs if equation.primitive.inner.replaceable else None
        if programs:
            better = {name: rewrite(program) for name, program in programs.items()}
            if any(better[name] is not programs[name] for name in programs):
                changed[equation] = {**equation.parameters, **better}
    if not changed:
        return graph

    def replaced(equation: Equation, read: Read) -> Any:
        if equation not in changed:
            return None
        return equation.primitive(*map(read, equation.inputs), **changed[equation])

    return rebuild(graph, replaced)
