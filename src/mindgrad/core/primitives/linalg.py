"""Direct linear algebra: linear systems, inverse, Cholesky, and QR.

All primitives accept matrices ``(…, m, n)`` of float32, float64, complex64, or complex128; leading axes are a
batch. If no result exists because a matrix is singular or not positive definite, its result is infinite or
NaN. The results of all other matrices of the batch are not affected.

Formulas:

- M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
  differentiation" (2008)
- I. Murray, "Differentiation of the Cholesky decomposition" (2016)
- S. F. Walter, L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010)
- M. Seeger et al., "Auto-differentiating linear algebra" (2017)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mindgrad.core.ir.graph import Atom, Equation
from mindgrad.core.ir.index_map import Arrangement, Axes, IndexMap, Relabeling
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.rules import Array, Atoms, Module, Static, Statics, Tangent, Tangents
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.ir.work import by
from mindgrad.core.primitives.axes import Core
from mindgrad.core.primitives.batching import at_front, moved
from mindgrad.core.primitives.complexes import complex, imag
from mindgrad.core.primitives.kinds import accumulate, general, zeros
from mindgrad.core.primitives.linalg_rules import (
    adjoint,
    check_matrix,
    check_square,
    dominant,
    hermitian,
    lower,
    matmul,
    of_matrices,
    on_failure_nan,
    on_the_diagonal,
    positive_definite,
    swapped,
    upper,
    well_conditioned,
)
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.shielding import can_discard, finite_or, met
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape

__all__ = ["cholesky", "inverse", "qr", "solve", "triangular_solve"]


# --- systems ---------------------------------------------------------------------------------------


def _system_type(name: str, a: TensorType, b: TensorType, left: bool = True) -> TensorType:
    check_square(name, a)
    check_matrix(name, a, b)
    if b.shape[-2 if left else -1] != a.shape[-1]:
        raise ValueError(
            f"For '{name}', the right-hand side must have as many {'rows' if left else 'columns'} "
            f"as the matrix of shape {a.shape} has, but got the shape {b.shape}."
        )
    return b


def _system_batch(
    name: str, size: int, xs: Atoms, at: Sequence, left: bool, parameters: Statics
) -> tuple[Atom, int]:
    """Batching rule of linear systems.

    If all samples share the matrix, their right-hand sides are joined to one system.
    """
    primitive = REGISTRY[name]
    a, b = xs
    if at[0] is not None:
        return primitive(at_front(size, a, at[0]), at_front(size, b, at[1]), **parameters), 0
    axis = len(b.shape) - (1 if left else 2)
    b = moved(b, at[1], axis)
    *batch, first, second, third = b.shape
    joined = (first, second * third) if left else (first * second, third)
    y = primitive(a, reshape(b, shape=(*batch, *joined)), **parameters)
    return reshape(y, shape=b.shape), axis


def _solution_flops(equation: Equation) -> float:
    return equation.inputs[1].type.size * equation.inputs[0].shape[-1]


def _system_flops(equation: Equation) -> float:
    *lead, m, n = equation.inputs[0].shape
    return 2 / 3 * math.prod(lead) * m * n * min(m, n) + 2 * _solution_flops(equation)


def _discarded(y: Atom, ct: Atom, left: bool = True) -> Atom:
    """Replace infinite and NaN elements of ``y`` by 0 in columns where ``ct`` is zero.

    A singular matrix makes the solution ``y`` infinite, but a column whose cotangent is zero was not used.
    """
    if not can_discard(ct, y):
        return y
    axis = len(ct.shape) - (2 if left else 1)
    dims = tuple([k for k in range(len(ct.shape)) if k != axis])
    return finite_or(broadcast_in_dim(met(ct, (axis,)), shape=y.shape, dims=dims), y)


def _triangular_jvp(y: Atom, xs: Atoms, ts: Tangents, **parameters: Static) -> Tangent:
    """Return the tangent of op(T) Y = B: Ẏ = op(T)⁻¹ (Ḃ − op(Ṫ) Y)."""
    a, (da, db) = xs[0], ts
    if da is not None:
        t = (lower if parameters["lower"] else upper)(da, strict=parameters["unit_diagonal"])
        t = swapped(t) if parameters["transpose"] else t
        db = accumulate([db, -(matmul(t, y) if parameters["left"] else matmul(y, t))])
    return triangular_solve(a, db, **parameters)  # type: ignore[arg-type]  # not both tangents are None


def _triangular_numpy(
    a: Array, b: Array, left: bool, lower: bool, transpose: bool, unit_diagonal: bool
) -> Array:
    t = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        index = np.arange(a.shape[-1])
        t[..., index, index] = 1
    if transpose == left:
        t = np.swapaxes(t, -1, -2)
    return np.linalg.solve(t, b) if left else np.swapaxes(np.linalg.solve(t, np.swapaxes(b, -1, -2)), -1, -2)


class _TriangularAxes(Axes):
    """Index map of a triangular system: right-hand sides are independent (parallel)."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        return _SIDES[parameters["left"]].index_map(shapes, parameters)

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        return _SIDES[new.parameters["left"]].relabeled(old, new)


_SIDES = {True: Core("(i,j),(i,k)->(j,k)", parallel="k"), False: Core("(i,j),(k,i)->(k,j)", parallel="k")}

#: ``triangular_solve(a, b, left, lower, transpose, unit_diagonal)``: the solution Y of op(T) Y = B, or of Y
#: op(T) = B if ``left`` is false. T is the lower (``lower``) or upper triangle of ``a``, with ones on its
#: diagonal if ``unit_diagonal`` is true. op(T) is T, or Tᵀ (not conjugated) if ``transpose`` is true
triangular_solve = general(
    "triangular_solve",
    taint="starts",
    work=by(_solution_flops),
    type_rule=lambda a, b, left, lower, transpose, unit_diagonal: _system_type(
        "triangular_solve", a, b, left
    ),
    numpy=on_failure_nan(_triangular_numpy),
    xla=lambda jax, a, b, left, lower, transpose, unit_diagonal: jax.lax.linalg.triangular_solve(
        a, b, left_side=left, lower=lower, transpose_a=transpose, unit_diagonal=unit_diagonal
    ),
    jvp=_triangular_jvp,
    transpose=lambda ct, a, b, transpose, **rest: [
        None,
        _discarded(triangular_solve(a, ct, transpose=not transpose, **rest), ct, rest["left"]),
    ],
    axes=_TriangularAxes(),
    batch=lambda size, xs, at, left, **rest: _system_batch(
        "triangular_solve", size, xs, at, left, {"left": left, **rest}
    ),
    samples=[
        case(
            reals()[shape[0]],
            reals()[shape[1]],
            prepare=dominant,
            left=left,
            lower=low,
            transpose=transposed,
            unit_diagonal=unit,
        )
        for shape, left, low, transposed, unit in (
            (((3, 3), (3, 2)), True, True, False, False),
            (((3, 3), (3, 1)), True, False, True, False),
            (((3, 3), (2, 3)), False, True, True, True),
            (((2, 3, 3), (2, 1, 3)), False, False, False, False),
            (((2, 3, 3), (2, 3, 2)), True, True, True, True),
            (((0, 0), (0, 2)), True, True, False, False),
        )
    ],
)


def _solve_jvp(y: Atom, xs: Atoms, ts: Tangents, transpose: bool = False) -> Tangent:
    """Return the tangent of op(A) Y = B: Ẏ = op(A)⁻¹ (Ḃ − op(Ȧ) Y)."""
    a, (da, db) = xs[0], ts
    if da is not None:
        db = accumulate([db, -matmul(swapped(da) if transpose else da, y)])
    return solve(a, db, transpose=transpose)  # type: ignore[arg-type]  # not both tangents are None


def _solve_xla(jax: Module, a: Array, b: Array, transpose: bool = False) -> Array:
    """Solve with the factorization P A = L U, which serves systems with A and with Aᵀ."""
    linalg, numpy = jax.lax.linalg, jax.numpy
    factors, _, order = linalg.lu(a)
    inside = "promise_in_bounds"  # the indices are a permutation, hence in range

    def back(y: Array, lower: bool) -> Array:
        return linalg.triangular_solve(
            factors, y, left_side=True, lower=lower, transpose_a=transpose, unit_diagonal=lower
        )

    if transpose:
        inverse_order = numpy.argsort(order, axis=-1)[..., None]
        return numpy.take_along_axis(back(back(b, False), True), inverse_order, -2, mode=inside)
    return back(back(numpy.take_along_axis(b, order[..., None], -2, mode=inside), True), False)


#: ``solve(a, b, transpose)``: the solution Y of A Y = B, or of Aᵀ Y = B (not conjugated) if ``transpose`` is
#: true. The columns of ``b`` are right-hand sides. The operator is linear in ``b``
solve = general(
    "solve",
    taint="starts",
    work=by(_system_flops),
    type_rule=lambda a, b, transpose=False: _system_type("solve", a, b),
    numpy=on_failure_nan(
        lambda a, b, transpose=False: np.linalg.solve(np.swapaxes(a, -1, -2) if transpose else a, b)
    ),
    xla=_solve_xla,
    jvp=_solve_jvp,
    transpose=lambda ct, a, b, transpose=False: [None, _discarded(solve(a, ct, transpose=not transpose), ct)],
    axes=Core("(i,j),(i,k)->(j,k)", parallel="k"),
    batch=lambda size, xs, at, **parameters: _system_batch("solve", size, xs, at, True, parameters),
    samples=[
        case(reals()[3, 3], reals()[3, 2], prepare=well_conditioned),
        case(reals()[2, 3, 3], reals()[2, 3, 1], prepare=well_conditioned, transpose=True),
        case(reals()[0, 0], reals()[0, 2]),
    ],
)


def _square_type(name: str) -> Callable:
    def type_rule(a: TensorType) -> TensorType:
        check_square(name, a)
        return a

    return type_rule


#: ``inverse(a)``: the inverse matrix, with derivative (A⁻¹)˙ = −A⁻¹ Ȧ A⁻¹
inverse = general(
    "inverse",
    taint="starts",
    work=of_matrices(2),
    type_rule=_square_type("inverse"),
    numpy=on_failure_nan(np.linalg.inv),
    xla=lambda jax, a: jax.numpy.linalg.inv(a),
    jvp=lambda y, xs, ts: -matmul(matmul(y, ts[0]), y),
    axes=Core("(i,j)->(j,i)"),
    samples=[
        case(reals()[3, 3], prepare=well_conditioned),
        case(reals()[2, 2, 2], prepare=well_conditioned),
        case(reals()[1, 1]),
        case(reals()[0, 0]),
    ],
)


# --- factorizations --------------------------------------------------------------------------------


def _cholesky_jvp(y: Atom, xs: Atoms, ts: Atoms) -> Tangent:
    """Return L̇ = L Φ(L⁻¹ Ȧ L⁻ᴴ). Φ is the lower triangle with half of the diagonal."""
    half = dict(left=True, lower=True, transpose=False, unit_diagonal=False)
    inner = triangular_solve(y, hermitian(ts[0]), **half)
    inner = triangular_solve(y, adjoint(inner), **half)
    kept = lower(inner, strict=True) + on_the_diagonal(inner) * 0.5
    return matmul(y, kept)


#: ``cholesky(a)``: the lower triangular L with L Lᴴ = (A + Aᴴ) / 2, the symmetric (Hermitian) part of ``a``.
#: L depends on all elements of ``a``. L is NaN if the Hermitian part is not positive definite
cholesky = general(
    "cholesky",
    taint="starts",
    work=of_matrices(1 / 3),
    type_rule=_square_type("cholesky"),
    numpy=on_failure_nan(lambda a: np.linalg.cholesky((a + np.conj(np.swapaxes(a, -1, -2))) / 2), lower=True),
    xla=lambda jax, a: jax.lax.linalg.cholesky(a, symmetrize_input=True),
    jvp=_cholesky_jvp,
    axes=Core("(i,j)->(i,j)"),
    samples=[
        case(reals()[3, 3], prepare=positive_definite),
        case(reals()[2, 2, 2], prepare=positive_definite),
        case(reals()[0, 0]),
    ],
)


def _qr_type(a: TensorType) -> tuple[TensorType, TensorType]:
    check_matrix("qr", a)
    *batch, m, n = a.shape
    if m < n:
        raise ValueError(
            f"For 'qr', the matrix must have at least as many rows as columns, but got the shape "
            f"{a.shape}. Write the matrix as (A₁, A₂) and factor its first {m} columns, A₁ = Q R₁. Then "
            f"R = (R₁, Qᴴ A₂)."
        )
    return a, a.with_shape((*batch, n, n))


def _qr_jvp(y: Atoms, xs: Atoms, ts: Atoms) -> tuple[Tangent, Tangent]:
    """Return the tangents Q̇ = X − Q (M − Ω) and Ṙ = (M − Ω) R.

    X = Ȧ R⁻¹ and M = Qᴴ X. Ω = Qᴴ Q̇ is antihermitian and has the lower triangle of M.
    """
    q, r = y
    x = triangular_solve(r, ts[0], left=False, lower=False, transpose=False, unit_diagonal=False)
    m = matmul(adjoint(q), x)
    below = lower(m, strict=True)
    omega = below - adjoint(below)
    if m.dtype.kind == "complex":
        # R has a real diagonal, so the diagonal of Ω is the imaginary part of the diagonal of M
        part = imag(on_the_diagonal(m))
        omega = omega + complex(zeros(part.type), part)
    rest = m - omega
    return x - matmul(q, rest), matmul(rest, r)


#: ``qr(a)`` for an m × n matrix with m ≥ n: the factors of A = Q R, with orthonormal columns in Q (m, n), an
#: upper triangular R (n, n), and LAPACK's signs. The derivative is infinite or NaN if ``a`` does not have
#: full rank
qr = general(
    "qr",
    taint="starts",
    work=of_matrices(2),
    type_rule=_qr_type,
    numpy=on_failure_nan(lambda a: tuple(np.linalg.qr(a))),
    xla=lambda jax, a: tuple(jax.numpy.linalg.qr(a)),
    jvp=_qr_jvp,
    axes=Core("(i,j)->(i,k),(k,j)"),
    multiple=True,
    samples=[
        case(reals()[4, 3], prepare=well_conditioned),
        case(reals()[3, 3], prepare=well_conditioned),
        case(reals()[2, 3, 2], prepare=well_conditioned),
        case(reals()[3, 0]),
    ],
)
