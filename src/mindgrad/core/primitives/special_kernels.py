"""NumPy kernels of special functions. They import SciPy at their first call.

The kernels correct some results of SciPy: the sign of zeros, and values at −∞ and at negative integers. They
are also more accurate than SciPy for erfc of large arguments, and for lgamma near its roots.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mindgrad.core.base.scipy_modules import SciPyModule
from mindgrad.core.ir.rules import Array, Module

__all__ = [
    "digamma_kernel", "erf_kernel", "erfc_kernel", "erfinv_kernel", "in_double",
    "lgamma_kernel", "polygamma_kernel", "polygamma_of_zeta",
]  # fmt: skip

special = SciPyModule("special")


def in_double(kernel: Callable) -> Callable:
    """Wrap a kernel to compute in float64 and round the result to the input dtype."""

    def run(*arrays: Array, **parameters: object) -> Array:
        dtype = arrays[0].dtype
        wide = [np.asarray(array, np.float64) for array in arrays]
        with np.errstate(all="ignore"):
            return kernel(*wide, **parameters).astype(dtype)

    return run


def erf_kernel(x: Array) -> Array:
    """Return 2/√π ∫₀ˣ exp(−t²) dt."""
    return special.erf(x)


def erfc_kernel(x: Array) -> Array:
    """Return 1 − erf(x) without cancellation."""
    # compute exp(−x²) without rounding x²: split x = c + r, where c² is exact. For x > 28, the result is 0
    size = np.clip(x, 1, 28)
    coarse = np.floor(size * 16) / 16
    tail = np.exp(-coarse * coarse) * np.exp(-(size - coarse) * (size + coarse)) * special.erfcx(size)
    return np.where(x > 1, tail, special.erfc(x))


def erfinv_kernel(x: Array) -> Array:
    """Return the number y with erf(y) = x: ±∞ at ±1, and NaN for |x| > 1."""
    return np.copysign(special.erfinv(x), x)


def lgamma_kernel(x: Array) -> Array:
    """Return log |Γ(x)|, which is ∞ at 0, at negative integers, and at ±∞."""
    result = np.asarray(np.where(np.isneginf(x), np.inf, special.gammaln(x)))
    nearest = np.rint(x)
    z = x - nearest
    near_root = ((nearest == 1) | (nearest == 2)) & (np.abs(z) < 0.25)
    if not np.any(near_root):
        return result
    # this series is accurate near the roots: log Γ(1 + z) = −γ z + Σ ζ(k) (−z)ᵏ / k (DLMF 5.7.3)
    z = np.where(near_root, z, 0.0)
    k = np.arange(2, 30)
    series = np.polyval([*(special.zeta(k) * (-1.0) ** k / k)[::-1], -np.euler_gamma, 0.0], z)
    return np.where(near_root, np.where(nearest == 2, np.log1p(z) + series, series), result)


def digamma_kernel(x: Array) -> Array:
    """Return ψ(x) = Γ'(x) / Γ(x): NaN at negative integers, the right limit at 0."""
    return special.psi(x + 0.0)


def polygamma_of_zeta(numpy: Module, zeta: Callable, x: Array, n: int) -> Array:
    """Return ψ⁽ⁿ⁾(x) = (−1)ⁿ⁺¹ n! ζ(n + 1, x).

    ``zeta(x)`` computes ζ(n + 1, x) for x > 0. For x < 0, with x = f − m, 0 < f < 1, and s = n + 1,
    ζ(s, x) = ζ(s, f) + (−1)ˢ (ζ(s, 1 − f) − ζ(s, 1 − x)).
    """
    order = n + 1
    is_integer = x == numpy.floor(x)
    fraction = numpy.where(is_integer, 0.5, x - numpy.floor(x)).astype(x.dtype)
    mirrored = zeta(1 - fraction) - zeta(1 - numpy.minimum(x, 0))
    below = zeta(fraction) + (-1) ** order * mirrored
    value = numpy.where(x < 0, below, zeta(numpy.where(x > 0, x, 1)))
    pole = numpy.where((x == 0) | (order % 2 == 0), numpy.inf, numpy.nan)
    value = numpy.where(numpy.isposinf(x), 0, numpy.where((x <= 0) & is_integer, pole, value))
    value = numpy.where(numpy.isnan(x) | numpy.isneginf(x), numpy.nan, value)
    return (-1) ** order * math.gamma(order) * value


def polygamma_kernel(x: Array, *, n: int) -> Array:
    """Return ψ⁽ⁿ⁾(x), the n-th derivative of :func:`digamma_kernel`."""
    if n == 0:
        return digamma_kernel(x)
    return polygamma_of_zeta(np, lambda at: special.zeta(float(n + 1), at), x, n)
