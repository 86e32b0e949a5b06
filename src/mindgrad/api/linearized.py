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

from mindgrad._base.tree import map_leaves
from mindgrad.api.callables import is_compiled, remembered
from mindgrad.api.vjp_call import Inputs, Run
from mindgrad.backend.xla import compile_graph
from mindgrad.execution.compiled import Compiled
from mindgrad.execution.pullback import forward_rule, reverse_rule
from mindgrad.execution.record import Recorded, inline_here, note_derivative, transformed
from mindgrad.ir.build import Builder, building
from mindgrad.ir.graph import Graph, without_effects
from mindgrad.ir.pending import resolved
from mindgrad.ir.scope import GraphScope, as_it_is, open_scopes
from mindgrad.ir.settings import is_graph_mode
from mindgrad.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.rows.kinds import is_zero
from mindgrad.trace.numbers import as_data
from mindgrad.transforms.apply_rule import directional

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
        args: Tensors, and containers of Tensors and floats.
        backwards: whether cotangents of the outputs are pulled back, or tangents pushed forward.
        parameters: Parameters that are differentiated too.
        has_aux: whether only the first of several outputs is differentiated.
        key: what tells the options of this call from others on the same ``fn``.

    Returns:
        The result, in which numbers that were differentiated are a ``Number``, the inputs, and the
        derivative: a function from one tensor per differentiated
        output to one per input tensor and Parameter (or the other way round).
    """
    rule = reverse_rule if backwards else forward_rule
    positions = range(len(args))
    if open_scopes() or not (is_graph_mode() or is_compiled(fn)):
        run = Run(owner, fn, args, {}, positions, parameters, has_aux)
        replay = _Replay(run.recorded, rule, run.outputs)
        return run.result(replay.outputs), run.inputs, replay

    def first(*args: Any) -> tuple[Any, list[bool], list[Tensor], _Second]:
        run = Run(owner, fn, args, {}, range(len(args)), parameters, has_aux)
        templates = run.outputs if backwards else run.recorded.inputs
        outputs, residuals, second = _split(
            run.recorded, rule, [t.type for t in templates], run.outputs, backwards
        )
        numbers = [type(leaf) is Number for leaf in run.recorded.outputs]
        return map_leaves(_as_tensor, run.result(outputs)), numbers, residuals, second

    program = remembered(fn, (owner, key), lambda: Compiled(first))
    args, _ = as_data(args, {}, positions, tuple)
    result, numbers, residuals, second = program(*args)
    following = iter(numbers)
    out = map_leaves(lambda x: _as_number(x, next(following)) if isinstance(x, Tensor) else x, result)
    return out, Inputs(owner, fn, args, positions), lambda vectors: second(residuals, vectors)


def _as_tensor(leaf: Any) -> Any:
    return as_it_is(leaf) if type(leaf) is Number else leaf


def _as_number(tensor: Tensor, is_one: bool) -> Tensor:
    return make_number(tensor) if is_one else tensor


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
                # the run prints, not each use of its derivative
                self._graph = without_effects(scope.builder.close([scope.atom(t) for t in chosen]))
            place = {atom: k for k, atom in enumerate(self._graph.inputs)}
            self._xs = [place[t._atom] for t in recorded.inputs]
            self._captured = [tensor for _, tensor in scope.captures]
        self.outputs, _ = transformed(recorded, _nothing)
        # what the run wrote is written once, not again with every use of its derivative
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
        _note(self._recorded, self._chosen, graph)
        return inline_here(graph, [*self._captured, *vectors])


class _Second:
    """The second of two programs: of the values kept by the first and what is given.

    It is compiled when it is first called.
    """

    __slots__ = ("_run", "graph")

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._run: Callable[..., list[Any]] | None = None

    def __call__(self, residuals: Sequence[Tensor], vectors: Sequence[Tensor]) -> list[Tensor]:
        if open_scopes():
            return inline_here(self.graph, [*residuals, *vectors])
        if self._run is None:
            self._run = compile_graph(self.graph)
        return [make_tensor(array) for array in self._run([_stored(t) for t in (*residuals, *vectors)])]


def _stored(tensor: Tensor) -> Any:
    """The array of ``tensor`` where it is: on the device once a program has made it."""
    array = resolved(tensor._array)
    return tensor.host_array() if isinstance(array, (np.ndarray, np.generic)) else array


def _note(recorded: Recorded, chosen: Sequence[Tensor], derivative: Graph) -> None:
    """Note that the compiled run was differentiated; warn if comparisons make its derivative zero."""
    scope = recorded.scope
    with building(scope.builder):
        ys = [scope.atom(t) for t in chosen]
    is_suspect = not scope.opaque and any(map(is_zero, derivative.outputs))
    note_derivative(scope, scope.builder.equations, [t._atom for t in recorded.inputs], ys, is_suspect)


def _split(
    recorded: Recorded,
    rule: Callable[..., list[Any]],
    types: Sequence[Any],
    chosen: Sequence[Tensor],
    backwards: bool,
) -> tuple[list[Tensor], list[Tensor], _Second]:
    """The derivative of a run, in a part before and a part after tensors of ``types`` are given.

    Returns:
        The outputs of the run, the values that the second program needs, and the second program.
    """
    programs: list[_Second] = []

    def first(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any]) -> list[Any]:
        program, residuals = directional(builder, rule, xs, ys, types, is_forward=not backwards)
        programs.append(_Second(program))
        return residuals

    outputs, kept = transformed(recorded, first, (), chosen)
    _note(recorded, chosen, programs[0].graph)
    return outputs, kept, programs[0]
