"""Transform the graph of a function that was recorded during a trace.

    finish_graph(G, transform)(x) = (G(x), transform(G)(x)), emitted into the enclosing graph

``trace.record`` calls :func:`finish_graph` if the recording is a graph. The graph is rewritten before it is
differentiated, because cheaper equations have cheaper derivatives. A *shortcut* of a transformation computes
the same results at a lower cost, but only for some graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable
from mindgrad.core.ir.rewriting import is_rewriting
from mindgrad.core.ir.rules import Atoms, Shortcut, Tangent, Tangents, Transform
from mindgrad.core.ir.scope import GraphScope, innermost
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.passes.broadcast_elimination import shrink_inputs
from mindgrad.core.passes.derivative_fusion import fuse_derivatives
from mindgrad.core.passes.forward_loops import pull_through_loops
from mindgrad.core.passes.mode_choice import pull_by_series, push_series
from mindgrad.core.passes.pipeline import before_derivative
from mindgrad.core.passes.shift_invariance import has_shifts, stop_shifts
from mindgrad.core.primitives.kinds import is_zero, ones
from mindgrad.core.trace.record import register_graph_finisher
from mindgrad.core.transforms.forward import forward_rule
from mindgrad.core.transforms.reverse import reverse_rule
from mindgrad.core.transforms.zero_gradients import Unchecked, smooth_atoms, steps_of, warn_of_zeros

__all__ = ["SHORTCUTS", "finish_graph", "note_derivative"]


def _pulled(builder: Builder, xs: Sequence[Variable], ys: Atoms, cts: Tangents) -> list[Atom] | None:
    """Emit ``J(x)ᵀ ct`` by forward mode; return ``None`` if reverse mode is cheaper."""
    if any(y.type.dtype.kind != "float" for y in ys):
        return None
    given = [ones(y.type) if ct is None else ct for y, ct in zip(ys, cts, strict=True)]
    along = pull_by_series(builder, xs, ys, given)
    return pull_through_loops(builder, xs, ys, given) if along is None else along


#: maps a transformation to its shortcut, which is tried first. If the shortcut returns ``None``, the
#: transformation is called. In the graph that the shortcut receives, each inner derivative is still a single
#: equation (``control.taylor_coefficients``)
SHORTCUTS: dict[Transform, Shortcut] = {
    forward_rule: push_series,
    reverse_rule: _pulled,
}


def finish_graph(
    scope: GraphScope,
    inputs: Sequence[Tensor],
    transform: Transform,
    extras: Sequence[Tensor | None],
    chosen: Sequence[Tensor],
    primals: list[Tensor],
    applied: Callable[[Graph, Sequence[Tensor]], list[Tensor]] | None = None,
) -> tuple[list[Tensor], list[Tensor]]:
    """Transform the graph in ``scope``, and emit the result into the enclosing scope.

    The arguments and results are described at ``trace.record.finish``.
    """
    builder = scope.builder
    rule = transform.transform if isinstance(transform, Unchecked) else transform
    shortcut = SHORTCUTS.get(rule)
    equations = list(builder.equations)
    with building(builder):
        xs: Sequence[Variable] = [t._atom for t in inputs]
        ys: Atoms = [scope.atom(t) for t in chosen]
        vectors: Tangents = [None if e is None else scope.atom(e) for e in extras]
        primal_atoms: Atoms = [scope.atom(t) for t in primals]
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
            produced = transform(builder, xs, ys, vectors)
        if not isinstance(produced, Sequence) or not all(isinstance(y, Atom) for y in produced):
            raise TypeError(f"{transform} must return a list of variables or constants, not {produced!r}.")
        graph = builder.close([*primal_atoms, *produced])
    produced = graph.outputs[len(primals) :]
    # the equations that a shortcut emits are not expanded yet, so ``produced`` does not show whether a
    # derivative is zero. In this case, look for operators without a derivative rule
    is_suspect = any(e.primitive.jvp is None for e in equations) if is_short else any(map(is_zero, produced))
    if produced:
        note_derivative(scope, equations, *function, is_suspect and not isinstance(transform, Unchecked))
    else:
        scope.close_program()
    outside = (applied or inline_here)(graph, captured)
    return outside[: len(primals)], outside[len(primals) :]


def note_derivative(
    scope: GraphScope, equations: Sequence[Equation], xs: Atoms, ys: Atoms, is_suspect: bool
) -> None:
    """Record in the enclosing graph that the function of ``scope`` was differentiated.

    If ``is_suspect`` is true, a derivative may be zero by mistake. If operators such as comparisons cause the
    zero, a warning names them.
    """
    if is_suspect:
        warn_of_zeros(steps_of(equations, xs, ys, smooth_atoms(scope)))
    outer = innermost()
    if isinstance(outer, GraphScope):
        nested = smooth_atoms(scope) if scope.differentiated else []
        outer.differentiated.append((equations, [*ys, *nested], scope.captures))


def _by_shortcut(
    builder: Builder, shortcut: Shortcut, xs: Sequence[Variable], ys: Atoms, vectors: Tangents, primal: Atoms
) -> Graph | None:
    """Return a graph of ``primal`` and of the derivative that ``shortcut`` emits.

    Returns ``None`` if ``shortcut`` returns ``None``. A trace may record and differentiate the same function
    many times, so equal recordings share one graph.
    """
    scope = innermost()
    derived = scope.builder.derived if isinstance(scope, GraphScope) else {}
    program = builder.close([*xs, *ys, *primal])
    numbers = {v: k for k, v in enumerate(program.inputs)}
    # cotangents and tangents come from outside the recording, so they are inputs or constants of its graph
    of_given = tuple([None if x is None else x.key if type(x) is Constant else numbers[x] for x in vectors])
    key = (shortcut, len(xs), len(ys), of_given, program.key())
    if key not in derived:
        with building(builder):
            produced = shortcut(builder, xs, ys, vectors)
        # also store ``program``: it keeps alive the constants whose ``id`` is part of the key, so that no
        # other object can have the same ``id``
        derived[key] = program, None if produced is None else builder.close([*primal, *produced])
    return derived[key][1]


def _improved(
    builder: Builder, groups: tuple[Tangents, ...], captured: list[Tensor]
) -> tuple[Builder, tuple[Sequence[Any], ...]]:
    """Rewrite the graph in ``builder`` before it is differentiated.

    Returns a builder with the new graph, and its atoms (variables and constants) that correspond to the atoms
    in ``groups``. A tensor in ``captured`` may be a broadcast of a smaller tensor. If the rewritten graph
    needs only the smaller tensor, it replaces the broadcast in ``captured``.
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
    builder: Builder, groups: tuple[Tangents, ...], rewrite: Callable[[Graph], Graph]
) -> tuple[Builder, tuple[Sequence[Any], ...]]:
    """Apply ``rewrite`` to the graph in ``builder``.

    Returns a builder with the new graph, and its atoms that correspond to the atoms in ``groups``.
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


def _outer_atom(tensor: Tensor) -> Tangent:
    return tensor._atom if isinstance(tensor._scope, GraphScope) and not tensor.is_parameter else None


register_graph_finisher(finish_graph)
