"""Sign functions, tests of infinity and polar coordinates act on elements."""

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
    """Whether numbers are negative, −0.0 among them.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.signbit(Tensor([-1.0, -0.0, 0.0])))
    [ True  True False]
    """
    x = operand(input, "Signbit")
    if not x.dtype.is_float:
        return comparison.less(x, 0)
    # a zero says its sign by the infinity that it divides to
    return comparison.less(indexing.where(comparison.equal(x, 0), arithmetic.true_divide(1.0, x), x), 0)


@public("Tensor numpy")
def copysign(x: Any, other: Any) -> Tensor:
    """The size of ``x`` with the sign of ``other``.

    Its derivative with respect to ``x`` is 1 where the signs agree and −1 where not, 0 at 0; with respect to
    ``other`` it is 0.

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
    """x / |x|, 0 at 0: the sign of real numbers, the direction of complex ones.

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
    """Whether elements are +∞.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.isposinf(Tensor([float("inf"), -float("inf"), 1.0])))
    [ True False False]
    """
    return comparison.equal(operand(input, "IsPosInf"), float("inf"))


@public("Tensor mint numpy")
def isneginf(input: Any) -> Tensor:
    """Whether elements are −∞.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.isneginf(Tensor([float("inf"), -float("inf"), 1.0])))
    [False  True False]
    """
    return comparison.equal(operand(input, "IsNegInf"), -float("inf"))


@public("Tensor")
def isreal(input: Any) -> Tensor:
    """Whether elements have no imaginary part.

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
    """x · 2^other.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.ldexp(Tensor([1.0, 3.0]), Tensor([2, -1])))
    [4.  1.5]
    """
    return arithmetic.mul(x, math.exp2(operand(other, "Ldexp")))


@public("Polar mint")
def polar(abs: Any, angle: Any) -> Tensor:
    """The complex numbers abs · exp(i · angle).

    Args:
        abs: their sizes, Float32 or Float64.
        angle: their angles, likewise.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.polar(Tensor([2.0]), Tensor([0.0])))
    [2.+0.j]
    """
    size, turn = promoted("Polar", abs, angle)
    return complexes.complex(arithmetic.mul(size, math.cos(turn)), arithmetic.mul(size, math.sin(turn)))
