"""Krylov methods for linear systems: ``cg`` and ``gmres``.

    A x = b          ẋ = A⁻¹ (ḃ − Ȧ x),   b̄ = A⁻ᵀ x̄          (``solvers.implicit``)

The iteration itself is not differentiated. The derivatives of every order are solutions of linear systems
with the same matrix or its transpose. There is no derivative with respect to the initial vector and the
preconditioner, because the solution does not depend on them.

Sources: M. R. Hestenes and E. Stiefel (1952); Y. Saad and M. H. Schultz (1986). Classical Gram-Schmidt
orthogonalization is done twice (Giraud, Langou, Rozložník, 2005), and least squares are solved by QR.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad._base.shared_docs import with_sections
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.clipping import maximum
from mindgrad.ops.contraction import matmul
from mindgrad.ops.creation import zeros_like
from mindgrad.ops.factorization import qr
from mindgrad.ops.indexing import where
from mindgrad.ops.joining import stack
from mindgrad.ops.linalg import solve_triangular
from mindgrad.ops.operands import inexact, operand
from mindgrad.solvers.implicit import custom_root
from mindgrad.solvers.iterate import repeat
from mindgrad.solvers.linear_solvers import dot, norm

__all__ = ["cg", "gmres"]

#: type annotation for Tensors. It is ``Any``, because type checkers do not know the methods that ``ops`` adds
_Value = Any
_METHODS = ("batched", "incremental")


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Any = None,
) -> tuple[Tensor, None]:
    """Solve ``A x = b`` by conjugate gradients.

    ``A`` must be symmetric and positive definite.

    Args:
        A (Tensor or Callable): matrix of the system, a Tensor of shape (n, n) or a function that returns ``A
            x`` for a vector ``x``.
        b (Tensor): right-hand side, a real Tensor of shape (n,) or (n, 1). Integers are converted to float32.
        x0 (Tensor, optional): initial vector, with the shape of ``b``. Default: zeros.
        tol, atol (float, optional): the iteration stops when ``‖b − A x‖ ≤ max(tol ‖b‖, atol)``.
        maxiter (int, optional): maximum number of iterations, each with one product with ``A``. Default: 10
            n.
        M (Tensor or Callable, optional): preconditioner, a symmetric positive definite approximation of the
            inverse of ``A``, as a Tensor or a function. Default: ``None``.
        callback (None): not supported, as in MindSpore.

    Returns:
        tuple: ``(x, None)``, where ``x`` is the solution. If the iteration does not converge, ``x`` is the
        last iterate.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If the shapes of ``A``, ``b``, and ``x0`` do not match.
        NotImplementedError: If ``callback`` is given.

    >>> import mindgrad as ms
    >>> from mindgrad.scipy.sparse.linalg import cg
    >>> a, b = ms.Tensor([[4.0, 1.0], [1.0, 3.0]]), ms.Tensor([1.0, 2.0])
    >>> print(cg(a, b)[0])
    [0.09090909 0.6363636 ]
    >>> print(ms.grad(lambda b: cg(a, b)[0][0])(b))  # the first row of the inverse
    [ 0.27272728 -0.09090909]
    """
    system = _System("cg", A, b, x0, M, callback, tol, atol)
    most = 10 * system.size if maxiter is None else maxiter

    def solve(_: Any, start: _Value) -> _Value:
        bound = system.bound()
        residual = system.b - system.product(start)
        z = system.preconditioned(residual)

        def continues(iterations: _Value, _: _Value, r: _Value, *__: _Value) -> _Value:
            return (norm([r]) > bound) & (iterations < most)

        def step(iterations: _Value, x: _Value, r: _Value, p: _Value, rho: _Value) -> tuple[_Value, ...]:
            q = system.product(p)
            alpha = rho / dot([p], [q])
            r = r - alpha * q
            z = system.preconditioned(r)
            after = dot([r], [z])
            return iterations + 1, x + alpha * p, r, z + after / rho * p, after

        return repeat(continues, step, Tensor(0), start, residual, z, dot([residual], [z]))[1]

    return custom_root(system.residual, system.start, solve, tangent_solve="cg"), None


@with_sections
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    callback: Any = None,
    restrt: int | None = None,
    atol: float = 0.0,
    callback_type: Any = None,
    solve_method: str = "batched",
) -> tuple[Tensor, None]:
    """Solve ``A x = b`` for an invertible ``A`` by generalized minimal residuals.

    Args:
        restart (int, optional): number of products with ``A`` after which the method restarts from the
            current ``x``. Default: ``20``.
        maxiter (int, optional): maximum number of restarts. Default: 10 n.
        M (Tensor or Callable, optional): preconditioner, an approximation of the inverse of ``A``, as a
            Tensor or a function. Default: ``None``.
        callback, callback_type: not supported, as in MindSpore.
        restrt (int, optional): old name of ``restart``. Default: ``None``.
        solve_method (str, optional): ``"batched"`` or ``"incremental"``, accepted for compatibility; mindgrad
            uses the same algorithm for both. Default: ``"batched"``.

    {as cg}

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If the shapes of ``A``, ``b``, and ``x0`` do not match, or ``solve_method`` is not a known
            method.
        NotImplementedError: If ``callback`` is given.

    >>> import mindgrad as ms
    >>> from mindgrad.scipy.sparse.linalg import gmres
    >>> a, b = ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), ms.Tensor([1.0, 1.0])
    >>> print(gmres(a, b, tol=1e-7)[0].round(4))
    [-1.  1.]
    """
    if solve_method not in _METHODS:
        raise ValueError(
            f"For 'gmres', the 'solve_method' must be one of {', '.join(map(repr, _METHODS))}, but got "
            f"{solve_method!r}."
        )
    system = _System("gmres", A, b, x0, M, callback, tol, atol)
    width = min(restart if restrt is None else restrt, system.size)
    most = 10 * system.size if maxiter is None else maxiter

    def solve(_: Any, start: _Value) -> _Value:
        bound = system.bound()

        def continues(iterations: _Value, _: _Value, length: _Value) -> _Value:
            return (length > bound) & (iterations < most)

        def step(iterations: _Value, x: _Value, _: _Value) -> tuple[_Value, ...]:
            x = x + _smallest_residual(system, x, width)
            return iterations + 1, x, norm([system.b - system.product(x)])

        first = norm([system.b - system.product(start)])
        return repeat(continues, step, Tensor(0), start, first)[1]

    return custom_root(system.residual, system.start, solve), None


def _smallest_residual(system: _System, x: _Value, width: int) -> _Value:
    """Return the change of ``x`` in a Krylov space that minimizes the residual.

    ``width`` is the number of products with A, and the dimension of the space.
    """
    first = system.preconditioned(system.b - system.product(x)).reshape((-1,))
    length = norm([first])
    basis = [_divided(first, length)]
    columns = []
    for k in range(width):
        w = system.preconditioned(system.product(basis[k].reshape(x.shape))).reshape((-1,))
        before = stack(basis, 0)
        size = norm([w])
        projections: _Value = matmul(before, w)
        w = w - matmul(projections, before)
        again: _Value = matmul(before, w)
        w = w - matmul(again, before)
        height = norm([w])
        # if w is a linear combination of the basis, the remainder consists of rounding errors, so replace it
        # with zero
        height = where(height > 10 * float(np.finfo(w.dtype.numpy).eps) * size, height, zeros_like(height))
        coefficients = projections + again
        column = [*coefficients, height, *[zeros_like(height)] * (width - k - 1)]
        columns.append(stack(column, 0))
        basis.append(_divided(w, height))
    pair: tuple[_Value, _Value] = qr(stack(columns, 1))
    weights = _solved(pair[1], pair[0][0] * length)
    change: _Value = matmul(weights, stack(basis[:width], 0))
    return change.reshape(x.shape)


def _solved(r: _Value, right: _Value) -> _Value:
    """Solve a triangular system; return zeros for the rows whose diagonal is zero."""
    diagonal = r.diagonal()
    is_zero = diagonal.abs() <= float(np.finfo(r.dtype.numpy).eps) * diagonal.abs().max()
    ones = is_zero.astype(r.dtype)
    eye = Tensor(np.eye(r.shape[0], dtype=r.dtype.numpy))
    kept = (1 - ones).reshape((-1, 1)) * r + eye * ones
    solution: _Value = solve_triangular(kept, (right * (1 - ones)).reshape((-1, 1)), lower=False)
    return solution.reshape((-1,))


def _divided(x: _Value, length: _Value) -> _Value:
    """Return ``x / length``, or zeros if the length is zero."""
    is_zero = (length == 0).astype(x.dtype)
    return x * (1 - is_zero) / (length + is_zero)


class _System:
    """A linear system with its preconditioner, initial vector, and tolerance."""

    def __init__(
        self, owner: str, A: Any, b: Any, x0: Any, M: Any, callback: Any, tol: float, atol: float
    ) -> None:
        if callback is not None:
            raise NotImplementedError(
                f"For '{owner}', the 'callback' is not supported: the iteration may be part of a compiled "
                f"function. Call '{owner}' repeatedly with a small 'maxiter' and its last result as 'x0'."
            )
        self.owner = owner
        self.b: _Value = inexact(operand(b, owner))
        if not (self.b.ndim == 1 or (self.b.ndim == 2 and self.b.shape[1] == 1)):
            raise ValueError(
                f"For '{owner}', the 'b' must have the shape (n,) or (n, 1), but its shape is {self.b.shape}."
            )
        self.size = self.b.shape[0]
        self.product = self._product("A", A)
        self.preconditioned = (lambda x: x) if M is None else self._product("M", M)
        start: _Value = zeros_like(self.b) if x0 is None else operand(x0, owner)
        self.start = start.astype(self.b.dtype)
        if self.start.shape != self.b.shape:
            raise ValueError(
                f"For '{owner}', the 'x0' must have the shape of 'b', {self.b.shape}, but its shape is "
                f"{self.start.shape}."
            )
        self._tol, self._atol = tol, atol

    def _product(self, name: str, matrix: Any) -> Callable[[_Value], _Value]:
        if callable(matrix) and not isinstance(matrix, Tensor):
            return matrix
        x: _Value = operand(matrix, self.owner)
        x = x.astype(self.b.dtype)
        if x.shape != (self.size, self.size):
            raise ValueError(
                f"For '{self.owner}', the '{name}' must have the shape {(self.size, self.size)} for a 'b' of "
                f"shape {self.b.shape}, but got {x.shape}."
            )
        return lambda vector: matmul(x, vector)

    def residual(self, x: _Value) -> _Value:
        """Return ``A x − b``."""
        return self.product(x) - self.b

    def bound(self) -> _Value:
        """Return the length of the residual at which the iteration ends."""
        return maximum(norm([self.b]) * self._tol, self._atol)


_explain_package(__name__)
