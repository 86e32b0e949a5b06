"""Elementwise sign functions, tests for infinity, and polar coordinates."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import bool_
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import arithmetic, comparison, complexes, creation, indexing, math, rounding
from mindgrad.ops.operands import inexact, operand, promoted
from mindgrad.ops.registry import public

__all__ = ["copysign", "isneginf", "isposinf", "isreal", "ldexp", "polar", "sgn", "signbit"]


@public("Tensor numpy")
def signbit(input: Any) -> Tensor:
    """Check whether numbers are negative, including −0.0.

    Args:
        input (Tensor or number): real values of any shape.

    Returns:
        Boolean tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.signbit(Tensor([-1.0, -0.0, 0.0])))
    [ True  True False]
    """
    x = operand(input, "Signbit")
    if not x.dtype.is_float:
        return comparison.less(x, 0)
    # 1 / x has the sign of a zero: 1 / 0.0 = ∞ and 1 / −0.0 = −∞
    return comparison.less(indexing.where(comparison.equal(x, 0), arithmetic.true_divide(1.0, x), x), 0)


@public("Tensor numpy")
def copysign(x: Any, other: Any) -> Tensor:
    """Combine the absolute value of ``x`` with the sign of ``other``.

    The derivative with respect to ``x`` is 1 if the signs agree, −1 if they differ, and 0 if ``x`` is 0. The
    derivative with respect to ``other`` is 0.

    Args:
        x, other (Tensor or number): real numbers that determine the absolute value and the sign. The shapes
            broadcast.

    Returns:
        Tensor of the broadcast shape.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.copysign(Tensor([1.0, -2.0]), Tensor([-3.0, -0.0])))
    [-1. -2.]
    """
    a, b = promoted("Copysign", x, other)
    a, b = inexact(a), inexact(b)
    size = rounding.abs(a)
    return indexing.where(signbit(b), arithmetic.neg(size), size)


@public("Tensor")
def sgn(input: Any) -> Tensor:
    """Compute x / |x|, and 0 at 0: the sign, or the direction of a complex number.

    Args:
        input (Tensor or number): real or complex values of any shape.

    Returns:
        Tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.sgn(Tensor([-2.0, 0.0, 3.0])))
    [-1.  0.  1.]
    """
    x = operand(input, "Sgn")
    if x.dtype.kind != "complex":
        return rounding.sign(x)
    size = rounding.abs(x)
    there = comparison.not_equal(size, 0)
    return indexing.where(there, arithmetic.true_divide(x, indexing.where(there, size, 1)), 0)


@public("Tensor numpy")
def isposinf(input: Any) -> Tensor:
    """Check whether elements are +∞.

    Args:
        input (Tensor or number): real values of any shape.

    Returns:
        Boolean tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.isposinf(Tensor([float("inf"), -float("inf"), 1.0])))
    [ True False False]
    """
    return comparison.equal(operand(input, "IsPosInf"), float("inf"))


@public("Tensor mint numpy")
def isneginf(input: Any) -> Tensor:
    """Check whether elements are −∞.

    Args:
        input (Tensor or number): real values of any shape.

    Returns:
        Boolean tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.isneginf(Tensor([float("inf"), -float("inf"), 1.0])))
    [False  True False]
    """
    return comparison.equal(operand(input, "IsNegInf"), -float("inf"))


@public("Tensor")
def isreal(input: Any) -> Tensor:
    """Check whether elements have no imaginary part.

    Args:
        input (Tensor or number): real or complex values of any shape.

    Returns:
        Boolean tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.isreal(Tensor([1 + 0j, 1j])))
    [ True False]
    """
    x = operand(input, "IsReal")
    if x.dtype.kind != "complex":
        return creation.ones(x.shape, bool_)
    return comparison.equal(complexes.imag(x), 0)


@public("Tensor")
def ldexp(x: Any, other: Any) -> Tensor:
    """Compute x · 2^other.

    Args:
        x, other (Tensor or number): factor and exponent, whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.ldexp(Tensor([1.0, 3.0]), Tensor([2, -1])))
    [4.  1.5]
    """
    return arithmetic.mul(x, math.exp2(operand(other, "Ldexp")))


@public("Polar mint")
def polar(abs: Any, angle: Any) -> Tensor:
    """Create complex numbers abs · exp(i · angle) from polar coordinates.

    Args:
        abs, angle (Tensor): absolute values and angles, float32 or float64.

    Returns:
        Complex tensor of the broadcast shape.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.polar(Tensor([2.0]), Tensor([0.0])))
    [2.+0.j]
    """
    size, turn = promoted("Polar", abs, angle)
    return complexes.complex(arithmetic.mul(size, math.cos(turn)), arithmetic.mul(size, math.sin(turn)))
