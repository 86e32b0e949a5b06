"""Operators as classes, MindSpore's r1.x spelling: ``ops.MatMul()(x, y)``."""

from __future__ import annotations

from typing import Any

from mindgrad.core.tensor import Tensor
from mindgrad.ops import arithmetic, contraction, math

__all__ = ["Add", "Cos", "MatMul", "Mul", "Sin"]


class Operation:
    """An operator with its attributes fixed; calling it applies the function of the same name."""

    def __repr__(self) -> str:
        return f"Prim[{type(self).__name__}]"


def _operation(name: str, function: Any) -> type[Operation]:
    def call(self: Operation, *args: Any) -> Any:
        return function(*args)

    return type(name, (Operation,), {"__call__": call, "__doc__": function.__doc__, "__module__": __name__})


Add = _operation("Add", arithmetic.add)
Mul = _operation("Mul", arithmetic.mul)
Sin = _operation("Sin", math.sin)
Cos = _operation("Cos", math.cos)


class MatMul(Operation):
    """The matrix product of two matrices, each transposed if asked.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.MatMul()(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
    [[11.]]
    """

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        return contraction.matmul(x, y)
