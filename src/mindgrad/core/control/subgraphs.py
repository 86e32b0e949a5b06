"""Memoized transformations of inner graphs, such as branches and loop bodies.

Each transformation runs once for each graph and choice of active inputs, and its result is cached. If a loop
is differentiated twice in the same way, both derivatives have the same body, and value numbering merges them
into one equation.

*Active* inputs have a tangent; active outputs depend on active inputs. A carry is a tuple of tensors, its
*components*. A *mark* of a value (``Atom.tainted``, see ``ir.graph``) states whether the value can have
infinite elements, and whether a product of its zeros and an infinite value is zero instead of NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.graph import (
    DISCARDS,
    INHERITED,
    STEADY,
    Atom,
    Graph,
    Variable,
    live_equations,
    without_effects,
)
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.rules import Atoms, Tangent, Tangents
from mindgrad.core.ir.thread_state import state
from mindgrad.core.primitives.exact_zeros import has_cuts, nonzeros
from mindgrad.core.primitives.kinds import full, zeros
from mindgrad.core.transforms.forward import push_tangents, tangent_or_zero
from mindgrad.core.transforms.linearize import linearize
from mindgrad.core.transforms.taylor import taylor
from mindgrad.core.transforms.transpose import pull_cotangents

__all__ = [
    "Split", "active", "closure", "forward_body", "in_loop", "is_in_loop", "marked", "marked_loop",
    "marks_of", "nonzeros_of", "reach", "series_operands", "series_results", "split", "starts_of",
    "starts_taint", "taylor_body", "transposed_body", "used_inputs", "varying",
]  # fmt: skip

Indices = tuple[int, ...]


@contextmanager
def in_loop() -> Iterator[None]:
    """Context manager: graphs that are built inside it are parts of a loop body."""
    state.loop_depth += 1
    try:
        yield
    finally:
        state.loop_depth -= 1


def is_in_loop() -> bool:
    """Return whether this thread is inside an :func:`in_loop` block."""
    return state.loop_depth > 0


def active(ts: Tangents) -> Indices:
    """Return the positions of the tangents in ``ts`` that are not ``None``.

    ``None`` represents a tangent that is zero.
    """
    return tuple([k for k, t in enumerate(ts) if t is not None])


# -- marks of values (see ``ir.graph``) ----------------------------------------------------------


def marks_of(atoms: Iterable[Atom]) -> Indices:
    """Return the bit mask of inherited marks, such as ``INFINITE``, of each atom."""
    return tuple([x.tainted & INHERITED for x in atoms])


def starts_taint(*graphs: Graph) -> int:
    """Return the union of the inherited marks of all outputs of ``graphs``.

    The marks are bits of an integer (``ir.graph``).
    """
    marks = 0
    for graph in graphs:
        for y in graph.outputs:
            marks |= y.tainted & INHERITED
    return marks


@memoized
def _marked(graph: Graph, flags: tuple[int, ...]) -> Graph:
    builder = Builder()
    with building(builder):
        inputs = [builder.input(v.type, tainted=flag) for v, flag in zip(graph.inputs, flags, strict=True)]
        outputs = builder.inline(graph, inputs)
        _unmark_covered(outputs)
        return builder.close(outputs)


def _unmark_covered(atoms: Atoms) -> None:
    """Remove the mark ``DISCARDS`` from values to which it no longer applies.

    ``DISCARDS`` states that elements are zero because a slice or lookup did not read them. If two slices
    together cover a tensor, the sum of their cotangents has no such zeros.
    """
    for atom in atoms:
        if type(atom) is Variable and atom.tainted & DISCARDS and not has_cuts(atom):
            atom.tainted &= ~DISCARDS


def marked(graph: Graph, operands: Atoms) -> Graph:
    """Return a copy of ``graph`` whose inputs also have the marks of ``operands``."""
    flags = tuple([v.tainted | (x.tainted & INHERITED) for v, x in zip(graph.inputs, operands, strict=True)])
    return graph if flags == tuple([v.tainted for v in graph.inputs]) else _marked(graph, flags)


def marked_loop(body: Graph, operands: Atoms, consts: int, carries: int) -> Graph:
    """Return a copy of a loop body whose inputs also have the marks of ``operands``.

    An iteration can add marks to the carry of the next iteration. The marks are therefore propagated until
    they do not change.
    """
    while True:
        carried = [
            (y.tainted | x.tainted) & INHERITED
            for y, x in zip(body.outputs[:carries], operands[consts : consts + carries], strict=True)
        ]
        flags = [v.tainted | (x.tainted & INHERITED) for v, x in zip(body.inputs, operands, strict=True)]
        for k, flag in enumerate(carried, consts):
            flags[k] |= flag
        if flags == [v.tainted for v in body.inputs]:
            return body
        body = _marked(body, tuple(flags))


# -- masks of exact zeros (see ``primitives.exact_zeros``) ----------------------------------------


@memoized
def used_inputs(graph: Graph, output: int) -> Indices:
    """Return the positions of the inputs on which output number ``output`` depends."""
    y = graph.outputs[output]
    used = {x for e in live_equations(graph.equations, [y]) for x in e.inputs if type(x) is Variable} | {y}
    return tuple([k for k, v in enumerate(graph.inputs) if v in used])


@memoized
def nonzeros_of(graph: Graph, output: int, moving: Indices, masked: Indices) -> Graph | None:
    """Return the graph of the mask that is true where an output is not exactly zero.

    A zero is exact if it stays zero when the differentiated inputs change (``primitives.exact_zeros``).

    Args:
        graph: inner graph, such as a branch or the body of a loop.
        output: position of the output of ``graph``.
        moving: positions of the inputs that depend on the inputs of the derivative.
        masked: positions, among ``moving``, of the inputs for which the caller passes a mask. The mask is
            true for elements that are not exactly zero.

    Returns:
        The graph ``(*inputs, *masks of masked) ↦ mask of the output``. ``None`` if a comparison of the output
        with zero, which the caller can emit, yields the mask.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        masks = [builder.input(inputs[k].type.with_dtype(bool_)) for k in masked]
        y = builder.inline(without_effects(graph), inputs)[output]
        builder.differentiate([inputs[k] for k in moving])
        builder.nonzeros.update(((inputs[k], builder.moving), m) for k, m in zip(masked, masks, strict=True))
        mask = nonzeros(y)
        found = builder.close([full(y.type.with_dtype(bool_), True) if mask is None else mask])
    made_by = y.made_by if type(y) is Variable else None
    return None if made_by is not None and made_by in found.equations else found


def _pushed(
    graph: Graph, active_inputs: Iterable[int]
) -> tuple[Builder, list[Variable], list[Variable], list[Atom], dict[Atom, Atom]]:
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        directions = builder.inputs_like(graph.inputs[i] for i in active_inputs)
        outputs = builder.inline(graph, inputs)
        tangents: dict[Atom, Atom] = {inputs[i]: t for i, t in zip(active_inputs, directions, strict=True)}
        push_tangents(list(builder.equations), tangents)
    return builder, inputs, directions, outputs, tangents


@memoized
def reach(graph: Graph, active_inputs: Indices) -> Indices:
    """Return the positions of the outputs that depend on ``active_inputs``."""
    *_, outputs, tangents = _pushed(graph, active_inputs)
    return tuple([k for k, y in enumerate(outputs) if y in tangents])


@memoized
def closure(
    body: Graph, consts: int, active_others: Indices, active_carry: Indices, carries: int | None = None
) -> Indices:
    """Return the carry components that have a tangent after some iteration.

    Args:
        body: graph from constants, carry and further inputs to the next carry. Further outputs are ignored.
        consts: number of inputs that are constants of the loop.
        active_others: positions of the constants and further inputs that have a tangent.
        active_carry: indices of the components of the initial carry that have a tangent.
        carries: number of carry components. Default: all inputs after the constants.
    """
    if carries is None:
        carries = len(body.inputs) - consts
    reached = set(active_carry)
    while True:
        active_inputs = tuple(sorted([*active_others, *[consts + k for k in reached]]))
        more = {k for k in reach(body, active_inputs) if k < carries} - reached
        if not more:
            return tuple(sorted(reached))
        reached |= more


@memoized
def forward_body(graph: Graph, active_inputs: Indices, active_outputs: Indices) -> Graph:
    """Return the graph that computes the values and the tangents of ``graph``.

    It maps ``(*inputs, *tangents of active_inputs)`` to ``(*outputs, *tangents of active_outputs)``.
    """
    builder, _, _, outputs, tangents = _pushed(graph, active_inputs)
    with building(builder):
        return builder.close([*outputs, *[tangent_or_zero(outputs[k], tangents) for k in active_outputs]])


@memoized
def taylor_body(graph: Graph, active_inputs: Indices, active_outputs: Indices, order: int) -> Graph:
    """Return the graph that computes the Taylor coefficients of ``graph``.

    It maps ``(*inputs, *coefficients of active_inputs)`` to ``(*outputs, *coefficients of active_outputs)``,
    with the coefficients 1 to ``order`` of each value.
    """
    series = taylor(graph, active_inputs, order)
    count = len(graph.outputs)
    coefficients = [series.outputs[count + k * order + j] for k in active_outputs for j in range(order)]
    outputs = [*series.outputs[:count], *coefficients]
    return Graph(series.inputs, live_equations(series.equations, outputs), outputs)


def series_operands(xs: Atoms, coefficients: Sequence[Tangents], active_inputs: Iterable[int]) -> list[Atom]:
    """Return the Taylor coefficients of order ≥ 1 of the operands ``active_inputs``."""
    return [zeros(xs[k].type) if c is None else c for k in active_inputs for c in coefficients[k][1:]]


def series_results(
    ys: Atoms, count: int, coefficients: Tangents, active_outputs: Sequence[int], order: int
) -> list[list[Tangent]]:
    """Return the Taylor coefficients of each of ``count`` outputs.

    Each list contains the coefficients of order 0 to ``order``. Coefficient 0 is the value in ``ys``. For the
    outputs ``active_outputs``, ``coefficients`` contains the higher coefficients. For other outputs, they are
    ``None``, which means zero.
    """
    result: list[list[Tangent]] = [[y, *[None] * order] for y in ys[:count]]
    for at, k in enumerate(active_outputs):
        result[k][1:] = coefficients[at * order : (at + 1) * order]
    return result


def varying(coefficients: Sequence[Tangents]) -> Indices:
    """Return the positions of operands that have a Taylor coefficient of order ≥ 1."""
    return tuple([k for k, each in enumerate(coefficients) if any(c is not None for c in each[1:])])


def starts_of(xs: Atoms, coefficients: Sequence[Tangents]) -> tuple[list[Atom], bool]:
    """Return Taylor coefficient 0 of each operand, and whether they equal ``xs``.

    Coefficients that are the same atoms as ``xs`` count as equal.
    """
    firsts = [zeros(x.type) if each[0] is None else each[0] for x, each in zip(xs, coefficients, strict=True)]
    return firsts, all(a is b for a, b in zip(firsts, xs, strict=True))


class Split:
    """The linearization of a graph: a nonlinear part and a linear part.

    Attributes:
        inputs: inputs of the original graph.
        outputs: outputs of the original graph.
        equations: equations of the nonlinear part, which compute the outputs and the residuals.
        residuals: intermediate values that the linear part uses.
        directions: tangents of the active inputs.
        tangents: tangents of the active outputs.
        linear: equations of the linear part, which compute ``tangents`` from ``directions``.
    """

    __slots__ = ("directions", "equations", "inputs", "linear", "outputs", "residuals", "tangents")

    def __init__(self, graph: Graph, active_inputs: Indices, active_outputs: Indices) -> None:
        builder = Builder()
        with building(builder):
            self.inputs = builder.inputs_like(graph.inputs)
            outputs = builder.inline(graph, self.inputs)
            self.directions, tangents = linearize(builder, [self.inputs[i] for i in active_inputs], outputs)
            self.outputs = [builder.value(y) for y in outputs]
        self.tangents = [
            zeros(self.outputs[k].type) if (t := tangents[k]) is None else t for k in active_outputs
        ]
        self.linear = live_equations(builder.linear_equations, self.tangents)
        used = dict.fromkeys(x for e in self.linear for x in e.inputs if type(x) is Variable and not x.linear)
        for x in used:
            x.tainted = x.tainted & ~STEADY if builder.moves(x) else x.tainted | STEADY
        known = set(self.inputs)
        self.residuals = [x for x in used if x not in known]
        self.equations = builder.equations

    def primal(self, residuals: Atoms) -> Graph:
        """Return the nonlinear part as a graph ``inputs ↦ (*outputs, *residuals)``."""
        outputs = [*self.outputs, *residuals]
        return Graph(self.inputs, live_equations(self.equations, outputs), outputs)

    def linear_graph(self, residuals: Sequence[Variable]) -> Graph:
        """Return the linear part as a graph ``(*residuals, *directions) ↦ tangents``.

        ``residuals`` must contain all inputs of the original graph and all residuals that the linear part
        uses.
        """
        return Graph([*residuals, *self.directions], self.linear, self.tangents)


@memoized
def split(graph: Graph, active_inputs: Indices, active_outputs: Indices) -> Split:
    """Linearize ``active_outputs`` of ``graph`` with respect to ``active_inputs``."""
    return Split(graph, active_inputs, active_outputs)


@memoized
def transposed_body(
    graph: Graph, directions: Indices, present: Indices | None = None, marks: Indices | None = None
) -> tuple[Graph, Indices]:
    """Transpose a graph that is linear with respect to the inputs ``directions``.

    Args:
        graph: the graph.
        directions: positions of the inputs with respect to which ``graph`` is linear.
        present: positions of the outputs whose cotangents are nonzero. Default: all outputs.
        marks: marks of the cotangents of the outputs ``present``. Default: no marks.

    Returns:
        The graph ``(*other inputs, *cotangents of present) ↦ cotangents``, and the positions of the inputs to
        which these cotangents belong. All other inputs in ``directions`` have cotangent zero.
    """
    if present is None:
        present = tuple(range(len(graph.outputs)))
    builder = Builder()
    with building(builder):
        chosen = set(directions)
        inputs = [builder.input(v.type, k in chosen, v.tainted) for k, v in enumerate(graph.inputs)]
        cotangents = [
            builder.input(graph.outputs[k].type, tainted=graph.outputs[k].tainted | mark)
            for k, mark in zip(present, marks or [0] * len(present), strict=True)
        ]
        builder.differentiate([x for k, x in enumerate(inputs) if k not in chosen and not x.tainted & STEADY])
        outputs = builder.inline(graph, inputs)
        pulled = pull_cotangents(
            list(builder.linear_equations),
            [outputs[k] for k in present],
            cotangents,
            [inputs[k] for k in directions],
        )
        found = [(k, ct) for k, ct in zip(directions, pulled, strict=True) if ct is not None]
        _unmark_covered([ct for _, ct in found])
        return builder.close([ct for _, ct in found]), tuple([k for k, _ in found])
