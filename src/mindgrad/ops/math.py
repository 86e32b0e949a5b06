"""Elementwise mathematical functions of tensors."""

from __future__ import annotations

from typing import Any

from mindgrad.core.tensor import Tensor
from mindgrad.ops.operands import unary
from mindgrad.primitives import elementwise as rows

__all__ = ["cos", "exp", "log", "sin", "tanh"]


def sin(x: Any) -> Tensor:
    """The sine of ``x`` (radians).

    >>> from mindgrad import Tensor, ops
    >>> print(ops.sin(Tensor([0.0])))
    [0.]
    """
    return unary(rows.sin, "Sin", x, float_only=True)


def cos(x: Any) -> Tensor:
    """The cosine of ``x`` (radians).

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cos(Tensor([0.0])))
    [1.]
    """
    return unary(rows.cos, "Cos", x, float_only=True)


def tanh(x: Any) -> Tensor:
    """The hyperbolic tangent of ``x``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.tanh(Tensor([0.0])))
    [0.]
    """
    return unary(rows.tanh, "Tanh", x, float_only=True)


def exp(x: Any) -> Tensor:
    """The exponential of ``x``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.exp(Tensor([0.0])))
    [1.]
    """
    return unary(rows.exp, "Exp", x, float_only=True)


def log(x: Any) -> Tensor:
    """The natural logarithm of ``x``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.log(Tensor([1.0])))
    [0.]
    """
    return unary(rows.log, "Log", x, float_only=True)
