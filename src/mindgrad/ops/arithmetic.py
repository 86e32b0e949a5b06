"""``add``, ``mul``, … and comparisons as functions of tensors and numbers."""

from __future__ import annotations

from typing import Any

from mindgrad.core.tensor import Tensor
from mindgrad.ops.operands import binary, unary
from mindgrad.primitives import arithmetic as rows

__all__ = ["add", "div", "mul", "neg", "sub"]


def add(x: Any, y: Any) -> Tensor:
    """``x + y``, elementwise with broadcasting.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.add(Tensor([1.0, 2.0]), 1))
    [2. 3.]
    """
    return binary(rows.add, "Add", x, y)


def sub(x: Any, y: Any) -> Tensor:
    """``x − y``, elementwise with broadcasting.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.sub(1, Tensor([1.0, 2.0])))
    [ 0. -1.]
    """
    return binary(rows.sub, "Sub", x, y)


def mul(x: Any, y: Any) -> Tensor:
    """``x · y``, elementwise with broadcasting.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.mul(Tensor([1.0, 2.0]), Tensor([[3.0], [4.0]])))
    [[3. 6.]
     [4. 8.]]
    """
    return binary(rows.mul, "Mul", x, y)


def div(x: Any, y: Any) -> Tensor:
    """``x / y``, elementwise with broadcasting; integers are divided as Float32.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.div(Tensor([1, 2]), 4))
    [0.25 0.5 ]
    """
    return binary(rows.div, "Div", x, y, float_only=True)


def neg(x: Any) -> Tensor:
    """``−x``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.neg(Tensor([1.0, -2.0])))
    [-1.  2.]
    """
    return unary(rows.neg, "Neg", x)
