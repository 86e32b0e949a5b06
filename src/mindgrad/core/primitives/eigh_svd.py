"""Symmetric eigenvalue decomposition and singular value decomposition.

Derivatives divide by the gaps between eigenvalues. All primitives and their derivatives follow this
convention:

- The rounding noise of a matrix is its largest eigenvalue × its size × the machine epsilon. A gap, a sum of
  two singular values, or a singular value below this threshold counts as zero. The derivatives of the
  corresponding vectors are then NaN, never a wrong finite number. So are the derivatives of functions such as
  V f(Λ) Vᴴ, which exist but cannot be computed from this factorization. Results that do not depend on those
  vectors are not affected, such as eigenvalues and the vectors of other eigenvalues.
- A singular value that is zero has derivative 0, as the absolute value has at 0.
- Each eigenvector is determined up to a factor exp(iφ), which is chosen so that the first large component is
  positive. All kernels and devices therefore return the same result.

Formulas: M. B. Giles, "Collected matrix derivative results" (2008); J. Townsend, "Differentiating the
singular value decomposition" (2016), with separate sums and differences of singular values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.rules import Array, Atoms, Module, Stored, Tangent
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.arithmetic import masked_multiply, select
from mindgrad.core.primitives.axes import Core
from mindgrad.core.primitives.comparisons import greater
from mindgrad.core.primitives.complexes import complex, imag, real
from mindgrad.core.primitives.elementwise import safe_reciprocal
from mindgrad.core.primitives.kinds import constant, full, general, zeros
from mindgrad.core.primitives.linalg_rules import (
    adjoint,
    check_matrix,
    check_square,
    columns,
    diagonal,
    hermitian,
    masked,
    matmul,
    of_matrices,
    off_diagonal,
    on_failure_nan,
    real_part_type,
    separated,
    well_conditioned,
)
from mindgrad.core.primitives.piecewise import abs
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.spectra import eigenvalue_tangent, gaps, noise
from mindgrad.core.primitives.structural import broadcast_in_dim

__all__ = ["column_pivots", "eigh", "eigvalsh", "phases", "svd", "svdvals"]

#: A vector component is *large* if its absolute value is at least this fraction of the largest component.
#: Ratios of components are often simple numbers such as 1 or 1/2, but rarely near 0.37, so rounding errors do
#: not change which component is the first large one
_LARGE = 0.37


# --- reciprocals of gaps ---------------------------------------------------------------------------


def _above(x: Atom, level: Atom) -> Atom:
    """Return the mask ``x > level``, where ``level`` has one element for each matrix."""
    dims = tuple(range(len(level.shape)))
    return greater(x, broadcast_in_dim(level, shape=x.shape, dims=dims))


def _reciprocal(x: Atom, level: Atom) -> Atom:
    """Return 1 / x if |x| exceeds ``level``, and NaN otherwise, for each element."""
    above = _above(abs(x), level)
    return select(above, safe_reciprocal(masked(x, above)), full(x.type, np.nan))


def _between(differences: Atom, level: Atom) -> Atom:
    """Return 1 / (λ_j − λ_i); NaN for gaps below ``level``, and 0 on the diagonal."""
    return masked(_reciprocal(differences, level), off_diagonal(differences.shape))


def _times(factors: Atom, x: Atom) -> Atom:
    """Return ``factors ∘ x`` for real factors.

    If an element of x is 0, the product is 0, even if the factor is NaN.
    """
    if x.dtype.kind == "complex":
        factors = complex(factors, zeros(factors.type))
    return masked_multiply(factors, x)


# --- normalization of vectors ----------------------------------------------------------------------


def _pivots(numpy: Module, v: Array) -> Array:
    """Return a mask of the first component of each column that exceeds :data:`_LARGE`.

    The threshold is relative to the largest component of the column.
    """
    size = numpy.abs(v)
    large = size >= _LARGE * numpy.max(size, axis=-2, keepdims=True, initial=0)
    return large & (numpy.cumsum(large, axis=-2) == 1)


def phases(numpy: Module, v: Array) -> Array:
    """Return the factor exp(iφ) of each column that makes its pivot positive.

    The pivot is the component that :func:`_pivots` selects.
    """
    pivot = numpy.sum(numpy.where(_pivots(numpy, v), v, 0), axis=-2, keepdims=True, dtype=v.dtype)
    size = numpy.abs(pivot)
    factor = numpy.conj(pivot) / numpy.where(size == 0, 1, size)
    return numpy.where(size == 0, 1, factor).astype(v.dtype)


def _pivots_type(v: TensorType) -> TensorType:
    check_matrix("column_pivots", v)
    return v.with_dtype(bool_)


#: ``column_pivots(v)``: Boolean mask, true at the first large component of each column of the matrix ``v``
column_pivots = constant(
    "column_pivots",
    type_rule=_pivots_type,
    numpy=lambda v: _pivots(np, v),
    xla=lambda jax, v: _pivots(jax.numpy, v),
    axes=Core("(i,j)->(i,j)"),
    samples=[case(reals()[4, 3]), case(reals()[2, 3, 3]), case(reals()[0, 0])],
)


def _complement_pivots(numpy: Module, loop: Callable, q: Array) -> tuple:
    """Return the pivots of the Cholesky factorization of I − Q Qᴴ, as unit vectors.

    They complete the columns of Q to a basis (:data:`complement_pivots`).
    """
    *batch, rows, columns = q.shape
    steps = numpy.arange(rows - columns)
    remaining = (1 - numpy.sum(numpy.abs(q) ** 2, axis=-1)).astype(numpy.abs(q).dtype)

    def step(k: Array, state: tuple) -> tuple:
        remaining, factor, units = state
        unit = numpy.arange(rows) == numpy.argmax(remaining, axis=-1)[..., None]
        pivot = numpy.sum(numpy.where(unit, remaining, 0), axis=-1)[..., None]
        both = numpy.concatenate([q, factor], axis=-1)
        products = numpy.sum(numpy.where(unit[..., None], both, 0), axis=-2)
        column = unit - numpy.sum(both * numpy.conj(products)[..., None, :], axis=-1)
        column = column / numpy.sqrt(numpy.where(pivot > 0, pivot, 1))
        remaining = numpy.where(unit | (remaining < 0), -1, remaining - numpy.abs(column) ** 2)
        factor = numpy.where(steps == k, column[..., None].astype(q.dtype), factor)
        return remaining, factor, units | ((steps == k) & unit[..., None])

    shape = (*batch, rows, rows - columns)
    return loop(rows - columns, step, (remaining, numpy.zeros(shape, q.dtype), numpy.zeros(shape, bool)))[2]


def _repeated(count: int, step: Callable, state: tuple) -> tuple:
    for k in range(count):
        state = step(k, state)
    return state


def _orthonormal(a: Array) -> list[Array]:
    # convert to float32 or wider, because LAPACK supports neither float16 nor bfloat16
    q = np.linalg.qr(a.astype(np.result_type(a, np.float32)))[0]
    return [q.astype(a.dtype)]


def _complement_pivots_type(q: TensorType) -> TensorType:
    check_matrix("complement_pivots", q)
    *batch, rows, columns = q.shape
    if rows < columns:
        raise ValueError(
            f"For 'complement_pivots', the columns of the matrix of shape {q.shape} are linearly dependent."
        )
    return q.with_dtype(bool_).with_shape((*batch, rows, rows - columns))


#: ``complement_pivots(q)``: for a matrix q of shape (m, k) with orthonormal columns, m − k unit vectors that
#: complete the columns to a well-conditioned basis. The result is a Boolean matrix with these vectors as
#: columns
complement_pivots = constant(
    "complement_pivots",
    type_rule=_complement_pivots_type,
    numpy=lambda q: _complement_pivots(np, _repeated, q),
    xla=lambda jax, q: _complement_pivots(
        jax.numpy, lambda count, step, state: jax.lax.fori_loop(0, count, step, state), q
    ),
    axes=Core("(i,j)->(i,k)"),
    samples=[
        case(reals()[4, 2], prepare=_orthonormal),
        case(reals()[2, 3, 2], prepare=_orthonormal),
        case(reals()[3, 3], prepare=_orthonormal),
    ],
)


def _turn(v: Atom, dv: Atom) -> Atom:
    """Return iθ for each column v of a matrix.

    θ is chosen so that the tangent v̇ − iθ v keeps the pivot of v real.
    """
    where = column_pivots(v)
    axes = (len(v.shape) - 2,)
    size = reduce_sum(masked(real(v), where), axes=axes)
    angle = reduce_sum(masked(imag(dv), where), axes=axes) / size
    return complex(zeros(angle.type), angle)


# --- eigenvalues -----------------------------------------------------------------------------------


def _symmetric(numpy: Module, a: Array) -> Stored:
    return (a + numpy.conj(numpy.swapaxes(a, -1, -2))) / 2


def _eigh_numpy(a: Array) -> tuple:
    values, v = np.linalg.eigh(_symmetric(np, a))
    return values, v * phases(np, v)


def _eigh_xla(jax: Module, a: Array) -> tuple:
    values, v = jax.numpy.linalg.eigh(_symmetric(jax.numpy, a), symmetrize_input=False)
    return values, v * phases(jax.numpy, v)


def _eigh_type(a: TensorType, name: str = "eigh") -> tuple[TensorType, TensorType]:
    check_square(name, a)
    return real_part_type(a).with_shape(a.shape[:-1]), a


def _eigh_jvp(y: Atoms, xs: Atoms, ts: Atoms) -> tuple[Tangent, Tangent]:
    """Return the tangents λ̇ = diag M and V̇ = V (F ∘ M).

    M = Vᴴ Ȧ V, and F_ij = 1 / (λ_j − λ_i) with F_ii = 0.
    """
    values, v = y
    m = matmul(matmul(adjoint(v), hermitian(ts[0])), v)
    factors = _between(gaps(values, m)[0], noise(values, m.shape[-1]))
    dv = matmul(v, _times(factors, m))
    if m.dtype.kind == "complex":
        dv = dv - columns(_turn(v, dv), v) * v
    return eigenvalue_tangent(ts[0], xs[0], v, values), dv


#: ``eigh(a)``: the eigenvalues of the symmetric (Hermitian) part of ``a`` in ascending order, and the
#: eigenvectors as the columns of a matrix
eigh = general(
    "eigh",
    reads_cotangent=True,
    work=of_matrices(9),
    type_rule=_eigh_type,
    numpy=on_failure_nan(_eigh_numpy),
    xla=_eigh_xla,
    jvp=_eigh_jvp,
    axes=Core("(i,j)->(k),(i,k)"),
    multiple=True,
    samples=[
        case(reals()[3, 3], prepare=separated),
        case(reals()[2, 2, 2], prepare=separated),
        case(reals()[1, 1]),
        case(reals()[0, 0]),
    ],
)


def _eigvalsh_jvp(y: Atom, xs: Atoms, ts: Atoms) -> Tangent:
    """Compute λ̇_j = v_jᴴ Ȧ v_j."""
    _, v = eigh(xs[0])
    return eigenvalue_tangent(ts[0], xs[0], v, y)


#: ``eigvalsh(a)``: only the eigenvalues of ``eigh``
eigvalsh = general(
    "eigvalsh",
    reads_cotangent=True,
    work=of_matrices(4 / 3),
    type_rule=lambda a: _eigh_type(a, "eigvalsh")[0],
    numpy=on_failure_nan(lambda a: np.linalg.eigvalsh(_symmetric(np, a))),
    xla=lambda jax, a: jax.numpy.linalg.eigvalsh(_symmetric(jax.numpy, a), symmetrize_input=False),
    jvp=_eigvalsh_jvp,
    axes=Core("(i,j)->(k)"),
    samples=[
        case(reals()[3, 3], prepare=separated),
        case(reals()[2, 2, 2], prepare=separated),
        case(reals()[0, 0]),
    ],
)


# --- singular values -------------------------------------------------------------------------------


def _svd_kernel(numpy: Module, a: Array) -> tuple:
    u, s, vh = numpy.linalg.svd(a, full_matrices=False)
    turned = phases(numpy, u)
    return u * turned, s, vh * numpy.conj(numpy.swapaxes(turned, -1, -2))


def _svd_type(a: TensorType, name: str = "svd") -> tuple[TensorType, TensorType, TensorType]:
    check_matrix(name, a)
    *batch, m, n = a.shape
    k = min(m, n)
    values = real_part_type(a).with_shape((*batch, k))
    return a.with_shape((*batch, m, k)), values, a.with_shape((*batch, k, n))


def _values_tangent(s: Atom, e: Atom, level: Atom) -> Atom:
    """Return ṡ = Re diag(Uᴴ Ȧ V) from ``e`` = Uᴴ Ȧ V; 0 for zero singular values."""
    ds = diagonal(e)
    ds = real(ds) if ds.dtype.kind == "complex" else ds
    return masked(ds, _above(s, level))


def _svd_jvp(y: Atoms, xs: Atoms, ts: Atoms) -> tuple[Tangent, Tangent, Tangent]:
    """Return the tangents of U, s, and V.

    With E = Uᴴ Ȧ V, D = (E + Eᴴ) / 2 ∘ 1 / (s_j − s_i), and P = (E − Eᴴ) / 2 ∘ 1 / (s_j + s_i):

    U̇ = U (D + P) + (I − U Uᴴ) Ȧ V / s,   V̇ = V (D − P) + (I − V Vᴴ) Ȧᴴ U / s.
    """
    (u, s, vh), da = y, ts[0]
    m, n = da.shape[-2:]
    v, uh = adjoint(vh), adjoint(u)
    av = matmul(da, v)
    e = matmul(uh, av)
    level = noise(s, max(m, n))
    differences, sums = gaps(s, e)
    eh = adjoint(e)
    between = _times(_between(differences, level), (e + eh) * 0.5)
    across = _times(_reciprocal(sums, level), (e - eh) * 0.5)
    du, dv = matmul(u, between + across), matmul(v, between - across)
    scale = _reciprocal(s, level)
    if m > n:
        du = du + masked_multiply(columns(scale, u), av - matmul(u, e))
    if n > m:
        dv = dv + masked_multiply(columns(scale, v), matmul(adjoint(da), u) - matmul(v, eh))
    if u.dtype.kind == "complex":
        turn = _turn(u, du)  # left and right singular vectors have the same factor exp(iφ)
        du, dv = du - columns(turn, u) * u, dv - columns(turn, v) * v
    return du, _values_tangent(s, e, level), adjoint(dv)


#: ``svd(a)``: the reduced decomposition of an m × n matrix: U (m, k), the singular values in descending
#: order, and Vᴴ (k, n), with k = min(m, n)
svd = general(
    "svd",
    reads_cotangent=True,
    work=of_matrices(14),
    type_rule=_svd_type,
    numpy=on_failure_nan(lambda a: _svd_kernel(np, a)),
    xla=lambda jax, a: _svd_kernel(jax.numpy, a),
    jvp=_svd_jvp,
    axes=Core("(i,j)->(i,k),(k),(k,j)"),
    multiple=True,
    samples=[
        case(reals()[3, 3], prepare=well_conditioned),
        case(reals()[4, 2], prepare=well_conditioned),
        case(reals()[2, 2, 3], prepare=well_conditioned),
        case(reals()[0, 2]),
    ],
)


def _svdvals_jvp(y: Atom, xs: Atoms, ts: Atoms) -> Tangent:
    u, s, vh = svd(xs[0])
    e = matmul(matmul(adjoint(u), ts[0]), adjoint(vh))
    return _values_tangent(s, e, noise(s, max(xs[0].shape[-2:])))


#: ``svdvals(a)``: only the singular values of ``svd``
svdvals = general(
    "svdvals",
    reads_cotangent=True,
    work=of_matrices(4),
    type_rule=lambda a: _svd_type(a, "svdvals")[1],
    numpy=on_failure_nan(lambda a: np.linalg.svd(a, compute_uv=False)),
    xla=lambda jax, a: jax.numpy.linalg.svd(a, compute_uv=False),
    jvp=_svdvals_jvp,
    axes=Core("(i,j)->(k)"),
    samples=[
        case(reals()[3, 3], prepare=well_conditioned),
        case(reals()[2, 2, 3], prepare=well_conditioned),
        case(reals()[2, 0]),
    ],
)
