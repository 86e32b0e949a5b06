"""Linear algebra as classes."""

from __future__ import annotations

from typing import Any

from mindgrad.ops import exponential, factorisation, linalg, lu_factors, matrices
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import boolean, classes, integer, operation

_DIAGONAL = "Tensor([[2.0, 0.0], [0.0, 4.0]])"
_UPPER = {"upper": boolean(False)}
_ADJOINT = {"adjoint": boolean(False)}

Cholesky = operation(
    __name__, "Cholesky", factorisation.cholesky, attributes=_UPPER,
    run=lambda self, x: factorisation.cholesky(x, self.upper),
    example="ops.Cholesky()(Tensor([[4.0, 2.0], [2.0, 5.0]]))", prints="[[2. 0.]\n [1. 2.]]",
)  # fmt: skip
CholeskyInverse = operation(
    __name__, "CholeskyInverse", factorisation.cholesky_inverse, attributes=_UPPER,
    run=lambda self, x: factorisation.cholesky_inverse(x, self.upper),
    example="ops.CholeskyInverse()(Tensor([[2.0]]))", prints="[[0.25]]",
)  # fmt: skip
CholeskySolve = operation(
    __name__, "CholeskySolve", factorisation.cholesky_solve, attributes=_UPPER,
    run=lambda self, b, factor: factorisation.cholesky_solve(b, factor, self.upper),
    example="ops.CholeskySolve()(Tensor([[8.0]]), Tensor([[2.0]]))", prints="[[2.]]",
)  # fmt: skip
Eig = operation(
    __name__, "Eig", factorisation.eig, attributes={"compute_v": boolean(False)},
    run=lambda self, x: factorisation.eig(x) if self.compute_v else (factorisation.eigvals(x), None),
    example=f"ops.Eig()({_DIAGONAL})[0]", prints="[2.+0.j 4.+0.j]",
)  # fmt: skip


def _eigh(self: Any, x: Any) -> Any:
    matrix = factorisation.of_one_triangle(operand(x, "Eigh"), self.lower)
    return factorisation.eigh(matrix) if self.compute_eigenvectors else factorisation.eigvalsh(matrix)


Eigh = operation(
    __name__, "Eigh", factorisation.eigh, run=_eigh,
    attributes={"compute_eigenvectors": boolean(True), "lower": boolean(True)},
    example=f"ops.Eigh()({_DIAGONAL})[0]", prints="[2. 4.]",
)  # fmt: skip
LogMatrixDeterminant = operation(
    __name__, "LogMatrixDeterminant", linalg.slogdet, run=lambda self, x: linalg.slogdet(x),
    example=f"ops.LogMatrixDeterminant()({_DIAGONAL})[0]", prints="1.0",
)  # fmt: skip
LuSolve = operation(__name__, "LuSolve", lu_factors.lu_solve)
LuUnpack = operation(
    __name__, "LuUnpack", lu_factors.lu_unpack,
    attributes={"unpack_data": boolean(True), "unpack_pivots": boolean(True)},
    run=lambda self, data, pivots: lu_factors.lu_unpack(data, pivots, self.unpack_data, self.unpack_pivots),
    example="ops.LuUnpack()(Tensor([[2.0, 2.0], [0.5, 1.0]]), Tensor([2, 2]))[2]",
    prints="[[2. 2.]\n [0. 1.]]",
)  # fmt: skip
MatrixDeterminant = operation(__name__, "MatrixDeterminant", linalg.det)
MatrixExp = operation(__name__, "MatrixExp", exponential.matrix_exp)
MatrixInverse = operation(
    __name__, "MatrixInverse", linalg.matrix_inverse, attributes=_ADJOINT,
    run=lambda self, x: linalg.matrix_inverse(x, self.adjoint),
    example=f"ops.MatrixInverse()({_DIAGONAL})", prints="[[0.5  0.  ]\n [0.   0.25]]",
)  # fmt: skip
MatrixPower = operation(
    __name__, "MatrixPower", linalg.matrix_power, attributes={"n": integer()},
    run=lambda self, x: linalg.matrix_power(x, self.n),
    example=f"ops.MatrixPower(2)({_DIAGONAL})", prints="[[ 4.  0.]\n [ 0. 16.]]",
)  # fmt: skip
MatrixSolve = operation(
    __name__, "MatrixSolve", linalg.matrix_solve, attributes=_ADJOINT,
    run=lambda self, a, b: linalg.matrix_solve(a, b, self.adjoint),
    example=f"ops.MatrixSolve()({_DIAGONAL}, Tensor([[2.0], [8.0]]))", prints="[[1.]\n [2.]]",
)  # fmt: skip


def _triangular(self: Any, a: Any, b: Any) -> Any:
    return linalg.solve_triangular(a, b, "C" if self.adjoint else "N", self.lower)


MatrixTriangularSolve = operation(
    __name__, "MatrixTriangularSolve", linalg.solve_triangular,
    attributes={"lower": boolean(True), **_ADJOINT}, run=_triangular,
    example=f"ops.MatrixTriangularSolve()({_DIAGONAL}, Tensor([[2.0], [8.0]]))", prints="[[1.]\n [2.]]",
)  # fmt: skip
Qr = operation(
    __name__, "Qr", factorisation.qr, attributes={"full_matrices": boolean(False)},
    run=lambda self, x: factorisation.qr(x, "complete" if self.full_matrices else "reduced"),
    example="ops.Qr()(Tensor([[3.0], [4.0]]))[0].shape", prints="(2, 1)",
)  # fmt: skip
Svd = operation(
    __name__, "Svd", factorisation.svd,
    attributes={"full_matrices": boolean(False), "compute_uv": boolean(True)},
    run=lambda self, x: factorisation.svd(x, self.full_matrices, self.compute_uv),
    example=f"ops.Svd()({_DIAGONAL})[0]", prints="[4. 2.]",
)  # fmt: skip
Trace = operation(__name__, "Trace", matrices.trace)

__all__ = list(classes(globals()))
