"""Loops of very many iterations, nested ones among them; on tensors, and on hyper-dual numbers as their oracle."""

from __future__ import annotations

from typing import Any

__all__ = ["leave_at", "nested", "population"]


def population(z: Any, rate: Any, iterations: Any, h: Any, ops: Any) -> Any:
    """Euler's method for z' = rate · z (1 − z) + sin(z) / 10, ``iterations`` steps of ``h``."""
    i = 0
    while i < iterations:
        z = z + h * (rate * z * (1.0 - z) + 0.1 * ops.sin(z))
        i += 1
    return z


def nested(x: Any, y: Any, iterations: Any, ops: Any) -> Any:
    """A branch in a while in a while in a for of a Python range: 2 × ``iterations`` × (up to ten) iterations."""
    for k in range(2):
        i = 0
        while i < iterations:
            j = 0
            while j < 10:
                if x > 0.3141592653589793:
                    x = 0.9 * x + 0.1 * ops.sin(y)
                else:
                    x = x + 0.05 * ops.cos(x * y) + 0.01 * k
                if y < x - 1.2345678912345678:
                    break
                j += 1
            y = 0.999 * y + 0.001 * x
            i += 1
    return x * y


def leave_at(x: Any, iterations: Any, last: Any, ops: Any) -> Any:
    """An early exit at iteration number ``last``, by return; never if it is negative."""
    total = x
    for i in range(iterations):
        if i == last:
            return total * x
        total = 0.999 * total + 0.001 * ops.sin(x)
    return total
