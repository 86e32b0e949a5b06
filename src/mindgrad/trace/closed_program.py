"""Tracing runs a function once, on symbols of given types, and closes its operators as a program.

    trace(f, types) = (graph, captured)        f(xs) = graph(xs, captured)

It serves functions whose program is used as a whole: pullbacks, solvers, loops, hooks, batched functions. The
outermost trace of a compiled function also collects guards on Python state (``trace.tracing``); bodies of
branches and loops pass on their variables (``trace.control.traced``); and a recording that is differentiated
may have values (``execution.record``).

Cost: one run of the function. Limits: the caller has to refuse or undo assignments of the function to
attributes and variables (``effect_log.isolated``).
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
    """A function as a program.

    Attributes:
        graph: gives the tensors among ``leaves``; its inputs are the symbols, then what the trace added.
        captured: the tensors from outside and Parameters that inputs stand for, in the order of the inputs.
        leaves: the leaves of the function's result.
        structure: of the result.
        written: the Parameters that the function writes, by identity.
    """

    graph: Graph
    captured: dict[Variable, Tensor]
    leaves: list[Any]
    structure: Any
    written: dict[int, Any]


def trace(
    function: Callable[..., Any], types: Sequence[TensorType], *, values_are_inputs: bool = False
) -> ClosedProgram:
    """The program of ``function`` on tensors of ``types``.

    Args:
        function: what is run, inside of a scope that records operators and runs none.
        types: of its arguments.
        values_are_inputs: whether arrays from outside become inputs; else they become constants.
    """
    scope = GraphScope(values_are_inputs)
    with opened(scope):
        results, structure = flatten(function(*[scope.symbol(type) for type in types]))
        leaves = [state.read(x) if isinstance(x, Tensor) else x for x in results]
        with building(scope.builder):
            graph = scope.builder.close([scope.atom(x) for x in leaves if isinstance(x, Tensor)])
        # Parameters are inputs of the outermost program that is traced: of this one, if there is no other
        operands: dict[Any, Tensor] = {
            scope.bindings[id(p)]._atom: p for p in scope.parameters if id(p) not in scope.written
        }
    scope.close_program()
    operands.update(scope.captures)
    captured = {variable: operands[variable] for variable in graph.inputs if variable in operands}
    written = dict(scope.written)
    # tensors know their scope: what it was traced with goes as soon as it is not used any more
    scope.bindings.clear()
    scope.written.clear()
    return ClosedProgram(graph, captured, leaves, structure, written)
