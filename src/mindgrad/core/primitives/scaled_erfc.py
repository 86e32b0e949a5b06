"""Scaled complementary error function exp(x²) erfc(x), and accurate derivatives.

    E_n(x) = (−d/dx)ⁿ exp(x²) erfc(x) = 2/√π ∫₀^∞ (2 s)ⁿ exp(−s² − 2 s x) ds        E_n' = −E_{n+1}

All E_n are positive. For large x, the recurrence E_1 = 2/√π − 2 x E_0 subtracts nearly equal numbers, so it
would compute E_1 inaccurately. But the second derivative of the logarithm of the normal distribution function
needs an accurate E_1. Therefore, for x ≥ 0, each order n is computed from its own polynomial: (1 + x)ⁿ⁺¹
E_n(x) is smooth in t = (x − 2) / (x + 2), at infinity too. For x < 0, E_n(x) = (−1)ⁿ 2 dⁿ/dxⁿ exp(x²) +
(−1)ⁿ⁺¹ E_n(−x). Definitions: DLMF 7.7, 7.18.
"""

from __future__ import annotations

import math

import numpy as np

from mindgrad.core.base.tables import tabulated
from mindgrad.core.ir.rules import Array, Module
from mindgrad.core.ir.types import TensorType
from mindgrad.core.ir.work import SHARED_FUNCTION
from mindgrad.core.primitives.accumulation_type import in_single, in_single_xla
from mindgrad.core.primitives.kinds import elementwise, same_type
from mindgrad.core.primitives.quadrature import gauss_legendre
from mindgrad.core.primitives.samples import case, reals

__all__ = ["scaled_erfc"]

#: degree of the Chebyshev interpolation, and degrees to which it is truncated for float64 and float32. Higher
#: terms are below the rounding error
_DEGREE, _DOUBLE_DEGREE, _SINGLE_DEGREE = 40, 33, 22
_MIDDLE = 2.0


def _polynomial(n: int) -> Array:
    """Return Chebyshev coefficients of (1 + x)ⁿ⁺¹ E_n(x) in t = (x − 2) / (x + 2)."""
    k = np.arange(_DEGREE + 1)
    t = np.cos(np.pi * (k + 0.5) / (_DEGREE + 1))
    x = _MIDDLE * (1 + t) / (1 - t)
    # quadrature over s = w / (1 + x); the integrand is negligible beyond w ≈ 40
    nodes, weights = gauss_legendre(60)
    panels = np.array([0.0, 2.0, 6.0, 14.0, 28.0, 60.0 + 4.0 * n])
    half = np.diff(panels)[:, None] / 2
    w = (panels[:-1, None] + half * (nodes + 1)).ravel()[:, None]
    density = (half * weights).ravel()[:, None]
    values = np.sum(density * (2 * w) ** n * np.exp(-((w / (1 + x)) ** 2) - 2 * w * (x / (1 + x))), 0)
    values *= 2 / math.sqrt(math.pi)
    return 2 / (_DEGREE + 1) * np.cos(np.outer(k, np.arccos(t))) @ values * np.where(k == 0, 0.5, 1.0)


def _hermite(n: int) -> list[float]:
    """Return the coefficients of the polynomial P with dⁿ/dxⁿ exp(x²) = P(x) exp(x²)."""
    p = np.polynomial.Polynomial([1.0])
    for _ in range(n):
        p = p.deriv() + np.polynomial.Polynomial([0.0, 2.0]) * p
    return [float(c) for c in p.coef]


def _kernel(array: Module, x: Array, n: int) -> Array:
    size = array.abs(x)
    inverse = 1 / (1 + size)
    # t = 1 − 4 / (x + 2), in a form that is also correct for infinite x
    t = 1 - 2 * _MIDDLE / (size + _MIDDLE)
    degree = _DOUBLE_DEGREE if x.dtype.itemsize == 8 else _SINGLE_DEGREE
    coefficients = tabulated(_polynomial, n)
    last = before = t * 0
    for c in coefficients[degree:0:-1].tolist():  # evaluate by Clenshaw's recurrence
        last, before = 2 * t * last - before + c, last
    value = (t * last - before + float(coefficients[0])) * inverse
    for _ in range(n):
        value = value * inverse
    below = array.where(x < 0, x, 0)
    polynomial = below * 0
    for c in reversed(_hermite(n)):
        polynomial = polynomial * below + c
    growing = 2 * (-1) ** n * polynomial * array.exp(below * below)
    return array.where(x < 0, growing - (-1) ** n * value, value).astype(x.dtype)


def _type(x: TensorType, *, n: int) -> TensorType:
    same_type("scaled_erfc", "float")(x)
    if type(n) is not int or n < 0:
        raise ValueError(f"For 'scaled_erfc', the order must be a nonnegative int, but got {n!r}.")
    return x


#: ``scaled_erfc(x, n)``: E_n(x) = (−d/dx)ⁿ (exp(x²) erfc(x)), which is positive. Its derivative is
#: −E_{n+1}(x)
scaled_erfc = elementwise(
    "scaled_erfc",
    work=SHARED_FUNCTION,
    type_rule=_type,
    numpy=in_single(lambda x, n: _kernel(np, x, n)),
    xla=in_single_xla(lambda jax, x, n: _kernel(jax.numpy, x, n)),
    partials=lambda y, x, *, n: [-scaled_erfc(x, n=n + 1)],
    accepts="float",
    singular=True,
    samples=[
        case(reals(-1, 4)[3, 2], n=0, accepts="float"),
        case(reals(-1, 4)[()], n=1, accepts="float"),
        case(reals(0.2, 9)[2], n=2, accepts="float"),
    ],
)
