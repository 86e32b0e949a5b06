"""Determinants with exact derivatives of every order, at singular matrices too.

The determinant is a polynomial in the elements of A. So is its gradient, the cofactor matrix C. The formula C
= det(A) A⁻ᵀ fails for a singular A, although C exists. Up to 3 × 3, the cofactors are written out. For larger
matrices,

    C(A) = mean over k of C(A + z_k S),     z_k = exp(iπ (2k + 1) / N),  N ≥ n,

because C(A + zS) is a polynomial of degree n − 1 in z, and its mean over N points of a circle is its constant
term. The formula is valid for every S. S may therefore depend on A and still be a constant when C is
differentiated. With A = U Σ Vᴴ, the choice S = r U Vᴴ makes A + zS invertible: its singular values are |σ +
rz| for the singular values σ of A. Because r is small compared with all nonzero σ, the mean does not suffer
from cancellation.
"""

from __future__ import annotations

import numpy as np

from mindgrad.core.ir.dtype import complex64, complex128, float32, float64
from mindgrad.core.ir.graph import Atom, Constant
from mindgrad.core.ir.rules import Atoms, Tangent
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.axes import Core
from mindgrad.core.primitives.comparisons import greater, less
from mindgrad.core.primitives.complexes import complex, imag, real
from mindgrad.core.primitives.eigh_svd import svd
from mindgrad.core.primitives.kinds import full, general, ones, zeros
from mindgrad.core.primitives.linalg import inverse
from mindgrad.core.primitives.linalg_rules import (
    check_square,
    columns,
    matmul,
    of_matrices,
    real_part_type,
    sum_of_products,
    swapped,
    well_conditioned,
)
from mindgrad.core.primitives.reduction import reduce_max, reduce_min, reduce_sum
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.static_slices import concatenate, reverse, slice
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, stop_gradient

__all__ = ["det", "slogdet"]

_COMPLEX = {float32: complex64, float64: complex128, complex64: complex64, complex128: complex128}


# --- cofactors -------------------------------------------------------------------------------------


def _regular_shift(a: Atom) -> Atom:
    """Return S = r U Vᴴ for A = U Σ Vᴴ. Derivatives treat S as a constant.

    r is the smallest singular value above the rounding error, divided by the number of singular values. For a
    zero matrix, r is 1.
    """
    u, s, vh = svd(stop_gradient(a))
    axis = len(s.shape) - 1

    def along(x: Atom) -> Atom:
        return broadcast_in_dim(x, shape=s.shape, dims=tuple(range(axis)))

    negligible = float(np.sqrt(np.finfo(s.dtype.numpy).eps))
    kept = greater(s, along(reduce_max(s, axes=(axis,)) * negligible))
    smallest = reduce_min(select(kept, s, full(s.type, np.inf)), axes=(axis,))
    found = less(smallest, full(smallest.type, np.inf))
    radius = select(found, smallest * (1 / s.shape[-1]), ones(smallest.type))
    return matmul(u * columns(along(radius), u), vh)


def _cofactors(a: Atom) -> Atom:
    """Return the matrix C(A) of cofactors, which is the gradient of det(A)."""
    n = a.shape[-1]
    if n < 2:
        return ones(a.type)
    if n == 2:
        return _cofactors_2(a)
    return _cofactors_3(a) if n == 3 else _cofactors_on_circle(a)


def _cofactors_2(a: Atom) -> Atom:
    """Return the cofactors [[d, −c], [−b, a]] of the matrix [[a, b], [c, d]]."""
    rank = len(a.shape)
    turned = reverse(a, axes=(rank - 2, rank - 1))
    signs = Constant(np.array([[1, -1], [-1, 1]], a.dtype.numpy))
    return turned * broadcast_in_dim(signs, shape=a.shape, dims=(rank - 2, rank - 1))


def _cofactors_3(a: Atom) -> Atom:
    """Return c_ij = a_{i+1,j+1} a_{i+2,j+2} − a_{i+1,j+2} a_{i+2,j+1}, indices mod 3."""
    rank = len(a.shape)
    around = a
    for axis in (rank - 2, rank - 1):
        around = concatenate(around, _part(around, {axis: (0, 2)}), axis=axis)

    def turned(i: int, j: int) -> Atom:
        return _part(around, {rank - 2: (i, i + 3), rank - 1: (j, j + 3)})

    return turned(1, 1) * turned(2, 2) - turned(1, 2) * turned(2, 1)


def _part(x: Atom, ranges: dict[int, tuple[int, int]]) -> Atom:
    bounds = [ranges.get(axis, (0, size)) for axis, size in enumerate(x.shape)]
    return slice(
        x,
        start=tuple(low for low, _ in bounds),
        limit=tuple(high for _, high in bounds),
        strides=(1,) * len(bounds),
    )


def _cofactors_on_circle(a: Atom) -> Atom:
    n = a.shape[-1]
    batch, rank = a.shape[:-2], len(a.shape)
    count = n + n % 2  # even, so that no point is real and a + z S is invertible
    points = np.exp(1j * np.pi * (2 * np.arange(count) + 1) / count)
    is_real = a.dtype.kind == "float"
    if is_real:  # values at conjugate points are conjugates, so half of the points suffice
        points = points[: count // 2]
    dtype = _COMPLEX[a.dtype]
    shape = (*batch, len(points), n, n)
    dims = (*range(rank - 2), rank - 1, rank)

    def everywhere(x: Atom) -> Atom:
        return broadcast_in_dim(convert(x, dtype=dtype), shape=shape, dims=dims)

    z = broadcast_in_dim(Constant(points.astype(dtype.numpy)), shape=shape, dims=(rank - 2,))
    moved = everywhere(a) + z * everywhere(_regular_shift(a))
    value = det(moved, regular=True)
    value = broadcast_in_dim(value, shape=shape, dims=tuple(range(rank - 1)))
    total = reduce_sum(value * swapped(inverse(moved)), axes=(rank - 2,))
    return (real(total) if is_real else total) * (1 / len(points))


# --- det -------------------------------------------------------------------------------------------


def _det_type(a: TensorType, regular: bool = False) -> TensorType:
    check_square("det", a)
    return a.with_shape(a.shape[:-2])


def _det_jvp(y: Atom, xs: Atoms, ts: Atoms, regular: bool = False) -> Tangent:
    """Apply Jacobi's formula: the tangent of det(A) is Σ C ∘ Ȧ."""
    if regular:
        return y * sum_of_products(swapped(inverse(xs[0])), ts[0])
    return sum_of_products(_cofactors(xs[0]), ts[0])


#: ``det(a, regular)``: the determinant. If ``regular`` is true, no matrix may be singular. The derivative is
#: then det(A) tr(A⁻¹ Ȧ), which is cheaper for matrices of at least 4 × 4
det = general(
    "det",
    work=of_matrices(2 / 3),
    type_rule=_det_type,
    numpy=lambda a, regular=False: np.linalg.det(a),
    xla=lambda jax, a, regular=False: jax.numpy.linalg.det(a),
    jvp=_det_jvp,
    axes=Core("(i,j)->()"),
    samples=[
        case(reals()[1, 1]),
        case(reals()[2, 2]),
        case(reals()[2, 3, 3]),
        case(reals()[4, 4], prepare=well_conditioned),
        case(reals()[5, 5], prepare=well_conditioned),
        case(reals()[2, 4, 4], prepare=well_conditioned, regular=True),
    ],
)


def _slogdet_type(a: TensorType) -> tuple[TensorType, TensorType]:
    check_square("slogdet", a)
    scalar = a.with_shape(a.shape[:-2])
    return scalar, real_part_type(scalar)


def _slogdet_jvp(y: Atoms, xs: Atoms, ts: Atoms) -> tuple[Tangent, Tangent]:
    """Return the tangents of the sign and of log|det|, computed from tr(A⁻¹ Ȧ)."""
    trace = sum_of_products(swapped(inverse(xs[0])), ts[0])
    if trace.dtype.kind == "float":
        return None, trace
    turn = imag(trace)
    return y[0] * complex(zeros(turn.type), turn), real(trace)


#: ``slogdet(a)``: sign of the determinant, and logarithm of its absolute value. For a singular matrix, the
#: results are 0 and −∞, and the derivative is infinite or NaN
slogdet = general(
    "slogdet",
    taint="starts",
    work=of_matrices(2 / 3),
    type_rule=_slogdet_type,
    numpy=lambda a: tuple(np.linalg.slogdet(a)),
    xla=lambda jax, a: tuple(jax.numpy.linalg.slogdet(a)),
    jvp=_slogdet_jvp,
    axes=Core("(i,j)->(),()"),
    multiple=True,
    samples=[
        case(reals()[3, 3], prepare=well_conditioned),
        case(reals()[2, 2, 2], prepare=well_conditioned),
        case(reals()[1, 1], prepare=well_conditioned),
        case(reals()[0, 0]),
    ],
)
