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

from mindgrad.api.callables import is_compiled, remembered
from mindgrad.api.vjp_call import Inputs, Run
from mindgrad.core.backend.xla import compile_graph
from mindgrad.core.base.tree import map_leaves
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.pending import resolved
from mindgrad.core.ir.scope import as_it_is, open_scopes
from mindgrad.core.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.core.passes.pipeline import before_compilation
from mindgrad.core.trace.numbers import as_data
from mindgrad.core.trace.record import Recorded, transformed
from mindgrad.core.trace.replay import Replay, note_linearized
from mindgrad.core.transforms.apply_rule import directional
from mindgrad.core.transforms.batch import batch
from mindgrad.core.transforms.rules import forward_rule, reverse_rule
from mindgrad.frontend.mode import is_graph_mode
from mindgrad.frontend.programs.compiled import Compiled

__all__ = ["LinearPart", "device_array", "linearized", "split"]

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
        replay = Replay(run.recorded, rule, run.outputs)
        return run.result(replay.outputs), run.inputs, replay

    def first(*args: Any) -> tuple[Any, list[bool], list[Tensor], LinearPart]:
        run = Run(owner, fn, args, {}, range(len(args)), parameters, has_aux)
        templates = run.outputs if backwards else run.recorded.inputs
        outputs, residuals, second = split(
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


class LinearPart:
    """The second part of a split derivative: a function of residuals and vectors.

    It is compiled at the first call outside other traces.
    """

    __slots__ = ("_batched", "_run", "graph")

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._run: Callable[..., list[Any]] | None = None
        self._batched: dict[int, Callable[..., list[Any]]] = {}

    def __call__(self, residuals: Sequence[Tensor], vectors: Sequence[Tensor]) -> list[Tensor]:
        if open_scopes():
            return inline_here(self.graph, [*residuals, *vectors])
        if self._run is None:
            self._run = compile_graph(before_compilation(self.graph))
        return [make_tensor(array) for array in self._run([device_array(t) for t in (*residuals, *vectors)])]

    def batched(self, residuals: Sequence[Tensor], vectors: Sequence[Tensor], count: int) -> list[Tensor]:
        """Return the results for ``count`` vectors, stacked along a new first axis."""
        run = self._batched.get(count)
        if run is None:
            axes = [*[None] * len(residuals), *[0] * len(vectors)]
            run = self._batched[count] = compile_graph(before_compilation(batch(self.graph, axes, count)))
        return [make_tensor(array) for array in run([device_array(t) for t in (*residuals, *vectors)])]


def device_array(tensor: Tensor) -> Any:
    """Return the array of ``tensor`` without a copy between host and device."""
    array = resolved(tensor._array)
    return tensor.host_array() if isinstance(array, (np.ndarray, np.generic)) else array


def split(
    recorded: Recorded,
    rule: Callable[..., list[Any]],
    types: Sequence[Any],
    chosen: Sequence[Tensor],
    backwards: bool,
) -> tuple[list[Tensor], list[Tensor], LinearPart]:
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
    programs: list[LinearPart] = []

    def first(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any]) -> list[Any]:
        program, residuals = directional(builder, rule, xs, ys, types, is_forward=not backwards)
        programs.append(LinearPart(program))
        return residuals

    outputs, kept = transformed(recorded, first, (), chosen)
    note_linearized(recorded, chosen, programs[0].graph)
    return outputs, kept, programs[0]
