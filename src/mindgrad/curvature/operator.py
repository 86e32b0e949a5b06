"""Curvature matrices as linear operators.

    A v        A X        (A + λ I)⁻¹ b        tr A        diag A        the largest eigenvalues of A

A curvature matrix is symmetric, with one row for each element of the weights. Its operator computes products
with vectors, and never stores the matrix unless it fits into the memory that the caller allows. A vector is
either a flat NumPy vector, or a container with the structure of the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from mindgrad.core.base.scipy_modules import scipy_module
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.tensor import Tensor

dense: Any = scipy_module("linalg")
iterative: Any = scipy_module("sparse.linalg")

__all__ = [
    "DEFAULT_MEMORY", "CurvatureOperator", "VectorSpace", "block_width", "solve_general", "solve_symmetric",
]  # fmt: skip

#: default for ``memory``: the bytes that an operator may use for dense matrices and blocks of vectors
DEFAULT_MEMORY = 2**28
#: a dense solution stores the matrix, its factor, and a block of columns
_DENSE_COPIES = 3
#: seed of the random start vector of ``eigsh``, so that results are reproducible
_START_SEED = 0


class VectorSpace(Protocol):
    """A space of vectors with a structure, such as a ``WeightSpace``."""

    owner: str
    size: int
    dtype: Any

    def vector(self, tree: Any, name: str = "v") -> np.ndarray:
        """Return a container with the structure of the space as a flat vector."""

    def tree(self, vector: np.ndarray) -> Any:
        """Return a flat vector as a container with the structure of the space."""


class CurvatureOperator(iterative.LinearOperator):
    """A symmetric matrix that is known by its products with vectors.

    The operator is a SciPy ``LinearOperator`` over flat vectors, so that SciPy's functions accept it. In
    addition, ``@`` and ``solve`` accept and return containers with the structure of the weights. A NumPy
    array is a flat vector, or a matrix whose columns are flat vectors. All other containers must have the
    structure of the weights.

    The functions of ``mindgrad.curvature`` create operators. A subclass defines ``_matvec``, which multiplies
    the matrix with a flat vector, and may define ``_matmat``, ``diagonal``, ``trace``, ``to_dense``, and
    ``solve``.

    Args:
        space (VectorSpace): the vectors that the matrix multiplies.
        is_semidefinite (bool, optional): whether no eigenvalue is negative. Default: ``True``.
        memory (int, optional): number of bytes that dense matrices and blocks of vectors may use. Default:
            ``DEFAULT_MEMORY``, which is 256 MiB.
        column_bytes (int, optional): estimate of the bytes that a product with one vector needs. The number
            of vectors in a block follows from it, see ``block_width``. Default: ``None``, four vectors.

    Attributes:
        shape (tuple): ``(size, size)``.
        dtype (numpy.dtype): dtype of flat vectors, float32 or float64.
        space, is_semidefinite, memory: see above.

    Raises:
        ValueError: If ``memory`` is not a positive integer.

    >>> import numpy as np
    >>> import mindgrad as ms
    >>> w = {"a": ms.Tensor([3.0]), "b": ms.Tensor([4.0])}
    >>> A = ms.curvature.hessian(lambda w: (w["a"] ** 2 * w["b"]).sum(), w)
    >>> print(A.shape, A.is_semidefinite, A @ np.array([1.0, 0.0]), A @ np.eye(2)[:, :1])
    (2, 2) False [8. 6.] [[8.]
     [6.]]
    >>> x = A.solve({"a": ms.Tensor([14.0]), "b": ms.Tensor([6.0])})
    >>> print(x["a"], x["b"])
    [1.] [1.]
    >>> values, vectors = A.eigsh(1)
    >>> print(values.round(3), A.trace())
    [11.211] 8.0

    See Also:
        :func:`mindgrad.curvature.hessian`, :func:`mindgrad.curvature.gauss_newton`,
        :func:`mindgrad.curvature.fisher`
    """

    def __init__(
        self,
        space: VectorSpace,
        is_semidefinite: bool = True,
        memory: int = DEFAULT_MEMORY,
        column_bytes: int | None = None,
    ) -> None:
        if isinstance(memory, bool) or not isinstance(memory, (int, np.integer)) or memory <= 0:
            raise ValueError(
                f"For '{space.owner}', 'memory' must be a positive number of bytes, but is {memory!r}."
            )
        self.space = space
        self.is_semidefinite = is_semidefinite
        self.memory = int(memory)
        super().__init__(space.dtype, (space.size, space.size))
        self.column_bytes = column_bytes or 4 * space.size * self.dtype.itemsize

    # --- products ------------------------------------------------------------------------------------

    def matvec(self, x: Any) -> np.ndarray:
        """Return the product with a flat vector of shape ``(size,)`` or ``(size, 1)``."""
        x = self._real(x)
        if x.shape not in ((self.shape[0],), (self.shape[0], 1)):
            raise self._wrong_shape(x)
        return np.asarray(self._matvec(x.ravel())).reshape(x.shape)

    def matmat(self, X: Any) -> np.ndarray:
        """Return the products with the columns of a matrix of shape ``(size, count)``."""
        x = self._real(X)
        if x.ndim != 2 or x.shape[0] != self.shape[0]:
            raise self._wrong_shape(x)
        return np.asarray(self._matmat(x))

    def dot(self, x: Any) -> Any:
        """Return ``A @ x`` for a flat vector, a matrix, or a container."""
        if isinstance(x, (np.ndarray, iterative.LinearOperator)) or np.isscalar(x):
            return super().dot(x)
        return self.space.tree(self.matvec(self.space.vector(x, "v")))

    def _adjoint(self) -> CurvatureOperator:
        return self

    def _transpose(self) -> CurvatureOperator:
        return self

    def _matmat(self, x: np.ndarray) -> np.ndarray:
        products = [self._matvec(np.ascontiguousarray(column)) for column in x.T]
        return np.stack(products, axis=1) if products else np.empty(x.shape, self.dtype)

    def _real(self, x: Any) -> np.ndarray:
        x = x.asnumpy() if isinstance(x, Tensor) else np.asarray(x)
        if np.iscomplexobj(x):
            raise TypeError(f"For '{self.space.owner}', vectors must be real, but the dtype is {x.dtype}.")
        return x.astype(self.dtype, copy=False)

    def _wrong_shape(self, x: np.ndarray) -> ValueError:
        size = self.shape[0]
        return ValueError(
            f"For '{self.space.owner}', a flat vector must have shape ({size},), and a matrix must have "
            f"{size} rows, but the shape is {x.shape}."
        )

    # --- matrices ------------------------------------------------------------------------------------

    @property
    def block_size(self) -> int:
        """The number of vectors in one block."""
        return block_width(self.shape[0], self.column_bytes, self.memory)

    def _column_blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the columns of the matrix in blocks.

        Each item is a pair (index of the first column, block of columns).
        All products have the same number of vectors, so that one compiled function computes them.
        """
        size, width = self.shape[0], self.block_size
        for start in range(0, size, width):
            count = min(width, size - start)
            unit = np.zeros((size, width), self.dtype)
            unit[np.arange(start, start + count), np.arange(count)] = 1
            yield start, self.matmat(unit)[:, :count]

    def to_dense(self) -> np.ndarray:
        """Return the matrix as a NumPy array of shape ``(size, size)``.

        The columns are computed in blocks. The number of columns in a block follows from ``memory``, but the
        result itself may be larger than ``memory``.
        """
        matrix = np.empty(self.shape, self.dtype)
        for start, columns in self._column_blocks():
            matrix[:, start : start + columns.shape[1]] = columns
        return matrix

    def diagonal(self) -> np.ndarray:
        """Return the diagonal as a flat vector. By default, it is computed from all columns, in blocks."""
        diagonal = np.empty(self.shape[0], self.dtype)
        for start, columns in self._column_blocks():
            count = columns.shape[1]
            diagonal[start : start + count] = columns[np.arange(start, start + count), np.arange(count)]
        return diagonal

    def trace(self, samples: int | None = None, seed: int = 0) -> float:
        """Return the trace, exactly or as an estimate.

        Args:
            samples (int, optional): number of products for an estimate by Hutch++ (R. A. Meyer, C. Musco,
                C. Musco and D. P. Woodruff, *Hutch++: Optimal Stochastic Trace Estimation*, 2021). Default:
                ``None``, the exact sum of :meth:`diagonal`.
            seed (int, optional): seed of the random vectors. Default: ``0``.

        Raises:
            ValueError: If ``samples`` is less than 3.
        """
        if samples is None:
            return float(self.diagonal().sum(dtype=np.float64))
        if samples < 3:
            raise ValueError(
                f"For '{self.space.owner}', 'samples' of trace must be at least 3, but is {samples}."
            )
        size, count = self.shape[0], samples // 3
        if count >= size:
            return self.trace()
        random = np.random.default_rng(seed)
        signs = random.choice(np.array([-1, 1], self.dtype), (2, size, count))
        basis = np.linalg.qr(self.matmat(signs[0]))[0]
        rest = signs[1] - basis @ (basis.T @ signs[1])
        exact = np.sum(basis * self.matmat(basis), dtype=np.float64)
        return float(exact + np.sum(rest * self.matmat(rest), dtype=np.float64) / count)

    def eigsh(self, k: int = 6, which: str = "LM", **options: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return ``k`` eigenvalues in ascending order, and their eigenvectors as columns.

        Args:
            k (int, optional): number of eigenvalues, from 1 to the number of rows. Default: ``6``.
            which (str, optional): ``"LM"`` for the largest magnitudes, ``"LA"`` for the largest, or ``"SA"``
                for the smallest eigenvalues. Default: ``"LM"``.
            options: further options of ``scipy.sparse.linalg.eigsh``.

        Returns:
            tuple: arrays of shapes ``(k,)`` and ``(size, k)``. ``A.space.tree(vectors[:, 0])`` converts an
            eigenvector to the structure of the weights.

        Raises:
            ValueError: If ``k`` is less than 1 or greater than the number of rows.
        """
        size = self.shape[0]
        if not 1 <= k <= size:
            raise ValueError(f"For '{self.space.owner}', 'k' of eigsh must be from 1 to {size}, but is {k}.")
        if k < size - 1:
            options.setdefault(
                "v0", np.random.default_rng(_START_SEED).standard_normal(size).astype(self.dtype)
            )
            values, vectors = iterative.eigsh(self, k, which=which, **options)
        else:  # SciPy's iteration computes fewer eigenvalues than rows
            values, vectors = np.linalg.eigh(self.to_dense())
            chosen = np.argsort({"LM": -abs(values), "LA": -values}.get(which, values), kind="stable")[:k]
            values, vectors = values[chosen], vectors[:, chosen]
        order = np.argsort(values)
        return values[order], vectors[:, order]

    # --- linear systems ------------------------------------------------------------------------------

    @property
    def is_small(self) -> bool:
        """Whether ``memory`` suffices to store the matrix and its factor."""
        return self._fits(self.shape[0])

    def _fits(self, size: int) -> bool:
        return _DENSE_COPIES * size**2 * self.dtype.itemsize <= self.memory

    def solve(
        self, b: Any, damping: float = 0.0, rtol: float | None = None, maxiter: int | None = None
    ) -> Any:
        """Return the solution x of ``(A + damping I) x = b``.

        If the matrix and its factor fit into ``memory``, the system is solved by a Cholesky factorization
        (an LU factorization if the matrix may be indefinite). Otherwise, it is solved by conjugate gradients
        (by MINRES if the matrix may be indefinite).

        Args:
            b (numpy.ndarray or container): flat vector, or a container with the structure of the weights.
            damping (float, optional): nonnegative number that is added to the diagonal. Default: ``0.0``.
            rtol (float, optional): bound for the norm of the residual, relative to the norm of ``b``. With
                ``rtol`` or ``maxiter``, the system is always solved iteratively. Default: ``None``, the
                square root of the machine epsilon.
            maxiter (int, optional): number of iterations after which the present iterate is returned.
                Default: ``None``, iterate until ``rtol`` is reached.

        Returns:
            The solution, as a flat vector or in the structure of the weights, like ``b``.

        Raises:
            ValueError: If ``damping`` is negative or not finite, or ``b`` has a wrong shape.
            TypeError: If the structure of ``b`` differs from the structure of the weights.
            numpy.linalg.LinAlgError: If the system is singular, or the iteration does not converge.
        """
        if not 0 <= damping < np.inf:
            raise ValueError(
                f"For '{self.space.owner}', 'damping' must be finite and nonnegative, but is {damping}."
            )
        is_flat = isinstance(b, np.ndarray)
        vector = self._real(b if is_flat else self.space.vector(b, "b"))
        if vector.shape != (self.shape[0],):
            raise self._wrong_shape(vector)
        if rtol is None and maxiter is None and self.is_small:
            x = self._solve_dense(vector, float(damping))
        else:
            x = self._solve_iteratively(vector, float(damping), rtol, maxiter)
        return x if is_flat else self.space.tree(x)

    def _solve_dense(self, b: np.ndarray, damping: float) -> np.ndarray:
        matrix = self.to_dense()
        matrix[np.diag_indices(len(matrix))] += damping
        solve = solve_symmetric if self.is_semidefinite else solve_general
        return solve(matrix, b, self._singular(damping))

    def _solve_iteratively(
        self, b: np.ndarray, damping: float, rtol: float | None, maxiter: int | None
    ) -> np.ndarray:
        precision = np.sqrt(np.finfo(self.dtype).eps) if rtol is None else rtol
        if self.is_semidefinite:
            shifted = iterative.LinearOperator(
                self.shape, lambda v: self.matvec(v) + damping * v, dtype=self.dtype
            )
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a singular system
                x, info = iterative.cg(shifted, b, rtol=precision, maxiter=maxiter)
        else:
            x, info = iterative.minres(self, b, shift=-damping, rtol=precision, maxiter=maxiter)
        is_finite = bool(np.isfinite(x).all())
        if not is_finite or (info != 0 and maxiter is None):
            raise self._singular(damping)
        if maxiter is None and not self.is_semidefinite:  # MINRES also stops at a least-squares solution
            rest = np.linalg.norm(self.matvec(x) + damping * x - b)
            if rest > 100 * precision * np.linalg.norm(b):
                raise self._singular(damping)
        return x.astype(self.dtype, copy=False)

    def _singular(self, damping: float) -> np.linalg.LinAlgError:
        advice = "Pass a larger damping." if damping else "Pass damping > 0 to solve (A + damping I) x = b."
        return np.linalg.LinAlgError(
            f"For '{self.space.owner}', the linear system of {self.shape[0]} weights is singular to working "
            f"precision, with damping={damping:g}. {advice}"
        )

    # --- description ---------------------------------------------------------------------------------

    def explain(self) -> str:
        """Describe the matrix, its products, and the solver of linear systems."""
        kind = "positive semidefinite" if self.is_semidefinite else "symmetric"
        if self.is_small:
            solver = "a Cholesky factorization" if self.is_semidefinite else "an LU factorization"
        else:
            solver = "conjugate gradients" if self.is_semidefinite else "MINRES"
        lines = [
            f"{self.space.owner}: {kind} matrix of {self.shape[0]} x {self.shape[1]}, {self.dtype}",
            *self._facts(),
            f"blocks: {self.block_size} vectors in {self.memory / 2**20:.0f} MiB",
            f"solve: {solver}",
        ]
        return "\n".join(lines)

    def _facts(self) -> list[str]:
        """Return lines for :meth:`explain` that describe how products are computed."""
        return []


def block_width(count: int, column_bytes: int, memory: int) -> int:
    """Return the number of vectors in one block of products.

    It is at least 1 and at most ``count``. A block uses at most ``memory`` bytes. On a CPU, it also uses at
    most 30 MiB, because larger blocks of products are slower than single products.
    """
    return max(1, min(count, min(memory, costs().whole_bytes) // max(1, column_bytes)))


def solve_symmetric(matrix: np.ndarray, b: np.ndarray, error: Exception) -> np.ndarray:
    """Solve a positive definite system by a Cholesky factorization.

    The factor overwrites ``matrix``. Raise ``error`` if the reciprocal condition number is less than the
    machine epsilon.
    """
    return _solved(matrix, b, error, ("potrf", "pocon", "potrs"))


def solve_general(matrix: np.ndarray, b: np.ndarray, error: Exception) -> np.ndarray:
    """Solve a linear system by an LU factorization.

    The factors overwrite ``matrix``. Raise ``error`` if the reciprocal condition number is less than the
    machine epsilon.
    """
    return _solved(matrix, b, error, ("getrf", "gecon", "getrs"))


def _solved(matrix: np.ndarray, b: np.ndarray, error: Exception, names: tuple[str, ...]) -> np.ndarray:
    norm = np.abs(matrix).sum(axis=0).max()
    if not np.isfinite(norm) or norm == 0:
        raise error
    factorize, condition, substitute = dense.get_lapack_funcs(names, (matrix,))
    *factor, info = factorize(matrix, overwrite_a=True)
    if info == 0:
        reciprocal, _ = condition(factor[0], norm)
        if reciprocal >= np.finfo(matrix.dtype).eps:
            return substitute(*factor, b)[0]
    raise error
