"""Matrix products."""

from __future__ import annotations

from typing import Any

from mindgrad.core.scope import apply
from mindgrad.core.tensor import Tensor
from mindgrad.ops.operands import promoted
from mindgrad.primitives.contraction import dot as dot_row

__all__ = ["matmul"]


def matmul(x: Any, y: Any) -> Tensor:
    """The matrix product ``x y``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matmul(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
    [[11.]]
    """
    x, y = promoted("MatMul", x, y, broadcast=False)
    return apply(dot_row, x, y, contract=((x.ndim - 1,), (0,)), batch=((), ()))
