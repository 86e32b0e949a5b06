"""Smooth elementwise primitives have one row each: kernel and partial derivatives.

Partials are written with rows only, so every order of derivative exists. Formulas: NIST Digital
Library of Mathematical Functions (DLMF), chapter 4. At the edge of a domain a derivative is the limit
from inside (``sqrt'(0) = inf``); such rows are ``singular`` (see ``kinds``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from mindgrad.ir.dtype import complex128, float64
from mindgrad.ir.graph import Constant, is_finite
from mindgrad.ir.types import TensorType
from mindgrad.ir.work import ARITHMETIC, ROOT, SHARED_FUNCTION
from mindgrad.rows.arithmetic import absorb, equal, greater_equal, less_equal, select
from mindgrad.rows.kinds import elementwise, full, ones, same_type, zeros
from mindgrad.rows.logic import logical_and
from mindgrad.rows.roots import ROOTS, Root, power_of_root
from mindgrad.rows.samples import case, reals

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "hypot",
    "integer_power",
    "log",
    "log1p",
    "log2",
    "log10",
    "pow",
    "real_power",
    "reciprocal",
    "rsqrt",
    "safe_quotient",
    "safe_reciprocal",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "xlogy",
]  # fmt: skip


# --- exponentials and logarithms (DLMF 4.2) ---------------------------------------------------------

# singular, like cosh and sinh: where the value overflows, the slope is infinite too
exp = elementwise(
    "exp", work=SHARED_FUNCTION, numpy=np.exp, xla="exp", partials=lambda y, x: [y],
    samples=reals(-2, 2), singular=True,
)  # fmt: skip

exp2 = elementwise(
    "exp2", numpy=np.exp2, xla="exp2", partials=lambda y, x: [y * math.log(2)], samples=reals(-2, 2),
    singular=True,
)  # fmt: skip

# exp(x) and not y + 1, which cancels for very negative x
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


def _xlogy_numpy(x: Any, y: Any) -> Any:
    return np.where((x == 0) & ~np.isnan(y), np.zeros((), x.dtype), x * np.log(y))


#: ``x · log y``, zero where ``x`` is zero
xlogy = elementwise(
    "xlogy",
    numpy=_xlogy_numpy,
    xla=lambda jax, x, y: jax.numpy.where(
        (x == 0) & ~jax.numpy.isnan(y), jax.numpy.zeros((), x.dtype), x * jax.lax.log(y)
    ),
    partials=lambda p, x, y: [log(y), absorb(x, 1 / y)],
    samples=reals(0.2, 3),
    accepts="float",
    singular=True,
)


# --- trigonometric functions and their inverses (DLMF 4.20, 4.24) -----------------------------------

sin = elementwise("sin", numpy=np.sin, xla="sin", partials=lambda y, x: [cos(x)], samples=reals(-3, 3))
cos = elementwise("cos", numpy=np.cos, xla="cos", partials=lambda y, x: [-sin(x)], samples=reals(-3, 3))
tan = elementwise("tan", numpy=np.tan, xla="tan", partials=lambda y, x: [1 + y * y], samples=reals(-1.2, 1.2))

# (1 − x)(1 + x) and not 1 − x², which cancels next to ±1
asin = elementwise(
    "asin", numpy=np.arcsin, xla="asin", partials=lambda y, x: [rsqrt((1 - x) * (1 + x))],
    samples=reals(-0.9, 0.9), singular=True,
)  # fmt: skip

acos = elementwise(
    "acos", numpy=np.arccos, xla="acos", partials=lambda y, x: [-rsqrt((1 - x) * (1 + x))],
    samples=reals(-0.9, 0.9), singular=True,
)  # fmt: skip

atan = elementwise(
    "atan", numpy=np.arctan, xla="atan", partials=lambda y, x: [_inverse_of_one_plus_square(x)],
    samples=reals(-0.9, 0.9),
)  # fmt: skip


def _inverse_of_one_plus_square(x: Any) -> Any:
    # for real x the denominator is at least 1; for complex x it vanishes at ±i
    square_plus_one = 1 + x * x
    return 1 / square_plus_one if x.dtype.kind == "complex" else safe_reciprocal(square_plus_one)


def _atan2_partials(angle: Any, y: Any, x: Any) -> list[Any]:
    # x / r² and −y / r², both zero at the origin; r² itself would overflow or vanish too early
    inverse = safe_reciprocal(hypot(x, y))
    return [x * inverse * inverse, -(y * inverse * inverse)]


#: ``atan2(y, x)``: the angle of the point (x, y)
atan2 = elementwise(
    "atan2", work=SHARED_FUNCTION, numpy=np.arctan2, xla="atan2", partials=_atan2_partials,
    samples=reals(0.3, 2), accepts="float",
)  # fmt: skip

#: ``sqrt(x² + y²)`` without overflow; its derivative at the origin is zero (least subgradient)
hypot = elementwise(
    "hypot",
    numpy=np.hypot,
    xla=lambda jax, x, y: jax.numpy.hypot(x, y),
    partials=lambda r, x, y: [safe_quotient(x, r), safe_quotient(y, r)],
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
    partials=lambda y, x: [1 - y * y],
    samples=reals(-3, 3),
)


def _asinh_partials(y: Any, x: Any) -> list[Any]:
    if x.dtype.kind == "complex":
        return [rsqrt(1 + x * x)]
    return [safe_reciprocal(hypot(x, ones(x.type)))]  # x² would overflow in half precision


asinh = elementwise(
    "asinh", numpy=np.arcsinh, xla="asinh", partials=_asinh_partials, samples=reals(-0.9, 0.9)
)

acosh = elementwise(
    "acosh", numpy=np.arccosh, xla="acosh",
    partials=lambda y, x: [rsqrt(x - 1) * rsqrt(x + 1)], samples=reals(1.2, 3), singular=True,
)  # fmt: skip

atanh = elementwise(
    "atanh", numpy=np.arctanh, xla="atanh",
    partials=lambda y, x: [1 / ((1 - x) * (1 + x))], samples=reals(-0.8, 0.8), singular=True,
)  # fmt: skip


# --- roots and reciprocals --------------------------------------------------------------------------

sqrt = elementwise(
    "sqrt", work=ROOT, numpy=np.sqrt, xla="sqrt", partials=lambda y, x: [0.5 / y], samples=reals(0.2, 3),
    singular=True,
)  # fmt: skip

rsqrt = elementwise(
    "rsqrt", work=ROOT, numpy=lambda x: np.reciprocal(np.sqrt(x)), xla="rsqrt",
    partials=lambda y, x: [-0.5 * (y / x)], samples=reals(0.2, 3), singular=True,
)  # fmt: skip

cbrt = elementwise(
    "cbrt", work=SHARED_FUNCTION, numpy=np.cbrt, xla="cbrt", partials=lambda y, x: [(1 / 3) / (y * y)],
    samples=reals(0.2, 3), accepts="float", singular=True,
)  # fmt: skip

reciprocal = elementwise(
    "reciprocal", work=ROOT, numpy=np.reciprocal, xla="reciprocal", partials=lambda y, x: [-(y * y)],
    samples=reals(0.3, 2), singular=True,
)  # fmt: skip


def _not_negative(x: Any) -> Any:
    """``x``, and NaN with a derivative that is NaN where it is negative, as under a square root."""
    if x.dtype.kind == "complex":
        return x
    return x * select(greater_equal(x, zeros(x.type)), ones(x.type), full(x.type, math.nan))


ROOTS[sqrt] = lambda x: Root(2, lambda: _not_negative(x))
ROOTS[cbrt] = lambda x: Root(3, lambda: x)
ROOTS[hypot] = lambda x, y: Root(2, parts=(x, y))


def _safe_reciprocal_numpy(x: Any) -> Any:
    zero = x == 0
    return np.where(zero, np.zeros((), x.dtype), np.reciprocal(np.where(zero, np.ones_like(x), x)))


def _safe_reciprocal_xla(jax: Any, x: Any) -> Any:
    jnp, zero = jax.numpy, x == 0
    return jnp.where(zero, jnp.zeros_like(x), 1 / jnp.where(zero, jnp.ones_like(x), x))


#: ``1 / x``, and zero where ``x`` is zero; there all its derivatives are zero too
safe_reciprocal = elementwise(
    "safe_reciprocal", work=ROOT, numpy=_safe_reciprocal_numpy, xla=_safe_reciprocal_xla,
    partials=lambda y, x: [-(y * y)], samples=reals(0.3, 2),
)  # fmt: skip


def _safe_quotient_numpy(x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        quotient = np.true_divide(x, y)
    if is_finite(np.asarray(quotient)):  # then no divisor is zero
        return quotient
    return np.where(y == 0, np.zeros((), x.dtype), quotient)


def _safe_quotient_xla(jax: Any, x: Any, y: Any) -> Any:
    jnp, zero = jax.numpy, y == 0
    return jnp.where(zero, jnp.zeros_like(x), x / jnp.where(zero, jnp.ones_like(y), y))


#: ``x / y``, and zero where ``y`` is zero; there all its derivatives are zero too. No square of ``y``
#: is formed, which would overflow or vanish before the quotient does
safe_quotient = elementwise(
    "safe_quotient", work=ROOT, numpy=_safe_quotient_numpy, xla=_safe_quotient_xla,
    partials=lambda q, x, y: [safe_quotient(ones(x.type), y), -safe_quotient(q, y)],
    samples=(reals(), reals(0.3, 2)),
)  # fmt: skip


# --- powers -----------------------------------------------------------------------------------------


def _integer_power_type(x: TensorType, *, n: int) -> TensorType:
    same_type("integer_power", "number")(x)
    if type(n) is not int:
        raise TypeError(f"For 'integer_power', the exponent must be an int, but got {n!r}.")
    if n < 0 and not x.dtype.is_inexact:
        raise ValueError(
            f"For 'integer_power', an integer tensor has no power {n}; convert it to float first."
        )
    return x


def _integer_power_numpy(x: Any, *, n: int) -> Any:
    if n == 2:  # most powers are squares
        return x * x
    if n == 0:
        return np.ones_like(x)
    power: Any = None
    base, left = x, n if n > 0 else -n
    while left:
        if left & 1:
            power = base if power is None else power * base
        left >>= 1
        if left:
            base = base * base
    return np.reciprocal(power) if n < 0 else power


def _integer_power_simplify(x: Any, *, n: int) -> Any:
    if n == 0:
        return ones(x.type)
    if n == 1:
        return x
    if n == 2:
        return x * x
    if n == -1 and x.dtype.is_inexact:
        return reciprocal(x)
    return power_of_root(x, n) if n > 2 and x.dtype.is_inexact else None


#: ``integer_power(x, n)``: x to the power of a static integer, by multiplication
integer_power = elementwise(
    "integer_power",
    work=ARITHMETIC,
    type_rule=_integer_power_type,
    numpy=_integer_power_numpy,
    xla=lambda jax, x, *, n: jax.lax.integer_pow(x, n),
    partials=lambda y, x, *, n: [n * integer_power(x, n=n - 1)],
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


def _whole_power(array: Any, x: Any, n: Any) -> Any:
    """Powers of integers with a tensor exponent; a negative one leaves 0 except for x = ±1."""
    power = array.power(x, array.maximum(n, array.zeros_like(n)))
    odd = array.where(n % 2 == 0, array.ones_like(x), x)
    return array.where(n < 0, array.where(x * x == 1, odd, array.zeros_like(x)), power)


def _pow_numpy(x: Any, n: Any) -> Any:
    return _whole_power(np, x, n) if x.dtype.kind in "iu" else np.power(x, n)


def _pow_xla(jax: Any, x: Any, n: Any) -> Any:
    return _whole_power(jax.numpy, x, n) if x.dtype.kind in "iu" else jax.lax.pow(x, n)


def _pow_partials(y: Any, x: Any, n: Any) -> list[Any]:
    """n xⁿ⁻¹ and xⁿ log x, where a factor that is zero wins: ``x**0`` is constant, also at 0.

    At base 0 the second is 0 for n > 0 by continuity, and by convention for n ≤ 0.
    """
    slope = absorb(n, pow(x, n - 1))
    if isinstance(n, Constant) or not x.dtype.is_inexact:
        return [slope, None]
    at_zero = equal(x, zeros(x.type))
    if x.dtype.kind != "complex":
        at_zero = logical_and(at_zero, less_equal(n, zeros(n.type)))
    return [slope, absorb(y, log(select(at_zero, ones(x.type), x)))]


def _pow_simplify(x: Any, n: Any) -> Any:
    if isinstance(n, Constant) and n.is_splat and x.dtype.is_inexact and n.value.item().imag == 0:
        return real_power(x, n=float(n.value.item().real))
    return None


_MULTIPLIED = 16  # constant integer exponents up to this one become multiplications

#: ``pow(x, n)`` with a tensor exponent
pow = elementwise(
    "pow",
    symbol="**",
    work=SHARED_FUNCTION,
    numpy=_pow_numpy,
    xla=_pow_xla,
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


def _real_power_simplify(x: Any, *, n: float) -> Any:
    # x ** 3.0 is x · x · x: exact, and much cheaper than a general power
    if abs(n) <= _MULTIPLIED and n.is_integer():
        return integer_power(x, n=int(n))
    return sqrt(x) if n == 0.5 else None  # as in NumPy, also for −∞


#: ``real_power(x, n)``: x to the power of a static number
real_power = elementwise(
    "real_power",
    work=SHARED_FUNCTION,
    type_rule=_real_power_type,
    numpy=lambda x, *, n: np.power(x, np.asarray(n, x.dtype)),
    xla=lambda jax, x, *, n: jax.lax.pow(x, jax.numpy.full_like(x, n)),
    partials=lambda y, x, *, n: [n * real_power(x, n=n - 1)],
    simplify=_real_power_simplify,
    singular=True,
    samples=[
        case(reals(0.3, 2)[3, 2], n=1.5),
        case(reals(0.3, 2)[()], n=-0.5),
        case(reals()[2], n=3.0),
    ],
)


def _real_power_as_root(x: Any, n: float) -> Root | None:
    """A power with a fractional exponent as a root of a whole power; ``None`` where it is none."""
    if not math.isfinite(n):
        return None
    rounding = 2.0**-52 if x.dtype in (float64, complex128) else 2.0**-23
    for degree in (2, 3, 4):
        whole = round(degree * n)
        if whole >= 1 and abs(degree * n - whole) <= rounding * whole:
            return Root(degree, partial(_whole_power_of_positive, x, whole))
    return None


def _whole_power_of_positive(x: Any, n: int) -> Any:
    return integer_power(_not_negative(x), n=n)


ROOTS[real_power] = _real_power_as_root
