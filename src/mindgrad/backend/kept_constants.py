"""Constants that XLA must not combine, because the result leaves the range of the element type.

    x * 1e-20 * 1e-20    is not    x * (1e-20 * 1e-20), which is x * 0 in float32
    x / 1e20 / 1e20,  x + 3e38 + 3e38,  x + 1e30 - 1e30,  x / 3e38                  likewise

XLA's simplifier collects the constant factors and terms of a value, and divides by a constant by multiplying
by its reciprocal. Where that overflows, underflows or cancels, the second constant is hidden from it
(``stepped_quotients.hidden``). Programs whose constants stay in range, which is nearly all, are not affected.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from mindgrad.backend.stepped_quotients import unmoved
from mindgrad.ir.graph import Constant, Equation, Graph, Variable

__all__ = ["kept_constants"]


class _Collected(NamedTuple):
    """What XLA may have collected in a value.

    Attributes:
        low, high: bounds of the binary logarithm of its constant factor.
        least, most: bounds of its constant term.
    """

    low: float = 0.0
    high: float = 0.0
    least: float = 0.0
    most: float = 0.0


_NOTHING = _Collected()


def kept_constants(graph: Graph) -> set[tuple[Equation, int]]:
    """Return the equations of ``graph`` with a constant operand to hide, and the position of the operand."""
    kept: set[tuple[Equation, int]] = set()
    collected: dict[Any, _Collected] = {}
    for equation in graph.equations:
        if len(equation.outputs) != 1 or equation.outputs[0].type.dtype.kind not in ("float", "complex"):
            continue
        found = [collected.get(x, _NOTHING) if type(x) is Variable else None for x in equation.inputs]
        result = _passed(equation, found)
        if equation.primitive.symbol in ("+", "-", "*", "/") and len(found) == 2:
            for position in (1, 0):
                constant = unmoved(equation.inputs[position])
                if type(constant) is Constant and found[1 - position] is not None:
                    result = _extended(equation, position, constant, found[1 - position] or _NOTHING)
                    if result is None:
                        kept.add((equation, position))
                    break
        if result is not None and result != _NOTHING:
            collected[equation.outputs[0]] = result
    return kept


def _passed(equation: Equation, found: list[_Collected | None]) -> _Collected | None:
    """What an equation without constants leaves collected: moved elements, negation, sums of like terms."""
    primitive, dtype = equation.primitive, equation.outputs[0].type.dtype
    if not found or found[0] is None or any(x.type.dtype is not dtype for x in equation.inputs[:1]):
        return None
    if len(found) == 1 and (primitive.moves or primitive.kind == "pointwise linear"):
        return found[0] if primitive.moves else found[0]._replace(least=-found[0].most, most=-found[0].least)
    if primitive.symbol in ("+", "-") and len(found) == 2 and found[1] is not None:
        first, second = found[0], found[1]
        return _Collected(min(first.low, second.low), max(first.high, second.high) + 1)
    return None


def _extended(equation: Equation, position: int, constant: Constant, other: _Collected) -> _Collected | None:
    """What is collected with one constant more; ``None`` if it must not be."""
    symbol, info = equation.primitive.symbol, ml_dtypes.finfo(constant.type.dtype.numpy)
    values = np.asarray(constant.smallest())
    values = values.astype(np.complex128 if constant.type.dtype.kind == "complex" else np.float64)
    sizes = np.abs(values)
    if not sizes.size or not np.isfinite(sizes).all():
        return _NOTHING
    if symbol in ("*", "/"):
        if (position == 0 and symbol == "/") or not sizes.all():  # a constant over x, or a factor of 0
            return _NOTHING
        low, high = math.log2(sizes.min()), math.log2(sizes.max())
        if symbol == "/":
            low, high = -high, -low
        low, high = other.low + low, other.high + high
        is_inside = low >= math.log2(float(info.tiny)) and high < math.log2(float(info.max))
        return _Collected(low, high) if is_inside else None
    if values.dtype.kind == "c":
        return _NOTHING
    least, most = float(values.min()), float(values.max())
    if symbol == "-" and position == 1:
        least, most = -most, -least
    if symbol == "-" and position == 0:  # c - x
        other = other._replace(least=-other.most, most=-other.least)
    before = max(abs(other.least), abs(other.most))
    least, most = other.least + least, other.most + most
    smallest = 0.0 if least <= 0 <= most else min(abs(least), abs(most))
    cancels = before > 0 and smallest < max(before, float(sizes.max())) / 2
    is_inside = max(abs(least), abs(most)) <= float(info.max)
    return _Collected(0.0, 0.0, least, most) if is_inside and not cancels else None
