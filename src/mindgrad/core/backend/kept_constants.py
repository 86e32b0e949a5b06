"""Find constants that must be hidden from XLA, whose rewrites change results.

The left column shows expressions with such constants. The right column shows why XLA would change their
results:

    floor(x / c), ceil(x / c), trunc(x / c), round(x / c), (x / c) as an integer     a quotient is rounded
    x * 1e-20 * 1e-20,  x / 1e20 / 1e20,  x + 3e38 + 3e38,  x + 1e30 - 1e30           constants are combined
    x / 3e38                                                                          1 / 3e38 is subnormal
    (a / b) / c, a / (b / c)                                                          b * c leaves the range

XLA replaces ``x / c`` by ``x * (1 / c)``, which adds a rounding error: 41 * (1 / 41) is below 1 in float32,
so its floor is 0. XLA also combines the constant factors and terms of a value. The combined constant may
overflow, underflow, or cancel: ``1e-20 * 1e-20`` is 0 in float32.

``backend.xla`` applies an optimization barrier to such a constant, which hides it from these rewrites. XLA
removes the barrier before it fuses loops, so all other optimizations apply. Most graphs have no such
constants.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable
from mindgrad.core.ir.index_map import UNIFORM
from mindgrad.core.ir.rules import Array

__all__ = ["hidden", "kept_constants"]


class _Collected(NamedTuple):
    """Bounds of the constant c of a value c·x, or of the constant d of a value x + d.

    XLA may combine c or d with the constants of the operators that read the value.

    Attributes:
        low, high: bounds of log₂ |c|.
        least, most: bounds of d.
    """

    low: float = 0.0
    high: float = 0.0
    least: float = 0.0
    most: float = 0.0


_NOTHING = _Collected()


def kept_constants(graph: Graph) -> set[tuple[Equation, int]]:
    """Return the operands that must be hidden from XLA.

    Each is a pair (equation, position of the operand).
    """
    hidden_operands = {(equation, 1) for equation in _stepped_quotients(graph)} | _nested_quotients(graph)
    collected: dict[Any, _Collected] = {}
    for equation in graph.equations:
        if len(equation.outputs) != 1 or equation.outputs[0].type.dtype.kind not in ("float", "complex"):
            continue
        operands = [collected.get(x, _NOTHING) if type(x) is Variable else None for x in equation.inputs]
        result = _passed(equation, operands)
        if equation.primitive.symbol in ("+", "-", "*", "/") and len(operands) == 2:
            for position in (1, 0):
                constant = _unmoved(equation.inputs[position])
                if type(constant) is Constant and operands[1 - position] is not None:
                    result = _extended(equation, position, constant, operands[1 - position] or _NOTHING)
                    if result is None:
                        hidden_operands.add((equation, position))
                    break
        if result is not None and result != _NOTHING:
            collected[equation.outputs[0]] = result
    return hidden_operands


def _passed(equation: Equation, operands: list[_Collected | None]) -> _Collected | None:
    """Return the collected constants of the result of ``equation``.

    ``operands`` contains the collected constants of each operand; ``None`` for a constant operand. Only
    operators that move elements, negate them, or add two values pass collected constants on. The result is
    ``None`` for all other operators.
    """
    primitive, dtype = equation.primitive, equation.outputs[0].type.dtype
    if not operands or operands[0] is None or any(x.type.dtype is not dtype for x in equation.inputs[:1]):
        return None
    if len(operands) == 1 and primitive.moves:
        return operands[0]
    if len(operands) == 1 and primitive.kind == "pointwise linear":
        return operands[0]._replace(least=-operands[0].most, most=-operands[0].least)
    if primitive.symbol in ("+", "-") and len(operands) == 2 and operands[1] is not None:
        first, second = operands[0], operands[1]
        return _Collected(min(first.low, second.low), max(first.high, second.high) + 1)
    return None


def _extended(equation: Equation, position: int, constant: Constant, other: _Collected) -> _Collected | None:
    """Combine operand ``constant`` with the collected constants ``other``.

    ``other`` belongs to the other operand of ``equation``. The result is ``None`` if XLA must not combine the
    constants, because of overflow, underflow, or cancellation.
    """
    symbol, info = equation.primitive.symbol, ml_dtypes.finfo(constant.type.dtype.numpy)
    values = np.asarray(constant.smallest())
    values = values.astype(np.complex128 if constant.type.dtype.kind == "complex" else np.float64)
    sizes = np.abs(values)
    if not sizes.size or not np.isfinite(sizes).all():
        return _NOTHING
    if symbol in ("*", "/"):
        if (position == 0 and symbol == "/") or not sizes.all():  # the constant is a numerator, or contains 0
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


def hidden(jax: ModuleType, operand: Array) -> Any:
    """Apply an optimization barrier to ``operand``, which hides its value from XLA."""
    return jax.lax.optimization_barrier(operand)


def _nested_quotients(graph: Graph) -> set[tuple[Equation, int]]:
    """Return the operands of quotients that are quotients themselves.

    Each is a pair (equation, position of the operand).
    """
    quotients = {e.outputs[0]: e for e in graph.equations if _is_quotient(e)}
    return {
        (equation, position)
        for equation in quotients.values()
        for position, x in enumerate(equation.inputs)
        if _unmoved(x) in quotients
    }


def _stepped_quotients(graph: Graph) -> set[Equation]:
    """Return quotients by a constant that are rounded afterwards, as in floor(x / c)."""
    divisions = {e.outputs[0]: e for e in graph.equations if _is_quotient(e) and _is_rounded(e.inputs[1])}
    if not divisions:
        return set()
    steps = [_unmoved(x) for e in graph.equations for x in e.inputs if _is_step(e, x)]
    return {divisions[x] for x in steps if x in divisions}


def _is_quotient(equation: Equation) -> bool:
    primitive = equation.primitive
    return primitive.kind == "pointwise multilinear" and primitive.linear_in == (0,)


def _is_step(equation: Equation, x: Atom) -> bool:
    if not equation.outputs:  # the equation has only a side effect, such as printing
        return False
    result = equation.outputs[0].type.dtype
    if equation.primitive.kind == "pointwise constant":
        return result is x.type.dtype
    return equation.primitive.axes is UNIFORM and result.kind in ("int", "uint")


def _unmoved(x: Atom) -> Any:
    """Return the value whose elements ``x`` rearranges, for example by a transpose."""
    while type(x) is Variable and x.made_by is not None and x.made_by.primitive.moves:
        x = x.made_by.inputs[0]
    return x


def _is_rounded(divisor: Atom) -> bool:
    """Return whether ``divisor`` is a float constant that is not a power of two."""
    constant = _unmoved(divisor)
    if type(constant) is not Constant or constant.type.dtype.kind != "float":
        return False
    mantissas = np.frexp(np.asarray(constant.smallest(), np.float64))[0]
    return not np.all(np.abs(mantissas) == 0.5)
