"""Linear algebra on tensors, with SciPy's names, as in ``mindspore.scipy.linalg``.

All functions call ``mindgrad.ops`` and are differentiable. Arguments that control SciPy's memory use and
checks (``overwrite_a``, ``check_finite``) are accepted and have no effect. A matrix of integers is converted
to float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import int64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import factorization
from mindgrad.ops import linalg as _linalg
from mindgrad.ops.arithmetic import mul, sub
from mindgrad.ops.comparison import greater
from mindgrad.ops.contraction import matmul
from mindgrad.ops.creation import zeros
from mindgrad.ops.exponential import matrix_exp
from mindgrad.ops.extremes import amax
from mindgrad.ops.layout import reshape
from mindgrad.ops.linalg import adjoint_of
from mindgrad.ops.lu_factors import lu_factors, lu_parts, permutation_of, solved_by_factors
from mindgrad.ops.matrix_bands import block_diag as _block_diag
from mindgrad.ops.operands import cast, inexact, operand
from mindgrad.ops.reduction import flag
from mindgrad.ops.reduction import sum as sum_of
from mindgrad.ops.rounding import abs as abs_of

__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "det", "eigh", "expm", "inv", "lstsq", "lu",
    "lu_factor", "lu_solve", "solve", "solve_triangular",
]  # fmt: skip


def _matrix(x: Any, operator: str) -> Tensor:
    return inexact(operand(x, operator))


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """Compute the inverse of square matrices.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> print(scipy.linalg.inv(Tensor([[2.0, 0.0], [0.0, 4.0]])))
    [[0.5  0.  ]
     [0.   0.25]]
    """
    return _linalg.inverse(_matrix(a, "inv"))


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """Compute the determinant of square matrices.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> print(scipy.linalg.det(Tensor([[2.0, 0.0], [0.0, 4.0]])))
    8.0
    """
    return _linalg.det(_matrix(a, "det"))


def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Tensor:
    """Solve the linear system ``A x = b`` for a square matrix A.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> print(scipy.linalg.solve(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([2.0, 8.0])))
    [1. 2.]
    """
    return _linalg.solve(_matrix(a, "solve"), _matrix(b, "solve"))


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """Compute the Cholesky factor L with ``L Lᴴ = A``, or its conjugate transpose.

    Args:
        a (Tensor): positive definite matrices; only their symmetric part is used.
        lower (bool, optional): whether to return L; otherwise return Lᴴ. Default: ``False``.
        overwrite_a, check_finite (bool, optional): accepted for compatibility and ignored.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> print(scipy.linalg.cholesky(Tensor([[4.0, 2.0], [2.0, 5.0]]), lower=True))
    [[2. 0.]
     [1. 2.]]
    """
    return factorization.cholesky(_matrix(a, "cholesky"), not flag(lower, "cholesky", "lower"))


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, bool]:
    """Return the Cholesky factor and ``lower``, as arguments for :func:`cho_solve`.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> factor = scipy.linalg.cho_factor(Tensor([[4.0, 2.0], [2.0, 5.0]]))
    >>> print(scipy.linalg.cho_solve(factor, Tensor([8.0, 12.0])))
    [1. 2.]
    """
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Tensor:
    """Solve ``A x = b``, given the result of :func:`cho_factor` for A.

    ``b`` is a vector or a matrix.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> print(scipy.linalg.cho_solve((Tensor([[2.0, 0.0], [1.0, 2.0]]), True), Tensor([8.0, 12.0])))
    [1. 2.]
    """
    factor, lower = c_and_lower
    return factorization.cholesky_solve(_matrix(b, "cho_solve"), _matrix(factor, "cho_solve"), not lower)


def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Tensor:
    """Solve ``T x = b`` for a triangular matrix T, a triangle of ``a``.

    See :func:`mindgrad.ops.solve_triangular`.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> print(scipy.linalg.solve_triangular(Tensor([[2.0, 1.0], [0.0, 4.0]]), Tensor([4.0, 8.0])))
    [1. 2.]
    """
    return _linalg.solve_triangular(
        _matrix(a, "solve_triangular"), _matrix(b, "solve_triangular"), trans, lower, unit_diagonal
    )


def eigh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: Any = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Compute eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    The eigenvalues λ and eigenvectors v solve ``A v = λ B v``. The eigenvalues are in ascending order.
    Eigenvectors of repeated eigenvalues are not differentiable: their derivative is NaN, see
    :func:`mindgrad.ops.eigh`.

    Args:
        a (Tensor): matrix A, a tensor of shape (n, n) with float32 or a wider dtype.
        b (Tensor, optional): positive definite matrix B. ``None`` means the identity. Default: ``None``.
        lower (bool, optional): whether to read the lower triangles of ``a`` and ``b``; otherwise read the
            upper triangles. Default: ``True``.
        eigvals_only (bool, optional): whether to return only the eigenvalues. Default: ``False``.
        eigvals (None, optional): must be ``None``, because all eigenvalues are computed. Default: ``None``.
        type (int, optional): must be 1, which means the problem ``A v = λ B v``. Default: ``1``.
        overwrite_a, overwrite_b, turbo, check_finite (bool, optional): accepted for compatibility and
            ignored.

    Returns:
        tuple: the eigenvalues, and a matrix V whose columns are the eigenvectors, with ``Vᴴ B V = I``. If
        ``eigvals_only`` is true, a tensor of the eigenvalues.

    Raises:
        TypeError: If ``lower`` or another flag is not a bool, or ``a`` has less than 32 bits per element.
        ValueError: If ``eigvals`` is not ``None``, ``type`` is not 1, or ``a`` is not a square matrix.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> print(scipy.linalg.eigh(Tensor([[2.0, 0.0], [0.0, 1.0]]), eigvals_only=True))
    [1. 2.]
    """
    if eigvals is not None or type != 1:
        raise ValueError(
            "For 'eigh', 'eigvals' must be None and 'type' must be 1: it computes all eigenvalues of "
            "A v = λ B v."
        )
    flags = {
        "lower": lower, "eigvals_only": eigvals_only, "overwrite_a": overwrite_a, "overwrite_b": overwrite_b,
        "turbo": turbo, "check_finite": check_finite,
    }  # fmt: skip
    for name, value in flags.items():
        flag(value, "eigh", name)
    if isinstance(a, Tensor) and a.dtype.itemsize < 4 and a.dtype.is_float:
        raise TypeError(
            "For 'eigh', the matrix must have the dtype float32 or a dtype of higher precision, but its "
            f"dtype is {a.dtype}."
        )
    if isinstance(a, Tensor) and (a.ndim != 2 or a.shape[0] != a.shape[1]):
        raise ValueError(
            f"For 'eigh', the matrix must be square, of shape (n, n), but its shape is {a.shape}. "
            "Use ops.eigh for a batch of matrices."
        )
    x = _symmetric(a, lower)
    if b is None:
        return factorization.eigvalsh(x) if eigvals_only else factorization.eigh(x)
    factor = factorization.cholesky(_symmetric(b, lower))
    half = _linalg.solve_triangular(factor, x, lower=True)
    reduced = _linalg.solve_triangular(factor, adjoint_of(half), lower=True)
    if eigvals_only:
        return factorization.eigvalsh(reduced)
    values, v = factorization.eigh(reduced)
    return values, _linalg.solve_triangular(factor, v, "C", lower=True)


def _symmetric(a: Any, lower: bool) -> Tensor:
    return factorization.of_one_triangle(_matrix(a, "eigh"), lower)


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Tensor, Tensor]:
    """Compute the LU factors of square matrices, in one matrix, and the pivots.

    The i-th pivot is the row that was exchanged with row i.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> factors = scipy.linalg.lu_factor(Tensor([[1.0, 2.0], [2.0, 2.0]]))
    >>> print(factors[0], factors[1], scipy.linalg.lu_solve(factors, Tensor([3.0, 4.0])))
    [[2.  2. ]
     [0.5 1. ]] [1 1] [1. 1.]
    """
    a = _matrix(a, "lu_factor")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"For 'lu_factor', the matrix must be square, but its shape is {a.shape}.")
    return lu_factors("lu_factor", a)


def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Compute P, L, and U with ``A = P L U``; if ``permute_l``, return ``P L`` and U.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> p, low, up = scipy.linalg.lu(Tensor([[1.0, 2.0], [2.0, 2.0]]))
    >>> print(p @ low @ up)
    [[1. 2.]
     [2. 2.]]
    """
    factors, pivots = lu_factors("lu", _matrix(a, "lu"))
    p, (low, up) = permutation_of(pivots, factors.shape[-2], factors.dtype), lu_parts(factors)
    return (matmul(p, low), up) if flag(permute_l, "lu", "permute_l") else (p, low, up)


def lu_solve(
    lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Tensor:
    """Solve ``A x = b``, given the result of :func:`lu_factor` for A.

    If ``trans`` is 1, solve ``Aᵀ x = b``; if it is 2, solve ``Aᴴ x = b``.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> factors = scipy.linalg.lu_factor(Tensor([[0.0, 2.0], [4.0, 0.0]]))
    >>> print(scipy.linalg.lu_solve(factors, Tensor([2.0, 4.0])))
    [1. 1.]
    """
    factors, pivots = lu_and_piv
    return solved_by_factors("lu_solve", _matrix(factors, "lu_solve"), pivots, _matrix(b, "lu_solve"), trans)


def lstsq(A: Any, B: Any, rcond: float | None = None, driver: str | None = None) -> tuple[Tensor, ...]:
    """Solve a least-squares problem: minimize ``‖A x − B‖²``.

    If there are several solutions, return the one with the least norm.

    Args:
        A (Tensor): matrix of shape (m, n) and any rank.
        B (Tensor): right-hand side, of shape (m,), or (m, k) for k right-hand sides.
        rcond (float, optional): singular values up to ``rcond`` times the largest one are treated as zero.
            Default: the machine epsilon.
        driver (str, optional): name of the LAPACK routine whose results are returned: ``"gelsy"``,
            ``"gelss"``, or ``"gelsd"``. Default: ``None``, which means ``"gelsy"``.

    Returns:
        tuple: ``(x, residuals, rank, s)``.

        - ``x``: the solution, of shape (n,) or (n, k). Its derivative assumes constant rank.
        - ``residuals``: sums of squares of ``A x − B``, of shape (1,) or (k,). Empty with ``"gelsy"`` or if m
          ≤ n.
        - ``rank``: the rank, an int64 scalar.
        - ``s``: the singular values. Empty with ``"gelsy"``.

    Raises:
        TypeError: If a matrix is not a tensor, or is of dtype float16 or bfloat16.
        ValueError: If the shapes do not match, or ``driver`` is not ``"gelsy"``, ``"gelss"``, or ``"gelsd"``.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> a, b = Tensor([[1.0], [1.0]]), Tensor([[1.0], [3.0]])
    >>> x, residuals, rank, s = scipy.linalg.lstsq(a, b, driver="gelsd")
    >>> print(x.shape, residuals, rank)
    (1, 1) [2.] 1
    """
    a, b = _matrix(A, "lstsq"), _matrix(B, "lstsq")
    if driver not in (None, "gelsy", "gelss", "gelsd"):
        raise ValueError(
            f"For 'lstsq', the 'driver' must be 'gelsy', 'gelss' or 'gelsd', but got {driver!r}."
        )
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ValueError(
            f"For 'lstsq', the shapes must be (m, n), and (m,) or (m, k), but they are {a.shape} and "
            f"{b.shape}."
        )
    smallest = float(np.finfo(a.dtype.numpy).eps) if rcond is None else rcond
    x = matmul(factorization.pinv(a, rtol=smallest), b)
    s = factorization.svdvals(a)
    rank = cast(sum_of(cast(greater(s, mul(amax(s), smallest)), int64)), int64)
    nothing = zeros((0,), a.dtype)
    if driver in (None, "gelsy"):
        return x, nothing, rank, nothing
    if a.shape[0] <= a.shape[1]:
        return x, nothing, rank, s
    distances = abs_of(sub(matmul(a, x), b))
    squares = sum_of(mul(distances, distances), 0)
    return x, reshape(squares, (-1,)), rank, s


def block_diag(*arrs: Any) -> Tensor:
    """Build a block diagonal matrix from matrices.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> print(scipy.linalg.block_diag(Tensor([[1.0]]), Tensor([[2.0, 3.0]])))
    [[1. 0. 0.]
     [0. 2. 3.]]
    """
    return _block_diag(*(arrs or (zeros((1, 0)),)))


def expm(A: Any) -> Tensor:
    """Compute the exponential of square matrices, see :func:`mindgrad.ops.matrix_exp`.

    >>> import mindgrad.scipy as scipy
    >>> from mindgrad import Tensor
    >>> print(scipy.linalg.expm(Tensor([[0.0, 1.0], [0.0, 0.0]])))
    [[1. 1.]
     [0. 1.]]
    """
    return matrix_exp(A)
