"""Run a function once, and apply its derivative to many vectors.

    out, apply = linearized(f, x)        apply(ct) = J_f(x)ᵀ ct   or   apply(t) = J_f(x) t

In eager mode, the recording is stored, and each call of ``apply`` replays its derivative. In compiled
functions, the computation is split in two. The first part computes the result and the residuals. The second
part computes the derivative from the residuals and the vector. The function itself never runs twice.
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
from mindgrad.primitives.kinds import is_zero
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
    """Run ``fn(*args)`` and return its derivative as a linear function.

    Args:
        owner: name of the public function, such as ``"grad"``, for error messages.
        fn: the function to differentiate, with respect to all ``args``.
        args: arguments of ``fn``: Tensors, and containers of Tensors and floats.
        backwards: whether the derivative maps cotangents of outputs to cotangents of inputs. Otherwise it
            maps tangents of inputs to tangents of outputs.
        parameters: Parameters with respect to which ``fn`` is also differentiated.
        has_aux: whether only the first of several outputs of ``fn`` is differentiated.
        key: a cache key that distinguishes the options of this call from other calls with the same ``fn``.

    Returns:
        tuple: the result, the inputs, and the derivative. Differentiated numbers in the result are of type
        ``Number``. With ``backwards``, the derivative takes one tensor for each differentiated output, and
        returns one for each input tensor and Parameter. Otherwise it takes one tensor for each input tensor
        and Parameter, and returns one for each differentiated output.
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
    """The derivative of a recorded run as a function of vectors.

    Each call transforms the recording again, for its own vectors.

    Attributes:
        outputs: the outputs of the run, as tensors of the scope outside the run.
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
                # only the run itself prints, not each application of its derivative
                self._graph = without_effects(scope.builder.close([scope.atom(t) for t in chosen]))
            place = {atom: k for k, atom in enumerate(self._graph.inputs)}
            self._xs = [place[t._atom] for t in recorded.inputs]
            self._captured = [tensor for _, tensor in scope.captures]
        self.outputs, _ = transformed(recorded, _nothing)
        # Parameters that the run assigned are written once, not with each application of its derivative
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
    """The second part of a split derivative: a function of residuals and vectors.

    It is compiled at the first call outside other traces.
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
    """Return the array of ``tensor`` without a copy between host and device."""
    array = resolved(tensor._array)
    return tensor.host_array() if isinstance(array, (np.ndarray, np.generic)) else array


def _note(recorded: Recorded, chosen: Sequence[Tensor], derivative: Graph) -> None:
    """Record that the run was differentiated, and warn about zero gradients."""
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
    """Split the derivative of a run into two parts (see the module docstring).

    Args:
        recorded: the run.
        rule: rule that emits the derivative, such as ``reverse_rule``.
        types: types of the vectors to which the derivative is applied.
        chosen: the differentiated outputs of the run.
        backwards: whether the derivative maps cotangents of outputs to cotangents of inputs.

    Returns:
        tuple: the outputs of the run, the residuals, and the second part.
    """
    programs: list[_Second] = []

    def first(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any]) -> list[Any]:
        program, residuals = directional(builder, rule, xs, ys, types, is_forward=not backwards)
        programs.append(_Second(program))
        return residuals

    outputs, kept = transformed(recorded, first, (), chosen)
    _note(recorded, chosen, programs[0].graph)
    return outputs, kept, programs[0]
