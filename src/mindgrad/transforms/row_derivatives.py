"""Derivatives of one row are graphs of their own, for batch rules that map them and loops that carry them.

    first_derivative    (x, p) ↦ J p
    second_derivative   (x, p, q) ↦ D²f[p, q]
    second_partials     x ↦ f_kl of a pointwise row
    nested_forward      (x, p, q, c) ↦ (y, J p, J q, D²f[p, q] + J c)

They follow from the row's forward rule; no row has a rule for them. Cost: the forward rule once or twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.ir.build import Builder, building, is_tainted
from mindgrad.ir.graph import Equation, Graph, Variable, without_effects
from mindgrad.rows.kinds import ones
from mindgrad.transforms.forward import forward, push_tangents
from mindgrad.transforms.taylor import taylor

__all__ = [
    "first_derivative", "has_moderate_partials", "nested_forward", "row_tangents", "second_derivative",
    "second_partials", "second_series",
]  # fmt: skip


def row_tangents(equation: Equation, ys: Sequence[Any], xs: Sequence[Any], ts: Sequence[Any]) -> list[Any]:
    """The tangents of the outputs by the forward rule of the row, ``None`` where zero."""
    primitive: Any = equation.primitive
    if all(t is None for t in ts):
        return [None] * len(ys)
    tangents = primitive.jvp(ys if primitive.multiple else ys[0], xs, ts, **equation.parameters)
    return list(tangents) if primitive.multiple else [tangents]


class _LoneEquation:
    """One equation in a builder of its own."""

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
        """The forward rule for the tangents of these operands."""
        ts = [of.get(k) for k in range(len(self.xs))]
        return row_tangents(self.equation, self.ys, self.xs, ts)

    def directions(self, moved: Sequence[int], exact: Sequence[bool]) -> dict[int, Any]:
        """Further inputs, one for each operand that moves; ``exact``: whether its zeros can be exact."""
        tangents = {k: self.builder.input(self.xs[k].type, tainted=self.xs[k].tainted) for k in moved}
        for direction, is_exact in zip(tangents.values(), exact, strict=True):
            if not is_exact:
                self.builder.let_move(direction)
        self.builder.differentiate([x for x in self.xs if type(x) is Variable])
        return tangents

    def close(self, outputs: Sequence[Any]) -> tuple[Graph, list[bool]]:
        """The graph of the outputs that are not ``None``, and for each output whether it is among them."""
        return self.builder.close([y for y in outputs if y is not None]), [y is not None for y in outputs]


def first_derivative(
    equation: Equation, xs: Sequence[Any], moved: Sequence[int], exact: Sequence[bool]
) -> tuple[Graph, list[bool]]:
    """``(xs, p) ↦ jvp(y, x; p)``; ``exact``: which of ``p`` can have exact zeros."""
    alone = _LoneEquation(equation, xs)
    with building(alone.builder):
        return alone.close(alone.tangents(alone.directions(moved, exact)))


def second_derivative(
    equation: Equation, xs: Sequence[Any], moved: Sequence[int], exact: Sequence[bool]
) -> tuple[Graph, list[bool]]:
    """``(xs, p, q) ↦ D²f[p, q]``: the forward rule of the forward rule's equations.

    ``exact``: which of ``p``, then which of ``q``, can have exact zeros.
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
    """``xs ↦ f_kl`` of a pointwise row, for the pairs ``k ≤ l`` for which it is not zero."""
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
    """Whether the second partials of a pointwise operator can be formed before they meet the tangents.

    They cannot if a partial can be infinite (``1 / x``) or if the second derivative multiplies the tangents
    by several factors one after the other: then the product of the factors, or of the tangents, may leave
    the range of the type although the second derivative does not. For ``log`` it is ``-(p / x) (q / x)``.
    """
    if equation.primitive.is_product:  # the second partials are one
        return True
    if is_tainted(equation.primitive, tuple(xs), equation.parameters, 0):
        return False
    graph, _ = second_derivative(equation, xs, moved, [False] * (2 * len(moved)))
    factors = dict.fromkeys(graph.inputs[len(graph.inputs) - 2 * len(moved) :], 0)
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
    """``(xs, (p, c) of each) ↦ (ys, (J p, …) of each)``: coefficients one and two."""
    return taylor(_graph_of(equation), moved, 2)


def nested_forward(equation: Equation, moved: Sequence[int]) -> Graph:
    """``(xs, p, q, c) ↦ (ys, J p, J q, D²f[p, q] + J c)``: forward mode of forward mode."""
    count, directions = len(equation.inputs), len(moved)
    along_p = forward(_graph_of(equation), moved)
    # inputs (xs, p), of which the first move along q and the second along c
    return forward(along_p, [*moved, *range(count, count + directions)])
