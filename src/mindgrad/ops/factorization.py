"""Matrix factorizations: Cholesky, QR, eigenvalues, singular values, inverses.

Shapes and dtypes are as in ``ops.linalg``. For repeated eigenvalues and singular values, see
``primitives.eigh_svd``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import eigh_svd, general_eig, linalg
from mindgrad.core.primitives.elementwise import safe_reciprocal
from mindgrad.core.primitives.logic import isfinite, logical_or
from mindgrad.core.primitives.reduction import reduce_any
from mindgrad.core.primitives.static_slices import concatenate, slice
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape
from mindgrad.core.trace.custom import CustomDerivative
from mindgrad.ops import arithmetic
from mindgrad.ops.arguments import number
from mindgrad.ops.comparison import greater, not_equal
from mindgrad.ops.complexes import conj
from mindgrad.ops.contraction import matmul
from mindgrad.ops.creation import eye
from mindgrad.ops.extremes import amax
from mindgrad.ops.linalg import adjoint_of, matrix_operand, solution, system, triangle_solved
from mindgrad.ops.matrices import tril, triu
from mindgrad.ops.operands import applied, cast, choose, promoted
from mindgrad.ops.reduction import flag
from mindgrad.ops.registry import public

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "eig", "eigh", "eigvals", "eigvalsh", "lstsq", "pinv",
    "qr", "svd", "svdvals",
]  # fmt: skip


@public("Tensor", "Cholesky(upper=False)(x)")
def cholesky(input_x: Any, upper: bool = False) -> Tensor:
    """Compute the Cholesky factor L with L Lᴴ = A.

    A is the symmetric (Hermitian) part of each matrix in ``input_x``.

    Args:
        input_x (Tensor): positive definite matrices of shape (…, n, n).
        upper (bool): whether to return the upper triangular Lᴴ instead of L.

    Returns:
        Tensor of the same shape as ``input_x``, with NaN for each matrix that is not positive definite.

    Raises:
        TypeError: If ``input_x`` is not a tensor or is float16 or bfloat16, or ``upper`` is not a bool.
        ValueError: If the matrices in the input are not square.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cholesky(Tensor([[4.0, 2.0], [2.0, 5.0]])))
    [[2. 0.]
     [1. 2.]]
    """
    flag(upper, "Cholesky", "upper")
    y = applied(linalg.cholesky, "Cholesky", matrix_operand(input_x, "Cholesky"))
    return adjoint_of(y) if upper else y


@public("Tensor", "CholeskySolve(upper=False)(b, factor)")
def cholesky_solve(input: Any, input2: Any, upper: bool = False) -> Tensor:
    """Solve A X = B, given the Cholesky factor of A.

    Args:
        input (Tensor): right-hand sides B, of shape (…, n, k).
        input2 (Tensor): Cholesky factor of A, of shape (…, n, n).
        upper (bool): whether the factor is the upper triangular Lᴴ instead of L.

    Returns:
        Tensor of the same shape as ``input``.

    Raises:
        TypeError: If an operand is not a tensor or is float16 or bfloat16, or ``upper`` is not a bool.
        ValueError: If the shapes of the operands do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cholesky_solve(Tensor([[8.0], [17.0]]), Tensor([[2.0, 0.0], [1.0, 2.0]])))
    [[0.375]
     [3.25 ]]
    """
    flag(upper, "CholeskySolve", "upper")
    factor, b, vectors = system("CholeskySolve", input2, input)
    low = adjoint_of(factor) if upper else factor
    y = triangle_solved("CholeskySolve", low, b, True, False)
    return solution(triangle_solved("CholeskySolve", conj(low), y, True, True), vectors)


@public("Tensor", "CholeskyInverse(upper=False)(x)")
def cholesky_inverse(input_x: Any, upper: bool = False) -> Tensor:
    """Compute the inverse of A, given the Cholesky factor of A.

    Args:
        input_x (Tensor): Cholesky factor of A, of shape (…, n, n).
        upper (bool): whether the factor is the upper triangular Lᴴ instead of L.

    Returns:
        Tensor of the same shape as ``input_x``.

    {Raises as cholesky}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cholesky_inverse(Tensor([[2.0, 0.0], [0.0, 4.0]])))
    [[0.25   0.    ]
     [0.     0.0625]]
    """
    factor = matrix_operand(input_x, "CholeskyInverse")
    size = factor.shape[-1] if factor.ndim else 0
    return cholesky_solve(eye(size, dtype=factor.dtype), factor, upper)


@public(
    "Tensor",
    "Qr(full_matrices=False)(x)(mode='complete' if self.full_matrices else 'reduced')",
    "mint.linalg.qr(A, mode='reduced')",
)
def qr(input: Any, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Compute the QR factorization A = Q R.

    Q has orthonormal columns and R is upper triangular. The derivative requires the first min(m, n) columns
    to be independent.

    Args:
        input (Tensor): matrices of shape (…, m, n).
        mode (str): ``"reduced"``, or ``"complete"`` for a square Q. The additional columns are
            a basis of the orthogonal complement of the other columns. The derivative ignores rotations of
            this basis.

    Returns:
        Two tensors: Q of shape (…, m, k) and R of shape (…, k, n), with k = min(m, n), or k = m in mode
        ``"complete"``.

    Raises:
        TypeError: If ``input`` is not a tensor, or is float16 or bfloat16.
        ValueError: If ``input`` has fewer than two axes, or ``mode`` is neither ``"reduced"`` nor
            ``"complete"``.

    >>> from mindgrad import Tensor, ops
    >>> q, r = ops.qr(Tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> print(ops.round(ops.matmul(q, r), decimals=4))
    [[3. 1.]
     [4. 2.]]
    """
    a = matrix_operand(input, "Qr")
    if a.ndim < 2:
        raise ValueError(f"For 'Qr', the input must have at least two axes, but its shape is {a.shape}.")
    rows, columns = a.shape[-2:]
    one_of(mode, ("reduced", "complete"), "Qr", "mode")
    if rows >= columns:
        q, r = applied(linalg.qr, "Qr", a)
        if mode == "reduced" or rows == columns:
            return q, r
        below = Tensor(np.zeros((*a.shape[:-2], rows - columns, columns), a.dtype.numpy))
        return completed(q), apply(concatenate, r, below, axis=a.ndim - 2)
    # the first ``rows`` columns of A determine Q; then R = Qᴴ A
    q, r = applied(linalg.qr, "Qr", _columns(a, 0, rows))
    rest = matmul(adjoint_of(q), _columns(a, rows, columns))
    return q, apply(concatenate, r, rest, axis=a.ndim - 1)


def completed(q: Tensor) -> Tensor:
    """Extend orthonormal columns Q of shape (…, m, k) by m − k orthogonal columns.

    The additional columns are N = P B Lᴴ⁻¹. B consists of unit vectors, P = 1 − Q Qᴴ is a projection, and L
    is the Cholesky factor of the Gram matrix of P B. The columns are orthonormal in derivatives of every
    order, and rotate as little as possible when Q changes.
    """
    basis = cast(apply(eigh_svd.complement_pivots, q), q.dtype)
    projected = arithmetic.sub(basis, matmul(q, matmul(adjoint_of(q), basis)))
    factor = applied(linalg.cholesky, "Qr", matmul(adjoint_of(projected), projected))
    complement = adjoint_of(
        triangle_solved("Qr", factor, adjoint_of(projected), lower=True, transposed=False)
    )
    return apply(concatenate, q, complement, axis=q.ndim - 1)  # type: ignore[no-any-return]


def _columns(a: Tensor, start: int, limit: int) -> Tensor:
    return apply(
        slice,
        a,
        start=(*(0 for _ in a.shape[:-1]), start),
        limit=(*a.shape[:-1], limit),
        strides=(1,) * a.ndim,
    )


def eig(A: Any) -> tuple[Tensor, Tensor]:
    """Compute eigenvalues and eigenvectors of general matrices: A V = V diag(w).

    Each eigenvector has length 1, and its first large component is positive. Derivatives preserve this
    normalization. The derivative of the eigenvectors of repeated eigenvalues is NaN. At a matrix that is not
    diagonalizable, the derivative of an eigenvalue is infinite, or finite and large because of rounding. For
    symmetric matrices use :func:`eigh`, which is faster and real.

    Args:
        A (Tensor): matrices of shape (…, n, n).

    Returns:
        Two tensors: the eigenvalues w, of shape (…, n), in the order of LAPACK, and V of shape (…, n, n) with
        the eigenvectors as columns. Both are complex64, or complex128 for double precision.

    Raises:
        TypeError: If ``A`` is not a tensor, or is float16 or bfloat16.
        ValueError: If the matrices in the input are not square.

    >>> from mindgrad import Tensor, ops
    >>> values, vectors = ops.eig(Tensor([[0.0, -2.0], [2.0, 0.0]]))
    >>> print(values)
    [0.+2.j 0.-2.j]
    """
    return applied(general_eig.eig, "Eig", matrix_operand(A, "Eig"))


@public("Tensor")
def eigvals(A: Any) -> Tensor:
    """Compute the eigenvalues of general matrices.

    Args:
        A (Tensor): matrices of shape (…, n, n).

    Returns:
        Complex tensor of shape (…, n), in the order of :func:`eig`.

    {errors of square matrices A}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.eigvals(Tensor([[0.0, -2.0], [2.0, 0.0]])))
    [0.+2.j 0.-2.j]
    """
    return applied(general_eig.eigvals, "Eigvals", matrix_operand(A, "Eigvals"))


@public()
def eigh(a: Any) -> tuple[Tensor, Tensor]:
    """Compute eigenvalues and eigenvectors of symmetric (Hermitian) matrices.

    Only the symmetric part of each matrix is used. Eigenvectors of repeated eigenvalues are not unique, and
    their derivative is NaN. The derivative of every result computed with them is NaN too, even if it exists
    mathematically, such as for ``V f(Λ) Vᴴ`` (use :func:`matrix_exp`). Sums and functions of the eigenvalues,
    and the eigenvectors of simple eigenvalues, have the correct derivative.

    Returns:
        Two tensors: the real eigenvalues in ascending order, of shape (…, n), and the eigenvectors, as
        columns of matrices of shape (…, n, n).

    {as eig}

    >>> from mindgrad import Tensor, ops
    >>> values, vectors = ops.eigh(Tensor([[2.0, 0.0], [0.0, 1.0]]))
    >>> print(values)
    [1. 2.]
    """
    return applied(eigh_svd.eigh, "Eigh", matrix_operand(a, "Eigh"))


def of_one_triangle(x: Tensor, lower: bool) -> Tensor:
    """Return the Hermitian matrices with the lower or upper triangles of ``x``."""
    triangle, rest = (tril(x), tril(x, -1)) if lower else (triu(x), triu(x, 1))
    return triangle + adjoint_of(rest)  # type: ignore[operator]


@public()
def eigvalsh(a: Any) -> Tensor:
    """Compute the eigenvalues of symmetric (Hermitian) matrices, ascending.

    Only the symmetric part of each matrix is used.

    Returns:
        Real tensor of shape (…, n) with the eigenvalues of each matrix.

    {as eig}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.eigvalsh(Tensor([[2.0, 0.0], [0.0, 1.0]])))
    [1. 2.]
    """
    return applied(eigh_svd.eigvalsh, "Eigvalsh", matrix_operand(a, "Eigvalsh"))


@public("Tensor", "Svd(full_matrices=False, compute_uv=True)(x)")
def svd(input: Any, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Compute the singular value decomposition A = U diag(s) Vᴴ.

    Args:
        input (Tensor): matrices of shape (…, m, n).
        full_matrices (bool): whether to return square U and V. The additional columns are a basis
            of the orthogonal complement of the other columns. The derivative ignores rotations of this basis.
        compute_uv (bool): whether to return U and V in addition to s.

    Returns:
        The tuple (s, U, V), in the order of MindSpore. The singular values s are real, in descending order,
        and have the shape (…, k) with k = min(m, n). U has the shape (…, m, k), and V has the shape (…, n,
        k). With ``full_matrices``, the shapes are (…, m, m) and (…, n, n). Without ``compute_uv``, only s is
        returned.

    Raises:
        TypeError: If ``input`` is not a tensor or is float16 or bfloat16, or ``full_matrices`` or
            ``compute_uv`` is not a bool.
        ValueError: If ``input`` has fewer than two axes.

    >>> from mindgrad import Tensor, ops
    >>> s, u, v = ops.svd(Tensor([[3.0, 0.0], [0.0, 4.0]]))
    >>> print(s)
    [4. 3.]
    """
    flag(full_matrices, "Svd", "full_matrices")
    flag(compute_uv, "Svd", "compute_uv")
    a = matrix_operand(input, "Svd")
    if not compute_uv:
        return applied(eigh_svd.svdvals, "Svd", a)
    u, s, vh = applied(eigh_svd.svd, "Svd", a)
    v, (rows, columns) = adjoint_of(vh), a.shape[-2:]
    if full_matrices and rows > columns:
        u = completed(u)
    if full_matrices and rows < columns:
        v = completed(v)
    return s, u, v


def svdvals(input: Any) -> Tensor:
    """Compute the singular values in descending order.

    Args:
        input (Tensor): matrices of shape (…, m, n).

    Returns:
        Real tensor of shape (…, min(m, n)) with the singular values of each matrix.

    Raises:
        TypeError: If ``input`` is not a tensor, or is float16 or bfloat16.
        ValueError: If ``input`` has fewer than two axes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.svdvals(Tensor([[3.0, 0.0], [0.0, 4.0]])))
    [4. 3.]
    """
    return applied(eigh_svd.svdvals, "Svdvals", matrix_operand(input, "Svdvals"))


# --- the pseudoinverse and least squares -------------------------------------------------------------


def _pinv_value(a: Tensor, atol: float, rtol: float) -> Tensor:
    """Return V S⁺ Uᴴ; S⁺ has 1 / s for singular values s above the limit, else 0."""
    u, s, vh = applied(eigh_svd.svd, "Pinv", a)
    if not s.shape[-1]:
        return adjoint_of(a)
    limit = arithmetic.add(arithmetic.mul(amax(s, -1, True), rtol), atol)
    scale = apply(safe_reciprocal, choose(greater(s, limit), s, 0.0))
    scale = apply(reshape, scale, shape=(*scale.shape[:-1], 1, scale.shape[-1]))
    return matmul(arithmetic.mul(adjoint_of(vh), scale), adjoint_of(u))


def _finite_or(is_used: Tensor, x: Tensor) -> Tensor:
    """Replace infinite and NaN elements with zeros in matrices that are not used."""
    spread = apply(broadcast_in_dim, is_used, shape=x.shape, dims=tuple(range(x.ndim - 2)))
    return choose(apply(logical_or, spread, apply(isfinite, x)), x, 0.0)


def _pinv_pulled(a: Tensor, atol: float, rtol: float, out: Tensor, dout: Tensor) -> tuple[Any, ...]:
    """Compute the transpose of Ẋ = −X Ȧ X + X Xᴴ Ȧᴴ (1 − A X) + (1 − X A) Ȧᴴ Xᴴ X.

    X = A⁺ is the pseudoinverse (G. H. Golub, V. Pereyra, 1973, for constant rank). The formula also holds for
    repeated singular values, for which the factors of the singular value decomposition have no derivative.
    """
    # A matrix with zero cotangent does not contribute to the gradient. Replace its NaN and infinite elements,
    # because zero times NaN would be NaN.
    is_used = apply(reduce_any, not_equal(dout, 0), axes=(dout.ndim - 2, dout.ndim - 1))
    a, out = _finite_or(is_used, a), _finite_or(is_used, out)
    x, xh, ct = out, adjoint_of(out), adjoint_of(dout)
    rest_rows = arithmetic.sub(eye(a.shape[-2], dtype=a.dtype), matmul(a, x))
    rest_columns = arithmetic.sub(eye(a.shape[-1], dtype=a.dtype), matmul(x, a))
    pulled = arithmetic.sub(
        arithmetic.add(
            matmul(matmul(rest_rows, ct), matmul(x, xh)), matmul(matmul(xh, x), matmul(ct, rest_columns))
        ),
        matmul(matmul(xh, dout), xh),
    )
    return pulled, None, None


_pinv = CustomDerivative(_pinv_value, _pinv_pulled, "pinv")


@public("Tensor")
def pinv(x: Any, *, atol: float | None = None, rtol: float | None = None, hermitian: bool = False) -> Tensor:
    """Compute the Moore–Penrose pseudoinverse of matrices.

    Its derivative assumes a constant rank.

    Args:
        x (Tensor): matrices of shape (…, m, n).
        atol (float or None): absolute tolerance: singular values up to this value count as 0. ``None`` means
            0.
        rtol (float or None): relative tolerance: singular values up to this fraction of the largest one count
            as 0. ``None`` means the larger of m and n times the machine epsilon, or 0 if ``atol`` is given.
        hermitian (bool): whether the matrices are symmetric (Hermitian); accepted for
            compatibility and ignored.

    Returns:
        Tensor of shape (…, n, m).

    Raises:
        TypeError: If ``x`` is not a tensor or is float16 or bfloat16, ``atol`` or ``rtol`` is not a number,
            or ``hermitian`` is not a bool.
        ValueError: If ``x`` has fewer than two axes, or ``atol`` or ``rtol`` is negative.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.pinv(Tensor([[2.0, 0.0], [0.0, 0.0]])))
    [[0.5 0. ]
     [0.  0. ]]
    """
    flag(hermitian, "Pinv", "hermitian")
    a = matrix_operand(x, "Pinv")
    for name, value in (("atol", atol), ("rtol", rtol)):
        if value is not None and number(value, "Pinv", name) < 0:
            raise ValueError(f"For 'Pinv', the '{name}' must not be negative, but got {value}.")
    eigh_svd.svd.type_rule(a.type)
    if rtol is None:
        noise = max(a.shape[-2:]) * float(np.finfo(a.dtype.numpy).eps)
        rtol = 0.0 if atol else noise
    return _pinv(a, float(atol or 0.0), float(rtol))


@public("Lstsq")
def lstsq(input: Any, A: Any) -> Tensor:
    """Solve the least-squares problem of minimizing ‖input · X − A‖.

    If there are several solutions X, the function returns the solution with the smallest norm.

    Args:
        input (Tensor): matrices of shape (…, m, n) of full rank min(m, n).
        A (Tensor): right-hand sides of shape (…, m, k), or of shape (m,) if ``input`` is a single matrix.

    Returns:
        Tensor X of shape (…, n, k), or of shape (n,) if ``A`` is 1-D.

    Raises:
        TypeError: If an operand is not a tensor, or is float16 or bfloat16.
        ValueError: If the shapes of the operands do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.lstsq(Tensor([[1.0], [1.0]]), Tensor([[1.0], [3.0]])))
    [[2.]]
    """
    x, b = promoted("Lstsq", matrix_operand(input, "Lstsq"), A, broadcast=False)
    vectors = b.ndim == 1
    if (b.ndim if vectors else b.ndim - 1) < 1 or b.shape[-1 if vectors else -2] != x.shape[-2]:
        raise ValueError(
            f"For 'Lstsq', the inputs must have the shapes (…, m, n) and (…, m, k), but got {x.shape} and "
            f"{b.shape}."
        )
    if vectors:
        b = apply(reshape, b, shape=(*b.shape, 1))
    if x.shape[-2] >= x.shape[-1]:
        q, r = qr(x)
        solution = triangle_solved("Lstsq", r, matmul(adjoint_of(q), b), False, False, False)
    else:
        q, r = qr(adjoint_of(x))
        solution = matmul(q, triangle_solved("Lstsq", adjoint_of(r), b, True, False, False))
    return apply(reshape, solution, shape=solution.shape[:-1]) if vectors else solution
