"""Trace a function once, on symbols of given types, to a closed graph.

    trace(f, types) = (graph, captured)        f(xs) = graph(xs, captured)

Pullbacks, solvers, loops, hooks, and batched functions use such graphs as a whole. Other kinds of traces are
elsewhere. The outermost trace of a compiled function also collects guards on Python state
(``trace.tracing``). Bodies of branches and loops also pass on their variables (``trace.control.traced``). A
recording for differentiation may have values (``execution.record``).

Cost: one run of the function. Limit: the caller must reject or undo assignments of the function to attributes
and variables (``effect_log.isolated``).
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
    """A function as a graph.

    Attributes:
        graph: returns the tensors among ``leaves``. Its inputs are the symbols, then the captured tensors.
        captured: tensors from outside, and Parameters, by the inputs that represent them, in their order.
        leaves: leaves of the function's result.
        structure: tree structure of the result.
        written: Parameters that the function writes, by identity.
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
        function: the function. It runs in a scope that records operators without running them.
        types: types of its arguments.
        values_are_inputs: whether arrays from outside become inputs instead of constants.
    """
    scope = GraphScope(values_are_inputs)
    with opened(scope):
        results, structure = flatten(function(*[scope.symbol(type) for type in types]))
        leaves = [state.read(x) if isinstance(x, Tensor) else x for x in results]
        with building(scope.builder):
            graph = scope.builder.close([scope.atom(x) for x in leaves if isinstance(x, Tensor)])
        # a Parameter is an input of the outermost graph being traced: of this graph, if there is no other
        operands: dict[Any, Tensor] = {
            scope.bindings[id(p)]._atom: p for p in scope.parameters if id(p) not in scope.written
        }
    scope.close_program()
    operands.update(scope.captures)
    captured = {variable: operands[variable] for variable in graph.inputs if variable in operands}
    written = dict(scope.written)
    # tensors refer to their scope: release the traced objects as soon as they are unused
    scope.bindings.clear()
    scope.written.clear()
    return ClosedProgram(graph, captured, leaves, structure, written)
