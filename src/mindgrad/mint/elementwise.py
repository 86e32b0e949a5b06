"""Sums and differences of ``mint``, with a factor of the second operand."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic
from mindgrad.ops.registry import public

__all__ = ["add", "sub"]


@public(
    "ops.auto_generate.AddExt()(x, other, alpha=1)"
    " >>> ops.auto_generate.AddExt()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), 2) => [ 7. 10.]"
)
def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Add ``alpha · other`` to ``input``.

    Args:
        input, other (Tensor or number): operands whose shapes broadcast.
        alpha (int or float): factor of ``other``.

    Returns:
        Tensor with the broadcast shape and the promoted dtype.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.add(Tensor([1.0, 2.0]), Tensor([1.0, 1.0]), alpha=10))
    [11. 12.]
    """
    return arithmetic.add(input, _scaled(other, alpha))


@public(
    "ops.auto_generate.SubExt()(x, other, alpha=1)"
    " >>> ops.auto_generate.SubExt()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), 2) => [-5. -6.]"
)
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Subtract ``alpha · other`` from ``input``.

    Args:
        input, other (Tensor or number): operands whose shapes broadcast.
        alpha (int or float): factor of ``other``.

    Returns:
        Tensor with the broadcast shape and the promoted dtype.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.sub(Tensor([1.0, 2.0]), Tensor([1.0, 1.0]), alpha=10))
    [-9. -8.]
    """
    return arithmetic.sub(input, _scaled(other, alpha))


def _scaled(x: Any, factor: Any) -> Any:
    return x if isinstance(factor, (int, float)) and factor == 1 else arithmetic.mul(x, factor)
