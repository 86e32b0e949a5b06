"""General eigenvalue decomposition: complex eigenvalues and eigenvectors.

The derivatives are, with A V = V Λ and M = V⁻¹ Ȧ V (M. B. Giles, "Collected matrix derivative results",
2008)::

    λ̇ = diag M,     V̇ = V (F ∘ M) − V diag(c),     F_ij = 1 / (λ_j − λ_i),  F_ii = 0

where c keeps each column normalized: its length is 1, and its first large component is real and positive (C.
Boeddeker et al., "On the computation of complex-valued gradients with application to statistically optimum
beamforming", 2017, section 4). Gaps are treated as in ``primitives.eigh_svd``: if two eigenvalues are equal
up to rounding, derivatives of their eigenvectors are NaN. A defective matrix has too few eigenvectors, and
some of its eigenvalues have infinite derivatives. Because of rounding, the computed values of these
derivatives are large finite numbers.
"""

from __future__ import annotations

import numpy as np

from mindgrad.core.ir.dtype import complex64, complex128, float32, float64
from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.rules import Array, Atoms, Module, Tangent
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.arithmetic import masked_multiply, select
from mindgrad.core.primitives.axes import Core
from mindgrad.core.primitives.comparisons import greater
from mindgrad.core.primitives.complexes import complex, imag, real
from mindgrad.core.primitives.eigh_svd import column_pivots, phases
from mindgrad.core.primitives.kinds import full, general, zeros
from mindgrad.core.primitives.linalg import solve
from mindgrad.core.primitives.linalg_rules import (
    check_square,
    columns,
    diagonal,
    masked,
    matmul,
    of_matrices,
    off_diagonal,
    on_failure_nan,
    rows,
)
from mindgrad.core.primitives.piecewise import abs
from mindgrad.core.primitives.reduction import reduce_max, reduce_sum
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.structural import broadcast_in_dim, stop_gradient

__all__ = ["eig", "eigvals"]

_WHOLE = {float32: complex64, float64: complex128}


def _values_type(a: TensorType, name: str) -> TensorType:
    check_square(name, a)
    return a.with_dtype(_WHOLE.get(a.dtype, a.dtype)).with_shape(a.shape[:-1])


def _eig_type(a: TensorType) -> tuple[TensorType, TensorType]:
    values = _values_type(a, "eig")
    return values, values.with_shape(a.shape)


def _whole(a: Atom) -> Atom:
    return a if a.dtype.kind == "complex" else complex(a, zeros(a.type))


def _between(values: Atom, like: Atom) -> Atom:
    """Return 1 / (λ_j − λ_i); NaN for gaps of rounding noise, and 0 on the diagonal."""
    gaps = columns(values, like) - rows(values, like)
    size = abs(stop_gradient(gaps))
    largest = abs(stop_gradient(values))
    if values.shape[-1]:
        largest = reduce_max(largest, axes=(len(values.shape) - 1,))
        level = largest * (values.shape[-1] * float(np.finfo(largest.dtype.numpy).eps))
        level = broadcast_in_dim(level, shape=size.shape, dims=tuple(range(len(level.shape))))
        above = greater(size, level)
        inverse = 1 / select(above, gaps, full(gaps.type, 1))
        gaps = select(above, inverse, full(gaps.type, np.nan))
    return masked(gaps, off_diagonal(like.shape))


def _normalized(v: Atom, dv: Atom) -> Atom:
    """Return V̇ without changes of the length and the phase of the columns of V."""
    axes = (len(v.shape) - 2,)
    stretch = reduce_sum(real(v) * real(dv) + imag(v) * imag(dv), axes=axes)
    where = column_pivots(v)
    turn = reduce_sum(masked(imag(dv), where), axes=axes) / reduce_sum(masked(real(v), where), axes=axes)
    return dv - columns(complex(stretch, turn), v) * v


def _eig_jvp(y: Atoms, xs: Atoms, ts: Atoms) -> tuple[Tangent, Tangent]:
    values, v = y
    m = solve(v, matmul(_whole(ts[0]), v))
    dv = matmul(v, masked_multiply(_between(values, m), m))
    return diagonal(m), _normalized(v, dv)


def _eigvals_jvp(y: Atom, xs: Atoms, ts: Atoms) -> Tangent:
    _, v = eig(xs[0])
    return diagonal(solve(v, matmul(_whole(ts[0]), v)))


def _eig_numpy(a: Array) -> tuple:
    whole = np.result_type(a.dtype, np.complex64)
    values, v = np.linalg.eig(a)
    values, v = values.astype(whole), v.astype(whole)
    return values, v * phases(np, v)


def _eig_xla(jax: Module, a: Array) -> tuple:
    values, v = jax.numpy.linalg.eig(a)
    return values, v * phases(jax.numpy, v)


def _general(x: Array, *others: Array) -> list[Array]:
    """Return a matrix whose eigenvalues, real and conjugate, are well separated."""
    exact = np.complex128 if x.dtype.kind == "c" else np.float64
    size = x.shape[-1]
    middle = np.diag(np.arange(size, dtype=exact) * 1.5 - 0.7)
    if size > 1:
        middle[:2, :2] = [[0.6, -1.1], [1.1, 0.6]]
    basis = x.astype(exact) + 3 * np.eye(size)
    return [(basis @ middle @ np.linalg.inv(basis)).astype(x.dtype), *others]


_SAMPLES = [
    case(reals()[3, 3], prepare=_general),
    case(reals()[2, 2, 2], prepare=_general),
    case(reals()[1, 1]),
    case(reals()[0, 0]),
]

#: ``eig(a)``: the complex eigenvalues of a matrix in LAPACK's order, and the complex eigenvectors as columns
#: of a matrix
eig = general(
    "eig",
    work=of_matrices(25),
    type_rule=_eig_type,
    numpy=on_failure_nan(_eig_numpy),
    xla=_eig_xla,
    jvp=_eig_jvp,
    axes=Core("(i,j)->(k),(i,k)"),
    multiple=True,
    samples=_SAMPLES,
)

#: ``eigvals(a)``: only the eigenvalues of ``eig``
eigvals = general(
    "eigvals",
    work=of_matrices(10),
    type_rule=lambda a: _values_type(a, "eigvals"),
    numpy=on_failure_nan(lambda a: np.linalg.eigvals(a).astype(np.result_type(a.dtype, np.complex64))),
    xla=lambda jax, a: jax.numpy.linalg.eigvals(a),
    jvp=_eigvals_jvp,
    axes=Core("(i,j)->(k)"),
    samples=_SAMPLES,
)
