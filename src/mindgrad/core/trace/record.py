"""Record the operators of a Python function, and transform the recording.

    transformed(record(f, x), transform) = (f(x), transform(f)(x))

The function runs in a new scope, which records its operators. In eager mode, the operators also compute their
values, and the derivative is computed by a plan (``trace.plans``). During a trace, the scope contains the
graph of the function; this graph is transformed, and the result is emitted into the enclosing graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir import kernels
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.recorder import LocatedRecorder, Recorder
from mindgrad.core.ir.rules import Results, Stored, Transform, Tree
from mindgrad.core.ir.scope import (
    DeferredScope,
    GraphScope,
    Scope,
    as_it_is,
    current_deferral,
    innermost,
    lifted,
    opened,
    rebind,
)
from mindgrad.core.ir.tensor import Tensor, number_like
from mindgrad.core.trace import frontend, references
from mindgrad.core.trace.plans import finish_recorder
from mindgrad.core.transforms.zero_gradients import Unchecked

__all__ = ["Recorded", "finish", "new_scope", "record", "register_graph_finisher", "shadow", "transformed"]


class Recorded:
    """The recording of one run of a function in a separate scope.

    Attributes:
        scope: the scope, which is closed: it records no further operators.
        inputs: tensors of the scope that represent the differentiated inputs.
        leaves: the flattened result of the function. Some leaves may be tensors of the scope.
        structure: the nesting of the result, to which ``leaves`` are unflattened.
        written: pairs (reference that the run assigned, its new value in the scope).
    """

    __slots__ = ("__weakref__", "inputs", "leaves", "scope", "structure", "written")

    def __init__(self, scope: Scope, inputs: list[Tensor], leaves: list[Tree], structure: object) -> None:
        self.scope: Stored = scope
        self.written: list[tuple[Stored, Tensor]] = []
        if scope.written:
            self.written.extend([(p, scope.bindings[id(p)]) for p in scope.written.values()])
            scope.written.clear()
        # clear the bindings, because tensors keep their scope alive, and the bindings would keep values alive
        scope.bindings.clear()
        self.inputs = inputs
        self.leaves = leaves
        self.structure = structure

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors in the result of the function."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]

    def result(self, tensors: Sequence[Tensor]) -> Results:
        """Return the result of the function with ``tensors`` instead of its tensors."""
        replaced = iter(tensors)
        return unflatten(
            self.structure,
            [number_like(next(replaced), leaf) if isinstance(leaf, Tensor) else leaf for leaf in self.leaves],
        )


def record(
    function: Callable,
    inputs: Sequence[Tensor],
    parameters: Sequence[Tensor] = (),
    within: GraphScope | None = None,
) -> Recorded:
    """Run ``function(*inputs)`` in a scope that records its operators.

    Args:
        function: the function.
        inputs: its arguments.
        parameters: references that ``function`` reads. The recording can be differentiated with respect to
            ``inputs`` and ``parameters``.
        within: the scope. Default: a new scope, which traces if the innermost open scope traces, and
            otherwise also computes values.
    """
    values = [references.read(p) for p in parameters] if parameters else []
    deferral = None if within is not None else current_deferral()
    scope: Stored = within
    if scope is None:
        scope = new_scope() if deferral is None else deferral.new_scope()
    with opened(scope):
        if deferral is None:
            traced = [scope.input(t if t._scope is None else lifted(t)) for t in inputs]
            bound = [scope.input(value) for value in values] if values else []
        else:
            symbols = deferral.opens(scope, [*inputs, *values])
            traced, bound = symbols[: len(inputs)], symbols[len(inputs) :]
        if bound:
            scope.bindings.update([(id(p), t) for p, t in zip(parameters, bound, strict=True)])
        try:
            # pass copies of the inputs, because the function may assign to elements (x[0] = 1)
            leaves, structure = flatten(function(*map(as_it_is, traced)))
            for index, x in enumerate(leaves):
                if type(x) is Tensor:
                    leaves[index] = as_it_is(x if x._scope is scope else lifted(x))
                elif isinstance(x, Tensor):
                    leaves[index] = number_like(as_it_is(lifted(references.read(x))), x)
        finally:
            if deferral is not None:
                deferral.closes(scope)
    recorded = Recorded(scope, [*traced, *bound] if bound else traced, leaves, structure)
    if deferral is not None:
        deferral.returns(scope, recorded)
    return recorded


def new_scope() -> GraphScope | Recorder:
    """Create a scope of the same kind as the innermost open scope.

    If the innermost scope traces, so does the new scope. Otherwise, it also computes values.
    """
    outer = innermost()
    if not isinstance(outer, GraphScope):
        return LocatedRecorder() if kernels.check is not None else Recorder()
    scope = GraphScope()
    scope.builder.derived = outer.builder.derived  # all scopes of a trace share one cache of derivatives
    return scope


def transformed(
    recorded: Recorded,
    transform: Transform,
    extras: Sequence[Tensor | None] = (),
    outputs: Sequence[Tensor] | None = None,
    applied: Callable[[Graph, Sequence[Tensor]], list[Tensor]] | None = None,
    is_last: bool = False,
) -> tuple[list[Tensor], list[Tensor]]:
    """Transform a recording, and apply the result in the enclosing scope.

    Args:
        recorded: the recording to transform.
        transform: function ``transform(builder, xs, ys, extras)`` that emits equations into ``builder`` and
            returns their results. It must depend only on its arguments, because its result is cached.
        extras: cotangents or tangents; ``None`` is passed to ``transform`` unchanged.
        outputs: the outputs to transform. Default: all outputs.
        applied: function that applies the transformed graph to tensors during a trace. By default, the
            equations of the graph are emitted into the enclosing graph.
        is_last: whether ``recorded`` will not be transformed again, so that eager mode may free its values.

    Returns:
        All output tensors in the enclosing scope, and the results of ``transform``.
    """
    returned = recorded.outputs
    chosen = returned if outputs is None else list(outputs)
    scope = recorded.scope
    written = recorded.written
    rebound = scope.still_rebound() if scope.rebound else []
    primals = returned
    if written or rebound:
        primals = [*returned, *[value for _, value in written], *map(as_it_is, rebound)]
    targets = frontend.active.assigned_in(scope) if isinstance(scope, GraphScope) else ()
    if targets:
        primals = [*primals, *[as_it_is(x) for target in targets for x in target.leaves if _is_of(x, scope)]]
    vectors = [None if e is None else lifted(e) for e in extras]
    inputs = recorded.inputs
    if scope.opaque:
        transform = Unchecked(transform)
        outer = innermost()
        if outer is not None:
            outer.opaque = True
    if isinstance(scope, Recorder):
        outside, results = finish_recorder(scope, inputs, transform, vectors, chosen, primals, is_last)
    elif isinstance(scope, DeferredScope) and scope.deferral is not None:
        outside, results = scope.deferral.finishes(
            scope, transform, vectors, chosen, primals, applied, is_last=is_last
        )
    else:
        if isinstance(scope, DeferredScope):
            scope, inputs, chosen, primals, vectors = _shadows(scope, chosen, primals, vectors)
        outside, results = finish(
            scope, inputs, transform, vectors, chosen, primals, applied, is_last=is_last
        )
    count = len(returned)
    if len(primals) == count and not targets:
        return outside, results
    for (parameter, _), value in zip(written, outside[count:], strict=False):
        references.write(parameter, value)
    count_of_others = count + len(written)
    for tensor, value in zip(rebound, outside[count_of_others:], strict=False):
        rebind(tensor, value)
    following = iter(outside[count_of_others + len(rebound) :])
    for target in targets:
        target.store([number_like(next(following), x) if _is_of(x, scope) else x for x in target.leaves])
    return outside[:count], results


#: function that transforms a recording that is a graph. ``trace.graph_recording`` registers it, so that this
#: module, which eager mode uses, need not import the rewrites of graphs
_finish_graph: Callable[..., tuple[list[Tensor], list[Tensor]]] | None = None


def register_graph_finisher(finisher: Callable[..., tuple[list[Tensor], list[Tensor]]]) -> None:
    """Set the function that transforms recordings that are graphs."""
    global _finish_graph
    _finish_graph = finisher


def finish(
    scope: Scope,
    inputs: Sequence[Tensor],
    transform: Transform,
    extras: Sequence[Tensor | None],
    chosen: Sequence[Tensor],
    primals: Sequence[Tensor],
    applied: Callable[[Graph, Sequence[Tensor]], list[Tensor]] | None = None,
    *,
    is_last: bool = False,
) -> tuple[list[Tensor], list[Tensor]]:
    """Transform the recording in ``scope``, and apply the result outside it.

    Args:
        scope: the closed scope that contains the recording.
        inputs: tensors of the scope that represent the differentiated inputs.
        transform, applied, is_last: see :func:`transformed`.
        extras: cotangents or tangents; ``None`` is passed to ``transform`` unchanged.
        chosen: the outputs to transform.
        primals: tensors of the scope whose values are needed outside it.

    Returns:
        The tensors of the enclosing scope that correspond to ``primals``, and the results of ``transform``.
    """
    if isinstance(scope, GraphScope):
        if _finish_graph is None:
            raise RuntimeError("Import mindgrad.core.trace.graph_recording before a graph is transformed.")
        return _finish_graph(scope, inputs, transform, extras, chosen, list(primals), applied)
    return finish_recorder(scope, inputs, transform, extras, chosen, primals, is_last)  # type: ignore[arg-type]  # it is a Recorder


def _shadows(scope: DeferredScope, *groups: Sequence[Tensor | None]) -> tuple:
    """Replace a deferred recording, whose call has ended, by its eager recording.

    A deferred call records operators before they run. When they run, a second recording, the *shadow*, stores
    their values. Returns the scope and the inputs of the shadow, and the tensors of the shadow that
    correspond to the tensors in ``groups``.
    """
    if scope.shadow is None:
        raise RuntimeError(
            "The recording of a deferred call was discarded when the call ended, so it cannot be "
            "differentiated now."
        )
    real, inputs = scope.shadow
    return real, inputs, *[[None if t is None else shadow(t) for t in group] for group in groups]


def shadow(tensor: Tensor) -> Tensor:
    """Return the tensor that represents a deferred tensor in the eager recording.

    Deferred tensors were recorded before their values were computed. Other tensors are returned unchanged.
    """
    array = tensor._array
    return array.shadow if type(array) is PendingArray and array.shadow is not None else tensor


def _is_of(leaf: object, scope: object) -> TypeGuard[Tensor]:
    return isinstance(leaf, Tensor) and leaf._scope is scope
