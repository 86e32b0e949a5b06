"""Log-probabilities in tails of distributions, accurate near probability 0 and 1.

Each function chooses between formulas. The unused formula gets an argument for which its value is finite, so
that derivatives of every order are accurate, too.
"""

from __future__ import annotations

import math
from typing import Any

from mindgrad import ops
from mindgrad.core.ir.scope import apply
from mindgrad.core.primitives.arithmetic import masked_multiply
from mindgrad.core.primitives.log_incomplete import log_beta_tail, log_gamma_tail
from mindgrad.core.primitives.scaled_erfc import scaled_erfc
from mindgrad.ops.operands import promoted

__all__ = [
    "log1mexp", "log1p_of_square", "log_beta_cdf", "log_cauchy_survival", "log_gamma_cdf",
    "log_gamma_survival", "log_normal_cdf", "log_of_gumbel_survival", "softplus", "xlog1py",
]  # fmt: skip


def log_normal_cdf(z: Any) -> Any:
    """Compute log Φ(z), where Φ is the standard normal distribution function.

    For z < 0 the formula is log(exp(t²) erfc(t) / 2) − t² with t = −z / √2, which does not underflow.
    """
    is_below = z < 0.0
    t = ops.where(is_below, z, 0.0) * -math.sqrt(0.5)
    below = ops.log(0.5 * apply(scaled_erfc, t, n=0)) - ops.square(t)
    above = ops.log1p(-0.5 * ops.erfc(ops.where(is_below, 0.0, z) * math.sqrt(0.5)))
    return ops.where(is_below, below, above)


def log1mexp(a: Any) -> Any:
    """Compute log(1 − exp(−a)) for a ≥ 0, −∞ at 0."""
    is_small = a < math.log(2.0)
    small = ops.log(-ops.expm1(-ops.where(is_small, a, 0.5)))
    return ops.where(is_small, small, ops.log1p(-ops.exp(-ops.where(is_small, 1.0, a))))


#: exponent k -> coefficient B_k / (k k!) in the series of log((1 − exp(−a)) / a) for a < 1/2. B_k is a
#: Bernoulli number
_SERIES = {
    1: -1 / 2, 2: 1 / 24, 4: -1 / 2880, 6: 1 / 181440, 8: -1 / 9676800, 10: 1 / 479001600,
    12: -691 / 15692092416000, 14: 1 / 1046139494400, 16: -3617 / 170729965486080000,
}  # fmt: skip


def log_of_gumbel_survival(z: Any) -> Any:
    """Compute log(1 − exp(−exp(−z))).

    For a = exp(−z) < 1/2, this is −z + log((1 − exp(−a)) / a), computed by a series.
    """
    is_above = z > math.log(2.0)
    a = ops.exp(-ops.where(is_above, z, 0.0))
    square = ops.square(a)
    series: Any = 0.0
    for power in range(16, 0, -2):
        series = (series + _SERIES[power]) * square
    above = series + _SERIES[1] * a - z
    return ops.where(is_above, above, ops.log1p(-ops.exp(-ops.exp(-ops.where(is_above, 0.0, z)))))


def log_cauchy_survival(z: Any) -> Any:
    """Compute log(atan2(1, z) / π).

    For z > 1 this is −log(π z) + log(atan(w) / w) with w = 1 / z.
    """
    is_above = z > 1.0
    large = ops.where(is_above, z, 2.0)
    inverse = 1.0 / large
    above = ops.log(ops.atan(inverse) / inverse) - ops.log(math.pi * large)
    angle = ops.atan2(ops.ones_like(z), -ops.where(is_above, 1.0, z))
    return ops.where(is_above, above, ops.log1p(angle * (-1.0 / math.pi)))


def log_gamma_cdf(a: Any, x: Any) -> Any:
    """Compute log P(a, x), where P is the lower incomplete gamma function."""
    return apply(log_gamma_tail, *promoted("Igamma", a, x), n=0, upper=False)


def log_gamma_survival(a: Any, x: Any) -> Any:
    """Compute log Q(a, x), where Q is the upper incomplete gamma function."""
    return apply(log_gamma_tail, *promoted("Igammac", a, x), n=0, upper=True)


def log_beta_cdf(a: Any, b: Any, x: Any) -> Any:
    """Compute log Iₓ(a, b), where I is the regularized incomplete beta function."""
    return apply(log_beta_tail, *promoted("Betainc", a, b, x), m=0, n=0)


def log1p_of_square(z: Any) -> Any:
    """Compute log(1 + z²), even if z² overflows."""
    is_large = ops.abs(z) > 1.0
    large = ops.abs(ops.where(is_large, z, 1.0))
    rest = ops.log1p(ops.square(ops.where(is_large, 1.0 / large, z)))
    return rest + ops.where(is_large, 2.0 * ops.log(large), 0.0)


def softplus(x: Any) -> Any:
    """Compute log(1 + exp(x)), even for large x, unlike ``ops.softplus``."""
    return ops.softplus(x, threshold=math.inf)


def xlog1py(x: Any, y: Any) -> Any:
    """Compute x log(1 + y); the result is 0 where x is 0."""
    one = ops.ones_like(x + y)
    return apply(masked_multiply, x * one, ops.log1p(y) * one)
