"""Linear solvers for systems ``A x = b``, given a function ``x ↦ A x``.

    dense       compute all columns of the matrix, and factorize it (LU)
    diagonal    x = b / (A 1), if each element of A x depends only on the same element of x
    cg          conjugate gradients, for symmetric positive definite matrices: Hestenes and Stiefel (1952)
    bicgstab    stabilized biconjugate gradients, for any matrix: H. A. van der Vorst (1992)

A vector is a list of tensors. A solver is a function of the graph of ``x ↦ A x``. One solver object is
therefore used for the system, its transpose, and the systems of their derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.control.batches import batched_graph
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.linalg import solve
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.trace.closed_program import trace
from mindgrad.frontend import effect_log, user_calls
from mindgrad.solvers.iterate import Value, Values, repeat
from mindgrad.solvers.real_parts import Unknowns

__all__ = ["NAMES", "LinearSolver", "dot", "norm", "split", "tolerance"]

NAMES = ("auto", "dense", "diagonal", "cg", "bicgstab")
#: maximum number of unknowns for which the solver "auto" builds and factorizes a dense matrix
_DENSE = 1000

Product = Callable[[Values], Values]


def tolerance(dtype: DType) -> float:
    """Return the default relative tolerance for the real dtype ``dtype``."""
    return {8: 1e-12, 4: 1e-6}.get(dtype.itemsize, 1e-2)


def dot(a: Sequence[Value], b: Sequence[Value]) -> Value:
    """Return the inner product ⟨a, b⟩."""
    terms = [(x * y).sum() for x, y in zip(a, b, strict=True)]
    return sum(terms[1:], terms[0])


def norm(a: Sequence[Value]) -> Value:
    """Return the Euclidean norm of ``a``."""
    return dot(a, a).sqrt()


def _plus(a: Sequence[Value], factor: Any, b: Sequence[Value]) -> Values:
    return [x + factor * y for x, y in zip(a, b, strict=True)]


def split(vector: Value, like: Sequence[Any]) -> Values:
    """Split ``vector`` into parts with the shapes of ``like``."""
    parts, start = [], 0
    for tensor in like:
        size = math.prod(tensor.shape)
        parts.append(vector[start : start + size].reshape(tensor.shape))
        start += size
    return parts


class LinearSolver:
    """A method to solve linear systems, with its options.

    Solvers with equal options are equal, so that they share compiled functions.

    Args:
        how: name of a solver in ``NAMES``, or a user-defined function ``(matvec, b) ↦ x``.
        unknowns: the unknowns of the system. Systems with complex unknowns are solved for their real and
            imaginary parts.
        structure: container structure of the vectors that a user-defined function receives.
        tol: the relative residual at which an iteration stops. ``None``: :func:`tolerance` of the dtype.
        maxiter: the maximum number of iterations. ``None``: 10 for each unknown.
        owner: name of the public function, such as ``"custom_root"``, for error messages.
    """

    def __init__(
        self,
        how: Any,
        unknowns: Unknowns,
        structure: Any = None,
        tol: float | None = None,
        maxiter: int | None = None,
        owner: str = "",
    ) -> None:
        self.how, self.structure, self.tol, self.maxiter, self.owner = how, structure, tol, maxiter, owner
        self.unknowns = unknowns
        self._key = (how, tol, maxiter, unknowns.dtypes, repr(structure) if callable(how) else None)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, LinearSolver) and self._key == other._key

    def __repr__(self) -> str:
        return self.how if isinstance(self.how, str) else getattr(self.how, "__name__", "a function")

    def __call__(self, product: Graph, consts: int) -> Graph:
        """Return the graph ``(*consts, *bs) ↦ A⁻¹ b``.

        ``product`` is the graph ``(*consts, *xs) ↦ A x``.
        """

        def solve(*symbols: Any) -> Values:
            with effect_log.isolated():
                return user_calls.run(self._solution, product, list(symbols[:consts]), list(symbols[consts:]))

        program = trace(solve, [x.type for x in (*product.inputs[:consts], *product.outputs)])
        if program.captured:
            raise RuntimeError(
                f"For '{self.owner}', the solver of the linear system uses a Parameter, or a tensor that "
                "depends on the inputs of the derivative. It may use only its arguments and constants."
            )
        return program.graph

    def _solution(self, product: Graph, constants: Values, bs: Values) -> Values:
        def matvec(xs: Values) -> Values:
            return inline_here(product, [*constants, *xs])

        if callable(self.how):
            return self._users(matvec, bs)
        how = self.how
        if how == "auto":
            size = sum(b.size for b in bs)
            how = (
                "diagonal"
                if _is_diagonal(product, len(constants))
                else "dense"
                if size <= _DENSE
                else "bicgstab"
            )
        if how == "diagonal":
            return self._diagonal(matvec, bs)
        if how == "dense":
            return _dense(product, constants, bs)
        tol = tolerance(bs[0].dtype) if self.tol is None else self.tol
        maxiter = 10 * sum(b.size for b in bs) if self.maxiter is None else self.maxiter
        return (_cg if how == "cg" else _bicgstab)(matvec, bs, tol, maxiter)

    def _diagonal(self, matvec: Product, bs: Values) -> Values:
        if not self.unknowns.are_complex:
            return [b / a for b, a in zip(bs, matvec([b * 0 + 1 for b in bs]), strict=True)]
        columns = []
        for unit in (1, 1j):
            vector = [b * 0 + (unit if b.dtype.kind == "complex" else 1) for b in self.unknowns.joined(bs)]
            columns.append(matvec(self.unknowns.parts(vector)))
        return [
            _of_two_by_two(b, u, v) if dtype.kind == "complex" else b / u
            for b, u, v, dtype in zip(bs, *columns, self.unknowns.dtypes, strict=True)
        ]

    def _users(self, matvec: Product, bs: Values) -> Values:
        parts, joined = self.unknowns.parts, self.unknowns.joined

        def product(x: Any) -> Any:
            return unflatten(self.structure, joined(matvec(parts(flatten(x)[0]))))

        bs = joined(bs)
        found = user_calls.run(self.how, product, unflatten(self.structure, bs))
        xs, structure = flatten(found)
        if structure != self.structure or [x.shape for x in xs] != [b.shape for b in bs]:
            raise ValueError(
                f"For '{self.owner}', the solver of the linear system must return a value with the "
                f"structure and shapes of its right-hand side, {[b.shape for b in bs]}, but got "
                f"{[getattr(x, 'shape', type(x).__name__) for x in xs]}."
            )
        return parts(xs)


def _of_two_by_two(b: Value, u: Value, v: Value) -> Value:
    """Solve a 2×2 system for the real and imaginary part of each element.

    The system is ``x₀ u + x₁ v = b``, where ``u`` and ``v`` are the columns of its matrix. It is solved by
    Cramer's rule.
    """
    determinant = u[0] * v[1] - v[0] * u[1]
    rows = [b[0] * v[1] - v[0] * b[1], u[0] * b[1] - b[0] * u[1]]
    return apply(concatenate, *[(row / determinant).reshape((1, *row.shape)) for row in rows], axis=0)


def _is_diagonal(product: Graph, consts: int) -> bool:
    """Return whether A is diagonal because all operators on ``x`` are elementwise."""
    if len(product.outputs) != 1:
        return False
    x = product.inputs[consts]
    dependent = {x}
    for equation in product.equations:
        if not dependent.isdisjoint(equation.inputs):
            if not equation.primitive.pointwise or any(y.shape != x.shape for y in equation.outputs):
                return False
            dependent.update(equation.outputs)
    return True


def _dense(product: Graph, constants: Values, bs: Values) -> Values:
    size = sum(b.size for b in bs)
    eye, start = np.eye(size, dtype=bs[0].dtype.numpy), 0
    basis = []
    for b in bs:
        basis.append(Tensor(eye[:, start : start + b.size].reshape((size, *b.shape))))
        start += b.size
    count = len(bs)
    columns = batched_graph(product, (*[False] * len(constants), *[True] * count), (True,) * count, size)
    columns_of_basis: Values = inline_here(columns, [*constants, *basis])
    parts = [y.reshape((size, -1)) for y in columns_of_basis]
    transposed = parts[0] if count == 1 else apply(concatenate, *parts, axis=1)
    right = [b.reshape((-1, 1)) for b in bs]
    vector = right[0] if count == 1 else apply(concatenate, *right, axis=0)
    return split(apply(solve, transposed, vector, transpose=True).reshape((-1,)), bs)


def _cg(matvec: Product, bs: Values, tol: float, maxiter: int) -> Values:
    count = len(bs)
    zero = [b * 0 for b in bs]
    bound = tol * norm(bs)

    def continues(iterations: Any, rho: Any, *_: Any) -> Any:
        return (rho.sqrt() > bound) & (iterations < maxiter)

    def step(iterations: Any, rho: Any, *vectors: Any) -> tuple:
        x, r, p = vectors[:count], vectors[count : 2 * count], vectors[2 * count :]
        q = matvec(list(p))
        alpha = rho / dot(p, q)
        y, residual = _plus(x, alpha, p), _plus(r, -alpha, q)
        after = dot(residual, residual)
        return (iterations + 1, after, *y, *residual, *_plus(residual, after / rho, p))

    return list(repeat(continues, step, Tensor(0), dot(bs, bs), *zero, *bs, *bs)[2 : 2 + count])


def _bicgstab(matvec: Product, bs: Values, tol: float, maxiter: int) -> Values:
    count = len(bs)
    zero = [b * 0 for b in bs]
    bound = tol * norm(bs)

    def continues(iterations: Any, rho: Any, *vectors: Any) -> Any:
        # if BiCGSTAB breaks down, rho becomes zero or NaN. Then ``rho.abs() > 0`` is false, and the loop ends
        return (norm(vectors[count : 2 * count]) > bound) & (rho.abs() > 0) & (iterations < maxiter)

    def step(iterations: Any, rho: Any, *vectors: Any) -> tuple:
        x, r, p = vectors[:count], vectors[count : 2 * count], vectors[2 * count :]
        v = matvec(list(p))
        alpha = rho / dot(bs, v)
        s = _plus(r, -alpha, v)
        t = matvec(s)
        square = dot(t, t)
        # t is zero if the residual is zero after the first half step: divide by 1 to avoid 0 / 0
        omega = dot(t, s) / (square + (square == 0).astype(square.dtype))
        y = _plus(_plus(x, alpha, p), omega, s)
        residual = _plus(s, -omega, t)
        after = dot(bs, residual)
        # omega is zero at the solution, where the next p is not used: divide by 1 to avoid 0 / 0
        share = after / rho * (alpha / (omega + (omega == 0).astype(omega.dtype)))
        return (iterations + 1, after, *y, *residual, *_plus(residual, share, _plus(p, -omega, v)))

    return list(repeat(continues, step, Tensor(0), dot(bs, bs), *zero, *bs, *bs)[2 : 2 + count])
