"""First and second derivatives of one equation ``y = f(x)``, as separate graphs.

    first_derivative    (x, p) ↦ J p
    second_derivative   (x, p, q) ↦ D²f[p, q] = Σ_kl (∂²f / ∂x_k ∂x_l) p_k q_l
    second_partials     x ↦ f_kl = ∂²f / ∂x_k ∂x_l, for a pointwise operator f
    second_series       (x, p, c) ↦ coefficients 0, 1, and 2 of the Taylor series of f(x + s p + s² c)
    nested_forward      (x, p, q, c) ↦ (y, J p, J q, D²f[p, q] + J c)

``transforms.forward_laplacian`` batches these graphs over many directions p and q. The functions apply the
forward rule of the operator once or twice, so that operators need no rules for second derivatives.

In the code, ``moved`` are the positions of the operands that have directions. ``exact`` states, for each
direction, whether its zeros can be exact zeros (``primitives.exact_zeros``): a product of an exact zero and
infinity is zero. If a flag of ``exact`` is false, such a product is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mindgrad.core.ir.build import Builder, building, is_tainted
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable, without_effects
from mindgrad.core.ir.rules import Atoms, Jvp, Tangent, Tangents
from mindgrad.core.primitives.kinds import ones
from mindgrad.core.transforms.forward import forward, push_tangents
from mindgrad.core.transforms.taylor import taylor

__all__ = [
    "first_derivative", "has_moderate_partials", "nested_forward", "equation_tangents", "second_derivative",
    "second_partials", "second_series",
]  # fmt: skip


def equation_tangents(equation: Equation, ys: Atoms, xs: Atoms, ts: Tangents) -> list[Tangent]:
    """Return the tangents of the outputs of ``equation``; ``None`` for a zero tangent.

    ``ys`` are the outputs, ``xs`` are the operands, and ``ts`` are the tangents of the operands.
    """
    primitive = equation.primitive
    if all(t is None for t in ts):
        return [None] * len(ys)
    jvp: Jvp = primitive.jvp  # type: ignore[assignment]  # not None, because a tangent exists
    tangents = jvp(ys if primitive.multiple else ys[0], xs, ts, **equation.parameters)
    return list(tangents) if primitive.multiple else [tangents]


class _LoneEquation:
    """A builder that contains a copy of one equation, and receives its derivatives."""

    def __init__(self, equation: Equation, xs: Atoms) -> None:
        self.equation = equation
        self.builder = Builder()
        with building(self.builder):
            self.xs = [
                self.builder.input(x.type, tainted=x.tainted) if type(x) is Variable else x for x in xs
            ]
            results = equation.primitive(*self.xs, **equation.parameters)
            self.ys = list(results) if equation.primitive.multiple else [results]

    def tangents(self, of: Mapping[int, Atom]) -> list[Tangent]:
        """Return the tangents of the outputs. ``of`` maps operand indices to tangents."""
        ts = [of.get(k) for k in range(len(self.xs))]
        return equation_tangents(self.equation, self.ys, self.xs, ts)

    def directions(self, moved: Sequence[int], exact: Sequence[bool]) -> dict[int, Variable]:
        """Add a graph input for the tangent of each operand whose index is in ``moved``.

        Args:
            moved: indices of the operands that have a tangent.
            exact: for each index in ``moved``, whether zeros of the tangent are exact. If a flag is false,
                the tangent counts as a value that depends on the differentiated inputs.

        Returns:
            A dict from the index of each operand in ``moved`` to its tangent.
        """
        tangents = {k: self.builder.input(self.xs[k].type, tainted=self.xs[k].tainted) for k in moved}
        for direction, is_exact in zip(tangents.values(), exact, strict=True):
            if not is_exact:
                self.builder.let_move(direction)
        self.builder.differentiate([x for x in self.xs if type(x) is Variable])
        return tangents

    def close(self, outputs: Tangents) -> tuple[Graph, list[bool]]:
        """Return the graph of all ``outputs`` that are not ``None``, and flags.

        A flag states whether the output is in the graph.
        """
        return self.builder.close([y for y in outputs if y is not None]), [y is not None for y in outputs]


def first_derivative(
    equation: Equation, xs: Atoms, moved: Sequence[int], exact: Sequence[bool]
) -> tuple[Graph, list[bool]]:
    """Return the graph ``(xs, p) ↦ J p``, and a flag for each output of the equation.

    The flag is false if the tangent of the output is zero for all inputs; the graph omits these tangents.
    """
    alone = _LoneEquation(equation, xs)
    with building(alone.builder):
        return alone.close(alone.tangents(alone.directions(moved, exact)))


def second_derivative(
    equation: Equation, xs: Atoms, moved: Sequence[int], exact: Sequence[bool]
) -> tuple[Graph, list[bool]]:
    """Return the graph ``(xs, p, q) ↦ D²f[p, q]``, and a flag for each output.

    The flag is false if the second derivative of the output is zero for all inputs; the graph omits these
    derivatives. The forward rule emits equations for ``J p``, and forward mode differentiates them along
    ``q``. ``exact`` contains flags for ``p``, then for ``q``.
    """
    alone = _LoneEquation(equation, xs)
    with building(alone.builder):
        count = len(moved)
        left, right = alone.directions(moved, exact[:count]), alone.directions(moved, exact[count:])
        slopes = alone.tangents(left)
        tangents: dict[Atom, Atom] = {alone.xs[k]: t for k, t in right.items()}
        push_tangents(list(alone.builder.equations), tangents)
        return alone.close([None if slope is None else tangents.get(slope) for slope in slopes])


def second_partials(
    equation: Equation, xs: Atoms, moved: Sequence[int]
) -> tuple[Graph, list[tuple[int, int]]]:
    """Return the graph ``xs ↦ f_kl`` of a pointwise operator, and pairs ``(k, l)``.

    The outputs are the nonzero second partial derivatives ``f_kl`` with ``k ≤ l``, where ``k`` and ``l`` are
    positions of operands.
    """
    alone = _LoneEquation(equation, xs)
    with building(alone.builder):
        slopes = {k: alone.tangents({k: ones(alone.xs[k].type)})[0] for k in moved}
        primal = list(alone.builder.equations)
        partials = {}
        for k in moved:
            tangents: dict[Atom, Atom] = {alone.xs[k]: ones(alone.xs[k].type)}
            push_tangents(primal, tangents)
            for l in moved:
                slope = slopes[l]
                if k <= l and slope is not None and slope in tangents:
                    partials[k, l] = tangents[slope]
        return alone.builder.close(list(partials.values())), list(partials)


def has_moderate_partials(equation: Equation, xs: Atoms, moved: Sequence[int]) -> bool:
    """Return whether second partial derivatives of ``equation`` do not overflow.

    ``equation`` applies a pointwise operator. If its second partial derivatives ``f_kl`` do not overflow,
    they can be computed first and multiplied by ``p_k q_l`` afterwards. Return false if ``f_kl`` can be
    infinite, or if the forward rule multiplies tangents by several factors. For example, the second
    derivative of ``log`` is ``-(p / x) (q / x)``. For small ``x`` and ``p``, ``1 / x²`` may exceed the range
    of the dtype, even if the second derivative does not.
    """
    if equation.primitive.is_product:  # the mixed second derivative of a · b is 1
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
        return without_effects(alone.builder.close(alone.ys))  # the original equation has the side effects


def second_series(equation: Equation, moved: Sequence[int]) -> Graph:
    """Return the graph of the Taylor coefficients of ``equation`` up to order 2.

    Its inputs are ``(xs, p and c of each moved operand)``. Its outputs are ``(ys, coefficients 1 and 2 of
    each output)``.
    """
    return taylor(_graph_of(equation), moved, 2)


def nested_forward(equation: Equation, moved: Sequence[int]) -> Graph:
    """Return the graph ``(xs, p, q, c) ↦ (ys, J p, J q, D²f[p, q] + J c)``.

    The graph is the result of forward mode, applied twice.
    """
    count, directions = len(equation.inputs), len(moved)
    along_p = forward(_graph_of(equation), moved)
    # the inputs are ``xs`` with the tangents ``q``, and ``p`` with the tangents ``c``
    return forward(along_p, [*moved, *range(count, count + directions)])
