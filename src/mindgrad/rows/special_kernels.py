"""NumPy kernels of special functions have errors of about 1e-15 in float64.

Sources of the approximations:

- erf, erfc: the rational minimax approximations of W. J. Cody, *Rational Chebyshev approximations for
  the error function*, Mathematics of Computation 23 (1969).
- erfinv: the normal quantile of M. J. Wichura, *Algorithm AS 241*, Applied Statistics 37 (1988).
- lgamma: Python's ``math.lgamma``, element by element; next to its roots the series DLMF 5.7.3.
- digamma: recurrence to x ≥ 10, then the asymptotic series DLMF 5.11.2; reflection 5.5.4.
- polygamma: the Hurwitz zeta function by Euler–Maclaurin summation (DLMF 25.11.28).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

__all__ = [
    "digamma_kernel", "erf_kernel", "erfc_kernel", "erfinv_kernel", "in_double",
    "lgamma_kernel", "polygamma_kernel",
]  # fmt: skip


def in_double(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel with every other precision computed in double precision."""

    def run(*arrays: Any, **parameters: Any) -> Any:
        dtype = arrays[0].dtype
        wide = [np.asarray(array, np.float64) for array in arrays]
        with np.errstate(all="ignore"):
            return kernel(*wide, **parameters).astype(dtype)

    return run


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Horner's rule, from the highest power down."""
    total = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


# --- error functions --------------------------------------------------------------------------------

_ERF_SMALL = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2,
     3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
_ERFC_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3,
     1.23033935480374942e3),
)  # fmt: skip
_ERFC_LARGE = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


def _ratio(x: Any, pair: tuple[Sequence[float], Sequence[float]]) -> Any:
    return _polynomial(x, pair[0]) / _polynomial(x, pair[1])


def _exp_minus_square(x: Any) -> Any:
    # exp(−x²) for x ≥ 0 without the rounding of x²: x = c + r with c exactly squarable
    coarse = np.floor(x * 16) / 16
    return np.exp(-coarse * coarse) * np.exp(-(x - coarse) * (x + coarse))


def _erf_parts(x: Any) -> tuple[Any, Any, Any]:
    """|x| ≤ 0.47, erf there, erfc(|x|) elsewhere."""
    size = np.abs(x)
    small = size <= 0.46875
    inner = np.where(small, x, np.zeros((), x.dtype))
    near_zero = inner * _ratio(inner * inner, _ERF_SMALL)
    outer = np.clip(size, np.asarray(0.46875, x.dtype), np.asarray(28, x.dtype))
    middle = _ratio(outer, _ERFC_MIDDLE)
    far = np.maximum(outer, np.asarray(4, x.dtype))
    inverse_square = 1 / (far * far)
    tail = inverse_square * _ratio(inverse_square, _ERFC_LARGE)
    large = (np.asarray(1 / math.sqrt(math.pi), x.dtype) - tail) / far
    outside = _exp_minus_square(outer) * np.where(outer <= 4, middle, large)
    return small, near_zero, np.where(np.isnan(x), x, outside)


def erf_kernel(x: Any) -> Any:
    """2/√π ∫₀ˣ exp(−t²) dt."""
    small, near_zero, outside = _erf_parts(x)
    return np.where(small, near_zero, np.copysign(1 - outside, x))


def erfc_kernel(x: Any) -> Any:
    """1 − erf(x), without cancellation."""
    small, near_zero, outside = _erf_parts(x)
    return np.where(small, 1 - near_zero, np.where(x < 0, 2 - outside, outside))


_QUANTILE_MIDDLE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
     4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
     1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
     2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
     4.2313330701600911252e1, 1.0),
)  # fmt: skip
_QUANTILE_OUTER = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
     4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
     2.05319162663775882187e0, 1.0),
)  # fmt: skip
_QUANTILE_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
     5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0),
)  # fmt: skip


def erfinv_kernel(x: Any) -> Any:
    """The normal quantile of (1 + x) / 2, divided by √2."""
    size = np.abs(x)
    half = x / 2
    middle = half * _ratio(np.asarray(0.180625, x.dtype) - half * half, _QUANTILE_MIDDLE)
    tail_area = np.where(size < 1, (1 - size) / 2, np.asarray(0.5, x.dtype))
    root = np.sqrt(-np.log(tail_area))
    outer = np.where(root <= 5, _ratio(root - np.asarray(1.6, x.dtype), _QUANTILE_OUTER),
                     _ratio(root - 5, _QUANTILE_TAIL))  # fmt: skip
    quantile = np.where(np.abs(half) <= 0.425, middle, np.copysign(outer, x))
    inside = quantile / np.asarray(math.sqrt(2), x.dtype)
    edge = np.where(size == 1, np.copysign(np.asarray(math.inf, x.dtype), x), np.nan)
    return np.where(size < 1, inside, edge.astype(x.dtype))


# --- gamma functions --------------------------------------------------------------------------------


def _lgamma_of(x: float) -> float:
    return math.inf if x <= 0 and (math.isinf(x) or x == math.floor(x)) else math.lgamma(x)


_lgamma_each = np.frompyfunc(_lgamma_of, 1, 1)
_EULER = 0.5772156649015328606


@lru_cache(maxsize=1)
def _zeta_over_k() -> list[float]:
    """ζ(k) / k (−1)ᵏ for k = 29 … 2."""
    return [float(_hurwitz_zeta(k, np.float64(1))) / k * (-1) ** k for k in range(29, 1, -1)]


def lgamma_kernel(x: Any) -> Any:
    """log |Γ(x)|; infinite at 0 and the negative integers."""
    result = np.asarray(_lgamma_each(x)).astype(np.float64)
    nearest = np.rint(x)
    z = x - nearest
    near_root = ((nearest == 1) | (nearest == 2)) & (np.abs(z) < 0.25)
    if not np.any(near_root):
        return result
    # log Γ(1 + z) = −γ z + Σ ζ(k) (−z)ᵏ / k keeps every digit where Γ is 1 (DLMF 5.7.3)
    z = np.where(near_root, z, 0.0)
    series = z * (_polynomial(z, [*_zeta_over_k(), -_EULER]))
    return np.where(near_root, np.where(nearest == 2, np.log1p(z) + series, series), result)


#: B₂, B₄, …, B₂₄ (DLMF 24.2)
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
    854513 / 138, -236364091 / 2730,
)  # fmt: skip

_START = 12  # the asymptotic series are used from here on


def _digamma_positive(x: Any) -> Any:
    total = np.zeros_like(x)
    for _ in range(_START):
        low = x < _START
        total = total - np.where(low, 1 / np.where(low, x, 1.0), 0.0)
        x = np.where(low, x + 1, x)
    inverse_square = 1 / (x * x)
    coefficients = [-_BERNOULLI[k - 1] / (2 * k) for k in range(8, 0, -1)]
    series = _polynomial(inverse_square, [*coefficients, 0.0])
    return total + (np.log(x) - 0.5 / x + series)


def digamma_kernel(x: Any) -> Any:
    """ψ(x) = Γ'(x) / Γ(x), with ψ(1 − x) − ψ(x) = π cot πx for negative x."""
    negative = x < 0
    positive = _digamma_positive(np.where(negative, 1 - x, np.where(x > 0, x, 1.0)))
    fraction = x - np.rint(x)
    cotangent = np.where(np.abs(fraction) == 0.5, 0.0, math.pi / np.tan(math.pi * fraction))
    result = np.where(negative, positive - cotangent, positive)
    result = np.where(negative & (fraction == 0), np.nan, result)
    return np.where(x == 0, -np.inf, np.where(np.isnan(x) | np.isneginf(x), np.nan, result))


def _hurwitz_zeta(s: int, a: Any) -> Any:
    """Σ_{k ≥ 0} (a + k)⁻ˢ for a > 0 and s ≥ 2."""
    total = np.zeros_like(a)
    for _ in range(_START):
        total = total + a**-s
        a = a + 1
    power = a ** -float(s)
    total = total + (a ** (1.0 - s) / (s - 1) + 0.5 * power)
    # Σ B₂ⱼ / (2j)! · s (s + 1) … (s + 2j − 2) · a^(−s − 2j + 1)
    factor, power = float(s), power / a
    for j in range(1, 13):
        total = total + _BERNOULLI[j - 1] / math.factorial(2 * j) * factor * power
        factor *= (s + 2 * j - 1) * (s + 2 * j)
        power = power / (a * a)
    return total


def polygamma_kernel(x: Any, *, n: int) -> Any:
    """ψ⁽ⁿ⁾(x) = (−1)ⁿ⁺¹ n! ζ(n + 1, x).

    For x < 0 the terms below zero are summed from the other side: with x = f − m and 0 < f < 1,
    ζ(s, x) = ζ(s, f) + (−1)ˢ (ζ(s, 1 − f) − ζ(s, 1 − x)).
    """
    if n == 0:
        return digamma_kernel(x)
    s = n + 1
    is_integer = x == np.floor(x)
    fraction = np.where(is_integer, 0.5, x - np.floor(x))
    ordinary = np.where((x > 0) & np.isfinite(x), x, 1.0)
    zeta = _hurwitz_zeta(s, ordinary)
    if np.any(x < 0):
        mirrored = _hurwitz_zeta(s, 1 - fraction) - _hurwitz_zeta(s, 1 - np.minimum(x, 0.0))
        zeta = np.where(x < 0, _hurwitz_zeta(s, fraction) + (-1) ** s * mirrored, zeta)
    zeta = np.where(np.isposinf(x), 0.0, zeta)
    pole = np.where((x == 0) | (s % 2 == 0), np.inf, np.nan)
    zeta = np.where((x <= 0) & is_integer, pole, zeta)
    return (-1) ** s * math.gamma(s) * np.where(np.isnan(x) | np.isneginf(x), np.nan, zeta)
