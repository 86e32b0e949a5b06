"""Linear algebra: systems, inverses, determinants, and powers of matrices.

Functions accept matrices of shape (…, m, n) with any number of leading batch axes, of dtype float32, float64,
complex64, or complex128. Integers are converted to float32. If a matrix has no result, because it is singular
or not positive definite, its result contains inf or NaN. The other matrices of the batch are not affected.
"""

from __future__ import annotations

import math as _math
from typing import Any

from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import determinant, linalg
from mindgrad.core.primitives.structural import reshape, transpose
from mindgrad.ops import arithmetic
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.comparison import less
from mindgrad.ops.complexes import conj
from mindgrad.ops.contraction import matmul
from mindgrad.ops.creation import eye
from mindgrad.ops.define import also_named
from mindgrad.ops.operands import applied, broadcast_shapes, broadcast_to, choose, inexact, operand, promoted
from mindgrad.ops.reduction import flag
from mindgrad.ops.registry import public

__all__ = [
    "det", "inverse", "kron", "log_matrix_determinant", "logdet", "matrix_determinant",
    "matrix_inverse", "matrix_power", "matrix_solve", "slogdet", "solve", "solve_triangular",
]  # fmt: skip


def matrix_operand(x: Any, operator: str) -> Tensor:
    """Convert the operand of a decomposition to floating point."""
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{operator}', the input must be a tensor, but got {type(x).__name__}.")
    return inexact(operand(x, operator))


def adjoint_of(x: Tensor) -> Tensor:
    """Return the conjugate transpose of each matrix."""
    return conj(apply(transpose, x, permutation=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)))


# --- linear systems and inverses ---------------------------------------------------------------------


def system(operator: str, a: Any, b: Any) -> tuple[Tensor, Tensor, bool]:
    """Promote a matrix and right-hand sides to a common dtype and batch shape.

    The third result is true if the right-hand sides were vectors.
    """
    a, b = promoted(operator, matrix_operand(a, operator), matrix_operand(b, operator), broadcast=False)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(
            f"For '{operator}', the matrix must be square, of shape (…, n, n), but its shape is {a.shape}."
        )
    vectors = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    rows = b.shape[-1 if vectors else -2] if b.ndim else 0
    if not b.ndim or rows != a.shape[-1]:
        raise ValueError(
            f"For '{operator}', the right-hand side must have as many rows as the matrix of shape "
            f"{a.shape}, but its shape is {b.shape}."
        )
    if vectors:
        b = apply(reshape, b, shape=(*b.shape, 1))
    batch = broadcast_shapes(operator, a.shape[:-2], b.shape[:-2])
    return (broadcast_to(a, (*batch, *a.shape[-2:])), broadcast_to(b, (*batch, *b.shape[-2:])), vectors)


def solution(y: Tensor, vectors: bool) -> Tensor:
    """Return the solution of a system; for a vector, remove the axis of columns."""
    return apply(reshape, y, shape=y.shape[:-1]) if vectors else y


def solve(a: Any, b: Any) -> Tensor:
    """Solve the linear system A X = B.

    Args:
        a (Tensor): square matrices A of shape (…, n, n).
        b (Tensor): right-hand sides B: matrices of shape (…, n, k), one vector of shape (n,), or
            vectors with the shape of ``a`` without its last axis. Batch axes broadcast.

    Returns:
        Tensor of the same shape as ``b``. For a singular matrix, the result contains inf or NaN.

    Raises:
        TypeError: If an operand is not a tensor, or is float16 or bfloat16.
        ValueError: If the shapes of the operands do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.solve(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([2.0, 8.0])))
    [1. 2.]
    """
    a, b, vectors = system("Solve", a, b)
    return solution(applied(linalg.solve, "Solve", a, b, transpose=False), vectors)


@public("MatrixSolve(adjoint=False)(a, b)")
def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Tensor:
    """Solve the linear system A X = B, or Aᴴ X = B.

    Args:
        matrix (Tensor): square matrices A of shape (…, n, n).
        rhs (Tensor): right-hand sides B of shape (…, n, k).
        adjoint (bool): whether to solve Aᴴ X = B instead of A X = B.

    Returns:
        Tensor of the same shape as ``rhs``. For a singular matrix, the result contains inf or NaN.

    Raises:
        TypeError: If an operand is not a tensor or is float16 or bfloat16, or ``adjoint`` is not a bool.
        ValueError: If the shapes of the operands do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matrix_solve(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([[2.0], [8.0]])))
    [[1.]
     [2.]]
    """
    flag(adjoint, "MatrixSolve", "adjoint")
    a, b, vectors = system("MatrixSolve", matrix, rhs)
    a = conj(a) if adjoint else a
    return solution(applied(linalg.solve, "MatrixSolve", a, b, transpose=adjoint), vectors)


@public(
    "MatrixTriangularSolve(lower=True, adjoint=False)(a, b)"
    "(trans='C' if self.adjoint else 'N') >>> ops.MatrixTriangularSolve()(Tensor([[2.0, 0.0], [0.0, 4.0]]), "
    "Tensor([[2.0], [8.0]])) => [[1.]\n [2.]]",
)
def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Tensor:
    """Solve the triangular linear system T X = B.

    T is the lower or upper triangle of A. The other triangle of A is not read.

    Args:
        a (Tensor): square matrices A of shape (…, n, n).
        b (Tensor): right-hand sides B: matrices of shape (…, n, k), one vector of shape (n,), or
            vectors with the shape of ``a`` without its last axis.
        trans (int or str): system to solve: 0 or ``"N"`` for T X = B, 1 or ``"T"`` for Tᵀ X = B, or 2 or
            ``"C"`` for Tᴴ X = B.
        lower (bool): whether T is the lower triangle of A instead of the upper triangle.
        unit_diagonal (bool): whether to use ones instead of the diagonal of T.

    Returns:
        Tensor of the same shape as ``b``. For a singular T, the result contains inf or NaN.

    Raises:
        TypeError: If an operand is not a tensor or is float16 or bfloat16, or ``lower`` or
            ``unit_diagonal`` is not a bool.
        ValueError: If the shapes of the operands do not match, or ``trans`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.solve_triangular(Tensor([[2.0, 1.0], [0.0, 4.0]]), Tensor([4.0, 8.0])))
    [1. 2.]
    """
    operator = "SolveTriangular"
    flag(lower, operator, "lower")
    flag(unit_diagonal, operator, "unit_diagonal")
    if trans not in (0, 1, 2, "N", "T", "C") or isinstance(trans, bool):
        raise ValueError(
            f"For '{operator}', the 'trans' must be 0, 1, 2, 'N', 'T' or 'C', but got {trans!r}."
        )
    a, b, vectors = system(operator, a, b)
    y = triangle_solved(
        operator, conj(a) if trans in (2, "C") else a, b, lower, trans not in (0, "N"), unit_diagonal
    )
    return solution(y, vectors)


def triangle_solved(
    operator: str, a: Tensor, b: Tensor, lower: bool, transposed: bool, unit_diagonal: bool = False
) -> Tensor:
    """Solve ``a x = b`` for a triangular ``a``, or for its transpose."""
    return applied(
        linalg.triangular_solve,
        operator,
        a,
        b,
        left=True,
        lower=lower,
        transpose=transposed,
        unit_diagonal=unit_diagonal,
    )


@public("MatrixInverse(adjoint=False)(x)")
def matrix_inverse(x: Any, adjoint: bool = False) -> Tensor:
    """Invert square matrices; the derivative is −A⁻¹ Ȧ A⁻¹.

    As in MindSpore, ``ops.inv`` is the reciprocal of each element.

    Args:
        x (Tensor): matrices of shape (…, n, n).
        adjoint (bool): whether to invert Aᴴ instead of A.

    Returns:
        Tensor of the same shape as ``x``. For a singular matrix, the result contains inf or NaN.

    Raises:
        TypeError: If ``x`` is not a tensor or is float16 or bfloat16, or ``adjoint`` is not a bool.
        ValueError: If the matrices in the input are not square.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matrix_inverse(Tensor([[2.0, 0.0], [0.0, 4.0]])))
    [[0.5  0.  ]
     [0.   0.25]]
    """
    flag(adjoint, "MatrixInverse", "adjoint")
    y = applied(linalg.inverse, "MatrixInverse", matrix_operand(x, "MatrixInverse"))
    return adjoint_of(y) if adjoint else y


@public("Tensor mint", "mint.linalg.inv(input)")
def inverse(input: Any) -> Tensor:
    """Invert square matrices; another name of :func:`matrix_inverse`.

    Args:
        input (Tensor): matrices of shape (…, n, n).

    Returns:
        Tensor of the same shape as ``input``. For a singular matrix, the result contains inf or NaN.

    {errors of square matrices input}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.inverse(Tensor([[2.0, 0.0], [0.0, 4.0]])))
    [[0.5  0.  ]
     [0.   0.25]]
    """
    return applied(linalg.inverse, "Inverse", matrix_operand(input, "Inverse"))


# --- determinants ------------------------------------------------------------------------------------


@public("MatrixDeterminant Tensor Tensor.matrix_determinant")
def det(input: Any) -> Tensor:
    """Compute the determinant; it is differentiable at singular matrices too.

    The derivative is the matrix of cofactors.

    Args:
        input (Tensor): matrices of shape (…, n, n).

    Returns:
        Tensor of shape (…) with the determinant of each matrix.

    {errors of square matrices input}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.det(Tensor([[1.0, 2.0], [3.0, 4.0]])):.4f}")
    -2.0000
    """
    return applied(determinant.det, "Det", matrix_operand(input, "Det"))


@public("Tensor.log_matrix_determinant Tensor", "LogMatrixDeterminant()(x)")
def slogdet(input: Any) -> tuple[Tensor, Tensor]:
    """Compute the sign and the logarithm of the absolute determinant.

    Args:
        input (Tensor): matrices of shape (…, n, n).

    Returns:
        Two tensors of shape (…): the sign of the determinant, and the logarithm of its absolute value. For a
        complex matrix, the sign is a complex number of absolute value 1. For a singular matrix, the sign is 0
        and the logarithm is −inf.

    {errors of square matrices input}

    >>> from mindgrad import Tensor, ops
    >>> sign, logarithm = ops.slogdet(Tensor([[1.0, 2.0], [3.0, 4.0]]))
    >>> print(sign, f"{logarithm:.4f}")
    -1.0 0.6931
    """
    return applied(determinant.slogdet, "Slogdet", matrix_operand(input, "Slogdet"))


@public("Tensor")
def logdet(input: Any) -> Tensor:
    """Compute the logarithm of the determinant.

    Args:
        input (Tensor): real matrices of shape (…, n, n).

    Returns:
        Tensor of shape (…) with the logarithms. They are NaN for a negative determinant, and −inf for 0.

    Raises:
        TypeError: If ``input`` is complex or not a tensor, or is float16 or bfloat16.
        ValueError: If the matrices in the input are not square.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.logdet(Tensor([[2.0, 0.0], [0.0, 4.0]])):.4f}")
    2.0794
    """
    a = matrix_operand(input, "Logdet")
    if a.dtype.kind == "complex":
        raise TypeError("For 'Logdet', the input must be real; use slogdet for complex matrices.")
    sign, logarithm = applied(determinant.slogdet, "Logdet", a)
    return choose(less(sign, 0), _math.nan, logarithm)


# --- matrix powers and Kronecker products ------------------------------------------------------------


@public("Tensor", "MatrixPower(n: integer)(x)", "numpy.matrix_power(a, n)")
def matrix_power(input: Any, n: int) -> Tensor:
    """Raise square matrices to an integer power.

    Negative powers are powers of the inverse.

    Args:
        input (Tensor): matrices of shape (…, m, m).
        n (int): exponent.

    Returns:
        Tensor of the same shape as ``input``.

    Raises:
        TypeError: If ``input`` is not a tensor, or ``n`` is not an int.
        ValueError: If the matrices in the input are not square.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matrix_power(Tensor([[1.0, 1.0], [0.0, 1.0]]), 5))
    [[1. 5.]
     [0. 1.]]
    """
    a, left = matrix_operand(input, "MatrixPower"), whole_number(n, "MatrixPower", "n")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"For 'MatrixPower', the matrices must be square, but the shape is {a.shape}.")
    if left < 0:
        a, left = applied(linalg.inverse, "MatrixPower", a), -left
    power = None
    while left:
        if left & 1:
            power = a if power is None else matmul(power, a)
        left >>= 1
        a = matmul(a, a) if left else a
    return broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape) if power is None else power


@also_named(input="x", other="y")
def kron(x: Any, y: Any) -> Tensor:
    """Compute the Kronecker product: each element of ``x`` times all of ``y``.

    Args:
        x, y (Tensor): tensors of numbers. If they differ in number of axes, leading axes of size 1 are added.

    Returns:
        Tensor whose size along each axis is the product of the sizes of ``x`` and ``y``.

    Raises:
        TypeError: If an operand is not a tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.kron(Tensor([[1.0, 2.0]]), Tensor([[1.0], [10.0]])))
    [[ 1.  2.]
     [10. 20.]]
    """
    for matrix in (x, y):
        if not isinstance(matrix, Tensor):
            raise TypeError(f"For 'Kron', the operands must be tensors, but got {type(matrix).__name__}.")
    x, y = promoted("Kron", x, y, broadcast=False)
    rank = max(x.ndim, y.ndim)
    first, second = ((1,) * (rank - matrix.ndim) + matrix.shape for matrix in (x, y))
    apart = apply(reshape, x, shape=tuple(n for size in first for n in (size, 1)))
    inside = apply(reshape, y, shape=tuple(n for size in second for n in (1, size)))
    product = arithmetic.mul(apart, inside)
    return apply(reshape, product, shape=tuple(m * n for m, n in zip(first, second, strict=True)))


# alternative names, as in MindSpore
log_matrix_determinant = slogdet
matrix_determinant = det
