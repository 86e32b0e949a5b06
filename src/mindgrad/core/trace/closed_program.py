"""Trace a function to a graph that receives everything it needs as inputs.

    trace(f, types) = (graph, captured, …)        f(*xs) = graph(*xs, *captured)

``f`` is called once, on *symbols*: tensors of the given types without values. Tensors of an enclosing
function that ``f`` uses are *captured*: they become additional inputs of the graph. Custom derivatives,
hooks, ``vmap``, solvers, and recurrent operators call :func:`trace`.

Three other modules trace functions for other purposes:

- ``frontend.tracing`` traces a complete call, and also records guards on Python state.
- ``frontend.control.traced`` traces bodies of branches and loops, and also returns the variables that they
  assign.
- ``trace.record`` records operators for differentiation, while they compute values.

If ``f`` assigns attributes or variables, the caller must reject or undo the assignments
(``effect_log.isolated``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mindgrad.core.base.refusal import refuse_selections
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir.build import building
from mindgrad.core.ir.graph import Graph, Variable
from mindgrad.core.ir.rules import Stored, Tree
from mindgrad.core.ir.scope import GraphScope, opened
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.core.trace import (
    graph_recording,  # noqa: F401 - derivatives inside a trace need it
    references,
)

__all__ = ["ClosedProgram", "trace"]


class ClosedProgram(NamedTuple):
    """A function that was traced to a graph.

    Attributes:
        graph: the graph. Its inputs are the arguments, followed by the captured tensors. Its outputs are the
            tensors in ``leaves``.
        captured: maps each additional graph input to the captured tensor or reference, in input order.
        leaves: the flattened result of the function.
        structure: the nesting of the result, to which ``leaves`` are unflattened.
        written: maps the ``id`` of each reference that the function assigns to the reference.
    """

    graph: Graph
    captured: dict[Variable, Tensor]
    leaves: list[Tree]
    structure: object
    written: dict[int, Stored]


def trace(
    function: Callable, types: Sequence[TensorType], *, values_are_inputs: bool = False
) -> ClosedProgram:
    """Trace ``function`` to a graph by calling it with symbols of ``types``.

    Args:
        function: the function. Its operators are recorded but not computed.
        types: the types of its arguments.
        values_are_inputs: whether captured tensors that have values become inputs of the graph. Otherwise,
            their values become constants of the graph.
    """
    scope = GraphScope(values_are_inputs)
    with opened(scope):
        results, structure = flatten(function(*[scope.symbol(type) for type in types]))
        refuse_selections(results)
        leaves = [references.read(x) if isinstance(x, Tensor) else x for x in results]
        with building(scope.builder):
            graph = scope.builder.close([scope.atom(x) for x in leaves if isinstance(x, Tensor)])
        # in the outermost trace, the references that the function reads are inputs of this graph
        operands: dict[Variable, Tensor] = {**scope.parameters, **dict(scope.captures)}
    scope.close_program()
    captured = {variable: operands[variable] for variable in graph.inputs if variable in operands}
    written = dict(scope.written)
    # clear the scope, because tensors keep their scope alive, and the scope would keep the references alive
    scope.bindings.clear()
    scope.written.clear()
    return ClosedProgram(graph, captured, leaves, structure, written)
