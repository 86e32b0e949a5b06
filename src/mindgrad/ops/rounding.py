"""Absolute values, signs and rounding act on elements; so do tests such as isnan."""

from __future__ import annotations

import math as _math
from typing import Any

import ml_dtypes

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import arithmetic
from mindgrad.ops.define import also_named, unary_function
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.operands import binary, cast, choose, operand, promoted
from mindgrad.ops.registry import public
from mindgrad.rows import arithmetic as basic
from mindgrad.rows import logic, piecewise

__all__ = [
    "abs", "absolute", "ceil", "fix", "floor", "frac", "heaviside", "isfinite", "isinf", "isnan",
    "nan_to_num", "rint", "round", "sign", "trunc",
]  # fmt: skip


abs = unary_function(
    __name__, "abs", piecewise.abs,
    "|x|, real also for complex ``x``; its derivative is sign x, which is 0 at 0.",
    "Tensor([-2, 0, 3])", "[2 0 3]", "Abs ComplexAbs Tensor Tensor.absolute mint mint.absolute numpy.fabs",
)  # fmt: skip
sign = unary_function(
    __name__, "sign", piecewise.sign, "−1, 0 or 1 as ``x`` is below, at or above 0; derivative 0.",
    "Tensor([-2.0, 0.0, 3.0])", "[-1.  0.  1.]", "Sign Tensor mint numpy",
)  # fmt: skip
floor = unary_function(
    __name__, "floor", piecewise.floor, "The largest integer not above ``x``; its derivative is 0.",
    "Tensor([-1.5, 1.5])", "[-2.  1.]", "Floor Tensor mint numpy", integers_stay=True,
)  # fmt: skip
ceil = unary_function(
    __name__, "ceil", piecewise.ceil, "The smallest integer not below ``x``; its derivative is 0.",
    "Tensor([-1.5, 1.5])", "[-1.  2.]", "Ceil Tensor mint numpy", integers_stay=True,
)  # fmt: skip
trunc = unary_function(
    __name__, "trunc", piecewise.trunc, "``x`` without its fraction; its derivative is 0.",
    "Tensor([-1.5, 1.5])", "[-1.  1.]", "Trunc Tensor mint.fix mint numpy.fix numpy", integers_stay=True,
)  # fmt: skip
rint = unary_function(
    __name__, "rint", piecewise.round,
    "The nearest integer, of two the even one; its derivative is 0.",
    "Tensor([0.5, 1.5, 2.4])", "[0. 2. 2.]", "Rint Round numpy", integers_stay=True,
)  # fmt: skip


@public(
    "Tensor", "mint.round(input, *, decimals=0)", "numpy.around(a, decimals=0)", "numpy.round(a, decimals=0)"
)
def round(input: Any, decimals: int = 0) -> Tensor:
    """``input`` rounded to ``decimals`` places, of two equally near numbers to the even one.

    Its derivative is 0.

    Args:
        input: a tensor of any shape or a number; integers are returned as they are.
        decimals: places behind the decimal point; negative ones count in front of it.

    Returns:
        Tensor of the shape and element type of ``input``.

    Raises:
        TypeError: ``decimals`` is no int, or ``input`` is complex or no tensor or number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.round(Tensor([0.5, 1.5, 2.4])), ops.round(Tensor([1.26]), decimals=1))
    [0. 2. 2.] [1.3]
    """
    if isinstance(decimals, bool) or not isinstance(decimals, int):
        raise TypeError(f"For 'Round', the 'decimals' must be an int, but got {type(decimals).__name__}.")
    x = operand(input, "Round")
    if decimals == 0 or not x.dtype.is_inexact:
        return rint(x)
    if decimals > 0:
        return arithmetic.div(rint(arithmetic.mul(x, 10.0**decimals)), 10.0**decimals)
    return arithmetic.mul(rint(arithmetic.div(x, 10.0**-decimals)), 10.0**-decimals)


@public("Tensor", "mint.frac(input)")
def frac(x: Any) -> Tensor:
    """x − trunc x, the fraction with the sign of ``x``; its derivative is 1.

    Args:
        x: a tensor of any shape or a number.

    Returns:
        Tensor of the shape and element type of ``x``.

    Raises:
        TypeError: ``x`` is complex, or neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.frac(Tensor([-1.5, 2.25])))
    [-0.5   0.25]
    """
    x = operand(x, "Frac")
    return arithmetic.sub(x, trunc(x))


@public("Heaviside Tensor numpy")
@also_named(input="x")
def heaviside(x: Any, values: Any) -> Tensor:
    """0 below 0, 1 above, and ``values`` at 0.

    The derivative with respect to ``x`` is 0; that with respect to ``values`` is 1 where ``x`` is 0.

    Args:
        x, values: tensors or numbers whose shapes broadcast.

    {real two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.heaviside(Tensor([-2.0, 0.0, 3.0]), 0.5))
    [0.  0.5 1. ]
    """
    x, values = promoted("Heaviside", x, values)
    above = cast(binary(basic.greater, "Heaviside", x, 0), values.dtype)
    nan = binary(basic.not_equal, "Heaviside", x, x)
    return choose(nan, stop_gradient(x), choose(binary(basic.equal, "Heaviside", x, 0), values, above))


# --- questions ---------------------------------------------------------------------------------------

isnan = unary_function(
    __name__, "isnan", logic.isnan, "Whether each element is NaN, as Bool.",
    'Tensor([1.0, float("nan")])', "[False  True]", "IsNan Tensor mint numpy",
)  # fmt: skip
isinf = unary_function(
    __name__, "isinf", logic.isinf, "Whether each element is inf or −inf, as Bool.",
    'Tensor([1.0, float("inf")])', "[False  True]", "IsInf Tensor mint numpy",
)  # fmt: skip
isfinite = unary_function(
    __name__, "isfinite", logic.isfinite, "Whether each element is neither infinite nor NaN, as Bool.",
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
    """``input`` with numbers in the place of NaN and infinities; the derivative is 0 there.

    Args:
        input: a floating-point tensor of any shape, or a number.
        nan: what NaN becomes; by default 0.
        posinf: what inf becomes; by default the largest number of the element type.
        neginf: what −inf becomes; by default the smallest.

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
    x = choose(binary(basic.equal, "NanToNum", x, _math.inf), largest if posinf is None else posinf, x)
    lowest = -largest if neginf is None else neginf
    return choose(binary(basic.equal, "NanToNum", x, -_math.inf), lowest, x)


# the same functions under second names
absolute = abs
fix = trunc
