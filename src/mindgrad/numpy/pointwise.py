"""Elementwise functions of NumPy come from one table: a name, the function of ``mindgrad.ops``, operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.numpy.coercion import converted, floating, tensor
from mindgrad.ops import arithmetic, clipping, comparison, divisors, math, rounding, signs
from mindgrad.ops.define import also_named

__all__: list[str] = []


def _absolute(x: Tensor) -> Tensor:
    return x if x.dtype.kind == "bool" else rounding.abs(x)


_absolute.__name__ = "abs"  # as the docstring refers to it


def _power_of_floats(x: Tensor, y: Tensor) -> Tensor:
    return arithmetic.pow(floating(x, "float_power"), y)


#: name -> (function, number of operands, what it computes)
_TABLE: dict[str, tuple[Callable[..., Any], int, str]] = {
    "absolute": (_absolute, 1, "|x|"),
    "add": (arithmetic.add, 2, "x1 + x2"),
    "arccos": (math.arccos, 1, "arccos x"),
    "arccosh": (math.arccosh, 1, "arcosh x"),
    "arcsin": (math.arcsin, 1, "arcsin x"),
    "arcsinh": (math.arcsinh, 1, "arsinh x"),
    "arctan": (math.arctan, 1, "arctan x"),
    "arctan2": (math.arctan2, 2, "the angle of the point (x2, x1)"),
    "arctanh": (math.arctanh, 1, "artanh x"),
    "bitwise_and": (comparison.bitwise_and, 2, "the bits that x1 and x2 both have"),
    "bitwise_not": (comparison.invert, 1, "the bits that x has not; of truth values the opposite"),
    "bitwise_or": (comparison.bitwise_or, 2, "the bits that x1 or x2 has"),
    "bitwise_xor": (comparison.bitwise_xor, 2, "the bits that one of x1 and x2 has"),
    "cbrt": (math.cbrt, 1, "∛x"),
    "ceil": (rounding.ceil, 1, "x rounded up"),
    "copysign": (signs.copysign, 2, "the size of x1 with the sign of x2"),
    "cos": (math.cos, 1, "cos x"),
    "cosh": (math.cosh, 1, "cosh x"),
    "deg2rad": (math.deg2rad, 1, "degrees as radians"),
    "divide": (arithmetic.true_divide, 2, "x1 / x2"),
    "equal": (comparison.equal, 2, "whether x1 = x2"),
    "exp": (math.exp, 1, "exp x"),
    "exp2": (math.exp2, 1, "2 to the power of x"),
    "expm1": (math.expm1, 1, "exp x − 1"),
    "fabs": (rounding.abs, 1, "|x|"),
    "fix": (rounding.fix, 1, "x rounded towards 0"),
    "float_power": (_power_of_floats, 2, "x1 to the power of x2, as floating-point numbers"),
    "floor": (rounding.floor, 1, "x rounded down"),
    "floor_divide": (arithmetic.floor_divide, 2, "x1 / x2 rounded down"),
    "fmod": (arithmetic.fmod, 2, "the remainder of x1 / x2 with the sign of x1"),
    "gcd": (divisors.gcd, 2, "the greatest common divisor of integers"),
    "greater": (comparison.greater, 2, "whether x1 > x2"),
    "greater_equal": (comparison.greater_equal, 2, "whether x1 ≥ x2"),
    "heaviside": (rounding.heaviside, 2, "0 below 0, 1 above, x2 at 0"),
    "hypot": (math.hypot, 2, "√(x1² + x2²)"),
    "invert": (comparison.invert, 1, "the bits that x has not; of truth values the opposite"),
    "isfinite": (rounding.isfinite, 1, "whether x is finite"),
    "isinf": (rounding.isinf, 1, "whether x is infinite"),
    "isnan": (rounding.isnan, 1, "whether x is not a number"),
    "isneginf": (signs.isneginf, 1, "whether x is −∞"),
    "isposinf": (signs.isposinf, 1, "whether x is +∞"),
    "lcm": (divisors.lcm, 2, "the least common multiple of integers"),
    "less": (comparison.less, 2, "whether x1 < x2"),
    "less_equal": (comparison.less_equal, 2, "whether x1 ≤ x2"),
    "log": (math.log, 1, "log x"),
    "log10": (math.log10, 1, "log x to base 10"),
    "log1p": (math.log1p, 1, "log (1 + x)"),
    "log2": (math.log2, 1, "log x to base 2"),
    "logaddexp": (math.logaddexp, 2, "log (exp x1 + exp x2)"),
    "logaddexp2": (math.logaddexp2, 2, "log (2^x1 + 2^x2) to base 2"),
    "logical_and": (comparison.logical_and, 2, "whether x1 and x2 are true"),
    "logical_not": (comparison.logical_not, 1, "whether x is false"),
    "logical_or": (comparison.logical_or, 2, "whether x1 or x2 is true"),
    "logical_xor": (comparison.logical_xor, 2, "whether one of x1 and x2 is true"),
    "maximum": (clipping.maximum, 2, "the greater one of x1 and x2"),
    "minimum": (clipping.minimum, 2, "the smaller one of x1 and x2"),
    "multiply": (arithmetic.mul, 2, "x1 · x2"),
    "negative": (arithmetic.neg, 1, "−x"),
    "not_equal": (comparison.not_equal, 2, "whether x1 ≠ x2"),
    "positive": (arithmetic.positive, 1, "x"),
    "power": (arithmetic.pow, 2, "x1 to the power of x2"),
    "rad2deg": (math.rad2deg, 1, "radians as degrees"),
    "radians": (math.deg2rad, 1, "degrees as radians"),
    "reciprocal": (math.reciprocal, 1, "1 / x"),
    "remainder": (arithmetic.floor_mod, 2, "the remainder of x1 / x2 with the sign of x2"),
    "rint": (rounding.rint, 1, "x rounded to integers, halves to even ones"),
    "sign": (rounding.sign, 1, "−1, 0 or 1 as x is below, at or above 0"),
    "signbit": (signs.signbit, 1, "whether x is negative, −0.0 among them"),
    "sin": (math.sin, 1, "sin x"),
    "sinh": (math.sinh, 1, "sinh x"),
    "sqrt": (math.sqrt, 1, "√x"),
    "square": (math.square, 1, "x²"),
    "subtract": (arithmetic.sub, 2, "x1 − x2"),
    "tan": (math.tan, 1, "tan x"),
    "tanh": (math.tanh, 1, "tanh x"),
    "true_divide": (arithmetic.true_divide, 2, "x1 / x2"),
    "trunc": (rounding.trunc, 1, "x rounded towards 0"),
}

#: the second names of arguments
_SECOND_NAMES = {
    "arccos": {"input": "x"},
    "logical_not": {"a": "x"},
    "negative": {"a": "x"},
    "positive": {"a": "x"},
}

_ONE = """Of each element {what}; see :func:`mindgrad.ops.{own}`.

    Args:
        x: a tensor, number, or nested list of numbers.
        dtype: the element type of the result; by default as the function gives it.
    """

_TWO = """Of each pair of elements {what}; see :func:`mindgrad.ops.{own}`.

    Args:
        x1, x2: tensors, numbers or nested lists, whose shapes broadcast.
        dtype: the element type of the result; by default as the function gives it.
    """


def _number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex))


def _made(name: str, function: Callable[..., Any], count: int, meaning: str) -> Callable[..., Tensor]:
    if count == 1:

        def one(x: Any, dtype: Any = None) -> Tensor:
            return converted(function(tensor(x, name)), dtype)

        wrapper: Callable[..., Tensor] = one
    else:

        def two(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
            # a number beside a tensor takes the tensor's type; two numbers are tensors of their own
            first = x1 if _number(x1) and not _number(x2) else tensor(x1, name)
            second = x2 if _number(x2) and not _number(x1) else tensor(x2, name)
            return converted(function(first, second), dtype)

        wrapper = two
    wrapper.__name__ = wrapper.__qualname__ = name
    wrapper.__doc__ = (_ONE if count == 1 else _TWO).format(what=meaning, own=function.__name__)
    return wrapper


for _name, _entry in _TABLE.items():
    globals()[_name] = _made(_name, *_entry)
for _name, _names in _SECOND_NAMES.items():
    globals()[_name] = also_named(**_names)(globals()[_name])
__all__ += list(_TABLE)
