"""Elementwise absolute value, sign, rounding, and tests such as isnan."""

from __future__ import annotations

import math as _math
from typing import Any

import ml_dtypes

from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import comparisons, logic, piecewise
from mindgrad.ops import arithmetic
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.define import also_named, unary_function
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.operands import binary, cast, choose, operand, promoted
from mindgrad.ops.registry import public

__all__ = [
    "abs", "absolute", "ceil", "fix", "floor", "frac", "heaviside", "isfinite", "isinf", "isnan",
    "nan_to_num", "rint", "round", "sign", "trunc",
]  # fmt: skip


abs = unary_function(
    __name__, "abs", piecewise.abs,
    "Compute the absolute value |x|; its derivative is sign x, which is 0 at 0.",
    "Tensor([-2, 0, 3])", "[2 0 3]", "Abs ComplexAbs Tensor Tensor.absolute mint mint.absolute numpy.fabs",
)  # fmt: skip
sign = unary_function(
    __name__, "sign", piecewise.sign, "Compute the sign: −1, 0, or 1; its derivative is 0.",
    "Tensor([-2.0, 0.0, 3.0])", "[-1.  0.  1.]", "Sign Tensor mint numpy",
)  # fmt: skip
floor = unary_function(
    __name__, "floor", piecewise.floor, "Round down to an integer; the derivative is 0.",
    "Tensor([-1.5, 1.5])", "[-2.  1.]", "Floor Tensor mint numpy", integers_stay=True,
)  # fmt: skip
ceil = unary_function(
    __name__, "ceil", piecewise.ceil, "Round up to an integer; the derivative is 0.",
    "Tensor([-1.5, 1.5])", "[-1.  2.]", "Ceil Tensor mint numpy", integers_stay=True,
)  # fmt: skip
trunc = unary_function(
    __name__, "trunc", piecewise.trunc, "Round towards 0 to an integer; the derivative is 0.",
    "Tensor([-1.5, 1.5])", "[-1.  1.]", "Trunc Tensor mint.fix mint numpy.fix numpy", integers_stay=True,
)  # fmt: skip
rint = unary_function(
    __name__, "rint", piecewise.round,
    "Round to the nearest integer, ties to even; the derivative is 0.",
    "Tensor([0.5, 1.5, 2.4])", "[0. 2. 2.]", "Rint Round numpy", integers_stay=True,
)  # fmt: skip


@public(
    "Tensor", "mint.round(input, *, decimals=0)", "numpy.around(a, decimals=0)", "numpy.round(a, decimals=0)"
)
def round(input: Any, decimals: int = 0) -> Tensor:
    """Round to ``decimals`` decimal places, ties to even; the derivative is 0.

    Args:
        input (Tensor or number): values of any shape; integers are returned unchanged.
        decimals (int): number of decimal places. A negative number rounds to tens, hundreds, and so on.

    Returns:
        Tensor with the shape and dtype of ``input``.

    Raises:
        TypeError: If ``decimals`` is not an int, or ``input`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.round(Tensor([0.5, 1.5, 2.4])), ops.round(Tensor([1.26]), decimals=1))
    [0. 2. 2.] [1.3]
    """
    decimals = whole_number(decimals, "Round", "decimals")
    x = operand(input, "Round")
    if decimals == 0 or not x.dtype.is_inexact:
        return rint(x)
    if decimals > 0:
        return arithmetic.div(rint(arithmetic.mul(x, 10.0**decimals)), 10.0**decimals)
    return arithmetic.mul(rint(arithmetic.div(x, 10.0**-decimals)), 10.0**-decimals)


@public("Tensor", "mint.frac(input)")
def frac(x: Any) -> Tensor:
    """Compute the fraction x − trunc x, with the sign of x; its derivative is 1.

    Args:
        x (Tensor or number): values of any shape.

    Returns:
        Tensor with the shape and dtype of ``x``.

    Raises:
        TypeError: If ``x`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.frac(Tensor([-1.5, 2.25])))
    [-0.5   0.25]
    """
    x = operand(x, "Frac")
    return arithmetic.sub(x, trunc(x))


@public("Heaviside Tensor numpy")
@also_named(input="x")
def heaviside(x: Any, values: Any) -> Tensor:
    """Compute the Heaviside step function: 0 below 0, 1 above, ``values`` at 0.

    The derivative with respect to ``x`` is 0, and with respect to ``values`` it is 1 where ``x`` is 0.

    Args:
        x, values (Tensor or number): argument of the step function, and its value at 0. The shapes broadcast.

    {real two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.heaviside(Tensor([-2.0, 0.0, 3.0]), 0.5))
    [0.  0.5 1. ]
    """
    x, values = promoted("Heaviside", x, values)
    above = cast(binary(comparisons.greater, "Heaviside", x, 0), values.dtype)
    nan = binary(comparisons.not_equal, "Heaviside", x, x)
    return choose(nan, stop_gradient(x), choose(binary(comparisons.equal, "Heaviside", x, 0), values, above))


# --- tests of elements, and nan_to_num ---------------------------------------------------------------

isnan = unary_function(
    __name__, "isnan", logic.isnan, "Check elementwise for NaN.",
    'Tensor([1.0, float("nan")])', "[False  True]", "IsNan Tensor mint numpy",
)  # fmt: skip
isinf = unary_function(
    __name__, "isinf", logic.isinf, "Check elementwise for inf and −inf.",
    'Tensor([1.0, float("inf")])', "[False  True]", "IsInf Tensor mint numpy",
)  # fmt: skip
isfinite = unary_function(
    __name__, "isfinite", logic.isfinite, "Check elementwise for finite numbers, neither infinite nor NaN.",
    'Tensor([1.0, float("nan")])', "[ True False]", "IsFinite Tensor mint numpy",
)  # fmt: skip


@public(
    "Tensor mint",
    "NanToNum(nan: anything('a number or None')=None, posinf: anything('a number or None')=None, "
    "neginf: anything('a number or None')=None)(x)",
)
def nan_to_num(
    input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Replace NaN and infinities with numbers; replaced elements have derivative 0.

    Args:
        input (Tensor or number): floating-point values of any shape.
        nan (int, float, or None): replacement for NaN. ``None`` means 0.
        posinf (int, float, or None): replacement for +∞. ``None`` means the largest number of the dtype.
        neginf (int, float, or None): replacement for −∞. ``None`` means the most negative number of the
            dtype.

    {as frac}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.nan_to_num(Tensor([1.0, float("nan"), float("inf")]), posinf=9.0))
    [1. 0. 9.]
    """
    x = operand(input, "NanToNum")
    if not x.dtype.is_inexact:
        return x
    if not x.dtype.is_float:
        raise TypeError(f"For 'NanToNum', the input must be a real tensor, but got {x.dtype}.")
    largest = float(ml_dtypes.finfo(x.dtype.numpy).max)
    x = choose(isnan(x), 0.0 if nan is None else nan, x)
    x = choose(binary(comparisons.equal, "NanToNum", x, _math.inf), largest if posinf is None else posinf, x)
    lowest = -largest if neginf is None else neginf
    return choose(binary(comparisons.equal, "NanToNum", x, -_math.inf), lowest, x)


# alternative names, as in MindSpore
absolute = abs
fix = trunc
