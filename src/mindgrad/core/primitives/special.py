"""Special functions: error functions, gamma functions, and the logistic family.

Formulas of derivatives: DLMF 5.2 (gamma), 5.15 (polygamma), 7.2 (erf).
"""

from __future__ import annotations

import math

import numpy as np

from mindgrad.core.ir.dtype import float16
from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.rules import Array, Module, Partial
from mindgrad.core.ir.types import TensorType
from mindgrad.core.ir.work import SHARED_FUNCTION
from mindgrad.core.primitives.accumulation_type import in_single
from mindgrad.core.primitives.arithmetic import neg, select
from mindgrad.core.primitives.comparisons import equal
from mindgrad.core.primitives.elementwise import exp, sech_squared
from mindgrad.core.primitives.kinds import elementwise, full, same_type, zeros
from mindgrad.core.primitives.logic import isinf, logical_and
from mindgrad.core.primitives.piecewise import clip
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.special_kernels import (
    digamma_kernel,
    erf_kernel,
    erfc_kernel,
    erfinv_kernel,
    in_double,
    lgamma_kernel,
    polygamma_kernel,
    polygamma_of_zeta,
)

__all__ = [
    "digamma", "digamma_in_xla", "erf", "erfc", "erfinv", "lgamma", "logaddexp", "polygamma",
    "polygamma_in_xla", "sigmoid", "softplus",
]  # fmt: skip


# --- error functions --------------------------------------------------------------------------------


def _gaussian(x: Atom) -> Atom:
    if x.dtype is float16:  # x² can overflow, although exp(−x²) and its derivatives are 0
        x = clip(x, full(x.type, -_FLOAT16_BOUND), full(x.type, _FLOAT16_BOUND))
    return exp(-(x * x))


#: for larger |x|, exp(−x²) is below the smallest float16 number
_FLOAT16_BOUND = 5.0

erf = elementwise(
    "erf",
    work=SHARED_FUNCTION,
    numpy=in_single(erf_kernel),
    xla="erf",
    partials=lambda y, x: [2 / math.sqrt(math.pi) * _gaussian(x)],
    accepts="float",
    samples=reals(-2, 2),
)

erfc = elementwise(
    "erfc",
    numpy=in_single(erfc_kernel),
    xla="erfc",
    partials=lambda y, x: [-2 / math.sqrt(math.pi) * _gaussian(x)],
    accepts="float",
    samples=reals(-2, 2),
)

#: ``erfinv(x)``: the inverse of ``erf``. It is ±∞ at ±1, and NaN for |x| > 1
erfinv = elementwise(
    "erfinv",
    numpy=in_single(erfinv_kernel),
    xla="erf_inv",
    partials=lambda y, x: [math.sqrt(math.pi) / 2 * exp(y * y)],
    accepts="float",
    samples=reals(-0.9, 0.9),
    singular=True,
)


# --- the logarithm of the gamma function and its derivatives ----------------------------------------

lgamma = elementwise(
    "lgamma",
    numpy=in_double(lgamma_kernel),
    xla="lgamma",
    partials=lambda y, x: [digamma(x)],
    accepts="float",
    samples=reals(0.3, 4),
    singular=True,
)


def digamma_in_xla(jax: Module, x: Array) -> Array:
    """Return ψ(x), the derivative of log Γ(x), with −∞ at 0."""
    return jax.numpy.where(x == 0, jax.numpy.full_like(x, -np.inf), jax.lax.digamma(x))


#: ``digamma(x)``: the derivative of ``lgamma``. At 0, the value is the limit from the right; at negative
#: integers, it is NaN
digamma = elementwise(
    "digamma",
    numpy=in_double(digamma_kernel),
    xla=digamma_in_xla,
    partials=lambda y, x: [polygamma(x, n=1)],
    accepts="float",
    samples=reals(0.3, 4),
    singular=True,
)


def _polygamma_type(x: TensorType, *, n: int) -> TensorType:
    same_type("polygamma", "float")(x)
    if type(n) is not int or n < 0:
        raise ValueError(f"For 'polygamma', the order must be a nonnegative int, but got {n!r}.")
    return x


def polygamma_in_xla(jax: Module, x: Array, *, n: int) -> Array:
    """Return ψ⁽ⁿ⁾(x).

    XLA's ζ function is inaccurate for x < −9, so a reflection formula is used for x < 0.
    """
    dtype = x.dtype
    if dtype.itemsize == 2:
        x = x.astype(np.float32)
    if n == 0:
        return digamma_in_xla(jax, x).astype(dtype)
    zeta = lambda at: jax.lax.zeta(jax.numpy.full_like(at, n + 1), at)
    return polygamma_of_zeta(jax.numpy, zeta, x, n).astype(dtype)


#: ``polygamma(x, n)``: the n-th derivative of ``digamma``. At a pole, the value is the limit if both
#: one-sided limits agree. Otherwise it is the limit from the right at 0, and NaN at other poles
polygamma = elementwise(
    "polygamma",
    type_rule=_polygamma_type,
    numpy=in_double(polygamma_kernel),
    xla=polygamma_in_xla,
    partials=lambda y, x, *, n: [polygamma(x, n=n + 1)],
    simplify=lambda x, *, n: digamma(x) if n == 0 else None,
    accepts="float",
    singular=True,
    samples=[
        case(reals(0.4, 4)[3, 2], n=1, accepts="float"),
        case(reals(0.4, 4)[()], n=2, accepts="float"),
        case(reals(0.4, 4)[2], n=0, accepts="float"),
        case(reals(0.6, 4)[3], n=4, accepts="float"),
    ],
)


# --- the logistic function and its integral ---------------------------------------------------------


def _sigmoid_numpy(x: Array) -> Array:
    # compute exp only for nonpositive numbers, so that exp cannot overflow
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, np.ones((), small.dtype), small) / (1 + small)


#: ``sigmoid(x)``: 1 / (1 + exp(−x))
sigmoid = elementwise(
    "sigmoid",
    work=SHARED_FUNCTION,
    numpy=in_single(_sigmoid_numpy),
    xla="logistic",
    partials=lambda y, x: [0.25 * sech_squared(0.5 * x)],  # y (1 − y) would have cancellation for y near 1
    accepts="float",
    samples=reals(-3, 3),
)

#: ``softplus(x)``: log(1 + exp(x)), without overflow
softplus = elementwise(
    "softplus",
    numpy=in_single(lambda x: np.logaddexp(x, np.zeros((), x.dtype))),
    xla=lambda jax, x: jax.numpy.logaddexp(x, jax.numpy.zeros_like(x)),
    partials=lambda y, x: [sigmoid(x)],
    accepts="float",
    samples=reals(-3, 3),
)


def _logaddexp_partials(y: Atom, a: Atom, b: Atom) -> list[Partial]:
    """Return sigmoid(a − b) and sigmoid(b − a), without subtracting equal infinities.

    Both derivatives are 0 if a = b = −inf, and 1/2 if a = b = inf.
    """
    zero = zeros(a.type)
    infinite = logical_and(equal(a, b), isinf(a))
    distance = select(infinite, zero, a - b)
    nothing = equal(y, full(y.type, -math.inf))
    return [select(nothing, zero, sigmoid(distance)), select(nothing, zero, sigmoid(neg(distance)))]


#: ``logaddexp(a, b)``: log(exp(a) + exp(b)), without overflow
logaddexp = elementwise(
    "logaddexp",
    numpy=in_single(np.logaddexp),
    xla=lambda jax, a, b: jax.numpy.logaddexp(a, b),
    partials=_logaddexp_partials,
    accepts="float",
    samples=reals(),
)
