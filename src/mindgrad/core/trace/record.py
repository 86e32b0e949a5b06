"""Recording of a Python function, and transformation of the recording.

    differentiate(f, x, transform) = (f(x), transform(f)(x))

The function runs in a new scope, which records its operators. In eager mode, the operators also compute their
values, and the derivative is a plan (``trace.plans``). During a trace, the scope contains the graph of
the function. The graph is transformed, and the result is emitted into the enclosing graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

from mindgrad.core.base.location import user_location
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import inline
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph
from mindgrad.core.ir.kernels import is_checking_kernels
from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.recorder import LocatedRecorder, Recorder
from mindgrad.core.ir.rewriting import is_rewriting
from mindgrad.core.ir.rules import Atoms, Kernel, Results, Shortcut, Stored, Tangent, Transform, Tree
from mindgrad.core.ir.scope import (
    DeferredScope,
    GraphScope,
    Scope,
    as_it_is,
    current_deferral,
    held_constant,
    innermost,
    lifted,
    opened,
    rebind,
)
from mindgrad.core.ir.tensor import Number, Tensor, make_number
from mindgrad.core.passes.broadcast_elimination import shrink_inputs
from mindgrad.core.passes.derivative_fusion import fuse_derivatives
from mindgrad.core.passes.pipeline import before_derivative
from mindgrad.core.passes.shift_invariance import has_shifts, stop_shifts
from mindgrad.core.primitives.kinds import is_zero
from mindgrad.core.trace import frontend, references
from mindgrad.core.trace.plans import finish_recorder
from mindgrad.core.transforms.zero_gradients import Unchecked, smooth_atoms, steps_of, warn_of_zeros

__all__ = ["Recorded", "finish", "new_scope", "note_derivative", "record", "shadow", "transformed"]


class Recorded:
    """The recording of one run of a function in a separate scope.

    Attributes:
        scope: the closed scope.
        inputs: tensors of the scope that represent the differentiated inputs.
        leaves: the flattened result of the function. Some elements may be tensors of the scope.
        structure: the nesting of the function's result, from which ``leaves`` were flattened.
        written: pairs (reference that the run wrote, its new value in the scope).
    """

    __slots__ = ("__weakref__", "inputs", "leaves", "scope", "structure", "written")

    def __init__(self, scope: Scope, inputs: list[Tensor], leaves: list[Tree], structure: object) -> None:
        self.scope: Stored = scope
        self.written: list[tuple[Stored, Tensor]] = []
        if scope.written:
            self.written.extend([(p, scope.bindings[id(p)]) for p in scope.written.values()])
            scope.written.clear()
        # clear the bindings: tensors refer to their scope, which would keep the values of references alive
        scope.bindings.clear()
        self.inputs = inputs
        self.leaves = leaves
        self.structure = structure

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors in the result of the function."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]

    def result(self, tensors: Sequence[Tensor]) -> Results:
        """Build the result of the function with its tensors replaced by ``tensors``."""
        replaced = iter(tensors)
        return unflatten(
            self.structure,
            [_seen(leaf, next(replaced)) if isinstance(leaf, Tensor) else leaf for leaf in self.leaves],
        )


def record(
    function: Callable,
    inputs: Sequence[Tensor],
    parameters: Sequence[Tensor] = (),
    within: GraphScope | None = None,
) -> Recorded:
    """Run ``function(*inputs)`` in a scope that records its operators.

    ``inputs`` and ``parameters`` are the inputs of the recording, with respect to which it can be
    differentiated. The scope is ``within``, or else a new scope of the same kind as the innermost open scope.
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
                    leaves[index] = _seen(x, as_it_is(lifted(references.read(x))))
        finally:
            if deferral is not None:
                deferral.closes(scope)
    recorded = Recorded(scope, [*traced, *bound] if bound else traced, leaves, structure)
    if deferral is not None:
        deferral.returns(scope, recorded)
    return recorded


def new_scope() -> GraphScope | Recorder:
    """Create a scope of the same kind as the innermost open scope: traced or eager."""
    outer = innermost()
    if not isinstance(outer, GraphScope):
        return LocatedRecorder() if is_checking_kernels() else Recorder()
    scope = GraphScope()
    scope.builder.derived = outer.builder.derived  # all scopes of a trace share one cache of derivatives
    return scope


def transformed(
    recorded: Recorded,
    transform: Transform,
    extras: Sequence[Tensor | None] = (),
    outputs: Sequence[Tensor] | None = None,
    shortcut: Shortcut | None = None,
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
    targets = frontend.assigned_in(scope) if isinstance(scope, GraphScope) else ()
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
    else:
        finisher: Kernel = finish
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
        references.write(parameter, value)
    count_of_others = count + len(written)
    for tensor, value in zip(rebound, outside[count_of_others:], strict=False):
        rebind(tensor, value)
    following = iter(outside[count_of_others + len(rebound) :])
    for target in targets:
        target.store([_seen(x, next(following)) if _is_of(x, scope) else x for x in target.leaves])
    return outside[:count], results


def finish(
    scope: Scope,
    inputs: Sequence[Tensor],
    transform: Transform,
    extras: Sequence[Tensor | None],
    chosen: Sequence[Tensor],
    primals: Sequence[Tensor],
    shortcut: Shortcut | None = None,
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
    return finish_recorder(scope, inputs, transform, extras, chosen, primals, is_last)  # type: ignore[arg-type]  # it is a Recorder


def _shadows(scope: DeferredScope, *groups: Sequence[Tensor | None]) -> tuple:
    """Replace a deferred recording, whose call has ended, by its eager recording.

    A deferred call records operators before they run. When they run, a second recording, the *shadow*, stores
    their values. Returns the scope and inputs of the shadow, and the tensors of ``groups`` in it.
    """
    if scope.shadow is None:
        raise RuntimeError("the recording of a deferred call is used after its end, and was not kept")
    real, inputs = scope.shadow
    return real, inputs, *[[None if t is None else shadow(t) for t in group] for group in groups]


def shadow(tensor: Tensor) -> Tensor:
    """Return the counterpart of a deferred recording's tensor in the eager recording."""
    array = tensor._array
    return array.shadow if type(array) is PendingArray and array.shadow is not None else tensor


def _is_of(leaf: object, scope: object) -> TypeGuard[Tensor]:
    return isinstance(leaf, Tensor) and leaf._scope is scope


def _seen(leaf: Tensor, outside: Tensor) -> Tensor:
    return make_number(outside) if type(leaf) is Number else outside


# -- during a trace ------------------------------------------------------------------------------


def _finish_graph(
    scope: GraphScope,
    inputs: Sequence[Tensor],
    transform: Transform,
    extras: Sequence[Tensor | None],
    chosen: Sequence[Tensor],
    primals: list[Tensor],
    shortcut: Shortcut | None,
    applied: Callable[[Graph, Sequence[Tensor]], list[Tensor]],
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
            builder, (xs, ys, vectors, primal_atoms), stop_shifts
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
    # with the shortcut, derivatives are not expanded yet, so ``produced`` does not show which derivatives are
    # zero
    is_suspect = any(e.primitive.jvp is None for e in equations) if is_short else any(map(is_zero, produced))
    if produced:
        note_derivative(scope, equations, *function, is_suspect and not isinstance(transform, Unchecked))
    else:
        scope.close_program()
    outside = applied(graph, captured)
    return outside[: len(primals)], outside[len(primals) :]


def note_derivative(
    scope: GraphScope, equations: Sequence[Equation], xs: Atoms, ys: Atoms, is_suspect: bool
) -> None:
    """Note in the enclosing scope that the function of ``scope`` was differentiated.

    If ``is_suspect`` is true, a derivative may be zero. If operators such as comparisons are the cause, issue
    a warning that names them.
    """
    if is_suspect:
        warn_of_zeros(steps_of(equations, xs, ys, smooth_atoms(scope)))
    outer = innermost()
    if isinstance(outer, GraphScope):
        nested = smooth_atoms(scope) if scope.differentiated else []
        outer.differentiated.append((equations, [*ys, *nested], scope.captures))


def _by_shortcut(
    builder: Builder,
    shortcut: Shortcut,
    xs: list[Atom],
    ys: list[Atom],
    vectors: list[Tangent],
    primal: list[Atom],
) -> Graph | None:
    """Build a graph of the values ``primal``, and the derivative from ``shortcut``.

    ``shortcut(builder, xs, ys, vectors)`` emits the derivative into ``builder``, or returns ``None`` if it
    does not apply. In the second case, this function returns ``None``, too. Each call of a differentiated
    function in a trace is recorded again; equal recordings share one graph.
    """
    scope = innermost()
    derived = scope.builder.derived if isinstance(scope, GraphScope) else {}
    program = builder.close([*xs, *ys, *primal])
    numbers = {v: k for k, v in enumerate(program.inputs)}
    # extra vectors come from outside the recording, so each is an input or a constant
    of_given = tuple([None if x is None else x.key if type(x) is Constant else numbers[x] for x in vectors])
    key = (shortcut, len(xs), len(ys), of_given, program.key())
    if key not in derived:
        with building(builder):
            produced = shortcut(builder, xs, ys, vectors)
        # store ``program``, too: the key contains the ``id`` of its constants, so it must keep them alive
        derived[key] = program, None if produced is None else builder.close([*primal, *produced])
    return derived[key][1]


def _improved(
    builder: Builder, groups: tuple[list, ...], captured: list[Tensor]
) -> tuple[Builder, tuple[list, ...]]:
    """Apply the rewrites that run before differentiation to the graph of ``builder``.

    Returns a new builder, and the variables and constants that replace ``groups``.

    A captured tensor may be a broadcast of a smaller tensor. If the rewritten graph needs only the smaller
    tensor, the smaller tensor replaces the broadcast in ``captured``.
    """

    def improved(graph: Graph) -> Graph:
        if is_rewriting():
            active = set(groups[0])
            outer = [
                None if v in active else _outer_atom(t) for v, t in zip(graph.inputs, captured, strict=True)
            ]
            graph, smaller = shrink_inputs(fuse_derivatives(graph), outer)
            for at, atom in smaller.items():
                captured[at] = captured[at]._scope.tensor(atom)
        return before_derivative(graph)

    return _rewritten(builder, groups, improved)


def _rewritten(
    builder: Builder, groups: tuple[list, ...], rewrite: Callable[[Graph], Graph]
) -> tuple[Builder, tuple[list, ...]]:
    """Apply ``rewrite`` to the graph of ``builder``.

    Returns a new builder, and the variables and constants that replace ``groups``.
    """
    closed = builder.close([atom for group in groups for atom in group if atom is not None])
    better = rewrite(closed)
    if better is closed:
        return builder, groups
    derived = Builder()
    with building(derived):
        inputs = derived.inputs_like(better.inputs)
        following = iter(derived.inline(better, inputs))
    return derived, tuple([None if a is None else next(following) for a in group] for group in groups)


def _outer_atom(tensor: Tensor) -> Atom | None:
    return tensor._atom if isinstance(tensor._scope, GraphScope) and not tensor.is_parameter else None


def inline_here(graph: Graph, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Apply ``graph`` to ``tensors`` in the innermost scope."""
    scope = innermost()
    if not isinstance(scope, GraphScope):
        return inline(graph, tensors)
    atoms = [scope.atom(t) for t in held_constant(tensors)]
    with building(scope.builder):
        # equations without a source line, such as the initial cotangent, get the source line of the gradient
        # call
        scope.builder.source = user_location()
        outputs = scope.builder.inline(graph, atoms)
        scope.builder.source = None
        return [scope.tensor(atom) for atom in outputs]
