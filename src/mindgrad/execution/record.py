"""Recording of a Python function, and transformation of the recording.

    differentiate(f, x, transform) = (f(x), transform(f)(x))

The function runs in a new scope, which records its operators. In eager mode, the operators also compute their
values, and the derivative is a plan (``execution.plans``). During a trace, the scope contains the graph of
the function. The graph is transformed, and the result is emitted into the enclosing graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad._base.location import user_location
from mindgrad._base.tree import flatten, unflatten
from mindgrad.execution.plans import finish_recorder
from mindgrad.ir.build import Builder, building
from mindgrad.ir.evaluate import inline
from mindgrad.ir.graph import Constant, Graph
from mindgrad.ir.kernels import is_checking_kernels
from mindgrad.ir.pending import PendingArray
from mindgrad.ir.recorder import LocatedRecorder, Recorder
from mindgrad.ir.rewriting import is_rewriting
from mindgrad.ir.scope import (
    DeferredScope,
    GraphScope,
    as_it_is,
    current_deferral,
    held_constant,
    innermost,
    lifted,
    opened,
    rebind,
)
from mindgrad.ir.tensor import Number, Tensor, make_number
from mindgrad.optimize.broadcast_elimination import with_smaller_inputs
from mindgrad.optimize.derivative_fusion import joined
from mindgrad.optimize.pipeline import before_derivative
from mindgrad.optimize.shift_invariance import has_shifts, shifts_stopped
from mindgrad.primitives.kinds import is_zero
from mindgrad.trace import side_effects, state
from mindgrad.transforms.zero_gradients import Unchecked, smooth_atoms, steps_of, warn_of_zeros

__all__ = ["Recorded", "finish", "new_scope", "note_derivative", "record", "shadow", "transformed"]


class Recorded:
    """The recording of one run of a function in a separate scope.

    Attributes:
        scope: the closed scope.
        inputs: tensors of the scope that represent the differentiated inputs.
        leaves: the flattened result of the function. Some elements may be tensors of the scope.
        structure: the nesting of the function's result, from which ``leaves`` were flattened.
        written: pairs (Parameter that the run wrote, its new value in the scope).
    """

    __slots__ = ("__weakref__", "inputs", "leaves", "scope", "structure", "written")

    def __init__(self, scope: Any, inputs: list[Tensor], leaves: list[Any], structure: Any) -> None:
        self.scope = scope
        self.written: list[tuple[Any, Tensor]] = []
        if scope.written:
            self.written.extend([(p, scope.bindings[id(p)]) for p in scope.written.values()])
            scope.written.clear()
        # the tensors of a scope refer to the scope, so its bindings would keep values of Parameters alive
        scope.bindings.clear()
        self.inputs = inputs
        self.leaves = leaves
        self.structure = structure

    @property
    def outputs(self) -> list[Tensor]:
        """The leaves of the result that are tensors."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]

    def result(self, tensors: Sequence[Tensor]) -> Any:
        """Build the result of the function with its tensors replaced by ``tensors``."""
        replaced = iter(tensors)
        return unflatten(
            self.structure,
            [_seen(leaf, next(replaced)) if isinstance(leaf, Tensor) else leaf for leaf in self.leaves],
        )


def record(
    function: Callable[..., Any],
    inputs: Sequence[Tensor],
    parameters: Sequence[Any] = (),
    within: GraphScope | None = None,
) -> Recorded:
    """Run ``function(*inputs)`` in a scope that records its operators.

    ``inputs`` and ``parameters`` are the inputs of the recording, with respect to which it can be
    differentiated. The scope is ``within``, or else a new scope of the same kind as the innermost open scope.
    """
    values = [state.read(p) for p in parameters] if parameters else []
    deferral = None if within is not None else current_deferral()
    scope: Any = within
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
            # pass copies, because the function may assign to elements of its inputs (x[0] = 1)
            leaves, structure = flatten(function(*map(as_it_is, traced)))
            for index, x in enumerate(leaves):
                if type(x) is Tensor:
                    leaves[index] = as_it_is(x if x._scope is scope else lifted(x))
                elif isinstance(x, Tensor):
                    leaves[index] = _seen(x, as_it_is(lifted(state.read(x))))
        finally:
            if deferral is not None:
                deferral.closes(scope)
    recorded = Recorded(scope, [*traced, *bound] if bound else traced, leaves, structure)
    if deferral is not None:
        deferral.returns(scope, recorded)
    return recorded


def new_scope() -> GraphScope | Recorder:
    """Create a scope that traces if the innermost scope traces, or else runs eagerly."""
    outer = innermost()
    if not isinstance(outer, GraphScope):
        return LocatedRecorder() if is_checking_kernels() else Recorder()
    scope = GraphScope()
    scope.builder.derived = outer.builder.derived  # all scopes of a trace share one cache of derivatives
    return scope


def transformed(
    recorded: Recorded,
    transform: Callable[..., list[Any]],
    extras: Sequence[Tensor | None] = (),
    outputs: Sequence[Tensor] | None = None,
    shortcut: Callable[..., list[Any] | None] | None = None,
    applied: Callable[[Graph, Sequence[Tensor]], list[Tensor]] | None = None,
    is_last: bool = False,
) -> tuple[list[Tensor], list[Tensor]]:
    """Transform a recording, and apply the result in the enclosing scope.

    Args:
        recorded: the recording to transform.
        transform: function ``transform(builder, xs, ys, extras)`` that emits equations into ``builder`` and
            returns atoms. It must depend only on its arguments, because its result is cached.
        extras: cotangents or tangents; ``None`` is passed to ``transform`` unchanged.
        outputs: the outputs to transform. Default: all outputs.
        shortcut: an alternative to ``transform`` with the same arguments, used during a trace. It is called
            first, with a graph in which inner derivatives are single equations that are not expanded yet
            (``control.taylor_coefficients``). If it returns ``None``, ``transform`` is called.
        applied: function that applies the transformed graph to tensors during a trace. Default: inline it.
        is_last: whether ``recorded`` will not be transformed again, so that eager mode may free its values.

    Returns:
        All output tensors, and the results of ``transform``.
    """
    returned = recorded.outputs
    chosen = returned if outputs is None else list(outputs)
    scope = recorded.scope
    written = recorded.written
    rebound = scope.still_rebound() if scope.rebound else []
    primals = returned
    if written or rebound:
        primals = [*returned, *[value for _, value in written], *map(as_it_is, rebound)]
    targets = side_effects.inner(scope) if isinstance(scope, GraphScope) else []
    if targets:
        primals = [*primals, *[as_it_is(x) for _, leaves, _ in targets for x in leaves if _is_of(x, scope)]]
    vectors = [None if e is None else lifted(e) for e in extras]
    inputs = recorded.inputs
    if scope.opaque:
        transform = Unchecked(transform)
        outer = innermost()
        if outer is not None:
            outer.opaque = True
    if isinstance(scope, Recorder):
        outside, results = finish_recorder(scope, inputs, transform, vectors, chosen, primals, is_last)
    else:
        finisher: Any = finish
        if isinstance(scope, DeferredScope):
            if scope.deferral is None:
                scope, inputs, chosen, primals, vectors = _shadows(scope, chosen, primals, vectors)
            else:
                finisher = scope.deferral.finishes
        outside, results = finisher(
            scope, inputs, transform, vectors, chosen, primals, shortcut, applied, is_last=is_last
        )
    count = len(returned)
    if len(primals) == count and not targets:
        return outside, results
    for (parameter, _), value in zip(written, outside[count:], strict=False):
        state.write(parameter, value)
    count_of_others = count + len(written)
    for tensor, value in zip(rebound, outside[count_of_others:], strict=False):
        rebind(tensor, value)
    following = iter(outside[count_of_others + len(rebound) :])
    for target, leaves, structure in targets:
        now = [_seen(x, next(following)) if _is_of(x, scope) else x for x in leaves]
        side_effects.rebuilt(target, now, structure)
    return outside[:count], results


def finish(
    scope: Any,
    inputs: Sequence[Tensor],
    transform: Callable[..., list[Any]],
    extras: Sequence[Tensor | None],
    chosen: Sequence[Tensor],
    primals: Sequence[Tensor],
    shortcut: Callable[..., list[Any] | None] | None = None,
    applied: Callable[[Graph, Sequence[Tensor]], list[Tensor]] | None = None,
    *,
    is_last: bool = False,
) -> tuple[list[Tensor], list[Tensor]]:
    """Transform the recording in ``scope``.

    Args:
        scope: the closed scope that contains the recording.
        inputs: tensors of the scope that represent the differentiated inputs.
        transform, shortcut, applied, is_last: see :func:`transformed`.
        extras: cotangents or tangents; ``None`` is passed to ``transform`` unchanged.
        chosen: the outputs to transform.
        primals: tensors of the scope whose values are needed outside it.

    Returns:
        The tensors outside the scope that correspond to ``primals``, and the results of ``transform``.
    """
    if isinstance(scope, GraphScope):
        return _finish_graph(
            scope, inputs, transform, extras, chosen, list(primals), shortcut, applied or inline_here
        )
    return finish_recorder(scope, inputs, transform, extras, chosen, primals, is_last)


def _shadows(scope: DeferredScope, *groups: Sequence[Tensor | None]) -> tuple[Any, ...]:
    """Replace a deferred recording, whose call has ended, by its eager recording.

    A deferred call records operators before they run. When they run, a second recording, the *shadow*, stores
    their values. Returns the scope and inputs of the shadow, and the tensors of ``groups`` in it.
    """
    if scope.shadow is None:
        raise RuntimeError("the recording of a deferred call is used after its end, and was not kept")
    real, inputs = scope.shadow
    return real, inputs, *[[None if t is None else shadow(t) for t in group] for group in groups]


def shadow(tensor: Tensor) -> Tensor:
    """Return the tensor of the eager recording that has the value of ``tensor``.

    Returns ``tensor`` itself if it has no such tensor.
    """
    array = tensor._array
    return array.shadow if type(array) is PendingArray and array.shadow is not None else tensor


def _is_of(leaf: Any, scope: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf._scope is scope


def _seen(leaf: Tensor, outside: Tensor) -> Tensor:
    return make_number(outside) if type(leaf) is Number else outside


# -- during a trace ------------------------------------------------------------------------------


def _finish_graph(
    scope: GraphScope,
    inputs: Sequence[Tensor],
    transform: Any,
    extras: Sequence[Tensor | None],
    chosen: Sequence[Tensor],
    primals: list[Tensor],
    shortcut: Any,
    applied: Any,
) -> tuple[list[Tensor], list[Tensor]]:
    builder = scope.builder
    equations = list(builder.equations)
    with building(builder):
        xs = [t._atom for t in inputs]
        ys = [scope.atom(t) for t in chosen]
        vectors = [None if e is None else scope.atom(e) for e in extras]
        primal_atoms = [scope.atom(t) for t in primals]
    captured = [tensor for _, tensor in scope.captures]
    function = xs, ys
    if is_rewriting() and has_shifts(builder.equations):
        builder, (xs, ys, vectors, primal_atoms) = _rewritten(
            builder, (xs, ys, vectors, primal_atoms), shifts_stopped
        )
    graph = None
    if shortcut is not None and is_rewriting():
        graph = _by_shortcut(builder, shortcut, xs, ys, vectors, primal_atoms)
    is_short = graph is not None
    if graph is None:
        builder, (xs, ys, vectors, primal_atoms) = _improved(
            builder, (xs, ys, vectors, primal_atoms), captured
        )
        with building(builder):
            graph = builder.close([*primal_atoms, *transform(builder, xs, ys, vectors)])
    produced = graph.outputs[len(primals) :]
    # after the shortcut, derivatives are not expanded yet, so ``produced`` does not show a zero derivative
    is_suspect = any(e.primitive.jvp is None for e in equations) if is_short else any(map(is_zero, produced))
    if produced:
        note_derivative(scope, equations, *function, is_suspect and not isinstance(transform, Unchecked))
    else:
        scope.close_program()
    outside = applied(graph, captured)
    return outside[: len(primals)], outside[len(primals) :]


def note_derivative(
    scope: GraphScope, equations: Sequence[Any], xs: Sequence[Any], ys: Sequence[Any], is_suspect: bool
) -> None:
    """Record in the enclosing graph that the function of ``scope`` was differentiated.

    If ``is_suspect`` is true, a derivative may be zero. If the cause are operators such as comparisons, a
    warning names them.
    """
    if is_suspect:
        warn_of_zeros(steps_of(equations, xs, ys, smooth_atoms(scope)))
    outer = innermost()
    if isinstance(outer, GraphScope):
        nested = smooth_atoms(scope) if scope.differentiated else []
        outer.differentiated.append((equations, [*ys, *nested], scope.captures))


def _by_shortcut(
    builder: Builder, shortcut: Any, xs: list[Any], ys: list[Any], vectors: list[Any], primal: list[Any]
) -> Graph | None:
    """Build a graph of the ``primal`` values and the derivative by ``shortcut``.

    Returns ``None`` if ``shortcut`` does. A trace records a differentiated function at each call. If two
    recordings are equal, they share one graph.
    """
    scope = innermost()
    derived = scope.builder.derived if isinstance(scope, GraphScope) else {}
    program = builder.close([*xs, *ys, *primal])
    numbers = {v: k for k, v in enumerate(program.inputs)}
    # extras come from outside the recording, so they are inputs or constants
    of_given = tuple([None if x is None else x.key if type(x) is Constant else numbers[x] for x in vectors])
    key = (shortcut, len(xs), len(ys), of_given, program.key())
    if key not in derived:
        with building(builder):
            produced = shortcut(builder, xs, ys, vectors)
        # also store ``program``, because it keeps the constants alive whose ``id`` is part of the key
        derived[key] = program, None if produced is None else builder.close([*primal, *produced])
    return derived[key][1]


def _improved(
    builder: Builder, groups: tuple[list[Any], ...], captured: list[Tensor]
) -> tuple[Builder, tuple[list[Any], ...]]:
    """Apply the rewrites before differentiation; return a new builder and its atoms.

    A captured tensor may be a broadcast of a smaller tensor. If the rewritten graph needs only the smaller
    tensor, the smaller tensor replaces the broadcast in ``captured``.
    """

    def improved(graph: Graph) -> Graph:
        if is_rewriting():
            active = set(groups[0])
            outer = [
                None if v in active else _outer_atom(t) for v, t in zip(graph.inputs, captured, strict=True)
            ]
            graph, smaller = with_smaller_inputs(joined(graph), outer)
            for at, atom in smaller.items():
                captured[at] = captured[at]._scope.tensor(atom)
        return before_derivative(graph)

    return _rewritten(builder, groups, improved)


def _rewritten(
    builder: Builder, groups: tuple[list[Any], ...], rewrite: Callable[[Graph], Graph]
) -> tuple[Builder, tuple[list[Any], ...]]:
    """Apply ``rewrite`` to a builder's graph; return a new builder and its atoms."""
    closed = builder.close([atom for group in groups for atom in group if atom is not None])
    better = rewrite(closed)
    if better is closed:
        return builder, groups
    derived = Builder()
    with building(derived):
        inputs = derived.inputs_like(better.inputs)
        following = iter(derived.inline(better, inputs))
    return derived, tuple([None if a is None else next(following) for a in group] for group in groups)


def _outer_atom(tensor: Tensor) -> Any:
    return tensor._atom if isinstance(tensor._scope, GraphScope) and not tensor.is_parameter else None


def inline_here(graph: Graph, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Apply ``graph`` to ``tensors`` in the innermost scope."""
    scope = innermost()
    if not isinstance(scope, GraphScope):
        return inline(graph, tensors)
    atoms = [scope.atom(t) for t in held_constant(tensors)]
    with building(scope.builder):
        # equations without a source line, such as the initial cotangent, get the line of the gradient call
        scope.builder.source = user_location()
        outputs = scope.builder.inline(graph, atoms)
        scope.builder.source = None
        return [scope.tensor(atom) for atom in outputs]
