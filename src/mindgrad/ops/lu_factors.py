"""LU factorization: factors of matrices, solutions of systems, and unpacking."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import lu as primitives
from mindgrad.ops.arithmetic import add, sub
from mindgrad.ops.comparison import equal
from mindgrad.ops.complexes import conj
from mindgrad.ops.creation import arange, eye
from mindgrad.ops.indexing import gather_elements
from mindgrad.ops.layout import reshape
from mindgrad.ops.linalg import matrix_operand, solution, system, triangle_solved
from mindgrad.ops.matrices import tril, triu
from mindgrad.ops.movement import narrow
from mindgrad.ops.operands import applied, broadcast_to, cast, operand
from mindgrad.ops.reduction import flag
from mindgrad.ops.registry import public

__all__ = ["lu_factors", "lu_parts", "lu_solve", "lu_unpack", "permutation_of", "solved_by_factors"]


def lu_factors(operator: str, a: Any) -> tuple[Tensor, Tensor]:
    """Return L and U in one matrix, and the pivots, counted from 0.

    Pivot i is the index of the row that was exchanged with row i.
    """
    a = matrix_operand(a, operator)
    return applied(primitives.lu, operator, a), apply(primitives.lu_pivots, a)


def permutation_of(pivots: Tensor, size: int, dtype: Any) -> Tensor:
    """Return P with A = P L U."""
    order = apply(primitives.row_order, pivots, size=size)
    columns = broadcast_to(reshape(arange(size, dtype=int32), (size, 1)), (*order.shape[:-1], size, size))
    return cast(equal(columns, order.expand_dims(-2)), dtype)


def lu_parts(factors: Tensor) -> tuple[Tensor, Tensor]:
    """Return L of shape (…, m, k) and U of shape (…, k, n), with k = min(m, n)."""
    m, n = factors.shape[-2:]
    k = min(m, n)
    low = tril(narrow(factors, factors.ndim - 1, 0, k), -1)
    return add(low, eye(m, k, factors.dtype)), triu(narrow(factors, factors.ndim - 2, 0, k))


def solved_by_factors(operator: str, factors: Any, pivots: Any, b: Any, trans: Any = 0) -> Tensor:
    """Solve A X = B, Aᵀ X = B (``trans`` 1), or Aᴴ X = B (``trans`` 2).

    Pivots are counted from 0.

    Raises:
        ValueError: If ``trans`` is not 0, 1, or 2, or the shapes do not match.
    """
    if trans not in (0, 1, 2):
        raise ValueError(f"For '{operator}', the 'trans' must be 0, 1 or 2, but got {trans!r}.")
    factors, b, vectors = system(operator, factors, b)
    order = apply(primitives.row_order, operand(pivots, operator), size=factors.shape[-1])
    if trans == 2:
        factors = conj(factors)
    if trans:
        y = triangle_solved(operator, factors, b, False, True)
        y = triangle_solved(operator, factors, y, True, True, True)
        order = order.argsort(-1)
    else:
        y = b
    places = broadcast_to(order.expand_dims(-1), y.shape)
    y = gather_elements(y, y.ndim - 2, places)
    if not trans:
        y = triangle_solved(operator, factors, y, True, False, True)
        y = triangle_solved(operator, factors, y, False, False)
    return solution(y, vectors)


@public("LuSolve")
def lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Tensor:
    """Solve A X = B, given the LU factors of A.

    Args:
        b (Tensor): right-hand sides B of shape (…, n, k).
        LU_data (Tensor): LU factors in one matrix, L below the diagonal and U on and above it, of shape (…,
            n, n).
        LU_pivots (Tensor): pivots, integers of shape (…, n). Element i is the index, counted from 1, of the
            row that was exchanged with row i.

    Returns:
        Tensor of the same shape as ``b``.

    Raises:
        TypeError: If an operand is not a tensor, or is float16 or bfloat16.
        ValueError: If the shapes of the operands do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.lu_solve(Tensor([[4.0], [2.0]]), Tensor([[2.0, 2.0], [0.5, 1.0]]), Tensor([2, 2])))
    [[-2.]
     [ 3.]]
    """
    return solved_by_factors("LuSolve", LU_data, sub(operand(LU_pivots, "LuSolve"), 1), b)


@public("LuUnpack(unpack_data=True, unpack_pivots=True)(data, pivots)")
def lu_unpack(
    LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Unpack LU factors in one matrix into P, L, and U with A = P L U.

    Args:
        LU_data (Tensor): LU factors in one matrix, L below the diagonal and U on and above it, of shape (…,
            m, n).
        LU_pivots (Tensor): pivots, integers of shape (…, min(m, n)). Element i is the index, counted from 1,
            of the row that was exchanged with row i.
        unpack_data (bool): whether to return L and U. With ``False``, ``None`` is returned for both.
        unpack_pivots (bool): whether to return P. With ``False``, ``None`` is returned for P.

    Returns:
        Three tensors: P of shape (…, m, m), L of shape (…, m, k), and U of shape (…, k, n), with k = min(m,
        n).

    Raises:
        TypeError: If an operand is not a tensor, or ``unpack_data`` or ``unpack_pivots`` is not a bool.

    >>> from mindgrad import Tensor, ops
    >>> p, low, up = ops.lu_unpack(Tensor([[2.0, 2.0], [0.5, 1.0]]), Tensor([2, 2]))
    >>> print(ops.matmul(ops.matmul(p, low), up))
    [[1. 2.]
     [2. 2.]]
    """
    factors, permutation = matrix_operand(LU_data, "LuUnpack"), None
    parts: tuple[Tensor | None, Tensor | None] = (None, None)
    if flag(unpack_pivots, "LuUnpack", "unpack_pivots"):
        pivots = sub(operand(LU_pivots, "LuUnpack"), 1)
        permutation = permutation_of(pivots, factors.shape[-2], factors.dtype)
    if flag(unpack_data, "LuUnpack", "unpack_data"):
        parts = lu_parts(factors)
    return permutation, *parts
