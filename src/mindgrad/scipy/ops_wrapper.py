"""``matrix_set_diag`` under the import path of ``mindspore.scipy.ops_wrapper``."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import diagonals

__all__ = ["matrix_set_diag"]


def matrix_set_diag(input_x: Any, diagonal: Any, k: Any = 0, alignment: str = "RIGHT_LEFT") -> Tensor:
    """Replace diagonals of a matrix, see :func:`mindgrad.ops.matrix_set_diag`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.scipy.ops_wrapper import matrix_set_diag
    >>> print(matrix_set_diag(Tensor([[1, 2], [3, 4]]), Tensor([0, 0])))
    [[0 2]
     [3 0]]
    """
    return diagonals.matrix_set_diag(input_x, diagonal, k, alignment)
