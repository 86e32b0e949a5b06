"""Bessel functions of the first kind and of integer order.

For |x| ≤ 25, a Bessel function is the mean of an integrand over a period (DLMF 10.9.2, 10.32.3). The
trapezoidal rule with 96 nodes computes this mean exactly up to rounding. For larger |x|, the module uses 24
terms of Hankel's expansions (DLMF 10.17.3, 10.40.1). The error in float64 is about 1e-14 for orders up to
ten; common derivatives need no higher orders. Derivatives of J follow DLMF 10.6.1. The derivatives of the
scaled functions exp(−|x|) Iₙ(x) are computed by differentiating the integrand. The recurrence for these
derivatives (DLMF 10.29.1) would subtract nearly equal numbers for large x, so that the error would grow by a
factor of 2 x with each derivative.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.rules import Array, Module, Stored
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.accumulation_type import in_single_xla
from mindgrad.core.primitives.kinds import elementwise, same_type
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.special_kernels import in_double

__all__ = [
    "SWITCH", "TERMS", "bessel_i", "bessel_ie", "bessel_j", "coefficients", "hankel", "order_type",
    "power_sum",
]  # fmt: skip

SWITCH = 25.0  #: for larger |x|, use Hankel's expansions instead of the integral
_ANGLES = 2 * np.pi * np.arange(96) / 96
TERMS = 24  #: number of terms of Hankel's expansions


def coefficients(n: int) -> list[float]:
    """Return the coefficients aₖ(n) of Hankel's expansions (DLMF 10.17.1)."""
    terms = [1.0]
    for k in range(1, TERMS):
        terms.append(terms[-1] * (4 * n * n - (2 * k - 1) ** 2) / (8 * k))
    return terms


def hankel(numpy: Module, inverse: Array, n: int, derivative: int, alternate: bool) -> Array:
    """Return the k-th derivative of Hankel's expansion at x = 1 / ``inverse``.

    k is ``derivative``. The expansion is Σₘ (±1)ᵐ aₘ(n) x^(−m−½), with alternating signs if ``alternate`` is
    true. The result lacks the factor (−1)ᵏ.
    """
    terms = [(-1) ** m * a if alternate else a for m, a in enumerate(coefficients(n))]
    for step in range(derivative):
        terms = [a * (m + step + 0.5) for m, a in enumerate(terms)]
    series = numpy.sqrt(inverse) * power_sum(terms, inverse)
    for _ in range(derivative):
        series = series * inverse
    return series


def power_sum(factors: list[float], t: Array) -> Array:
    """Return Σₖ factors[k] tᵏ."""
    total = factors[-1] + 0 * t
    for factor in reversed(factors[:-1]):
        total = total * t + factor
    return total


def _mean(numpy: Module, x: Array, term: Callable, jax: Module | None = None) -> Stored:
    """Return the mean of ``term(x, t)`` over equidistant angles t in one period."""
    if jax is None:
        return sum(term(x, angle) for angle in _ANGLES) / len(_ANGLES)
    # loop over the angles, because XLA would fuse a vectorized sum with each equation that uses it, and
    # recompute it there
    angles = numpy.asarray(_ANGLES, x.dtype)
    step = lambda total, angle: (total + term(x, angle), None)
    return jax.lax.scan(step, numpy.zeros_like(x), angles)[0] / len(_ANGLES)


def _small(numpy: Module, a: Array, t: Array, n: int, kernel: Array) -> Array:
    """Return the integrand aⁿ / (2 n − 1)!! sin²ⁿ t · kernel (DLMF 10.9.4, 10.32.2).

    For a < 1, the integrand is positive, so that its mean has no cancellation.
    """
    integrand = kernel / math.prod(range(1, 2 * n, 2))
    for _ in range(n):
        integrand = integrand * a * numpy.sin(t) ** 2
    return integrand


def _j(numpy: Module, x: Array, n: int, jax: Module | None = None) -> Array:
    size = numpy.abs(x)

    def term(a: Array, t: Array) -> Array:
        integrand = numpy.cos(n * t - a * numpy.sin(t))
        if n:  # for small a, the mean above has cancellation; the mean of `_small` does not
            integrand = numpy.where(a < 1, _small(numpy, a, t, n, numpy.cos(a * numpy.cos(t))), integrand)
        return integrand

    near = _mean(numpy, numpy.minimum(size, SWITCH), term, jax)
    far = numpy.maximum(size, SWITCH)
    a = coefficients(n)
    inverse = 1 / far
    p = power_sum([(-1) ** k * a[2 * k] for k in range(TERMS // 2)], inverse * inverse)
    q = power_sum([(-1) ** k * a[2 * k + 1] for k in range(TERMS // 2)], inverse * inverse) * inverse
    phase = far - (n / 2 + 0.25) * math.pi
    wave = numpy.sqrt(2 / math.pi * inverse) * (p * numpy.cos(phase) - q * numpy.sin(phase))
    value = numpy.where(numpy.isinf(size), 0 * near, numpy.where(size <= SWITCH, near, wave))
    value = numpy.where(numpy.isnan(x), x, value)
    return numpy.where(x < 0, (-1) ** n * value, value).astype(x.dtype)


def _ie(numpy: Module, x: Array, n: int, derivative: int = 0, jax: Module | None = None) -> Array:
    """Return the k-th derivative of exp(−|x|) Iₙ(x), computed as a mean over a period.

    k is ``derivative``. The integrand is (cos t − 1)ᵏ exp(|x| (cos t − 1)) cos(n t).
    """
    size = numpy.abs(x)

    def term(a: Array, t: Array) -> Array:
        kernel = numpy.exp(a * (numpy.cos(t) - 1))
        integrand = kernel * numpy.cos(n * t)
        if n and not derivative:  # for small a, avoid cancellation as in `_j`
            integrand = numpy.where(a < 1, _small(numpy, a, t, n, kernel), integrand)
        # 1 − cos t = 2 sin²(t / 2) avoids cancellation. By convention, the derivative of |x| at 0 is 0
        factor = numpy.where(x == 0, numpy.cos(t), -2 * numpy.sin(t / 2) ** 2)
        for _ in range(derivative):
            integrand = integrand * factor
        return integrand

    near = _mean(numpy, numpy.minimum(size, SWITCH), term, jax)
    inverse = 1 / numpy.maximum(size, SWITCH)
    far = (-1) ** derivative / math.sqrt(2 * math.pi) * hankel(numpy, inverse, n, derivative, alternate=True)
    value = numpy.where(numpy.isnan(x), x, numpy.where(size <= SWITCH, near, far))
    return numpy.where(x < 0, (-1) ** (n + derivative) * value, value).astype(x.dtype)


def order_type(name: str) -> Callable:
    """Return the type rule of a function with an integer order."""

    def type_rule(x: TensorType, *, n: int, derivative: int = 0) -> TensorType:
        same_type(name, "float")(x)
        if type(n) is not int or n < 0:
            raise ValueError(f"For '{name}', the order must be a nonnegative int, but got {n!r}.")
        return x

    return type_rule


def _j_partial(y: Atom, x: Atom, n: int) -> Atom:
    if n == 0:
        return -bessel_j(x, n=1)
    return (bessel_j(x, n=n - 1) - bessel_j(x, n=n + 1)) * 0.5


_SAMPLES = [case(reals(0.3, 12)[3], accepts="float", n=1), case(reals(26, 60)[2], accepts="float", n=0)]

#: ``bessel_j(x, n)``: Jₙ(x)
bessel_j = elementwise(
    "bessel_j",
    type_rule=order_type("bessel_j"),
    numpy=in_double(lambda x, n: _j(np, x, n)),
    xla=in_single_xla(lambda jax, x, n: _j(jax.numpy, x, n, jax)),
    partials=lambda y, x, *, n: [_j_partial(y, x, n)],
    accepts="float",
    samples=_SAMPLES,
)

#: ``bessel_ie(x, n)``: exp(−|x|) Iₙ(x), or one of its derivatives
bessel_ie = elementwise(
    "bessel_ie",
    type_rule=order_type("bessel_ie"),
    numpy=in_double(lambda x, n, derivative=0: _ie(np, x, n, derivative)),
    xla=in_single_xla(lambda jax, x, n, derivative=0: _ie(jax.numpy, x, n, derivative, jax)),
    partials=lambda y, x, *, n, derivative=0: [bessel_ie(x, n=n, derivative=derivative + 1)],
    accepts="float",
    samples=_SAMPLES,
)


def _i(numpy: Module, x: Array, n: int, jax: Module | None = None) -> Array:
    size = numpy.abs(x)
    value = numpy.exp(size) * _ie(numpy, numpy.where(numpy.isinf(size), 1.0, x).astype(x.dtype), n, 0, jax)
    return numpy.where(numpy.isinf(x), numpy.where(x < 0, (-1) ** n, 1) * size, value).astype(x.dtype)


def _i_partial(x: Atom, n: int) -> Atom:
    if n == 0:
        return bessel_i(x, n=1)
    return (bessel_i(x, n=n - 1) + bessel_i(x, n=n + 1)) * 0.5


#: ``bessel_i(x, n)``: Iₙ(x). ``bessel_i`` is a separate primitive, because the derivatives of the product
#: exp(|x|) · ``bessel_ie(x, n)`` would have cancellation near 0
bessel_i = elementwise(
    "bessel_i",
    type_rule=order_type("bessel_i"),
    numpy=in_double(lambda x, n: _i(np, x, n)),
    xla=in_single_xla(lambda jax, x, n: _i(jax.numpy, x, n, jax)),
    partials=lambda y, x, *, n: [_i_partial(x, n)],
    accepts="float",
    singular=True,
    samples=_SAMPLES,
)
