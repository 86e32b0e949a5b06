"""Linear algebra: linear systems, decompositions, eigenvalues, and norms.

The last two axes of an operand contain matrices. Leading axes are batch axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.numpy.creation import eye
from mindgrad.core.numpy.elementwise import absolute, conjugate, divide, greater, power, real, sqrt, where
from mindgrad.core.numpy.products import dot, matmul
from mindgrad.core.numpy.reductions import Axis, axes_of, max, min, sum
from mindgrad.core.numpy.shapes import expand_dims, moveaxis, reshape, squeeze, swapaxes
from mindgrad.core.primitives import determinant, eigh_svd, general_eig
from mindgrad.core.primitives import linalg as primitives
from mindgrad.core.primitives.reduction import norm as norm_of_reals
from mindgrad.core.trace.operands import applied, inexact, operand, promoted

__all__ = [
    "cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matrix_power",
    "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
]  # fmt: skip


def _matrix(a: object, name: str) -> Tensor:
    return inexact(operand(a, name))


def inv(a: object) -> Any:
    """Compute the inverses of square matrices."""
    return applied(primitives.inverse, _matrix(a, "inv"))


def solve(a: object, b: object) -> Any:
    """Solve the linear system ``a @ x = b``."""
    a, b = promoted("solve", a, b, float_only=True)
    if b.ndim == 1:
        return squeeze(solve(a, expand_dims(b, -1)), -1)
    return applied(primitives.solve, a, b)


def det(a: object) -> Any:
    """Compute the determinants of square matrices."""
    return applied(determinant.det, _matrix(a, "det"))


def slogdet(a: object) -> Any:
    """Compute the sign of the determinant, and the logarithm of its absolute value."""
    return applied(determinant.slogdet, _matrix(a, "slogdet"))


def cholesky(a: object) -> Any:
    """Compute the lower triangular factor L with ``a = L @ L.conj().T``."""
    return applied(primitives.cholesky, _matrix(a, "cholesky"))


def qr(a: object) -> Any:
    """Compute the QR decomposition ``a = Q @ R``, in which R is upper triangular.

    The columns of Q are orthonormal.
    """
    return applied(primitives.qr, _matrix(a, "qr"))


def eigh(a: object) -> Any:
    """Compute the ascending eigenvalues, and the eigenvectors, of Hermitian matrices."""
    return applied(eigh_svd.eigh, _matrix(a, "eigh"))


def eigvalsh(a: object) -> Any:
    """Compute the eigenvalues of Hermitian matrices, in ascending order."""
    return applied(eigh_svd.eigvalsh, _matrix(a, "eigvalsh"))


def eig(a: object) -> Any:
    """Compute the complex eigenvalues and eigenvectors of square matrices."""
    return applied(general_eig.eig, _matrix(a, "eig"))


def eigvals(a: object) -> Any:
    """Compute the complex eigenvalues of square matrices."""
    return applied(general_eig.eigvals, _matrix(a, "eigvals"))


def svd(a: object) -> Any:
    """Compute the reduced singular value decomposition ``a = U @ diag(s) @ Vᴴ``."""
    return applied(eigh_svd.svd, _matrix(a, "svd"))


def svdvals(a: object) -> Any:
    """Compute the singular values, in descending order."""
    return applied(eigh_svd.svdvals, _matrix(a, "svdvals"))


def pinv(a: object, rcond: float = 1e-15) -> Any:
    """Compute the pseudoinverse.

    Singular values below ``rcond`` times the largest singular value are treated as zero.
    """
    u, s, vh = svd(a)
    is_large = greater(s, max(s, -1, keepdims=True) * rcond)
    inverse = where(is_large, divide(1.0, where(is_large, s, 1.0)), 0.0)
    return matmul(_adjoint(vh) * expand_dims(inverse, -2), _adjoint(u))


def _adjoint(x: object) -> Any:
    return conjugate(swapaxes(x, -1, -2))


def lstsq(a: object, b: object) -> Any:
    """Compute the ``x`` of smallest norm that minimizes the norm of ``a @ x − b``."""
    return dot(pinv(a), b)


def matrix_power(a: object, n: int) -> Any:
    """Compute the ``n``-th power of a square matrix; ``n`` may be negative."""
    x = _matrix(a, "matrix_power")
    x, n = (inv(x), -n) if n < 0 else (x, n)
    result = eye(x.shape[-1], dtype=x.dtype)
    for digit in f"{n:b}":
        result = matmul(result, result)
        if digit == "1":
            result = matmul(result, x)
    return result


def multi_dot(arrays: Sequence[object]) -> Any:
    """Multiply a sequence of matrices, from left to right."""
    product = arrays[0]
    for each in arrays[1:]:
        product = matmul(product, each)
    return product


def norm(x: object, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute vector norms along one axis, or matrix norms along two axes.

    For a vector norm, ``ord`` is a number or infinity (default: 2). For a matrix norm, ``ord`` is ``"fro"``
    (default), 1, 2, infinity, or ``"nuc"``.
    """
    x = _matrix(x, "norm")
    axes = axes_of("norm", axis, x.ndim)
    if ord is None or (ord == 2 and len(axes) == 1) or ord == "fro":
        return _euclidean(x, axes, keepdims)
    if len(axes) == 1:
        return _of_vector(x, ord, axes[0], keepdims)
    if len(axes) > 2:
        raise ValueError(f"For 'norm', ord={ord!r} needs one or two axes, but got {len(axes)}. Set 'axis'.")
    matrices = moveaxis(x, axes, (-2, -1))
    if ord in (2, "nuc"):
        norms = (max if ord == 2 else sum)(svdvals(matrices), -1)
    elif ord in (1, math.inf):
        norms = max(sum(absolute(matrices), -2 if ord == 1 else -1), -1)
    else:
        raise ValueError(
            f"For 'norm', ord={ord!r} is not a norm of matrices: use 'fro', 'nuc', 1, 2, or inf."
        )
    return reshape(norms, [1 if k in axes else n for k, n in enumerate(x.shape)]) if keepdims else norms


def _euclidean(x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Any:
    if x.dtype.kind == "complex":
        return sqrt(sum(real(x * conjugate(x)), axes, keepdims=keepdims))
    found = applied(norm_of_reals, x, axes=tuple(sorted(axes)))
    return reshape(found, [1 if k in axes else n for k, n in enumerate(x.shape)]) if keepdims else found


def _of_vector(x: object, ord: float, axis: int, keepdims: bool) -> Any:
    sizes = absolute(x)
    if math.isinf(ord):
        return (max if ord > 0 else min)(sizes, axis, keepdims)
    if ord == 1:
        return sum(sizes, axis, keepdims=keepdims)
    return power(sum(power(sizes, float(ord)), axis, keepdims=keepdims), 1.0 / ord)


def cond(x: object) -> Any:
    """Compute the condition number: largest divided by smallest singular value."""
    s = svdvals(x)
    return divide(max(s, -1), min(s, -1))
