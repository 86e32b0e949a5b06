"""Operators as in ``mindspore.scipy.ops``: eigenvalues, factors, assignment."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.dtype import float64, int32, int64
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.assignment import assignment
from mindgrad.nn.cell import Cell
from mindgrad.ops import factorization, linalg
from mindgrad.ops.lu_factors import lu_factors, permutation_of
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.operations.base import anything, boolean, classes, operation
from mindgrad.ops.operations.linalg_ops import Eigh
from mindgrad.scipy import linalg as scipy_linalg

_MATRIX = "Tensor([[2.0, 0.0], [0.0, 4.0]])"


def linear_sum_assignment(
    cost_matrix: Any, maximize: bool = False, dimension_limit: Any = None
) -> tuple[Tensor, Tensor]:
    """Solve the linear assignment problem: pair rows with columns at the least cost.

    Args:
        cost_matrix (Tensor): real tensor of shape (m, n). Element (i, j) is the cost of pairing row i with
            column j.
        maximize (bool, optional): whether to maximize the total cost instead of minimizing it. Default:
            ``False``.
        dimension_limit (Tensor, optional): integer scalar, the number of leading columns that can be paired.
            Default: all columns.

    Returns:
        tuple: two int64 tensors of shape (min(m, n),): the row indices of the pairs in ascending order, and
        their column indices. If ``dimension_limit`` leaves fewer pairs, the remaining entries of both tensors
        are −1.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``cost_matrix`` is not a matrix.

    >>> from mindgrad import Tensor
    >>> from mindgrad.scipy.optimize import linear_sum_assignment
    >>> rows, columns = linear_sum_assignment(Tensor([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0]]))
    >>> print(rows, columns)
    [0 1] [1 0]
    """
    cost = operand(cost_matrix, "LinearSumAssignment")
    if not isinstance(cost_matrix, Tensor) or cost.dtype.kind == "complex":
        raise TypeError(
            f"For 'LinearSumAssignment', the costs must be a real tensor, but got {cost_matrix!r}."
        )
    if not isinstance(maximize, bool):
        raise TypeError(f"For 'LinearSumAssignment', the 'maximize' must be a bool, but got {maximize!r}.")
    if cost.ndim != 2:
        raise ValueError(
            f"For 'LinearSumAssignment', the costs must be a matrix, but their shape is {cost.shape}."
        )
    limit = operand(cost.shape[1] if dimension_limit is None else dimension_limit, "LinearSumAssignment")
    if limit.ndim or limit.dtype.kind not in ("int", "uint"):
        raise TypeError(
            f"For 'LinearSumAssignment', the 'dimension_limit' must be one integer, but got "
            f"{dimension_limit!r}."
        )
    pairs: Any = apply(assignment, cast(cost, float64), cast(limit, int64), maximize=maximize)
    return pairs[0], pairs[1]


Eig = operation(
    __name__, "Eig", factorization.eig, attributes={"compute_v": boolean(True)},
    run=lambda self, x: factorization.eig(x) if self.compute_v else (factorization.eigvals(x), None),
    example=f"scipy.ops.Eig()({_MATRIX})[0]", prints="[2.+0.j 4.+0.j]",
)  # fmt: skip
LinearSumAssignment = operation(
    __name__, "LinearSumAssignment", linear_sum_assignment,
    run=lambda self, cost_matrix, dimension_limit, maximize: linear_sum_assignment(
        cost_matrix, maximize, dimension_limit
    ),
    example="scipy.ops.LinearSumAssignment()(Tensor([[4.0, 1.0], [2.0, 0.0]]), Tensor(2), False)[1]",
    prints="[1 0]",
)  # fmt: skip


def _lu(self: Any, x: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return the factors in one matrix, the pivots, and the permutation matrix."""
    factors, pivots = lu_factors("LU", x)
    return factors, pivots, permutation_of(pivots, factors.shape[-2], int32)


LU = operation(
    __name__, "LU", lu_factors, run=_lu,
    example="scipy.ops.LU()(Tensor([[1.0, 2.0], [2.0, 2.0]]))[0]", prints="[[2.  2. ]\n [0.5 1. ]]",
)  # fmt: skip
SolveTriangular = operation(
    __name__, "SolveTriangular", linalg.solve_triangular,
    attributes={
        "lower": boolean(False), "unit_diagonal": boolean(False),
        "trans": anything("a word or a number", "N"),
    },
    run=lambda self, a, b: linalg.solve_triangular(a, b, self.trans, self.lower, self.unit_diagonal),
    example=f"scipy.ops.SolveTriangular()({_MATRIX}, Tensor([2.0, 8.0]))", prints="[1. 2.]",
)  # fmt: skip


def _cholesky(self: Any, x: Any) -> Tensor:
    if not self.clean:
        raise NotImplementedError(
            "For 'Cholesky', clean=False is not supported: the unused triangle of the result is always zero. "
            "Omit 'clean'."
        )
    return scipy_linalg.cholesky(x, self.lower)


Cholesky = operation(
    __name__, "Cholesky", factorization.cholesky, run=_cholesky,
    attributes={"lower": boolean(False), "clean": boolean(True)},
    example=f"scipy.ops.Cholesky(lower=True)({_MATRIX})",
    prints="[[1.4142135 0.       ]\n [0.        2.       ]]",
)  # fmt: skip


class EighNet(Cell):
    """Compute eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Args:
        bv (bool, optional): whether to also return the eigenvectors. Default: ``True``.
        lower (bool, optional): whether to read the lower triangle of the matrices; otherwise read the upper
            triangle. Default: ``True``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.scipy.ops import EighNet
    >>> print(EighNet(bv=False)(Tensor([[2.0, 0.0], [0.0, 4.0]])))
    [2. 4.]
    """

    def __init__(self, bv: bool = True, lower: bool = True) -> None:
        super().__init__()
        self.eigh = Eigh(bv, lower)

    def construct(self, A: Any) -> Any:
        """Return the eigenvalues, and any eigenvectors, of matrices of shape (…, n, n)."""
        return self.eigh(A)


class EigNet(Cell):
    """Compute the complex eigenvalues and eigenvectors of square matrices.

    Args:
        bv (bool, optional): whether to also return the eigenvectors. Default: ``True``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.scipy.ops import EigNet
    >>> print(EigNet(bv=False)(Tensor([[2.0, 0.0], [0.0, 4.0]])))
    [2.+0.j 4.+0.j]
    """

    def __init__(self, bv: bool = True) -> None:
        super().__init__()
        self.eig = Eig(bv)

    def construct(self, A: Any) -> Any:
        """Return the eigenvalues, and any eigenvectors, of matrices of shape (…, n, n)."""
        values, vectors = self.eig(A)
        return values if vectors is None else (values, vectors)


__all__ = list(classes(globals()))
__all__ += ["EigNet", "EighNet", "linear_sum_assignment"]
