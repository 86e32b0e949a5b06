"""Derivatives of one equation as separate graphs, to batch them over directions.

    first_derivative    (x, p) ↦ J p
    second_derivative   (x, p, q) ↦ D²f[p, q]
    second_partials     x ↦ f_kl of a pointwise operator
    second_series       (x, p, c) ↦ coefficients 0, 1, and 2 of the series of y
    nested_forward      (x, p, q, c) ↦ (y, J p, J q, D²f[p, q] + J c)

``transforms.forward_laplacian`` calls these functions. They apply the forward rule of the operator once or
twice, so that operators need no rules for second derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mindgrad.core.ir.build import Builder, building, is_tainted
from mindgrad.core.ir.graph import Equation, Graph, Variable, without_effects
from mindgrad.core.primitives.kinds import ones
from mindgrad.core.transforms.forward import forward, push_tangents
from mindgrad.core.transforms.taylor import taylor

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Atom

__all__ = [
    "first_derivative", "has_moderate_partials", "nested_forward", "equation_tangents", "second_derivative",
    "second_partials", "second_series",
]  # fmt: skip


def equation_tangents(
    equation: Equation, ys: Sequence[Any], xs: Sequence[Any], ts: Sequence[Any]
) -> list[Any]:
    """Return the tangents of the outputs; ``None`` if a tangent is zero."""
    primitive: Any = equation.primitive
    if all(t is None for t in ts):
        return [None] * len(ys)
    tangents = primitive.jvp(ys if primitive.multiple else ys[0], xs, ts, **equation.parameters)
    return list(tangents) if primitive.multiple else [tangents]


class _LoneEquation:
    """One equation in a separate builder."""

    def __init__(self, equation: Equation, xs: Sequence[Any]) -> None:
        self.equation = equation
        self.builder = Builder()
        with building(self.builder):
            self.xs = [
                self.builder.input(x.type, tainted=x.tainted) if type(x) is Variable else x for x in xs
            ]
            results = equation.primitive(*self.xs, **equation.parameters)
            self.ys = list(results) if equation.primitive.multiple else [results]

    def tangents(self, of: dict[int, Any]) -> list[Any]:
        """Apply the forward rule to tangents, given by the position of the operand."""
        ts = [of.get(k) for k in range(len(self.xs))]
        return equation_tangents(self.equation, self.ys, self.xs, ts)

    def directions(self, moved: Sequence[int], exact: Sequence[bool]) -> dict[int, Any]:
        """Add one input for the tangent of each operand in ``moved``.

        ``exact`` contains for each of these tangents whether its zeros can be exact.
        """
        tangents = {k: self.builder.input(self.xs[k].type, tainted=self.xs[k].tainted) for k in moved}
        for direction, is_exact in zip(tangents.values(), exact, strict=True):
            if not is_exact:
                self.builder.let_move(direction)
        self.builder.differentiate([x for x in self.xs if type(x) is Variable])
        return tangents

    def close(self, outputs: Sequence[Any]) -> tuple[Graph, list[bool]]:
        """Return the graph of the outputs that are not ``None``, and a flag per output."""
        return self.builder.close([y for y in outputs if y is not None]), [y is not None for y in outputs]


def first_derivative(
    equation: Equation, xs: Sequence[Any], moved: Sequence[int], exact: Sequence[bool]
) -> tuple[Graph, list[bool]]:
    """Return the graph ``(xs, p) ↦ jvp(y, x; p)``, and a flag for each output.

    The flag states whether the tangent of the output is nonzero. ``exact`` contains for each of ``p`` whether
    its zeros can be exact (``primitives.exact_zeros``).
    """
    alone = _LoneEquation(equation, xs)
    with building(alone.builder):
        return alone.close(alone.tangents(alone.directions(moved, exact)))


def second_derivative(
    equation: Equation, xs: Sequence[Any], moved: Sequence[int], exact: Sequence[bool]
) -> tuple[Graph, list[bool]]:
    """Return the graph ``(xs, p, q) ↦ D²f[p, q]``, and a flag for each output.

    The equations that the forward rule emits are differentiated in forward mode. ``exact`` contains for each
    of ``p``, then for each of ``q``, whether its zeros can be exact.
    """
    alone = _LoneEquation(equation, xs)
    with building(alone.builder):
        count = len(moved)
        left, right = alone.directions(moved, exact[:count]), alone.directions(moved, exact[count:])
        slopes = alone.tangents(left)
        tangents = {alone.xs[k]: t for k, t in right.items()}
        push_tangents(list(alone.builder.equations), tangents)
        return alone.close([tangents.get(slope) for slope in slopes])


def second_partials(
    equation: Equation, xs: Sequence[Any], moved: Sequence[int]
) -> tuple[Graph, list[tuple[int, int]]]:
    """Return the graph ``xs ↦ f_kl`` of a pointwise operator and the pairs ``(k, l)``.

    The outputs are the nonzero second partials ``f_kl`` with ``k ≤ l``.
    """
    alone = _LoneEquation(equation, xs)
    with building(alone.builder):
        slopes = {k: alone.tangents({k: ones(alone.xs[k].type)})[0] for k in moved}
        primal = list(alone.builder.equations)
        partials = {}
        for k in moved:
            tangents = {alone.xs[k]: ones(alone.xs[k].type)}
            push_tangents(primal, tangents)
            for l in moved:
                if k <= l and slopes[l] in tangents:
                    partials[k, l] = tangents[slopes[l]]
        return alone.builder.close(list(partials.values())), list(partials)


def has_moderate_partials(equation: Equation, xs: Sequence[Any], moved: Sequence[int]) -> bool:
    """Return whether second partials of a pointwise operator stay in range.

    If so, they can be computed first and multiplied by tangents afterwards. The result is false if a partial
    can be infinite (``1 / x``). It is also false if the second derivative multiplies the tangents by several
    factors, as ``-(p / x) (q / x)`` for ``log``. The product of the factors, or the product of the tangents,
    may then exceed the range of the dtype, even if the second derivative does not.
    """
    if equation.primitive.is_product:  # the second partials are one
        return True
    if is_tainted(equation.primitive, tuple(xs), equation.parameters, 0):
        return False
    graph, _ = second_derivative(equation, xs, moved, [False] * (2 * len(moved)))
    factors: dict[Atom, int] = dict.fromkeys(graph.inputs[len(graph.inputs) - 2 * len(moved) :], 0)
    for following in graph.equations:
        counts = [factors[x] for x in following.inputs if x in factors]
        if counts:
            count = sum(counts) if following.primitive.is_product else max(counts)
            count += any(
                type(x) is Variable and x not in factors and x.type.dtype.is_inexact for x in following.inputs
            )
            factors.update(dict.fromkeys(following.outputs, count))
    return all(factors.get(y, 0) <= 1 for y in graph.outputs)


def _graph_of(equation: Equation) -> Graph:
    alone = _LoneEquation(equation, [Variable(x.type, tainted=x.tainted) for x in equation.inputs])
    with building(alone.builder):
        return without_effects(alone.builder.close(alone.ys))  # the equation itself has the effect


def second_series(equation: Equation, moved: Sequence[int]) -> Graph:
    """Return the graph of Taylor coefficients up to order 2.

    It maps ``(xs, (p, c) of each moved operand)`` to ``(ys, coefficients 1 and 2 of each output)``.
    """
    return taylor(_graph_of(equation), moved, 2)


def nested_forward(equation: Equation, moved: Sequence[int]) -> Graph:
    """Apply forward mode twice: ``(xs, p, q, c) ↦ (ys, J p, J q, D²f[p, q] + J c)``."""
    count, directions = len(equation.inputs), len(moved)
    along_p = forward(_graph_of(equation), moved)
    # the inputs are (xs, p): xs have the tangents q, and p have the tangents c
    return forward(along_p, [*moved, *range(count, count + directions)])
