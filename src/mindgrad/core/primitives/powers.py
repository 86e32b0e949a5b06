"""Powers whose exponent is a constant integer, a constant number, or a tensor.

Powers that are roots, such as ``x ** 0.5``, are registered in ``primitives.roots``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from mindgrad.core.ir.dtype import complex128, float64
from mindgrad.core.ir.graph import Atom, Constant
from mindgrad.core.ir.rules import Array, Module, Partial, Stored
from mindgrad.core.ir.types import TensorType
from mindgrad.core.ir.work import ARITHMETIC, SHARED_FUNCTION
from mindgrad.core.primitives.arithmetic import masked_multiply, select
from mindgrad.core.primitives.comparisons import equal, less, less_equal
from mindgrad.core.primitives.elementwise import log, not_negative, reciprocal, safe_quotient, sqrt
from mindgrad.core.primitives.kinds import elementwise, ones, same_type, zeros
from mindgrad.core.primitives.logic import logical_and
from mindgrad.core.primitives.roots import ROOTS, Root, is_sum_of_squares, power_of_root
from mindgrad.core.primitives.samples import case, reals

__all__ = ["integer_power", "pow", "real_power"]


def _slope_of_power(power: Callable, y: Atom, x: Atom, n: float) -> Partial:
    """Return the derivative n xⁿ⁻¹ of a power.

    For negative n, return the two factors n xⁿ and 1 / x, because near 0, xⁿ⁻¹ may overflow although xⁿ does
    not.
    """
    if 0 < n < 1 and is_sum_of_squares(x):
        return safe_quotient(n * y, x)  # at x = 0, the derivative is 0, as for a norm
    return (n * y, 1 / x) if n < 0 else n * power(x, n=n - 1)


def _integer_power_type(x: TensorType, *, n: int) -> TensorType:
    same_type("integer_power", "number")(x)
    if type(n) is not int:
        raise TypeError(f"For 'integer_power', the exponent must be an int, but got {n!r}.")
    if n < 0 and not x.dtype.is_inexact:
        raise ValueError(
            f"For 'integer_power', an integer tensor cannot be raised to the power {n}; convert it to float "
            f"first."
        )
    return x


def _integer_power_numpy(x: Array, *, n: int) -> Array:
    if n == 2:  # fast path for the most common power
        return x * x
    if n == 0:
        return np.ones_like(x)
    power: Stored = None
    base, left = x, n if n > 0 else -n
    while left:
        if left & 1:
            power = base if power is None else power * base
        left >>= 1
        if left:
            base = base * base
    return np.reciprocal(power) if n < 0 else power


def _integer_power_simplify(x: Atom, *, n: int) -> Atom | None:
    if n == 0:
        return ones(x.type)
    if n == 1:
        return x
    if n == 2:
        return x * x
    if n == -1 and x.dtype.is_inexact:
        return reciprocal(x)
    return power_of_root(x, n) if n > 2 and x.dtype.is_inexact else None


#: ``integer_power(x, n)``: x to the power of an integer that is known at compile time, computed by repeated
#: multiplication
integer_power = elementwise(
    "integer_power",
    work=ARITHMETIC,
    type_rule=_integer_power_type,
    numpy=_integer_power_numpy,
    xla=lambda jax, x, *, n: jax.lax.integer_pow(x, n),
    partials=lambda y, x, *, n: [_slope_of_power(integer_power, y, x, n)],
    simplify=_integer_power_simplify,
    accepts="number",
    singular=lambda *, n: n < 0,
    samples=[
        case(reals()[3, 2], n=3, accepts="number"),
        case(reals()[()], n=5, accepts="number"),
        case(reals()[2], n=0, accepts="number"),
        case(reals(0.5, 2)[3], n=-2),
    ],
)


def _whole_power(array: Module, x: Array, n: Array) -> Array:
    """Return integers xⁿ for a tensor n. For negative n, xⁿ is 0 unless x = ±1."""
    power = array.power(x, array.maximum(n, array.zeros_like(n)))
    odd = array.where(n % 2 == 0, array.ones_like(x), x)
    return array.where(n < 0, array.where(x * x == 1, odd, array.zeros_like(x)), power)


def _pow_partials(y: Atom, x: Atom, n: Atom) -> list[Partial]:
    """Return the partial derivatives n xⁿ⁻¹ and xⁿ log x, in which 0 · ∞ is 0.

    For n = 0, the power is constant. At x = 0, the second partial derivative is 0 for n > 0 by continuity,
    and for n ≤ 0 by convention.
    """
    slope: Partial = masked_multiply(n, pow(x, n - 1))
    if x.dtype.is_float:  # for n < 0, use the factors n xⁿ and 1 / x, because xⁿ⁻¹ may overflow near 0
        one, is_negative = ones(n.type), less(n, zeros(n.type))
        exponent = n - select(is_negative, zeros(n.type), one)
        slope = (masked_multiply(n, pow(x, exponent)), select(is_negative, 1 / x, one))
    if isinstance(n, Constant) or not x.dtype.is_inexact:
        return [slope, None]
    at_zero = equal(x, zeros(x.type))
    if x.dtype.kind != "complex":
        at_zero = logical_and(at_zero, less_equal(n, zeros(n.type)))
    return [slope, masked_multiply(y, log(select(at_zero, ones(x.type), x)))]


def _pow_simplify(x: Atom, n: Atom) -> Atom | None:
    if isinstance(n, Constant) and n.is_splat and x.dtype.is_inexact and n.value.item().imag == 0:
        return real_power(x, n=float(n.value.item().real))
    return None


_MULTIPLIED = 16  # for integers n with |n| ≤ 16, xⁿ is computed by repeated multiplication

#: ``pow(x, n)``: x to the power of a tensor n, elementwise
pow = elementwise(
    "pow",
    symbol="**",
    work=SHARED_FUNCTION,
    numpy=lambda x, n: _whole_power(np, x, n) if x.dtype.kind in "iu" else np.power(x, n),
    xla=lambda jax, x, n: _whole_power(jax.numpy, x, n) if x.dtype.kind in "iu" else jax.lax.pow(x, n),
    partials=_pow_partials,
    simplify=_pow_simplify,
    accepts="number",
    singular=True,
    samples=reals(0.3, 2),
)


def _real_power_type(x: TensorType, *, n: float) -> TensorType:
    same_type("real_power", "inexact")(x)
    if type(n) is not float:
        raise TypeError(f"For 'real_power', the exponent must be a float, but got {n!r}.")
    return x


def _real_power_simplify(x: Atom, *, n: float) -> Atom | None:
    # x ** 3.0 becomes x · x · x, which is more accurate and much faster than a general power
    if abs(n) <= _MULTIPLIED and n.is_integer():
        return integer_power(x, n=int(n))
    return sqrt(x) if n == 0.5 else None  # as in NumPy, even for x = −∞


#: ``real_power(x, n)``: x to the power of a number that is known at compile time
real_power = elementwise(
    "real_power",
    work=SHARED_FUNCTION,
    type_rule=_real_power_type,
    numpy=lambda x, *, n: np.power(x, np.asarray(n, x.dtype)),
    xla=lambda jax, x, *, n: jax.lax.pow(x, jax.numpy.full_like(x, n)),
    partials=lambda y, x, *, n: [_slope_of_power(real_power, y, x, n)],
    simplify=_real_power_simplify,
    singular=True,
    samples=[case(reals(0.3, 2)[3, 2], n=1.5), case(reals(0.3, 2)[()], n=-0.5), case(reals()[2], n=3.0)],
)


def _real_power_as_root(x: Atom, n: float) -> Root | None:
    """Return a fractional power as a root of an integer power, if possible."""
    if not math.isfinite(n):
        return None
    rounding = 2.0**-52 if x.dtype in (float64, complex128) else 2.0**-23
    for degree in (2, 3, 4):
        whole = round(degree * n)
        if whole >= 1 and abs(degree * n - whole) <= rounding * whole:
            return Root(degree, partial(_whole_power_of_positive, x, whole))
    return None


def _whole_power_of_positive(x: Atom, n: int) -> Atom:
    return integer_power(not_negative(x), n=n)


ROOTS[real_power] = _real_power_as_root
