"""Elementary functions of one tensor or of pairs of tensors, elementwise.

Every function has derivatives of every order. ``docs/conventions.md`` documents the values at
nondifferentiable points. Formulas: NIST Digital Library of Mathematical Functions.
"""

from __future__ import annotations

import math as _math
from typing import Any

import numpy as np

from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import arithmetic as basic
from mindgrad.core.primitives import comparisons, elementwise, logic, special
from mindgrad.ops import arithmetic
from mindgrad.ops.define import NOT_GIVEN, also_named, binary_function, unary_function
from mindgrad.ops.operands import binary, choose, full_tensor, inexact, operand, promoted
from mindgrad.ops.registry import public

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "exp2",
    "expm1",
    "hypot",
    "inv",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "rad2deg",
    "reciprocal",
    "rsqrt",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "squared_difference",
    "tan",
    "tanh",
    "xdivy",
    "xlogy",
]  # fmt: skip


# --- trigonometric and hyperbolic functions and their inverses ---------------------------------------

sin = unary_function(
    __name__, "sin", elementwise.sin, "Compute the sine of angles in radians; its derivative is cos x.",
    "1.5", "0.9975", "Sin Tensor mint numpy", float_only=True,
)  # fmt: skip
cos = unary_function(
    __name__, "cos", elementwise.cos, "Compute the cosine of angles in radians; its derivative is −sin x.",
    "1.5", "0.0707", "Cos Tensor mint numpy", float_only=True,
)  # fmt: skip
tan = unary_function(
    __name__, "tan", elementwise.tan,
    "Compute the tangent of angles in radians; its derivative is 1 + tan² x.",
    "1.0", "1.5574", "Tan Tensor mint numpy", float_only=True,
)  # fmt: skip
asin = unary_function(
    __name__, "asin", elementwise.asin,
    "Compute the inverse sine in [−π/2, π/2]; its derivative is 1 / √(1 − x²).\n\n"
    "    It is NaN outside [−1, 1].",
    "1.0", "1.5708", "Asin Tensor.arcsin Tensor mint.arcsin mint numpy.arcsin", float_only=True,
)  # fmt: skip
acos = unary_function(
    __name__, "acos", elementwise.acos,
    "Compute the inverse cosine in [0, π]; its derivative is −1 / √(1 − x²).\n\n"
    "    It is NaN outside [−1, 1].",
    "0.0", "1.5708", "ACos Tensor Tensor.arccos mint mint.arccos numpy.arccos", float_only=True,
)  # fmt: skip
atan = unary_function(
    __name__, "atan", elementwise.atan,
    "Compute the inverse tangent in [−π/2, π/2]; its derivative is 1 / (1 + x²).",
    "1.0", "0.7854", "Atan Tensor.arctan Tensor mint.arctan mint numpy.arctan", float_only=True,
)  # fmt: skip
sinh = unary_function(
    __name__, "sinh", elementwise.sinh, "Compute the hyperbolic sine; its derivative is cosh x.",
    "1.0", "1.1752", "Sinh Tensor mint numpy", float_only=True,
)  # fmt: skip
cosh = unary_function(
    __name__, "cosh", elementwise.cosh, "Compute the hyperbolic cosine; its derivative is sinh x.",
    "1.0", "1.5431", "Cosh Tensor mint numpy", float_only=True,
)  # fmt: skip
tanh = unary_function(
    __name__, "tanh", elementwise.tanh, "Compute the hyperbolic tangent; its derivative is 1 − tanh² x.",
    "1.0", "0.7616", "Tanh Tensor mint mint.nn.functional numpy", float_only=True,
)  # fmt: skip
asinh = unary_function(
    __name__, "asinh", elementwise.asinh,
    "Compute the inverse hyperbolic sine; its derivative is 1 / √(1 + x²).",
    "1.0", "0.8814", "Asinh Tensor.arcsinh Tensor mint.arcsinh mint numpy.arcsinh", float_only=True,
)  # fmt: skip
acosh = unary_function(
    __name__, "acosh", elementwise.acosh,
    "Compute the inverse hyperbolic cosine; its derivative is 1 / √(x² − 1).\n\n"
    "    It is nonnegative, and NaN below 1.",
    "2.0", "1.3170", "Acosh Tensor Tensor.arccosh mint mint.arccosh numpy.arccosh", float_only=True,
)  # fmt: skip
atanh = unary_function(
    __name__, "atanh", elementwise.atanh,
    "Compute the inverse hyperbolic tangent; its derivative is 1 / (1 − x²).\n\n"
    "    It is ±inf at ±1, and NaN outside [−1, 1].",
    "0.5", "0.5493", "Atanh Tensor.arctanh Tensor mint.arctanh mint numpy.arctanh", float_only=True,
)  # fmt: skip
atan2 = binary_function(
    __name__, "atan2", elementwise.atan2,
    "Compute the angle atan(x / y) of the point (``y``, ``x``) in (−π, π].\n\n"
    "    As in MindSpore the ordinate comes first. With r² = x² + y² the derivatives are\n"
    "    y / r² and −x / r², both 0 at the origin.",
    "1.0, -1.0", "2.3562", "Atan2 Tensor.arctan2 Tensor mint.arctan2 mint numpy.arctan2", float_only=True,
)  # fmt: skip
hypot = binary_function(
    __name__, "hypot", elementwise.hypot,
    "Compute r = √(x² + y²) without overflow.\n\n"
    "    The derivatives are x / r and y / r, both 0 at the origin.",
    "3.0, 4.0", "5.0000", "Hypot Tensor numpy", float_only=True,
)  # fmt: skip


# --- exponentials, logarithms, roots -----------------------------------------------------------------

exp = unary_function(
    __name__, "exp", elementwise.exp, "Compute the exponential eˣ; it is its own derivative.",
    "1.0", "2.7183", "Exp Tensor mint numpy", float_only=True,
)  # fmt: skip
exp2 = unary_function(
    __name__, "exp2", elementwise.exp2, "Compute 2ˣ; its derivative is 2ˣ log 2.",
    "3.0", "8.0000", "mint numpy", float_only=True,
)  # fmt: skip
expm1 = unary_function(
    __name__, "expm1", elementwise.expm1, "Compute eˣ − 1, accurate for small x; its derivative is eˣ.",
    "1.0", "1.7183", "Expm1 Tensor mint numpy", float_only=True,
)  # fmt: skip
log = unary_function(
    __name__, "log", elementwise.log,
    "Compute the natural logarithm; its derivative is 1 / x.\n\n    It is −inf at 0 and NaN below.",
    "2.0", "0.6931", "Log Tensor mint numpy", float_only=True,
)  # fmt: skip
log2 = unary_function(
    __name__, "log2", elementwise.log2, "Compute the logarithm to base 2; its derivative is 1 / (x log 2).",
    "8.0", "3.0000", "Tensor mint numpy", float_only=True,
)  # fmt: skip
log10 = unary_function(
    __name__, "log10", elementwise.log10,
    "Compute the logarithm to base 10; its derivative is 1 / (x log 10).",
    "100.0", "2.0000", "Tensor mint numpy", float_only=True,
)  # fmt: skip
log1p = unary_function(
    __name__, "log1p", elementwise.log1p,
    "Compute log(1 + x), accurate for small x; its derivative is 1 / (1 + x).",
    "1.0", "0.6931", "Log1p Tensor mint numpy", float_only=True,
)  # fmt: skip
sqrt = unary_function(
    __name__, "sqrt", elementwise.sqrt,
    "Compute the square root; its derivative is 1 / (2 √x), infinite at 0.\n\n    It is NaN below 0.",
    "2.0", "1.4142", "Sqrt Tensor mint numpy", float_only=True,
)  # fmt: skip
rsqrt = unary_function(
    __name__, "rsqrt", elementwise.rsqrt, "Compute 1 / √x; its derivative is −1 / (2 x √x).",
    "4.0", "0.5000", "Rsqrt Tensor mint", float_only=True,
)  # fmt: skip
cbrt = unary_function(
    __name__, "cbrt", elementwise.cbrt, "Compute the real cube root; its derivative is 1 / (3 ∛x²).",
    "-27.0", "-3.0000", "numpy", float_only=True,
)  # fmt: skip
reciprocal = unary_function(
    __name__, "reciprocal", elementwise.reciprocal,
    "Compute the reciprocal 1 / x; its derivative is −1 / x².",
    "Tensor([2.0, 4.0])", "[0.5  0.25]", "Reciprocal Tensor mint numpy", float_only=True,
)  # fmt: skip


@public("Inv Tensor")
def inv(x: Any) -> Tensor:
    """Compute the reciprocal 1 / x of each element.

    For integers, the result is truncated to an integer: ±1 for ±1, the smallest integer for 0, and 0
    otherwise.

    Args:
        x (Tensor or number): values of any shape.

    Returns:
        Tensor of the same shape as ``x``.

    Raises:
        TypeError: If ``x`` is not a tensor of numbers.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.inv(Tensor([2.0, 4.0])), ops.inv(Tensor([1, -1, 5])))
    [0.5  0.25] [ 1 -1  0]
    """
    tensor = operand(x, "Inv")
    if tensor.dtype.kind not in ("int", "uint"):
        return reciprocal(tensor)
    result = full_tensor(0, tensor.dtype, tensor.shape)
    least = np.iinfo(tensor.dtype.numpy).min
    for number, value in ((1, 1), (-1, -1), (0, least))[:: 2 if least == 0 else 1]:
        is_number = apply(comparisons.equal, tensor, full_tensor(number, tensor.dtype, tensor.shape))
        result = choose(is_number, value, result)
    return result


logaddexp = binary_function(
    __name__, "logaddexp", special.logaddexp,
    "Compute log(eˣ + eʸ) without overflow.\n\n    The derivatives are eˣ / (eˣ + eʸ) and eʸ / (eˣ + eʸ).",
    "1000.0, 1000.0", "1000.6932", "Tensor mint numpy", float_only=True,
)  # fmt: skip
xlogy = binary_function(
    __name__, "xlogy", elementwise.xlogy,
    "Compute x · log y, and 0 where x is 0; the derivatives are log y and x / y.",
    "2.0, 3.0", "2.1972", "Xlogy Tensor mint", float_only=True,
)  # fmt: skip


@public("Tensor numpy", "mint.logaddexp2(input, other)")
@also_named(input="x", other="y")
def logaddexp2(x: Any, y: Any) -> Tensor:
    """Compute log₂(2ˣ + 2ʸ) without overflow.

    Args:
        x, y (Tensor or number): operands whose shapes broadcast; integers are converted to
            float32.

    Returns:
        Tensor with the broadcast shape of the operands.

    {errors of two}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.logaddexp2(Tensor(3.0), Tensor(3.0)):.4f}")
    4.0000
    """
    scale = _math.log(2)
    x, y = promoted("Logaddexp2", x, y)
    return arithmetic.div(logaddexp(arithmetic.mul(x, scale), arithmetic.mul(y, scale)), scale)


@public("Xdivy Tensor")
def xdivy(x: Any, y: Any) -> Tensor:
    """Compute x / y; the result is 0 if ``x`` is 0 and ``y`` is 0 or NaN.

    In this case, the derivatives are 0 too.

    Args:
        x, y (Tensor or number): operands whose shapes broadcast; integers are converted to
            float32.

    {real two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.xdivy(Tensor([0.0, 2.0]), Tensor([0.0, 4.0])))
    [0.  0.5]
    """
    x, y = (inexact(each) for each in promoted("Xdivy", x, y))
    some = apply(
        logic.logical_or, binary(comparisons.less, "Xdivy", y, 0), binary(comparisons.greater, "Xdivy", y, 0)
    )
    some = apply(logic.logical_or, some, binary(comparisons.not_equal, "Xdivy", x, 0))
    return choose(some, arithmetic.div(x, choose(some, y, 1)), 0)


@public("SquaredDifference")
def squared_difference(x: Any, y: Any) -> Tensor:
    """Compute the squared difference (x − y)².

    Args:
        x, y (Tensor or number): operands whose shapes broadcast.

    Returns:
        Tensor with the broadcast shape and the promoted dtype of the operands.

    Raises:
        TypeError: If an operand is neither a tensor nor a number, or is Boolean.
        ValueError: If the shapes of the operands do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.squared_difference(Tensor([1.0, 5.0]), 2.0))
    [1. 9.]
    """
    return square(binary(basic.sub, "SquaredDifference", x, y))


@public("Square Tensor numpy", "mint.square(input)")
def square(input: Any = NOT_GIVEN, *, x: Any = NOT_GIVEN) -> Tensor:
    """Compute the square x · x; its derivative is 2 x.

    Args:
        input, x (Tensor or number): values of any shape and dtype, under one of the two names.

    Returns:
        Tensor of the same shape and dtype as ``input``.

    Raises:
        TypeError: If ``input`` is neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.square(Tensor([1.0, -3.0])))
    [1. 9.]
    """
    x = operand(input if x is NOT_GIVEN else x, "Square")
    return apply(basic.mul, x, x)


_SINC_SERIES = [(-1) ** k / _math.factorial(2 * k + 1) for k in range(8)]  # sin(u) / u = Σ c_k u²ᵏ


@public("Sinc Tensor", "mint.sinc(input)")
@also_named(input="x")
def sinc(x: Any) -> Tensor:
    """Compute sin(π x) / (π x), and 1 at 0.

    Near x = 0, a power series is used, so that the value and the derivatives are accurate.

    Args:
        x (Tensor or number): values of any shape; integers are converted to float32.

    Returns:
        Tensor of the same shape as ``x``.

    Raises:
        TypeError: If ``x`` is neither a tensor nor a number, or is complex.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.sinc(Tensor(0.5)):.4f}")
    0.6366
    """
    u = arithmetic.mul(inexact(operand(x, "Sinc")), _math.pi)
    squared = square(u)
    near = binary(comparisons.less, "Sinc", squared, 0.25)
    u = choose(near, 1, u)
    small = choose(near, squared, 0)
    series: Any = _SINC_SERIES[-1]
    for coefficient in reversed(_SINC_SERIES[:-1]):
        series = arithmetic.add(coefficient, arithmetic.mul(series, small))
    return choose(near, series, arithmetic.div(sin(u), u))


@public("Tensor numpy numpy.radians", "mint.deg2rad(input)")
def deg2rad(x: Any) -> Tensor:
    """Convert degrees to radians: x π / 180.

    Args:
        x (Tensor or number): values of any shape; integers are converted to float32.

    {one x}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.deg2rad(Tensor(180.0)):.4f}")
    3.1416
    """
    return arithmetic.mul(inexact(operand(x, "Deg2rad")), _math.pi / 180)


@public("Tensor numpy", "mint.rad2deg(input)")
def rad2deg(x: Any) -> Tensor:
    """Convert radians to degrees: x · 180 / π.

    Args:
        x (Tensor or number): values of any shape; integers are converted to float32.

    {one x}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.rad2deg(Tensor(0.5)):.4f}")
    28.6479
    """
    return arithmetic.mul(inexact(operand(x, "Rad2deg")), 180 / _math.pi)


# alternative names, as in MindSpore
arccos = acos
arccosh = acosh
arcsin = asin
arcsinh = asinh
arctan = atan
arctan2 = atan2
arctanh = atanh
