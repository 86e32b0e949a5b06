"""Operator classes for linear algebra."""

from __future__ import annotations

from typing import Any

from mindgrad.ops import factorization
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import boolean, classes, operation
from mindgrad.ops.registry import public

_DIAGONAL = "Tensor([[2.0, 0.0], [0.0, 4.0]])"

public(
    "Eig(compute_v=False)(x) -> eig(x) if self.compute_v else (eigvals(x), None)"
    f" >>> ops.Eig()({_DIAGONAL})[0] => [2.+0.j 4.+0.j]"
)(factorization.eig)


def _eigh(self: Any, x: Any) -> Any:
    matrix = factorization.of_one_triangle(operand(x, "Eigh"), self.lower)
    return factorization.eigh(matrix) if self.compute_eigenvectors else factorization.eigvalsh(matrix)


Eigh = operation(
    __name__, "Eigh", factorization.eigh, run=_eigh,
    attributes={"compute_eigenvectors": boolean(True), "lower": boolean(True)},
    example=f"ops.Eigh()({_DIAGONAL})[0]", prints="[2. 4.]",
)  # fmt: skip


__all__ = list(classes(globals()))
