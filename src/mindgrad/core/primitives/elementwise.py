"""Smooth elementwise primitives, each with a kernel and partial derivatives.

Partial derivatives consist of primitives, so derivatives of every order exist. The formulas are in the NIST
Digital Library of Mathematical Functions (DLMF), chapter 4. At the edge of the domain of a function, a
derivative is the limit from inside, such as ``sqrt'(0) = inf``. A primitive with infinite derivatives is
declared ``singular`` (see ``primitives.kinds``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.ir.dtype import float16
from mindgrad.core.ir.graph import is_finite
from mindgrad.core.ir.primitive import Algebra
from mindgrad.core.ir.work import ARITHMETIC, ROOT, SHARED_FUNCTION
from mindgrad.core.primitives.accumulation_type import in_single, in_single_xla
from mindgrad.core.primitives.arithmetic import masked_multiply, select
from mindgrad.core.primitives.comparisons import equal, greater_equal
from mindgrad.core.primitives.kinds import accumulate, elementwise, full, ones, zeros
from mindgrad.core.primitives.roots import ROOTS, Root, is_sum_of_squares
from mindgrad.core.primitives.samples import reals

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Atom, Equation
    from mindgrad.core.ir.rules import Array, Module, Partial, Steps

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "direction", "exp",
    "exp2", "expm1", "hypot", "log", "log1p", "log2", "log10", "not_negative", "one_minus_square",
    "reciprocal", "rsqrt", "safe_quotient", "safe_reciprocal", "sech_squared", "sin", "sinh", "sqrt", "tan",
    "tanh", "tanhshrink", "xlogy",
]  # fmt: skip


# --- exponentials and logarithms (DLMF 4.2) ---------------------------------------------------------
# exp, cosh, and sinh have the flag ``singular``, because their derivatives are infinite if the value
# overflows
exp = elementwise(
    "exp", work=SHARED_FUNCTION, numpy=np.exp, xla="exp", partials=lambda y, x: [y],
    samples=reals(-2, 2), singular=True,
)  # fmt: skip

# the derivative of exp2 is not y log 2: for x = 1024.5 in float64, y overflows, but y log 2 is finite
exp2 = elementwise(
    "exp2", numpy=np.exp2, xla="exp2", partials=lambda y, x: [(2 * math.log(2)) * exp2(x - 1)],
    samples=reals(-2, 2), singular=True,
)  # fmt: skip

# the derivative of expm1 is exp(x), because y + 1 has cancellation for very negative x
expm1 = elementwise(
    "expm1", work=SHARED_FUNCTION, numpy=np.expm1, xla="expm1", partials=lambda y, x: [exp(x)],
    samples=reals(-2, 2), singular=True,
)  # fmt: skip

log = elementwise(
    "log", work=SHARED_FUNCTION, numpy=np.log, xla="log", partials=lambda y, x: [1 / x],
    samples=reals(0.2, 3), singular=True,
)  # fmt: skip

log2 = elementwise(
    "log2", numpy=np.log2, xla=lambda jax, x: jax.numpy.log2(x),
    partials=lambda y, x: [(1 / math.log(2)) / x], samples=reals(0.2, 3), singular=True,
)  # fmt: skip

log10 = elementwise(
    "log10", numpy=np.log10, xla=lambda jax, x: jax.numpy.log10(x),
    partials=lambda y, x: [(1 / math.log(10)) / x], samples=reals(0.2, 3), singular=True,
)  # fmt: skip

log1p = elementwise(
    "log1p", work=SHARED_FUNCTION, numpy=np.log1p, xla="log1p", partials=lambda y, x: [1 / (1 + x)],
    samples=reals(-0.7, 2), singular=True,
)  # fmt: skip


def _quotient_or_zero(x: Atom, y: Atom) -> Atom:
    """Return x / y, and 0 if x is 0, for each element.

    Where x is 0, the result is computed as x · (1 / y), so that its derivative with respect to x is 1 / y.
    All other elements are computed as x / y, because 1 / y may overflow.
    """
    is_zero = equal(x, zeros(x.type))
    return select(is_zero, masked_multiply(x, 1 / y), x / select(is_zero, ones(y.type), y))


#: ``x · log y``, and 0 where ``x`` is 0
xlogy = elementwise(
    "xlogy",
    numpy=lambda x, y: np.where((x == 0) & ~np.isnan(y), np.zeros((), x.dtype), x * np.log(y)),
    xla=lambda jax, x, y: jax.numpy.where(
        (x == 0) & ~jax.numpy.isnan(y), jax.numpy.zeros((), x.dtype), x * jax.lax.log(y)
    ),
    partials=lambda p, x, y: [log(y), _quotient_or_zero(x, y)],
    samples=reals(0.2, 3),
    accepts="float",
    singular=True,
)


# --- trigonometric functions and their inverses (DLMF 4.20, 4.24) -----------------------------------

sin = elementwise("sin", numpy=np.sin, xla="sin", partials=lambda y, x: [cos(x)], samples=reals(-3, 3))
cos = elementwise("cos", numpy=np.cos, xla="cos", partials=lambda y, x: [-sin(x)], samples=reals(-3, 3))


def _tan_partials(y: Atom, x: Atom) -> list[Partial]:
    if x.dtype is float16:  # near π/2, y² overflows only in float16
        inverse = 1 / cos(x)
        return [(inverse, inverse)]
    return [1 + y * y]


tan = elementwise("tan", numpy=np.tan, xla="tan", partials=_tan_partials, samples=reals(-1.2, 1.2))

#: ``one_minus_square(x)``: 1 − x², computed as (1 − x)(1 + x), which avoids cancellation near ±1. The
#: derivative −2 x is exact near 0
one_minus_square = elementwise(
    "one_minus_square",
    work=ARITHMETIC,
    numpy=lambda x: (1 - x) * (1 + x),
    xla=lambda jax, x: (1 - x) * (1 + x),
    partials=lambda y, x: [-2 * x],
    samples=reals(-0.9, 0.9),
)

asin = elementwise(
    "asin", numpy=np.arcsin, xla="asin", partials=lambda y, x: [rsqrt(one_minus_square(x))],
    samples=reals(-0.9, 0.9), singular=True,
)  # fmt: skip

acos = elementwise(
    "acos", numpy=np.arccos, xla="acos", partials=lambda y, x: [-rsqrt(one_minus_square(x))],
    samples=reals(-0.9, 0.9), singular=True,
)  # fmt: skip


def _atan_partials(y: Atom, x: Atom) -> list[Partial]:
    if x.dtype.kind == "complex":  # for complex x, the derivative 1 / (1 + x²) has poles at ±i
        return [1 / (1 + x * x)]
    inverse = safe_reciprocal(hypot(x, ones(x.type)))  # 1 / √(1 + x²), although x² may overflow
    return [(inverse, inverse)]


atan = elementwise(
    "atan", numpy=np.arctan, xla="atan", partials=_atan_partials, samples=reals(-0.9, 0.9)
)  # fmt: skip


def _atan2_partials(angle: Atom, y: Atom, x: Atom) -> list[Partial]:
    # The partial derivatives are x / r² and −y / r² with r = hypot(x, y), and 0 at the origin. Divide twice
    # by r, because r² may overflow or underflow
    inverse = safe_reciprocal(hypot(x, y))
    return [(inverse, x * inverse), (inverse, -(y * inverse))]


#: ``atan2(y, x)``: the angle of the point (x, y)
atan2 = elementwise(
    "atan2", work=SHARED_FUNCTION, numpy=np.arctan2, xla="atan2", partials=_atan2_partials,
    samples=reals(0.3, 2), accepts="float",
)  # fmt: skip

#: ``hypot(x, y)``: √(x² + y²) without overflow. The derivative at the origin is 0, the smallest subgradient
hypot = elementwise(
    "hypot",
    numpy=np.hypot,
    xla=lambda jax, x, y: jax.numpy.hypot(x, y),
    partials=lambda r, x, y: [direction(x, y), direction(y, x)],
    samples=reals(0.3, 2),
    accepts="float",
)


def _direction(array: Module, x: Array, y: Array) -> Array:
    length = array.hypot(x, y)
    is_zero = length == 0
    return array.where(is_zero, array.zeros_like(x), x / array.where(is_zero, array.ones_like(x), length))


def _direction_partials(u: Atom, x: Atom, y: Atom) -> list[Partial]:
    # the partial derivatives are y² / r³ and −x y / r³. The equivalent form (1 − u²) / r would have
    # cancellation
    other, inverse = direction(y, x), 1 / hypot(x, y)
    return [(other, other * inverse), (-u, other * inverse)]


#: ``direction(x, y)``: x / √(x² + y²). At the origin, the value is 0 and the derivatives are NaN
direction = elementwise(
    "direction",
    numpy=partial(_direction, np),
    xla=lambda jax, x, y: _direction(jax.numpy, x, y),
    partials=_direction_partials,
    singular=True,
    samples=reals(0.3, 2),
    accepts="float",
)


# --- hyperbolic functions and their inverses (DLMF 4.34, 4.38) --------------------------------------

sinh = elementwise(
    "sinh", numpy=np.sinh, xla="sinh", partials=lambda y, x: [cosh(x)], samples=reals(-2, 2), singular=True
)  # fmt: skip
cosh = elementwise(
    "cosh", numpy=np.cosh, xla="cosh", partials=lambda y, x: [sinh(x)], samples=reals(-2, 2), singular=True
)  # fmt: skip
tanh = elementwise(
    "tanh",
    work=SHARED_FUNCTION,
    numpy=np.tanh,
    xla="tanh",
    partials=lambda y, x: [1 - y * y if x.dtype.kind == "complex" else sech_squared(x)],
    samples=reals(-3, 3),
)


def _sech_squared(array: Module, x: Array) -> Array:
    small = array.exp(-2 * array.abs(x))
    inverse = 1 / (1 + small)
    return 4 * small * inverse * inverse


def _series_of_sech_squared(equation: Equation, k: int) -> Steps:
    """Return Taylor coefficient k ≥ 1 of 1 − y², for y = tanh x: −Σ_j y_j y_{k−j}."""
    y = tanh(*equation.inputs)
    terms = []
    for j in range(k // 2 + 1):
        left, right = (yield y, j), (yield y, k - j)
        if left is not None and right is not None:
            terms.append(left * right * (1.0 if 2 * j == k else 2.0))
    return -accumulate(terms) if terms else None  # type: ignore[operator]  # `terms` is not empty


#: ``sech_squared(x)``: 1 / cosh² x, the derivative of ``tanh``. The form 1 − tanh² x has cancellation near ±1
sech_squared = elementwise(
    "sech_squared",
    work=SHARED_FUNCTION,
    numpy=in_single(partial(_sech_squared, np)),
    xla=in_single_xla(lambda jax, x: _sech_squared(jax.numpy, x)),
    partials=lambda y, x: [-2 * tanh(x) * y],
    algebra=Algebra(recurrence=_series_of_sech_squared),
    accepts="float",
    samples=reals(-3, 3),
)


def _tanhshrink(array: Module, x: Array) -> Array:
    """Return x − tanh x; for |x| < 1, use a continued fraction (DLMF 4.39.1)."""
    square = array.where(array.abs(x) < 1, x, 0) ** 2
    fraction = square * 0
    for denominator in range(_TERMS_OF_TANH, 1, -2):
        fraction = square / (denominator + fraction)
    return array.where(array.abs(x) < 1, x * (fraction / (1 + fraction)), x - array.tanh(x)).astype(x.dtype)


#: last denominator of the continued fraction of tanh. It is sufficient for float64 and |x| ≤ 1
_TERMS_OF_TANH = 19

#: ``tanhshrink(x)``: x − tanh x, without cancellation for small x
tanhshrink = elementwise(
    "tanhshrink",
    numpy=in_single(partial(_tanhshrink, np)),
    xla=in_single_xla(lambda jax, x: _tanhshrink(jax.numpy, x)),
    partials=lambda y, x: [(slope := tanh(x)) * slope],
    accepts="float",
    samples=reals(-3, 3),
)


def _asinh_partials(y: Atom, x: Atom) -> list[Partial]:
    if x.dtype.kind == "complex":
        return [rsqrt(1 + x * x)]
    return [safe_reciprocal(hypot(x, ones(x.type)))]  # 1 / √(1 + x²), although x² may overflow in float16


asinh = elementwise(
    "asinh", numpy=np.arcsinh, xla="asinh", partials=_asinh_partials, samples=reals(-0.9, 0.9)
)

acosh = elementwise(
    "acosh", numpy=np.arccosh, xla="acosh",
    partials=lambda y, x: [rsqrt(x - 1) * rsqrt(x + 1)], samples=reals(1.2, 3), singular=True,
)  # fmt: skip

atanh = elementwise(
    "atanh", numpy=np.arctanh, xla="atanh",
    partials=lambda y, x: [1 / one_minus_square(x)], samples=reals(-0.8, 0.8), singular=True,
)  # fmt: skip


# --- roots and reciprocals --------------------------------------------------------------------------


def _sqrt_partials(y: Atom, x: Atom) -> list[Partial]:
    """Return 0.5 / y. If x is a sum of squares, return the subgradient 0 at its zeros."""
    return [safe_quotient(full(y.type, 0.5), y) if is_sum_of_squares(x) else 0.5 / y]


sqrt = elementwise(
    "sqrt", work=ROOT, numpy=np.sqrt, xla="sqrt", partials=_sqrt_partials, samples=reals(0.2, 3),
    singular=True,
)  # fmt: skip

rsqrt = elementwise(
    "rsqrt", work=ROOT, numpy=lambda x: np.reciprocal(np.sqrt(x)), xla="rsqrt",
    partials=lambda y, x: [(-0.5 * y, 1 / x)], samples=reals(0.2, 3), singular=True,
)  # fmt: skip

cbrt = elementwise(
    "cbrt", work=SHARED_FUNCTION, numpy=np.cbrt, xla="cbrt", partials=lambda y, x: [(1 / 3) / (y * y)],
    samples=reals(0.2, 3), accepts="float", singular=True,
)  # fmt: skip

reciprocal = elementwise(
    "reciprocal", work=ROOT, numpy=np.reciprocal, xla="reciprocal", partials=lambda y, x: [(-y, y)],
    samples=reals(0.3, 2), singular=True,
)  # fmt: skip


def not_negative(x: Atom) -> Atom:
    """Return ``x`` with its negative elements, and their derivatives, replaced by NaN."""
    if x.dtype.kind == "complex":
        return x
    return x * select(greater_equal(x, zeros(x.type)), ones(x.type), full(x.type, math.nan))


ROOTS[sqrt] = lambda x: Root(2, lambda: not_negative(x))
ROOTS[cbrt] = lambda x: Root(3, lambda: x)
ROOTS[hypot] = lambda x, y: Root(2, parts=(x, y))


def _safe_reciprocal_numpy(x: Array) -> Array:
    zero = x == 0
    return np.where(zero, np.zeros((), x.dtype), np.reciprocal(np.where(zero, np.ones_like(x), x)))


def _safe_reciprocal_xla(jax: Module, x: Array) -> Array:
    jnp, zero = jax.numpy, x == 0
    return jnp.where(zero, jnp.zeros_like(x), 1 / jnp.where(zero, jnp.ones_like(x), x))


#: ``safe_reciprocal(x)``: ``1 / x``, and 0 if ``x`` is 0. At x = 0, the derivatives of all orders are also 0
safe_reciprocal = elementwise(
    "safe_reciprocal", work=ROOT, numpy=_safe_reciprocal_numpy, xla=_safe_reciprocal_xla,
    partials=lambda y, x: [(-y, y)], samples=reals(0.3, 2),
)  # fmt: skip


def _safe_quotient_numpy(x: Array, y: Array) -> Array:
    with np.errstate(all="ignore"):
        quotient = np.true_divide(x, y)
    if is_finite(np.asarray(quotient)):  # if all quotients are finite, no divisor is 0
        return quotient
    return np.where(y == 0, np.zeros((), x.dtype), quotient)


def _safe_quotient_xla(jax: Module, x: Array, y: Array) -> Array:
    return jax.numpy.where(y == 0, jax.numpy.zeros_like(x), x / y)


#: ``safe_quotient(x, y)``: ``x / y``, and 0 if ``y`` is 0. Its derivatives with respect to ``y`` do not
#: compute ``y²``, which can overflow even if the quotient is finite. At y = 0, the derivatives are infinite
#: or NaN
safe_quotient = elementwise(
    "safe_quotient", work=ROOT, numpy=_safe_quotient_numpy, xla=_safe_quotient_xla,
    partials=lambda q, x, y: [1 / y, -(q / y)],
    samples=(reals(), reals(0.3, 2)),
    singular=True,
)  # fmt: skip
