"""The derivative of a recorded run as a function of tangents or cotangents.

``vjp`` and ``linearize`` return such functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.graph import Graph, without_effects
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.ir.scope import GraphScope
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.kinds import is_zero
from mindgrad.core.trace.graph_recording import note_derivative
from mindgrad.core.trace.record import Recorded, transformed

__all__ = ["Replay", "note_linearized"]


def _nothing(builder: object, xs: object, ys: object, extras: object) -> list[Any]:
    return []


class Replay:
    """The derivative of a recorded run as a function of tangents or cotangents.

    Each call differentiates the recording again.

    Attributes:
        outputs: the outputs of the run, as tensors of the enclosing scope.
    """

    __slots__ = ("_captured", "_chosen", "_graph", "_recorded", "_rule", "_xs", "outputs")

    def __init__(self, recorded: Recorded, rule: Callable[..., Atoms], chosen: Sequence[Tensor]) -> None:
        self._recorded = recorded
        self._rule = rule
        self._chosen = chosen
        self._graph: Graph | None = None
        scope = recorded.scope
        if isinstance(scope, GraphScope):
            with building(scope.builder):
                # remove side effects, such as printing, which must occur only in the run itself
                self._graph = without_effects(scope.builder.close([scope.atom(t) for t in chosen]))
            place = {atom: k for k, atom in enumerate(self._graph.inputs)}
            self._xs = [place[t._atom] for t in recorded.inputs]
            self._captured = [tensor for _, tensor in scope.captures]
        self.outputs, _ = transformed(recorded, _nothing)
        # forget the references that the run assigned, because each call of the derivative would assign them
        # again
        recorded.written.clear()

    def __call__(self, vectors: Sequence[Tensor]) -> list[Tensor]:
        if self._graph is None:
            return transformed(self._recorded, self._rule, vectors, self._chosen)[1]
        builder = Builder()
        with building(builder):
            inputs = builder.inputs_like(self._graph.inputs)
            extras = [builder.input(t.type) for t in vectors]
            ys = builder.inline(self._graph, inputs)
            graph = builder.close(self._rule(builder, [inputs[k] for k in self._xs], ys, extras))
        note_linearized(self._recorded, self._chosen, graph)
        return inline_here(graph, [*self._captured, *vectors])


def note_linearized(recorded: Recorded, chosen: Sequence[Tensor], derivative: Graph) -> None:
    """Record that a run was differentiated, and warn if a derivative is zero."""
    scope = recorded.scope
    with building(scope.builder):
        ys = [scope.atom(t) for t in chosen]
    is_suspect = not scope.opaque and any(map(is_zero, derivative.outputs))
    note_derivative(scope, scope.builder.equations, [t._atom for t in recorded.inputs], ys, is_suspect)
