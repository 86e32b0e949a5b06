"""Forward mode: compute tangents along with the values.

    forward(G)(x, ẋ) = (G(x), J_G(x) ẋ)        forward_rule: J(x) ẋ

For each equation in order, the forward rule of its operator emits the tangents of its outputs. Computing the
values and one tangent costs 2 to 3 times as much as G. An operator without a forward rule has derivative zero
(its kind is *constant*).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable, derivative_of, live_equations
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.primitives.kinds import checked, zeros

__all__ = ["forward", "forward_rule", "push_tangents"]


def push_tangents(equations: Iterable[Equation], tangents: dict[Atom, Atom]) -> None:
    """Emit the tangents of all values that depend on the variables in ``tangents``.

    ``tangents`` maps variables to their tangents and is extended in place. The tangent of any other variable
    is zero. The current builder must already contain ``equations``. A loop or branch whose operands have
    tangents is replaced by one equation that computes values and tangents. :meth:`Builder.rebind` then
    substitutes the new values for the results of the original equation.
    """
    equations = list(equations)
    current().differentiate(tangents)
    if all(equation.primitive.jvp_with_values is None for equation in equations):
        for equation in equations:
            _push(equation, equation.inputs, equation.outputs, tangents)
        return
    builder = current()
    for equation, is_selected in builder.replay(equations):
        rule = equation.primitive.jvp_with_values
        ts = [tangents.get(x) for x in equation.inputs if is_selected]
        if rule is not None and any(t is not None for t in ts):
            xs = [builder.value(x) for x in equation.inputs]
            outer, builder.source = builder.source, equation.source
            ys, of_ys = rule(xs, ts, **equation.parameters)
            builder.source = outer
            builder.rebind(equation.outputs, ys)
            tangents.update(checked(equation.primitive, "rule 'jvp_with_values'", of_ys, equation.outputs))
            continue
        ys = builder.again(equation)
        if is_selected:
            _push(equation, [builder.value(x) for x in equation.inputs], ys, tangents)


def _push(equation: Equation, xs: Atoms, ys: Atoms, tangents: dict[Atom, Atom]) -> None:
    """Emit the tangents of the outputs of one equation.

    ``xs`` are the values of the operands of the equation, and ``ys`` the values of its outputs.
    """
    lookup, primitive = tangents.get, equation.primitive
    ts = [lookup(x) for x in equation.inputs]
    if primitive.jvp is None or not any(t is not None for t in ts):
        return
    builder = current()
    outer, builder.source = builder.source, derivative_of(equation.source)
    if primitive.multiple:
        of_ys = primitive.jvp(ys, xs, ts, **equation.parameters)
    else:
        of_ys = [primitive.jvp(ys[0], xs, ts, **equation.parameters)]
    tangents.update(checked(primitive, "rule 'jvp'", of_ys, equation.outputs))
    builder.source = outer


def forward_rule(builder: Builder, xs: Sequence[Variable], ys: Atoms, ts: Tangents) -> list[Atom]:
    """Emit ``J(x) t`` into ``builder``. A tangent ``None`` means zeros.

    :func:`push` passes this rule to ``record.transformed`` as ``transform``.
    """
    tangents: dict[Atom, Atom] = {x: t for x, t in zip(xs, ts, strict=True) if t is not None}
    push_tangents(live_equations(builder.equations, ys), tangents)
    return [tangent_or_zero(y, tangents) for y in ys]


def forward(graph: Graph, active: Sequence[int]) -> Graph:
    """Return the graph that computes ``graph`` and its directional derivative.

    Args:
        graph: the graph to differentiate.
        active: positions of the inputs that have a tangent.

    Returns:
        A graph with inputs ``(*inputs, *tangents of the active inputs)`` and outputs
        ``(*outputs, *tangents of the outputs)``.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        directions = builder.inputs_like(graph.inputs[i] for i in active)
        outputs = builder.inline(graph, inputs)
        tangents: dict[Atom, Atom] = {inputs[i]: t for i, t in zip(active, directions, strict=True)}
        push_tangents(list(builder.equations), tangents)
        pushed = [tangent_or_zero(y, tangents) for y in outputs]
        return builder.close([*outputs, *pushed])


def tangent_or_zero(y: Atom, tangents: dict[Atom, Atom]) -> Atom:
    """Return the tangent of ``y``, or a constant zero if ``y`` has no tangent."""
    t = tangents.get(y)
    return zeros(y.type) if t is None else t
