"""Simplification of powers of roots when an equation is built, without the root.

    sqrt(x)² = x      cbrt(x)³ = x      norm(v)² = Σ v²      |x|² = x²      (c · norm(v) / s)² = c² Σ v² / s²

At 0, the derivative of a root is infinite or does not exist, but the power of the root is differentiable. The
chain rule through the root would compute 0 · ∞ = NaN. The simplified equation contains no infinite value.
Values change at most by rounding, and stay NaN outside the domain of the root.

A primitive that is a root registers its rule in :data:`ROOTS`. The rewrite recognizes integer powers of a
root, possibly multiplied or divided by other values. It does not recognize functions that are smooth for a
different reason, such as ``cos(sqrt(x))``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mindgrad.core.ir.build import current
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.graph import Atom, Constant, Equation, made_with
from mindgrad.core.ir.primitive import REGISTRY, Primitive
from mindgrad.core.ir.rules import Atoms, Rule

__all__ = ["ROOTS", "VIEWS", "Root", "is_sum_of_squares", "power_of_root", "product_of_roots", "squared"]

#: the functions of this module follow at most this many nested equations
_DEPTH = 6


class Root(NamedTuple):
    """A root ``y``: ``y^degree`` is ``radicand``, or the sum of squared ``parts``.

    Attributes:
        degree: the exponent n of ``yⁿ = radicand``, at least 2.
        radicand: function that emits ``y^degree``, possibly in a wider dtype than the dtype of ``y``.
        parts: values whose squares add up to ``y²``, such as x₁ and x₂ for ``hypot(x₁, x₂)``. They replace
            ``radicand`` if ``y²`` may overflow although the parts do not.
    """

    degree: int
    radicand: Callable | None = None
    parts: Atoms = ()


#: maps each primitive that can be a root to a function ``rule(*operands, **parameters)``. The function
#: returns the :class:`Root`, or ``None`` if the operator is not a root for these parameters
ROOTS: dict[Primitive, Rule] = {}
#: primitives that only move or repeat the elements of one operand
VIEWS: set[Primitive] = set()


def _root(atom: Atom) -> tuple[Root, list[Equation]] | None:
    """Return the root whose value is ``atom``, such as √x.

    Also returns the equations that reshape or broadcast the root, in the order of evaluation. Returns
    ``None`` if ``atom`` is not a root.
    """
    views: list[Equation] = []
    made_by: Equation | None = getattr(atom, "made_by", None)
    while made_by is not None and made_by.primitive in VIEWS:
        views.insert(0, made_by)
        made_by = getattr(made_by.inputs[0], "made_by", None)
    rule = None if made_by is None else ROOTS.get(made_by.primitive)
    if made_by is None or rule is None or not made_by.outputs[0].type.dtype.is_inexact:
        return None
    root = rule(*made_by.inputs, **made_by.parameters)
    return None if root is None else (root, views)


def _seen(x: Atom, views: Sequence[Equation]) -> Atom:
    for view in views:
        x = view.primitive(x, **view.parameters)
    return x


#: multiplication or division of a root by another operand: ("mul" or "div", operand)
Step = tuple[str, Atom]


def _power(root: Root, views: Sequence[Equation], dtype: DType, steps: Sequence[Step] = ()) -> Atom:
    """Emit the power ``root ** degree`` from its radicand, without computing the root."""

    def scaled(x: Atom) -> Atom:
        for name, other in steps:
            x = REGISTRY[name](x, REGISTRY["convert"](other, dtype=x.dtype))
        return x

    if root.radicand is None:
        squares = [(part := scaled(_seen(x, views))) * part for x in root.parts]
        total = squares[0]
        for square in squares[1:]:
            total = total + square
        return total
    total = _seen(root.radicand(), views)
    for _ in range(root.degree):
        total = scaled(total)
    return REGISTRY["convert"](total, dtype=dtype)


def squared(x: Atom) -> Atom | None:
    """Return ``x · x`` without computing the root in ``x``; ``None`` without a root."""
    steps: list[Step] = []
    atom = x
    for _ in range(_DEPTH):
        seen = _root(atom)
        if seen is not None:
            return _power(*seen, x.dtype, steps) if seen[0].degree == 2 else None
        if (negated := made_with(atom, "neg")) is not None:
            (atom,) = negated.inputs
        elif (quotient := made_with(atom, "div")) is not None:
            steps.insert(0, ("div", quotient.inputs[1]))
            atom = quotient.inputs[0]
        elif (factors := made_with(atom, "mul")) is not None:
            first, second = factors.inputs
            if _root(second) is not None:
                first, second = second, first
            steps.insert(0, ("mul", second))
            atom = first
        else:
            return None
    return None


def product_of_roots(a: Atom, b: Atom) -> Atom | None:
    """Simplify ``a · b`` if it contains the power of a root, as in √x · c √x = c x."""
    if a is b:
        return squared(a)
    for this, other in ((a, b), (b, a)):
        root = _root(this)
        if root is None:
            continue
        count, others = _taken_out(other, this, _DEPTH)
        if count + 1 >= root[0].degree:
            total = _power(*root, this.dtype)
            for _ in range(count + 1 - root[0].degree):
                total = total * this
            return total if others is None else others * total
    return None


def _taken_out(product: Atom, factor: Atom, depth: int) -> tuple[int, Atom | None]:
    """Split ``product`` into a power of ``factor`` and all other factors.

    Returns the exponent, and the product of all other factors (``None`` if there are none).
    """
    if product is factor:
        return 1, None
    if (negated := made_with(product, "neg")) is not None and depth:
        count, others = _taken_out(negated.inputs[0], factor, depth - 1)
        if not count:
            return 0, product
        return count, Constant(np.asarray(-1, factor.dtype.numpy), factor.type) if others is None else -others
    factors = made_with(product, "mul") if depth else None
    if factors is None:
        return 0, product
    (n, first), (m, second) = [_taken_out(x, factor, depth - 1) for x in factors.inputs]
    if n + m == 0:
        return 0, product
    if first is None or second is None:
        return n + m, second if first is None else first
    return n + m, first * second


def power_of_root(x: Atom, n: int) -> Atom | None:
    """Return ``xⁿ``, n > 2, without computing the root in ``x``; ``None`` without one."""
    root = _root(x)
    power = REGISTRY["integer_power"]
    if n % 2 and (plain := made_with(x, "sqrt")) is not None:  # √xⁿ = x^(n/2) has a finite slope at 0
        return REGISTRY["real_power"](plain.inputs[0], n=n / 2)
    if root is None:
        square = squared(x)
        quotient, remainder = divmod(n, 2)
    else:
        square = _power(*root, x.dtype) if n >= root[0].degree else None
        quotient, remainder = divmod(n, root[0].degree)
    if square is None:
        return None
    total = power(square, n=quotient)
    return total * power(x, n=remainder) if remainder else total


#: operators that return a sum of squares if all their operands are sums of squares
_KEEPING_SQUARES = (
    "add", "broadcast_in_dim", "convert", "div", "mul", "reduce_sum", "reshape", "slice", "transpose",
)  # fmt: skip


def is_sum_of_squares(atom: Atom, depth: int = _DEPTH) -> bool:
    """Return whether ``atom`` is computed as a sum of squares, which is flat at zeros."""
    equation: Equation | None = getattr(atom, "made_by", None)
    if equation is None or not depth or atom.dtype.kind == "complex":
        return False
    name, inputs = equation.primitive.name, equation.inputs
    if name == "integer_power":
        n = equation.parameters["n"]
        return n > 1 and (n % 2 == 0 or made_with(inputs[0], "abs") is not None)
    if name == "real_power":  # xⁿ is nonnegative, and flat at x = 0 if n > 1
        return bool(equation.parameters["n"] > 1)
    if name in ("mul", "dot") and inputs[0] is inputs[1]:
        return True
    if name not in _KEEPING_SQUARES:
        return False
    if name == "add":
        return all(is_sum_of_squares(x, depth - 1) for x in inputs)
    if name == "mul" and any(squared(x) is y for x, y in (inputs, inputs[::-1])):
        return True  # x² · |x| = |x|³ is flat at 0, like a sum of squares
    moving = [x for x in inputs if current().moves(x)]  # if several factors vary, a zero need not be flat
    return len(moving) == 1 and is_sum_of_squares(moving[0], depth - 1)
