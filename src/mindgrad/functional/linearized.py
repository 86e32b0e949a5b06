"""A function's run, kept so that its derivative can be applied again and again.

    out, apply = linearized(f, x)        apply(ct) = J_f(x)ᵀ ct   or   apply(t) = J_f(x) t

Eager, the recording is kept and its derivative is replayed on what is given. Compiled, the derivative
is split in two programs: the first computes the result and every value that the second needs, the
second depends on nothing else but what is given; the function itself never runs twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from mindgrad.backend.xla import compile_graph
from mindgrad.core.build import Builder, building
from mindgrad.core.graph import Graph, Variable
from mindgrad.core.scope import GraphScope, open_scopes
from mindgrad.core.settings import is_graph_mode
from mindgrad.core.tensor import Tensor, make_tensor
from mindgrad.functional.autodiff import forward_rule, reverse_rule
from mindgrad.functional.callables import is_compiled, remembered
from mindgrad.functional.compiled import Compiled
from mindgrad.functional.derive import Inputs, Run
from mindgrad.functional.record import Recorded, inline_here, transformed
from mindgrad.transforms.linearize import dependent

__all__ = ["linearized"]

Apply = Callable[[Sequence[Tensor]], list[Tensor]]


def linearized(
    owner: str,
    fn: Callable[..., Any],
    args: Sequence[Any],
    *,
    backwards: bool,
    parameters: Sequence[Any] = (),
    has_aux: bool = False,
    key: Hashable = None,
) -> tuple[Any, Inputs, Apply]:
    """Run ``fn(*args)`` and keep its derivative.

    Args:
        owner: the API that errors name.
        fn: what is differentiated, with respect to all ``args``.
        args: Tensors and containers made by ``mutable``.
        backwards: whether cotangents of the outputs are pulled back, or tangents pushed forward.
        parameters: Parameters that are differentiated too.
        has_aux: whether only the first of several outputs is differentiated.
        key: what tells the options of this call from others on the same ``fn``.

    Returns:
        The result, the inputs, and the derivative: a function from one tensor per differentiated
        output to one per input tensor and Parameter (or the other way round).
    """
    rule = reverse_rule if backwards else forward_rule
    positions = range(len(args))
    if open_scopes() or not (is_graph_mode() or is_compiled(fn)):
        run = Run(owner, fn, args, {}, positions, parameters, has_aux)
        replay = _Replay(run.recorded, rule, run.outputs)
        return run.result(replay.outputs), run.inputs, replay

    def first(*args: Any) -> tuple[Any, list[Tensor], _Second]:
        run = Run(owner, fn, args, {}, range(len(args)), parameters, has_aux)
        given = run.outputs if backwards else run.recorded.inputs
        outputs, kept, second = _split(run.recorded, rule, [t.type for t in given], run.outputs)
        return run.result(outputs), kept, second

    program = remembered(fn, (owner, key), lambda: Compiled(first))
    out, kept, second = program(*args)
    return out, Inputs(args, positions), lambda given: second(kept, given)


def _nothing(builder: Any, xs: Any, ys: Any, extras: Any) -> list[Any]:
    return []


class _Replay:
    """The derivative of a run, derived from what was recorded each time it is called.

    Attributes:
        outputs: the run's tensors, as seen outside of it.
    """

    __slots__ = ("_captured", "_chosen", "_graph", "_recorded", "_rule", "_xs", "outputs")

    def __init__(self, recorded: Recorded, rule: Callable[..., list[Any]], chosen: Sequence[Tensor]) -> None:
        self._recorded = recorded
        self._rule = rule
        self._chosen = chosen
        self._graph: Graph | None = None
        scope = recorded.scope
        if isinstance(scope, GraphScope):
            with building(scope.builder):
                self._graph = scope.builder.close([scope.atom(t) for t in chosen])
            place = {atom: k for k, atom in enumerate(self._graph.inputs)}
            self._xs = [place[t._atom] for t in recorded.inputs]
            self._captured = [tensor for _, tensor in scope.captures]
        self.outputs, _ = transformed(recorded, _nothing)
        # what the run wrote is written once, not again with every use of its derivative
        recorded.written.clear()

    def __call__(self, given: Sequence[Tensor]) -> list[Tensor]:
        if self._graph is None:
            return transformed(self._recorded, self._rule, given, self._chosen)[1]
        builder = Builder()
        with building(builder):
            inputs = [builder.input(v.type) for v in self._graph.inputs]
            extras = [builder.input(t.type) for t in given]
            ys = builder.inline(self._graph, inputs)
            graph = builder.close(self._rule(builder, [inputs[k] for k in self._xs], ys, extras))
        return inline_here(graph, [*self._captured, *given])


class _Second:
    """The second of two programs: of the values kept by the first and what is given.

    It is compiled when it is first called.
    """

    __slots__ = ("_graph", "_run")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._run: Callable[..., list[Any]] | None = None

    def __call__(self, kept: Sequence[Tensor], given: Sequence[Tensor]) -> list[Tensor]:
        if open_scopes():
            return inline_here(self._graph, [*kept, *given])
        if self._run is None:
            self._run = compile_graph(self._graph)
        return [make_tensor(array) for array in self._run([_stored(t) for t in (*kept, *given)])]


def _stored(tensor: Tensor) -> Any:
    """The array of ``tensor`` where it is: on the device once a program has made it."""
    array = tensor._array
    return tensor.numpy() if isinstance(array, (np.ndarray, np.generic)) else array


def _split(
    recorded: Recorded, rule: Callable[..., list[Any]], types: Sequence[Any], chosen: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor], _Second]:
    """The derivative of a run, in a part before and a part after tensors of ``types`` are given.

    Returns:
        The outputs of the run, the values that the second program needs, and the second program.
    """
    programs: list[_Second] = []

    def first(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any]) -> list[Any]:
        # in a copy: a loop or branch and its tangent become one equation, which needs what is given
        copy = Builder()
        with building(copy):
            inputs = [copy.input(v.type, tainted=v.tainted) for v in builder.inputs]
            place = dict(zip(builder.inputs, inputs, strict=True))
            outputs = copy.inline(builder.close(ys), inputs)
            given = [Variable(type) for type in types]
            produced = rule(copy, [place[x] for x in xs], outputs, given)
            copy.restore_order()
            equations, needed = dependent(copy, given, produced)
            before = copy.close(needed)
        programs.append(_Second(Graph([*needed, *given], equations, produced)))
        return builder.inline(before, builder.inputs)

    outputs, kept = transformed(recorded, first, (), chosen)
    return outputs, kept, programs[0]
