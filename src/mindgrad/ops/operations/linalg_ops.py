"""Linear algebra as classes."""

from __future__ import annotations

from typing import Any

from mindgrad.ops import factorisation, linalg
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import boolean, classes, operation

_DIAGONAL = "Tensor([[2.0, 0.0], [0.0, 4.0]])"
_UPPER = {"upper": boolean(False)}
_ADJOINT = {"adjoint": boolean(False)}

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


def _triangular(self: Any, a: Any, b: Any) -> Any:
    return linalg.solve_triangular(a, b, "C" if self.adjoint else "N", self.lower)


__all__ = list(classes(globals()))
