"""Elementwise functions: arithmetic, comparison, exponentials, rounding.

Operands are broadcast to one shape and promoted to one element type (``core.trace.operands``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes

from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import (
    arithmetic,
    comparisons,
    complexes,
    elementwise,
    logic,
    piecewise,
    powers,
    special,
)
from mindgrad.core.trace.operands import (
    applied,
    broadcast_together,
    cast,
    inexact,
    operand,
    pointwise,
    promoted,
)

__all__ = [
    "abs", "absolute", "add", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "around", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "cbrt", "ceil", "clip",
    "conj", "conjugate", "copysign", "cos", "cosh", "deg2rad", "degrees", "divide", "equal", "exp", "exp2",
    "expm1", "fabs", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "greater",
    "greater_equal", "heaviside", "hypot", "imag", "invert", "isclose", "isfinite", "isinf", "isnan",
    "isneginf", "isposinf", "ldexp", "left_shift", "less", "less_equal", "log", "log10", "log1p", "log2",
    "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum",
    "minimum", "mod", "multiply", "nan_to_num", "negative", "not_equal", "positive", "pow", "power",
    "rad2deg", "radians", "real", "reciprocal", "remainder", "right_shift", "rint", "round", "sign",
    "signbit", "sin", "sinc", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "true_divide", "trunc",
    "where",
]  # fmt: skip


def _unary(name: str, primitive: Primitive, meaning: str) -> Callable[[Any], Any]:
    def function(x: object) -> Any:
        return applied(primitive, inexact(operand(x, name)))

    return _named(function, name, meaning)


def _binary(name: str, primitive: Primitive, meaning: str, float_only: bool = False) -> Callable[..., Any]:
    def function(x1: object, x2: object) -> Any:
        return pointwise(name, primitive, x1, x2, float_only=float_only)

    return _named(function, name, meaning)


def _logical(name: str, primitive: Primitive, meaning: str) -> Callable[..., Any]:
    def function(x1: object, x2: object) -> Any:
        return applied(primitive, *broadcast_together(name, _truth(x1, name), _truth(x2, name)))

    return _named(function, name, meaning)


def _named(function: Callable[..., object], name: str, meaning: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = meaning
    return function


def _truth(x: object, name: str) -> Tensor:
    return cast(operand(x, name), bool_)


# -- arithmetic ----------------------------------------------------------------------------------------

add = _binary("add", arithmetic.add, "Compute x1 + x2.")
subtract = _binary("subtract", arithmetic.sub, "Compute x1 − x2.")
multiply = _binary("multiply", arithmetic.mul, "Compute x1 · x2.")
divide = _binary("divide", arithmetic.div, "Compute x1 / x2.", float_only=True)
true_divide = divide
floor_divide = _binary("floor_divide", piecewise.floor_div, "Compute x1 / x2, rounded down.")
mod = _binary("mod", piecewise.mod, "Compute the remainder of x1 / x2, with the sign of x2.")
remainder = mod
fmod = _binary("fmod", piecewise.fmod, "Compute the remainder of x1 / x2, with the sign of x1.")
maximum = _binary("maximum", piecewise.maximum, "Compute the larger of x1 and x2.")
minimum = _binary("minimum", piecewise.minimum, "Compute the smaller of x1 and x2.")
arctan2 = _binary("arctan2", elementwise.atan2, "Compute the angle of the point (x2, x1).", float_only=True)
hypot = _binary("hypot", elementwise.hypot, "Compute √(x1² + x2²).", float_only=True)
logaddexp = _binary("logaddexp", special.logaddexp, "Compute log(exp(x1) + exp(x2)).", float_only=True)
float_power = _binary("float_power", powers.pow, "Compute x1 to the power x2 as floats.", float_only=True)


def power(x1: object, x2: object) -> Any:
    """Compute x1 to the power x2."""
    if isinstance(x2, int) and not isinstance(x2, bool):
        base = operand(x1, "power")
        if base.dtype.is_inexact:
            return applied(powers.integer_power, base, n=x2)
    return pointwise("power", powers.pow, x1, x2)


pow = power


def negative(x: object) -> Any:
    """Compute −x."""
    return applied(arithmetic.neg, operand(x, "negative"))


def positive(x: object) -> Any:
    """Return x."""
    return operand(x, "positive")


def reciprocal(x: object) -> Any:
    """Compute 1 / x."""
    return applied(elementwise.reciprocal, inexact(operand(x, "reciprocal")))


def square(x: object) -> Any:
    """Compute x²."""
    return multiply(x, x)


def absolute(x: object) -> Any:
    """Compute |x|, which is real also for complex x."""
    return applied(piecewise.abs, operand(x, "absolute"))


abs = fabs = absolute


def sign(x: object) -> Any:
    """Return −1, 0, or 1 according to the sign of x."""
    return applied(piecewise.sign, operand(x, "sign"))


def clip(a: object, a_min: object = None, a_max: object = None) -> Any:
    """Limit the elements of ``a`` to [a_min, a_max]; ``None`` means no limit."""
    a = operand(a, "clip")
    if a_min is not None:
        a = maximum(a, a_min)
    return a if a_max is None else minimum(a, a_max)


def copysign(x1: object, x2: object) -> Any:
    """Compute |x1| with the sign of x2."""
    return where(signbit(x2), negative(absolute(x1)), absolute(x1))


def heaviside(x1: object, x2: object) -> Any:
    """Compute 0 for x1 < 0, x2 for x1 = 0, and 1 for x1 > 0."""
    x1, x2 = promoted("heaviside", x1, x2)
    return where(equal(x1, 0), x2, cast(greater(x1, 0), x2.dtype))


def ldexp(x1: object, x2: object) -> Any:
    """Compute x1 · 2^x2."""
    return multiply(x1, exp2(x2))


def fmax(x1: object, x2: object) -> Any:
    """Compute the larger of x1 and x2; NaN only if both are NaN."""
    return where(isnan(x1), x2, where(isnan(x2), x1, maximum(x1, x2)))


def fmin(x1: object, x2: object) -> Any:
    """Compute the smaller of x1 and x2; NaN only if both are NaN."""
    return where(isnan(x1), x2, where(isnan(x2), x1, minimum(x1, x2)))


# -- exponentials and trigonometry -----------------------------------------------------------------------

exp = _unary("exp", elementwise.exp, "Compute eˣ.")
exp2 = _unary("exp2", elementwise.exp2, "Compute 2ˣ.")
expm1 = _unary("expm1", elementwise.expm1, "Compute eˣ − 1 accurately near 0.")
log = _unary("log", elementwise.log, "Compute the natural logarithm.")
log2 = _unary("log2", elementwise.log2, "Compute the logarithm to base 2.")
log10 = _unary("log10", elementwise.log10, "Compute the logarithm to base 10.")
log1p = _unary("log1p", elementwise.log1p, "Compute log(1 + x) accurately near 0.")
sqrt = _unary("sqrt", elementwise.sqrt, "Compute the square root.")
cbrt = _unary("cbrt", elementwise.cbrt, "Compute the cube root.")
sin = _unary("sin", elementwise.sin, "Compute the sine.")
cos = _unary("cos", elementwise.cos, "Compute the cosine.")
tan = _unary("tan", elementwise.tan, "Compute the tangent.")
arcsin = _unary("arcsin", elementwise.asin, "Compute the inverse sine.")
arccos = _unary("arccos", elementwise.acos, "Compute the inverse cosine.")
arctan = _unary("arctan", elementwise.atan, "Compute the inverse tangent.")
sinh = _unary("sinh", elementwise.sinh, "Compute the hyperbolic sine.")
cosh = _unary("cosh", elementwise.cosh, "Compute the hyperbolic cosine.")
tanh = _unary("tanh", elementwise.tanh, "Compute the hyperbolic tangent.")
arcsinh = _unary("arcsinh", elementwise.asinh, "Compute the inverse hyperbolic sine.")
arccosh = _unary("arccosh", elementwise.acosh, "Compute the inverse hyperbolic cosine.")
arctanh = _unary("arctanh", elementwise.atanh, "Compute the inverse hyperbolic tangent.")


def logaddexp2(x1: object, x2: object) -> Any:
    """Compute log2(2^x1 + 2^x2)."""
    return divide(logaddexp(multiply(x1, math.log(2)), multiply(x2, math.log(2))), math.log(2))


def degrees(x: object) -> Any:
    """Convert radians to degrees."""
    return multiply(x, 180 / math.pi)


def radians(x: object) -> Any:
    """Convert degrees to radians."""
    return multiply(x, math.pi / 180)


rad2deg, deg2rad = degrees, radians


def sinc(x: object) -> Any:
    """Compute sin(πx) / (πx), with the value 1 at x = 0."""
    x = inexact(operand(x, "sinc"))
    is_zero = equal(x, 0)
    angle = multiply(where(is_zero, 1.0, x), math.pi)  # avoid 0 / 0, also in the derivative
    near = subtract(1.0, multiply(square(x), math.pi**2 / 6))
    return where(is_zero, near, divide(sin(angle), angle))


# -- complex numbers -------------------------------------------------------------------------------------


def real(val: object) -> Any:
    """Return the real part of each element."""
    x = operand(val, "real")
    return applied(complexes.real, x) if x.dtype.kind == "complex" else x


def imag(val: object) -> Any:
    """Return the imaginary part of each element."""
    x = operand(val, "imag")
    return applied(complexes.imag, x) if x.dtype.kind == "complex" else multiply(x, 0)


def conjugate(x: object) -> Any:
    """Return the complex conjugate of each element."""
    x = operand(x, "conjugate")
    return applied(complexes.conj, x) if x.dtype.kind == "complex" else x


conj = conjugate


def angle(z: object) -> Any:
    """Compute the angle of each complex number, in radians."""
    return arctan2(imag(z), real(z))


# -- rounding --------------------------------------------------------------------------------------------


def _rounding(name: str, primitive: Primitive, meaning: str) -> Callable[[Any], Any]:
    def function(x: object) -> Any:
        tensor = operand(x, name)
        return applied(primitive, tensor) if tensor.dtype.is_inexact else tensor

    return _named(function, name, meaning)


floor = _rounding("floor", piecewise.floor, "Round down.")
ceil = _rounding("ceil", piecewise.ceil, "Round up.")
trunc = _rounding("trunc", piecewise.trunc, "Round toward zero.")
rint = _rounding(
    "rint", piecewise.round, "Round to the nearest integer; round halves to the nearest even integer."
)


def round(a: object, decimals: int = 0) -> Any:
    """Round each element to ``decimals`` decimal places."""
    return rint(a) if not decimals else divide(rint(multiply(a, 10.0**decimals)), 10.0**decimals)


around = round

# -- comparison and logic --------------------------------------------------------------------------------

equal = _binary("equal", comparisons.equal, "Compute x1 == x2.")
not_equal = _binary("not_equal", comparisons.not_equal, "Compute x1 != x2.")
less = _binary("less", comparisons.less, "Compute x1 < x2.")
less_equal = _binary("less_equal", comparisons.less_equal, "Compute x1 <= x2.")
greater = _binary("greater", comparisons.greater, "Compute x1 > x2.")
greater_equal = _binary("greater_equal", comparisons.greater_equal, "Compute x1 >= x2.")
isnan = _unary("isnan", logic.isnan, "Return whether each element is NaN.")
isinf = _unary("isinf", logic.isinf, "Return whether each element is infinite.")
isfinite = _unary("isfinite", logic.isfinite, "Return whether each element is finite.")
logical_and = _logical("logical_and", logic.logical_and, "Return whether x1 and x2 are both nonzero.")
logical_or = _logical("logical_or", logic.logical_or, "Return whether x1 or x2 is nonzero.")
logical_xor = _logical(
    "logical_xor", logic.logical_xor, "Return whether exactly one of x1 and x2 is nonzero."
)


def logical_not(x: object) -> Any:
    """Return whether each element is zero."""
    return applied(logic.logical_not, _truth(x, "logical_not"))


def _of_bits(name: str, of_bools: Primitive, of_ints: Primitive, meaning: str) -> Callable[..., Any]:
    def function(x1: object, x2: object) -> Any:
        a, b = broadcast_together(name, *promoted(name, x1, x2))
        return applied(of_bools if a.dtype is bool_ else of_ints, a, b)

    return _named(function, name, meaning)


bitwise_and = _of_bits("bitwise_and", logic.logical_and, logic.bitwise_and, "Compute x1 & x2.")
bitwise_or = _of_bits("bitwise_or", logic.logical_or, logic.bitwise_or, "Compute x1 | x2.")
bitwise_xor = _of_bits("bitwise_xor", logic.logical_xor, logic.bitwise_xor, "Compute x1 ^ x2.")
left_shift = _binary("left_shift", logic.shift_left, "Compute x1 << x2.")
right_shift = _binary("right_shift", logic.shift_right, "Compute x1 >> x2.")


def bitwise_not(x: object) -> Any:
    """Invert the bits of integers; negate Booleans."""
    x = operand(x, "bitwise_not")
    return applied(logic.logical_not if x.dtype is bool_ else logic.bitwise_not, x)


invert = bitwise_not


def signbit(x: object) -> Any:
    """Return whether each element has a negative sign, which includes −0."""
    x = operand(x, "signbit")
    below = less(x, 0)
    if not x.dtype.is_float:
        return below
    return logical_or(below, less(divide(1.0, where(equal(x, 0), x, 1.0)), 0))


def isposinf(x: object) -> Any:
    """Return whether each element is positive infinity."""
    return equal(x, math.inf)


def isneginf(x: object) -> Any:
    """Return whether each element is negative infinity."""
    return equal(x, -math.inf)


def isclose(a: object, b: object, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Return whether |a − b| ≤ atol + rtol · |b| for each element."""
    close = logical_or(
        less_equal(absolute(subtract(a, b)), add(atol, multiply(rtol, absolute(b)))), equal(a, b)
    )
    return logical_or(close, logical_and(isnan(a), isnan(b))) if equal_nan else close


def where(condition: object, x: object = None, y: object = None) -> Any:
    """Select elements of ``x`` where ``condition`` is true, and of ``y`` elsewhere."""
    if x is None or y is None:
        raise TypeError(
            "For 'where', x and y must be given, because the shape of where(condition) would depend on the "
            "values of the condition."
        )
    x, y = promoted("where", x, y)
    condition, x, y = broadcast_together("where", _truth(condition, "where"), x, y)
    return applied(arithmetic.select, condition, x, y)


def nan_to_num(x: object, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """Replace NaN by ``nan``, and infinities by ``posinf`` and ``neginf``.

    By default, infinities are replaced by the largest and lowest finite numbers of the element type.
    """
    x = operand(x, "nan_to_num")
    if not x.dtype.is_inexact:
        return x
    largest = float(ml_dtypes.finfo(x.dtype.numpy).max)
    x = where(isnan(x), nan, x)
    x = where(isposinf(x), largest if posinf is None else posinf, x)
    return where(isneginf(x), -largest if neginf is None else neginf, x)
