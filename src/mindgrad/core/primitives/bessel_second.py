"""Bessel functions of the second kind and of integer order.

For x ≤ 25, the functions are computed as integrals (DLMF 10.9.7, 10.32.9), which are truncated where the
integrand is negligible. If an integrand decays doubly exponentially, the trapezoidal rule is exact up to
rounding. All other integrals use Gauss-Legendre quadrature. For larger x, the module uses 24 terms of
Hankel's expansions (DLMF 10.17.4, 10.40.2). A recurrence computes orders of Y above 1 and derivatives of Y
(DLMF 10.6.1). The derivatives of the scaled functions exp(x) Kₙ(x) are computed by differentiating the
integrand (see ``primitives.bessel``). All functions are NaN for x < 0 and infinite at 0.
"""

from __future__ import annotations

import math

import numpy as np

from mindgrad.core.base.tables import tabulated
from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.rules import Array, Module
from mindgrad.core.primitives.accumulation_type import in_single_xla
from mindgrad.core.primitives.bessel import SWITCH, TERMS, coefficients, hankel, order_type, power_sum
from mindgrad.core.primitives.kinds import elementwise
from mindgrad.core.primitives.quadrature import gauss_legendre, weighted_sum
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.special_kernels import in_double

__all__ = ["bessel_ke", "bessel_y"]

_STEPS = 160
_MOST = 1e30  #: largest argument of Hankel's expansions; for larger arguments, their powers overflow
#: for smaller arguments, the first term of the power series is exact up to rounding. The quadrature would
#: need more nodes
_SMALL = 1e-18


def _edges(numpy: Module, x: Array, near: Array, far: Array, zero: float) -> Array:
    found = numpy.where(x <= SWITCH, near, far)
    found = numpy.where(x == 0, zero, numpy.where(x == math.inf, 0.0, found))
    return numpy.where((x < 0) | numpy.isnan(x), numpy.nan, found).astype(x.dtype)


def _upwards(numpy: Module, x: Array, n: int, first: Array, second: Array, sign: float) -> Array:
    """Return order n, computed by the upward recurrence from orders 0 and 1.

    The recurrence is stable in this direction.
    """
    a = numpy.where(x > 0, x, 1.0).astype(x.dtype)
    for k in range(1, n):
        first, second = second, 2 * k / a * second + sign * first
    return second


def _ke(numpy: Module, x: Array, n: int, derivative: int = 0, jax: Module | None = None) -> Array:
    """Return the k-th derivative of exp(x) Kₙ(x), an integral over t from 0 to ∞.

    k is ``derivative``. The integrand is (−1)ᵏ (cosh t − 1)ᵏ exp(−x (cosh t − 1)) cosh(n t).
    """
    a = numpy.clip(x, _SMALL, SWITCH)
    end = numpy.arccosh(1 + (48.0 + 4 * (n + derivative)) / a)
    rule = (np.arange(_STEPS + 1) / _STEPS, np.r_[0.5, np.ones(_STEPS)] / _STEPS)

    def term(s: Array) -> Array:
        t = s * end
        # cosh t − 1 = 2 sinh²(t / 2) avoids cancellation
        exponent = -2 * a * numpy.sinh(t / 2) ** 2
        if derivative:  # (cosh t − 1)ᵏ would overflow, so add its logarithm to the exponent
            small = numpy.where(t > 0, -numpy.expm1(-t), 1.0)
            growth = numpy.where(t > 0, t + 2 * numpy.log(small) - math.log(2), -numpy.inf)
            exponent = exponent + derivative * growth
        return numpy.exp(exponent + n * t) + numpy.exp(exponent - n * t)

    near = end / 2 * weighted_sum(x, term, rule, jax)
    near = numpy.where(x < _SMALL, _leading(numpy, numpy.where(x > 0, x, 1.0), n, derivative), near)
    inverse = 1 / numpy.maximum(x, SWITCH)
    far = math.sqrt(math.pi / 2) * hankel(numpy, inverse, n, derivative, alternate=False)
    return _edges(
        numpy, x, (-1) ** derivative * near, (-1) ** derivative * far, (-1) ** derivative * math.inf
    )


def _leading(numpy: Module, x: Array, n: int, derivative: int = 0) -> Array | float:
    """Return the leading term of Kₙ(x) and −π/2 Yₙ(x) as x → 0 (DLMF 10.30, 10.7).

    For ``derivative`` > 0, return the absolute value of the derivative of this term.
    """
    if n == derivative == 0:
        return math.log(2) - np.euler_gamma - numpy.log(x)
    value: Array | float = math.factorial(n + derivative - 1) * (2.0 ** (n - 1) if n else 1.0)
    for _ in range(n + derivative):
        value = value / x
    return value


def _y(numpy: Module, x: Array, n: int, jax: Module | None = None) -> Array:
    """Compute Yₙ(x) from two integrals.

    1/π ∫₀^π sin(x sin θ − n θ) dθ − 1/π ∫₀^∞ (exp(n t) + (−1)ⁿ exp(−n t)) exp(−x sinh t) dt
    """
    if n > 1:
        found = _upwards(numpy, x, n, _y(numpy, x, 0, jax), _y(numpy, x, 1, jax), -1.0)
        return numpy.where(x == 0, -math.inf, found).astype(x.dtype)
    a = numpy.clip(x, _SMALL, SWITCH)
    nodes, weights = tabulated(gauss_legendre, 80)
    rule = nodes / 2 + 0.5, weights / 2
    phase = lambda s: a * numpy.sin(math.pi * s) - n * math.pi * s
    waves = weighted_sum(x, lambda s: numpy.sin(phase(s)), rule, jax)
    end = numpy.arcsinh(48.0 / a)
    power = lambda s, k: numpy.exp(k * s * end - a * numpy.sinh(s * end))
    tail = weighted_sum(x, lambda s: power(s, n) + (-1) ** n * power(s, -n), rule, jax)
    near = waves - end / math.pi * tail
    leading = _leading(numpy, numpy.where(x > 0, x, 1.0), n)
    near = numpy.where(x < _SMALL, -2 / math.pi * leading, near)
    far = numpy.clip(x, SWITCH, _MOST)
    c, inverse = coefficients(n), 1 / far
    p = power_sum([(-1) ** k * c[2 * k] for k in range(TERMS // 2)], inverse * inverse)
    q = power_sum([(-1) ** k * c[2 * k + 1] for k in range(TERMS // 2)], inverse * inverse) * inverse
    angle = far - (n / 2 + 0.25) * math.pi
    wave = numpy.sqrt(2 / math.pi * inverse) * (p * numpy.sin(angle) + q * numpy.cos(angle))
    return _edges(numpy, x, near, wave, -math.inf)


def _y_partial(x: Atom, n: int) -> Atom:
    if n == 0:
        return -bessel_y(x, n=1)
    return (bessel_y(x, n=n - 1) - bessel_y(x, n=n + 1)) * 0.5


_SAMPLES = [case(reals(0.3, 12)[3], accepts="float", n=1), case(reals(26, 60)[2], accepts="float", n=0)]

#: ``bessel_y(x, n)``: Yₙ(x)
bessel_y = elementwise(
    "bessel_y",
    type_rule=order_type("bessel_y"),
    numpy=in_double(lambda x, n: _y(np, x, n)),
    xla=in_single_xla(lambda jax, x, n: _y(jax.numpy, x, n, jax)),
    partials=lambda y, x, *, n: [_y_partial(x, n)],
    accepts="float",
    samples=_SAMPLES,
)

#: ``bessel_ke(x, n)``: exp(x) Kₙ(x), or one of its derivatives
bessel_ke = elementwise(
    "bessel_ke",
    type_rule=order_type("bessel_ke"),
    numpy=in_double(lambda x, n, derivative=0: _ke(np, x, n, derivative)),
    xla=in_single_xla(lambda jax, x, n, derivative=0: _ke(jax.numpy, x, n, derivative, jax)),
    partials=lambda y, x, *, n, derivative=0: [bessel_ke(x, n=n, derivative=derivative + 1)],
    accepts="float",
    samples=_SAMPLES,
)
