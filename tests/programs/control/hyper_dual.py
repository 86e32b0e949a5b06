"""Hyper-dual numbers: they know their derivatives up to the second, whatever program they run through.

    x + x₁ε₁ + x₂ε₂ + x₁₂ε₁ε₂  with  ε₁² = ε₂² = 0
    f(x) + f′x₁ε₁ + f′x₂ε₂ + (f′x₁₂ + f″x₁x₂)ε₁ε₂  is f of it

A function of Python numbers that uses the operators of :data:`ELEMENTARY` gives its exact derivatives: the
oracle for loops that are too long, and for programs that are too wild, for a formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

__all__ = ["ELEMENTARY", "HyperDual", "derivatives"]


class HyperDual:
    """A number with its derivatives along two directions and along both."""

    def __init__(self, value: float, first: float = 0.0, second: float = 0.0, both: float = 0.0) -> None:
        self.parts = (value, first, second, both)

    @staticmethod
    def of(x: Any) -> HyperDual:
        """A constant as a hyper-dual number; one as it is."""
        return x if isinstance(x, HyperDual) else HyperDual(x)

    def lifted(self, value: float, slope: float, curvature: float) -> HyperDual:
        """f of the number, by f, f′ and f″ at its value."""
        _, first, second, both = self.parts
        return HyperDual(value, slope * first, slope * second, slope * both + curvature * first * second)

    def __add__(self, other: Any) -> HyperDual:
        return HyperDual(*[a + b for a, b in zip(self.parts, HyperDual.of(other).parts, strict=True)])

    def __mul__(self, other: Any) -> HyperDual:
        (a, a1, a2, a12), (b, b1, b2, b12) = self.parts, HyperDual.of(other).parts
        return HyperDual(a * b, a * b1 + a1 * b, a * b2 + a2 * b, a * b12 + a1 * b2 + a2 * b1 + a12 * b)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> HyperDual:
        return self * -1.0

    def __sub__(self, other: Any) -> HyperDual:
        return self + HyperDual.of(other) * -1.0

    def __rsub__(self, other: Any) -> HyperDual:
        return self * -1.0 + other

    def __lt__(self, other: float) -> bool:
        return self.parts[0] < other

    def __gt__(self, other: float) -> bool:
        return self.parts[0] > other


def _tanh(x: HyperDual) -> HyperDual:
    t = math.tanh(x.parts[0])
    return x.lifted(t, 1 - t * t, -2 * t * (1 - t * t))


#: in the place of ``mindgrad.ops``
ELEMENTARY = SimpleNamespace(
    sin=lambda x: x.lifted(math.sin(x.parts[0]), math.cos(x.parts[0]), -math.sin(x.parts[0])),
    cos=lambda x: x.lifted(math.cos(x.parts[0]), -math.sin(x.parts[0]), -math.cos(x.parts[0])),
    tanh=_tanh,
)


def derivatives(
    f: Callable[..., Any], xs: Sequence[float], v: Sequence[float]
) -> tuple[float, list[float], list[float]]:
    """The value, the gradient, and the Hessian times ``v`` of a function of numbers."""
    found = []
    for i in range(len(xs)):
        result = f(*[HyperDual(x, float(i == j), v[j]) for j, x in enumerate(xs)])
        found.append(HyperDual.of(result).parts)
    return found[0][0], [parts[1] for parts in found], [parts[3] for parts in found]
