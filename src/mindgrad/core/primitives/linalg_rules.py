"""Helpers for linear algebra rules: products, triangles, diagonals, test samples.

A matrix is the last two axes of an operand; all axes before them are a batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mindgrad.core.ir.dtype import complex64, complex128, float32, float64, int32
from mindgrad.core.ir.graph import Atom, Equation
from mindgrad.core.ir.rules import Array, Kernel
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.ir.work import Work, by
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.comparisons import equal, greater, greater_equal, not_equal
from mindgrad.core.primitives.complexes import conj
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.kinds import ones, zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, iota, transpose

__all__ = [
    "adjoint", "check_matrix", "check_square", "columns", "diagonal", "dominant",
    "hermitian", "identity", "lower", "masked", "matmul", "of_matrices", "off_diagonal", "on_failure_nan",
    "on_the_diagonal", "positive_definite", "real_part_type", "rows", "separated", "sum_of_products",
    "swapped", "upper", "well_conditioned",
]  # fmt: skip

_SUPPORTED = (float32, float64, complex64, complex128)
_REAL_PART = {complex64: float32, complex128: float64}


# --- type rules ------------------------------------------------------------------------------------


def check_matrix(name: str, *xs: TensorType) -> None:
    """Raise an error unless ``xs`` are matrices of the same dtype and batch shape."""
    for x in xs:
        if x.dtype not in _SUPPORTED or x.dtype is not xs[0].dtype:
            raise TypeError(
                f"For '{name}', the input must be Float32, Float64, Complex64 or Complex128"
                f"{'' if len(xs) == 1 else ' (the same for all operands)'}, but got "
                f"{', '.join(str(matrix.dtype) for matrix in xs)}: convert it first."
            )
        if x.rank < 2 or x.shape[:-2] != xs[0].shape[:-2]:
            raise ValueError(
                f"For '{name}', the input must be a matrix or a batch of matrices, of shape (…, m, n)"
                f"{'' if len(xs) == 1 else ', with the same batch axes'}, but got the shapes "
                f"{', '.join(str(matrix.shape) for matrix in xs)}."
            )


def check_square(name: str, x: TensorType) -> None:
    """Raise an error unless ``x`` is a batch of square matrices."""
    check_matrix(name, x)
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For '{name}', the matrix must be square, of shape (…, n, n), but got {x.shape}.")


def real_part_type(x: TensorType) -> TensorType:
    """Return the type of the real parts of ``x``."""
    return x.with_dtype(_REAL_PART.get(x.dtype, x.dtype))


# --- kernels ---------------------------------------------------------------------------------------


def on_failure_nan(kernel: Callable, lower: bool = False) -> Kernel:
    """Wrap a kernel so that it returns NaN, as XLA does, if ``numpy.linalg`` fails.

    One singular matrix then does not affect the other matrices of its batch. If ``lower`` is true, the result
    is a lower triangle, and elements above the diagonal are zero even for a singular matrix.
    """

    def run(*arrays: Array, **parameters: object) -> Array | tuple[Array, ...]:
        try:
            return kernel(*arrays, **parameters)
        except np.linalg.LinAlgError:
            return _one_by_one(kernel, arrays, parameters, lower)

    return run


def _one_by_one(
    kernel: Callable, arrays: Sequence[Array], parameters: dict, lower: bool
) -> Array | tuple[Array, ...]:
    batch = arrays[0].shape[:-2]
    # find the shapes of the results by calling the kernel with identity matrices, for which it cannot fail
    easy = kernel(*(np.eye(*a.shape[-2:], dtype=a.dtype) for a in arrays), **parameters)
    several = isinstance(easy, tuple)
    templates = easy if several else (easy,)
    results = tuple(np.full((*batch, *np.shape(t)), np.nan, t.dtype) for t in templates)
    if lower:
        results = tuple(map(np.tril, results))
    for index in np.ndindex(*batch):
        try:
            outputs = kernel(*(a[index] for a in arrays), **parameters)
        except np.linalg.LinAlgError:
            continue
        for result, value in zip(results, outputs if several else (outputs,), strict=True):
            result[index] = value
    return results if several else results[0]


# --- rules -----------------------------------------------------------------------------------------


def swapped(x: Atom) -> Atom:
    """Transpose each matrix of a batch."""
    rank = len(x.shape)
    return transpose(x, permutation=(*range(rank - 2), rank - 1, rank - 2))


def adjoint(x: Atom) -> Atom:
    """Transpose each matrix of a batch, and conjugate complex elements."""
    x = swapped(x)
    return conj(x) if x.dtype.kind == "complex" else x


def hermitian(x: Atom) -> Atom:
    """Return the symmetric (Hermitian) part of the matrices: (X + Xᴴ) / 2."""
    return (x + adjoint(x)) * 0.5


def matmul(a: Atom, b: Atom) -> Atom:
    """Multiply matrices with the same batch axes."""
    rank = len(a.shape)
    batch = tuple(range(rank - 2))
    return dot(a, b, contract=((rank - 1,), (rank - 2,)), batch=(batch, batch))


def _indices(shape: Shape) -> Iterator[Atom]:
    return (iota(shape=shape, axis=len(shape) - k, dtype=int32) for k in (2, 1))


def masked(x: Atom, mask: Atom) -> Atom:
    """Return the elements of ``x`` where ``mask`` is true, and zeros elsewhere."""
    return select(mask, x, zeros(x.type))


def off_diagonal(shape: Shape) -> Atom:
    """Return a mask of the off-diagonal elements of matrices with this shape."""
    i, j = _indices(shape)
    return not_equal(i, j)


def lower(x: Atom, strict: bool = False) -> Atom:
    """Return the lower triangle (if ``strict``, without diagonal); zeros elsewhere."""
    i, j = _indices(x.shape)
    return masked(x, greater(i, j) if strict else greater_equal(i, j))


def upper(x: Atom, strict: bool = False) -> Atom:
    """Return the upper triangle (if ``strict``, without diagonal); zeros elsewhere."""
    i, j = _indices(x.shape)
    return masked(x, greater(j, i) if strict else greater_equal(j, i))


def on_the_diagonal(x: Atom) -> Atom:
    """Return the matrix ``x`` with its off-diagonal elements replaced by zeros."""
    return masked(x, equal(*_indices(x.shape)))


def diagonal(x: Atom) -> Atom:
    """Return the diagonal of a square matrix as a vector."""
    return reduce_sum(on_the_diagonal(x), axes=(len(x.shape) - 1,))


def identity(type: TensorType) -> Atom:
    return on_the_diagonal(ones(type))


def _spread(v: Atom, like: Atom, axis: int) -> Atom:
    if v.dtype is not like.dtype:
        v = convert(v, dtype=like.dtype)
    dims = (*range(len(like.shape) - 2), axis)
    return broadcast_in_dim(v, shape=like.shape, dims=dims)


def columns(v: Atom, like: Atom) -> Atom:
    """Return the matrix with rows ``v``: result[i, j] = v[j], shaped like ``like``."""
    return _spread(v, like, len(like.shape) - 1)


def rows(v: Atom, like: Atom) -> Atom:
    """Return the matrix with columns ``v``: result[i, j] = v[i], shaped like ``like``."""
    return _spread(v, like, len(like.shape) - 2)


def sum_of_products(a: Atom, b: Atom) -> Atom:
    """Return Σᵢⱼ aᵢⱼ bᵢⱼ for each pair of matrices in the batches ``a`` and ``b``."""
    rank = len(a.shape)
    axes = tuple(range(rank))
    return dot(a, b, contract=(axes[-2:], axes[-2:]), batch=(axes[:-2], axes[:-2]))


# --- work ------------------------------------------------------------------------------------------


def of_matrices(factor: float) -> Work:
    """Return the work of ``factor · m · n · min(m, n)`` operations per m × n matrix."""

    def flops(equation: Equation) -> float:
        *lead, m, n = equation.inputs[0].shape
        return factor * math.prod(lead) * m * n * min(m, n)

    return by(flops)


# --- samples ---------------------------------------------------------------------------------------


def _prepared(function: Callable) -> Callable:
    """Return the argument ``prepare`` of a test sample, which applies ``function``."""

    def prepare(x: Array, *rest: Array) -> list[Array]:
        exact = np.complex128 if x.dtype.kind == "c" else np.float64
        return [function(x.astype(exact)).astype(x.dtype), *rest]

    return prepare


@_prepared
def positive_definite(x: Array) -> Array:
    """Return a positive definite matrix computed from ``x``."""
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1])


@_prepared
def well_conditioned(x: Array) -> Array:
    """Replace the singular values of ``x`` by k, …, 2, 1."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return (u * np.arange(s.shape[-1], 0, -1)) @ vh


@_prepared
def separated(x: Array) -> Array:
    """Return a Hermitian matrix whose eigenvalues are well separated, of both signs."""
    q = np.linalg.qr(x)[0]
    values = np.arange(x.shape[-1]) - 0.7
    return (q * values) @ np.conj(np.swapaxes(q, -1, -2))


@_prepared
def dominant(x: Array) -> Array:
    """Return a matrix with a dominant diagonal."""
    return x + 4 * np.eye(x.shape[-1])
