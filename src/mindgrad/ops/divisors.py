"""Greatest common divisors and least common multiples of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.ops import arithmetic, comparison, indexing, rounding
from mindgrad.ops.define import also_named
from mindgrad.ops.operands import promoted
from mindgrad.ops.registry import public

__all__ = ["gcd", "lcm"]


def _integers(operator: str, x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    x, y = promoted(operator, x1, x2)
    if x.dtype.kind not in ("int", "uint"):
        raise TypeError(f"For '{operator}', the inputs must be integers, but their dtype is {x.dtype}.")
    return x, y


@public("Gcd numpy", "mint.gcd(input, other)")
@also_named(input="x1", other="x2")
def gcd(x1: Any, x2: Any) -> Tensor:
    """Compute the greatest common divisor of integers; for 0 and n, it is |n|.

    Args:
        x1, x2 (Tensor): integer tensors whose shapes broadcast.

    Returns:
        Integer tensor with the broadcast shape of the operands.

    Raises:
        TypeError: If an operand is not an integer tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.gcd(Tensor([12, 7, 0]), Tensor([18, 14, 5])))
    [6 7 5]
    """
    x, y = _integers("Gcd", x1, x2)
    first, second = known(x), known(y)
    if first is not None and second is not None:
        return make_tensor(np.gcd(first, second))
    # size of the integers in bytes -> maximum number of steps of Euclid's algorithm for such integers. The
    # worst case is a pair of consecutive Fibonacci numbers
    rounds = {1: 12, 2: 24, 4: 47, 8: 93}[x.itemsize]
    x, y = rounding.abs(x), rounding.abs(y)
    for _ in range(rounds):
        done = comparison.equal(y, 0)
        rest = arithmetic.floor_mod(x, indexing.where(done, 1, y))
        x, y = indexing.where(done, x, y), indexing.where(done, y, rest)
    return x


@public("Lcm numpy")
@also_named(input="x1", other="x2")
def lcm(x1: Any, x2: Any) -> Tensor:
    """Compute the least common multiple of integers; for 0 and n, it is 0.

    Args:
        x1, x2 (Tensor): integer tensors whose shapes broadcast.

    Returns:
        Integer tensor with the broadcast shape of the operands.

    Raises:
        TypeError: If an operand is not an integer tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.lcm(Tensor([4, 0]), Tensor([6, 5])))
    [12  0]
    """
    x, y = _integers("Lcm", x1, x2)
    common = gcd(x, y)
    common = indexing.where(comparison.equal(common, 0), 1, common)
    return rounding.abs(arithmetic.mul(arithmetic.floor_divide(x, common), y))
