"""LU factorization with row exchanges: P A = L U.

L is unit lower triangular and U is upper triangular. Both are stored in one matrix, as in LAPACK. Separate
primitives return the row exchanges, which are integers without derivative. If A is not square, rows or
columns of the identity matrix complete L and U to square matrices L' and U' (M. Seeger et al.,
"Auto-differentiating linear algebra", 2017)::

    M = L'⁻¹ (P Ȧ) U'⁻¹,     L̇ = L' tril(M, −1),     U̇ = triu(M) U'
"""

from __future__ import annotations

import numpy as np

from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.rules import Array, Atoms, Tangent
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.axes import Core
from mindgrad.core.primitives.indexing import gather
from mindgrad.core.primitives.kinds import constant, general, ones, zeros
from mindgrad.core.primitives.linalg import triangular_solve
from mindgrad.core.primitives.linalg_rules import (
    check_matrix,
    lower,
    matmul,
    of_matrices,
    on_the_diagonal,
    upper,
    well_conditioned,
)
from mindgrad.core.primitives.samples import case, fixed, reals
from mindgrad.core.primitives.static_slices import concatenate, slice_axis
from mindgrad.core.primitives.structural import broadcast_in_dim

__all__ = ["lu", "lu_pivots", "row_order"]


def _fitted(y: Atom, rows: int, columns: int) -> Atom:
    """Crop matrices or pad them with zeros to size ``rows`` × ``columns``."""
    for axis, size in ((len(y.shape) - 2, rows), (len(y.shape) - 1, columns)):
        if y.shape[axis] > size:
            y = slice_axis(y, axis, 0, size)
        elif y.shape[axis] < size:
            shape = (*y.shape[:axis], size - y.shape[axis], *y.shape[axis + 1 :])
            y = concatenate(y, zeros(y.type.with_shape(shape)), axis=axis)
    return y


def _exchanged(x: Atom, order: Atom) -> Atom:
    """Sort the rows of each matrix in ``x`` by ``order``."""
    batch = tuple(range(len(x.shape) - 2))
    places = broadcast_in_dim(order, shape=(*order.shape, 1), dims=tuple(range(len(order.shape))))
    return gather(x, places, axes=(len(batch),), batch=batch)


def _upper_square(y: Atom, size: int) -> Atom:
    """Return U': a square matrix with U and the missing rows of the identity."""
    square = upper(_fitted(y, size, size))
    missing = size - y.shape[-2]
    if missing <= 0:
        return square
    *batch, rows, columns = y.shape
    zero, identity = (
        kind(y.type.with_shape((*batch, n, columns))) for kind, n in ((zeros, rows), (ones, missing))
    )
    return square + on_the_diagonal(concatenate(zero, identity, axis=len(batch)))


def _lu_jvp(y: Atom, xs: Atoms, ts: Atoms) -> Tangent:
    m, n = y.shape[-2:]
    below, above = _fitted(y, m, m), _upper_square(y, n)
    inner = _exchanged(ts[0], row_order(lu_pivots(xs[0]), size=m))
    inner = triangular_solve(below, inner, left=True, lower=True, transpose=False, unit_diagonal=True)
    inner = triangular_solve(above, inner, left=False, lower=False, transpose=False, unit_diagonal=False)
    left = _fitted(lower(inner, strict=True), m, m)
    left = left + matmul(lower(below, strict=True), left)
    right = matmul(_fitted(upper(inner), n, n), above)
    return lower(_fitted(left, m, n), strict=True) + upper(_fitted(right, m, n))


def _factored(a: Array) -> tuple[Array, Array]:
    """Return the factors and pivots of a batch of matrices (Gaussian elimination)."""
    y = np.array(a)
    m, n = y.shape[-2:]
    pivots = np.zeros((*y.shape[:-2], min(m, n)), np.int32)
    for i in range(min(m, n)):
        column = y[..., i:, i]
        # the pivot has the largest |Re| + |Im|, as in LAPACK
        size = np.abs(column.real) + np.abs(column.imag) if y.dtype.kind == "c" else np.abs(column)
        place = i + np.argmax(np.where(np.isnan(size), -1, size), axis=-1)
        pivots[..., i] = place
        index = place[..., None, None]
        other, here = np.take_along_axis(y, index, -2), y[..., i : i + 1, :].copy()
        np.put_along_axis(y, index, here, -2)
        y[..., i : i + 1, :] = other
        pivot = other[..., :, i]
        safe = np.where(pivot == 0, 1, pivot)  # a pivot of 0 means that the whole column is zero
        y[..., i + 1 :, i] /= safe
        y[..., i + 1 :, i + 1 :] -= y[..., i + 1 :, i : i + 1] * y[..., i : i + 1, i + 1 :]
    return y, pivots


def _pivots_type(a: TensorType) -> TensorType:
    check_matrix("lu_pivots", a)
    return a.with_dtype(int32).with_shape((*a.shape[:-2], min(a.shape[-2:])))


def _lu_type(a: TensorType) -> TensorType:
    check_matrix("lu", a)
    return a


def _order_type(pivots: TensorType, size: int) -> TensorType:
    if pivots.dtype.kind not in ("int", "uint") or pivots.rank < 1 or pivots.shape[-1] > size:
        raise TypeError(
            f"For 'row_order', the pivots must be integers, at most {size} per matrix, but got {pivots}."
        )
    return pivots.with_dtype(int32).with_shape((*pivots.shape[:-1], size))


def _order_numpy(pivots: Array, size: int) -> Array:
    order = np.broadcast_to(np.arange(size, dtype=np.int32), (*pivots.shape[:-1], size)).copy()
    for i in range(pivots.shape[-1]):
        other = pivots[..., i : i + 1].astype(np.int64)
        first, second = order[..., i : i + 1].copy(), np.take_along_axis(order, other, -1)
        order[..., i : i + 1] = second
        np.put_along_axis(order, other, first, -1)
    return order


_SAMPLES = [
    case(reals()[3, 3], prepare=well_conditioned),
    case(reals()[2, 4, 3], prepare=well_conditioned),
    case(reals()[3, 5], prepare=well_conditioned),
    case(reals()[0, 0]),
]

#: ``lu_pivots(a)``: for each step i of the elimination, the row with which row i is exchanged, as int32
lu_pivots = constant(
    "lu_pivots",
    type_rule=_pivots_type,
    numpy=lambda a: _factored(a)[1],
    xla=lambda jax, a: jax.lax.linalg.lu(a)[1],
    axes=Core("(i,j)->(k)"),
    samples=_SAMPLES,
)

#: ``row_order(pivots, size)``: the order of ``size`` rows after the exchanges ``pivots``, as int32
row_order = constant(
    "row_order",
    type_rule=_order_type,
    numpy=_order_numpy,
    xla=lambda jax, pivots, size: jax.lax.linalg.lu_pivots_to_permutation(pivots.astype(np.int32), size),
    axes=Core("(i)->(k)"),
    samples=[case(fixed([[2, 1, 2], [0, 2, 2]]), size=4), case(fixed([1, 1]), size=2)],
)

#: ``lu(a)``: the factors L and U of the matrix with exchanged rows, stored in one matrix: L below the
#: diagonal, and U on and above the diagonal. The derivative requires that no pivot is 0
lu = general(
    "lu",
    work=of_matrices(2 / 3),
    type_rule=_lu_type,
    numpy=lambda a: _factored(a)[0],
    xla=lambda jax, a: jax.lax.linalg.lu(a)[0],
    jvp=_lu_jvp,
    axes=Core("(i,j)->(i,j)"),
    samples=_SAMPLES,
)
