"""Simplify f(f⁻¹(x)) and roots of squares while equations are built.

    cos(acos x) = x      exp(log x) = x      √(a²) = a and |a| = a, |−a| = a for a nonnegative a

At the edge of the domain, the inner function has an infinite derivative, and the outer function has a zero
derivative or is not differentiable. The chain rule would compute 0 · ∞ = NaN, although the derivative of the
composition is finite. The simplified equation contains no infinite value. Values change at most by rounding,
and stay NaN outside the domain.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mindgrad.core.ir.graph import Atom, Constant
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.primitives.arithmetic import add, div, mul, neg, select, sub
from mindgrad.core.primitives.comparisons import greater_equal
from mindgrad.core.primitives.elementwise import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    exp,
    exp2,
    expm1,
    hypot,
    log,
    log1p,
    log2,
    rsqrt,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from mindgrad.core.primitives.kinds import full, ones
from mindgrad.core.primitives.logic import logical_and
from mindgrad.core.primitives.piecewise import abs
from mindgrad.core.primitives.powers import integer_power
from mindgrad.core.primitives.reduction import logsumexp, norm, reduce_max, reduce_sum
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, reshape

__all__ = ["is_nonnegative"]

#: :func:`is_nonnegative` follows at most this many nested operators
_DEPTH = 6


def is_nonnegative(atom: Atom, depth: int = _DEPTH) -> bool:
    """Return whether the equations of ``atom`` imply that no element is negative."""
    if type(atom) is Constant:
        return bool(np.all(atom.value >= 0))
    equation = atom.made_by
    if equation is None or not depth:
        return False
    primitive, inputs = equation.primitive, equation.inputs
    if primitive in (exp, exp2, sqrt, hypot, norm, abs):
        return True
    if primitive is mul and inputs[0] is inputs[1]:
        return True
    if primitive is integer_power and equation.parameters["n"] % 2 == 0:
        return True
    if primitive in (add, mul, div, reduce_sum, broadcast_in_dim, reshape, convert, integer_power):
        return all(is_nonnegative(x, depth - 1) for x in inputs)
    return False


def _inside(x: Atom, low: float | None, high: float | None) -> Atom:
    """Replace elements of a real ``x`` outside [``low``, ``high``] by NaN."""
    if x.dtype.kind == "complex" or low is None:
        return x
    within = greater_equal(x, full(x.type, low))
    if high is not None:
        within = logical_and(within, greater_equal(full(x.type, high), x))
    return x * select(within, ones(x.type), full(x.type, np.nan))


def _pair(inner: Primitive, low: float | None, high: float | None) -> Callable:
    def simplify(x: Atom) -> Atom | None:
        made_by = getattr(x, "made_by", None)
        if made_by is None or made_by.primitive is not inner:
            return None
        return _inside(made_by.inputs[0], low, high)

    return simplify


for _outer, _inner, _low, _high in (
    (cos, acos, -1.0, 1.0), (sin, asin, -1.0, 1.0), (tan, atan, None, None), (exp, log, 0.0, None),
    (cosh, acosh, 1.0, None), (sinh, asinh, None, None), (tanh, atanh, -1.0, 1.0), (exp2, log2, 0.0, None),
    (expm1, log1p, -1.0, None),
):  # fmt: skip
    _outer.simplify = _pair(_inner, _low, _high)


def _root_of_square(x: Atom) -> Atom | None:
    """Simplify √(a²) to ``a`` for a nonnegative ``a``, so that a² cannot overflow."""
    equation = getattr(x, "made_by", None)
    if equation is None or not x.dtype.is_float:
        return None
    base = equation.inputs[0] if equation.inputs else None
    if equation.primitive is mul and base is equation.inputs[1] and is_nonnegative(base):
        return base
    if equation.primitive is integer_power:
        half, odd = divmod(equation.parameters["n"], 2)
        if not odd and half > 0 and (half % 2 == 0 or is_nonnegative(base)):  # type: ignore[arg-type]  # `base` is its operand
            return integer_power(base, n=half)
    return None


def _size(x: Atom) -> Atom | None:
    """Return a for |x| if x is a or −a with a nonnegative a; otherwise ``None``."""
    if not x.dtype.is_float:
        return None
    equation = getattr(x, "made_by", None)
    inner = equation.inputs[0] if equation is not None and equation.primitive is neg else x
    return inner if is_nonnegative(inner) else None


sqrt.simplify = _root_of_square
abs.simplify = _size


# --- values that stay finite ------------------------------------------------------------------------


def _is_positive(atom: Atom) -> bool:
    """Return whether ``atom`` is a sum of a positive constant and nonnegative values."""
    if type(atom) is Constant:
        return bool(np.all(atom.value > 0))
    equation = atom.made_by
    if equation is None or equation.primitive is not add:
        return False
    a, b = equation.inputs
    return (_is_positive(a) and is_nonnegative(b)) or (_is_positive(b) and is_nonnegative(a))


def _is_nonpositive(atom: Atom) -> bool:
    equation = getattr(atom, "made_by", None)
    if equation is None:
        return False
    if equation.primitive is neg:
        return is_nonnegative(equation.inputs[0])
    if equation.primitive is mul:
        return any(
            type(c) is Constant and np.all(c.value <= 0) and is_nonnegative(x)
            for c, x in (equation.inputs, equation.inputs[::-1])
        )
    return equation.primitive is sub and _bounds(equation.inputs[1], equation.inputs[0])


def _bounds(total: Atom, x: Atom) -> bool:
    """Return whether ``total`` is the (broadcast) maximum or logsumexp of ``x``."""
    equation = getattr(total, "made_by", None)
    while equation is not None and equation.primitive in (broadcast_in_dim, reshape):
        equation = getattr(equation.inputs[0], "made_by", None)
    return equation is not None and equation.primitive in (logsumexp, reduce_max) and equation.inputs[0] is x


# exp of a nonpositive number and rsqrt of a positive number are finite. In these cases, the operators do not
# set the mark INFINITE ("starts"); their results have it only if an operand has it ("passes")
exp.taint = lambda x: "passes" if x.dtype.is_float and _is_nonpositive(x) else "starts"
rsqrt.taint = lambda x: "passes" if x.dtype.is_float and _is_positive(x) else "starts"
