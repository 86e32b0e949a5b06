"""Trace a function on symbols of given types to a graph that captures no tensors.

    trace(f, types) = (graph, captured, …)        f(*xs) = graph(*xs, *captured)

Tensors that ``f`` uses from an enclosing function are *captured*: they become additional inputs of the graph.
Custom derivatives, hooks, ``vmap``, solvers, and recurrent operators call :func:`trace`.

Three other modules trace functions for other purposes:

- ``trace.tracing`` traces a complete call, and also records guards on Python state.
- ``trace.control.traced`` traces bodies of branches and loops, and also returns the variables that they
  assign.
- ``execution.record`` records operators for differentiation, while they compute values.

The function runs once. If it assigns attributes or variables, the caller must reject or undo the assignments
(``effect_log.isolated``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from mindgrad._base.tree import flatten
from mindgrad.ir.build import building
from mindgrad.ir.graph import Graph, Variable
from mindgrad.ir.scope import GraphScope, opened
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.types import TensorType
from mindgrad.trace import state

__all__ = ["ClosedProgram", "trace"]


class ClosedProgram(NamedTuple):
    """A function, traced to a graph.

    Attributes:
        graph: the graph. Its inputs are the arguments, followed by the captured tensors. Its outputs are the
            tensors among ``leaves``.
        captured: maps each additional graph input to the captured tensor or Parameter, in input order.
        leaves: leaves of the function's result.
        structure: tree structure of the result.
        written: Parameters that the function writes, by ``id``.
    """

    graph: Graph
    captured: dict[Variable, Tensor]
    leaves: list[Any]
    structure: Any
    written: dict[int, Any]


def trace(
    function: Callable[..., Any], types: Sequence[TensorType], *, values_are_inputs: bool = False
) -> ClosedProgram:
    """Trace ``function`` on tensors of ``types``.

    Args:
        function: the function. Its operators are recorded but not computed.
        types: types of its arguments.
        values_are_inputs: whether captured tensors with known values become inputs. Otherwise, they become
            constants of the graph.
    """
    scope = GraphScope(values_are_inputs)
    with opened(scope):
        results, structure = flatten(function(*[scope.symbol(type) for type in types]))
        leaves = [state.read(x) if isinstance(x, Tensor) else x for x in results]
        with building(scope.builder):
            graph = scope.builder.close([scope.atom(x) for x in leaves if isinstance(x, Tensor)])
        # if this graph is the outermost one being traced, Parameters that it reads are inputs of it
        operands: dict[Any, Tensor] = {
            scope.bindings[id(p)]._atom: p for p in scope.parameters if id(p) not in scope.written
        }
    scope.close_program()
    operands.update(scope.captures)
    captured = {variable: operands[variable] for variable in graph.inputs if variable in operands}
    written = dict(scope.written)
    # tensors keep their scope alive, so clear it, so that they do not keep the Parameters alive
    scope.bindings.clear()
    scope.written.clear()
    return ClosedProgram(graph, captured, leaves, structure, written)
