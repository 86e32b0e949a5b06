"""Truncated Taylor series over mpmath's numbers: exact derivatives up to order 4 of elementary functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath

mp = mpmath.mp
ORDER = 4


class Series:
    """The Taylor coefficients c₀ … c₄ of a function of one variable at a point."""

    def __init__(self, coefficients: list[Any]) -> None:
        self.coefficients = coefficients

    @property
    def value(self) -> Any:
        return self.coefficients[0]

    def derivatives(self) -> list[Any]:
        """The derivatives of orders 0 to 4."""
        return [mp.factorial(k) * c for k, c in enumerate(self.coefficients)]

    def __add__(self, other: Any) -> Series:
        pairs = zip(self.coefficients, _series(other).coefficients, strict=True)
        return Series([a + b for a, b in pairs])

    def __neg__(self) -> Series:
        return Series([-c for c in self.coefficients])

    def __sub__(self, other: Any) -> Series:
        return self + -_series(other)

    def __rsub__(self, other: Any) -> Series:
        return -self + other

    def __mul__(self, other: Any) -> Series:
        a, b = self.coefficients, _series(other).coefficients
        return Series([mp.fsum(a[j] * b[k - j] for j in range(k + 1)) for k in range(ORDER + 1)])

    def __truediv__(self, other: Any) -> Series:
        a, b = self.coefficients, _series(other).coefficients
        c: list[Any] = []
        for k in range(ORDER + 1):
            c.append((a[k] - mp.fsum(c[j] * b[k - j] for j in range(k))) / b[0])
        return Series(c)

    def __rtruediv__(self, other: Any) -> Series:
        return _series(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, n: Any) -> Series:
        return solved(self.value ** mp.mpf(n), lambda y: y * n / self, self)

    def __abs__(self) -> Series:
        return self if self.value > 0 else -self


def variable(x: float) -> Series:
    """The function x ↦ x at a point."""
    return Series([mp.mpf(x), mp.mpf(1), *[mp.mpf(0)] * (ORDER - 1)])


def _series(x: Any) -> Series:
    return x if isinstance(x, Series) else Series([mp.mpf(x), *[mp.mpf(0)] * ORDER])


def solved(value: Any, slope: Callable[[Series], Any], x: Series) -> Series:
    """The y with dy = slope(y) dx, and ``value`` at the point."""
    y = [value, *[mp.mpf(0)] * ORDER]
    for k in range(1, ORDER + 1):  # coefficient k of y needs those of the slope below k
        g = _series(slope(Series(y))).coefficients
        y[k] = mp.fsum(g[j] * (k - j) * x.coefficients[k - j] for j in range(k)) / k
    return Series(y)


def exp(x: Series) -> Series:
    return solved(mp.exp(x.value), lambda y: y, x)


def expm1(x: Series) -> Series:
    return exp(x) - 1


def log(x: Series) -> Series:
    return solved(mp.log(x.value), lambda y: 1 / x, x)


def log1p(x: Series) -> Series:
    return log(1 + x)


def sqrt(x: Series) -> Series:
    return x ** mp.mpf(0.5)


def sinh(x: Series) -> Series:
    return (exp(x) - exp(-x)) / 2


def cosh(x: Series) -> Series:
    return (exp(x) + exp(-x)) / 2


def tanh(x: Series) -> Series:
    return 1 - 2 / (exp(2 * x) + 1)


def sin(x: Series) -> Series:
    return _by_order(x, lambda k: mp.sin(x.value + k * mp.pi / 2))


def cos(x: Series) -> Series:
    return _by_order(x, lambda k: mp.cos(x.value + k * mp.pi / 2))


def asin(x: Series) -> Series:
    return solved(mp.asin(x.value), lambda y: 1 / sqrt(1 - x * x), x)


def atan(x: Series) -> Series:
    return solved(mp.atan(x.value), lambda y: 1 / (1 + x * x), x)


def atanh(x: Series) -> Series:
    return (log(1 + x) - log(1 - x)) / 2


def asinh(x: Series) -> Series:
    return solved(mp.asinh(x.value), lambda y: 1 / sqrt(1 + x * x), x)


def acosh(x: Series) -> Series:
    return solved(mp.acosh(x.value), lambda y: 1 / sqrt(x * x - 1), x)


def erf(x: Series) -> Series:
    return solved(mp.erf(x.value), lambda y: 2 / mp.sqrt(mp.pi) * exp(-x * x), x)


def erfc(x: Series) -> Series:
    return solved(mp.erfc(x.value), lambda y: -2 / mp.sqrt(mp.pi) * exp(-x * x), x)


def erfinv(x: Series) -> Series:
    return solved(mp.erfinv(x.value), lambda y: mp.sqrt(mp.pi) / 2 * exp(y * y), x)


def lgamma(x: Series) -> Series:
    return _by_order(x, lambda k: mp.psi(k - 1, x.value) if k else mp.loggamma(x.value))


def polygamma(n: int, x: Series) -> Series:
    return _by_order(x, lambda k: mp.psi(n + k, x.value))


def bessel(function: Callable[..., Any], signs: tuple[int, int], n: int, x: Series) -> Series:
    """A Bessel function with f_n' = (s f_{n−1} + t f_{n+1}) / 2, for ``signs`` (s, t)."""

    @cache
    def value(n: int) -> Any:
        return function(n, x.value)

    def derivative(n: int, k: int) -> Any:
        if not k:
            return value(n)
        return (signs[0] * derivative(n - 1, k - 1) + signs[1] * derivative(n + 1, k - 1)) / 2

    return _by_order(x, lambda k: derivative(n, k))


def _by_order(x: Series, derivative: Callable[[int], Any]) -> Series:
    """A function with known derivatives, of the variable itself or of the variable and a constant."""
    assert x.coefficients[1:] == [1, *[0] * (ORDER - 1)], "the argument has to be the variable"
    return Series([derivative(k) / mp.factorial(k) for k in range(ORDER + 1)])
