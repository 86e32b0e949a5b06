"""Mathematical functions as Cells, most of them from MindSpore r1.x."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.function_cells import function_cell, function_cells
from mindgrad.ops import contraction, creation, reduction
from mindgrad.ops.activation import real_operand
from mindgrad.ops.axes import normalize_axes
from mindgrad.ops.layout import squeeze, swapaxes
from mindgrad.ops.normalization import statistics
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.operations.base import boolean, integers
from mindgrad.ops.reduction import flag, widened

ReduceLogSumExp = function_cell(
    __name__, "ReduceLogSumExp", reduction.logsumexp,
    attributes={"axis": integers(), "keep_dims": boolean(False)}, inputs="x",
    example='f"{nn.ReduceLogSumExp(0)(Tensor([1000.0, 1000.0])):.3f}"', prints="1000.693",
)  # fmt: skip


class MatMul(Cell):
    """Matrix product of batches of matrices.

    Args:
        transpose_x1 (bool): whether to swap the last two axes of ``x1`` first.
        transpose_x2 (bool): whether to swap the last two axes of ``x2`` first.

    Inputs:
        x1, x2 (Tensor): tensors of shape (..., m, k) and (..., k, n). A 1-D tensor is a vector.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If the shapes of ``x1`` and ``x2`` do not match.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.MatMul(transpose_x2=True)(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])))
    [[11.]]
    """

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1 = flag(transpose_x1, "MatMul", "transpose_x1")
        self.transpose_x2 = flag(transpose_x2, "MatMul", "transpose_x2")

    def construct(self, x1: Any, x2: Any) -> Tensor:
        x, y = operand(x1, "MatMul"), operand(x2, "MatMul")
        x = swapaxes(x, -1, -2) if self.transpose_x1 and x.ndim > 1 else x
        y = swapaxes(y, -1, -2) if self.transpose_x2 and y.ndim > 1 else y
        return contraction.matmul(x, y)


class Moments(Cell):
    """Mean and variance of a tensor over axes; the variance is divided by n.

    Args:
        axis (int or tuple of int): axes over which mean and variance are computed. ``()`` or ``None``: all
            axes.
        keep_dims (bool): whether to keep the reduced axes with size 1. ``None``: ``False``.

    Inputs:
        x (Tensor): real tensor.

    Outputs:
        Tuple of the mean and the variance.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an axis in ``axis`` is out of range or occurs twice.

    >>> from mindgrad import Tensor, nn
    >>> print(*nn.Moments(0)(Tensor([1.0, 3.0])))
    2.0 1.0
    """

    def __init__(self, axis: Any = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        self.axis = axis
        self.keep_dims = flag(bool(keep_dims) if keep_dims is None else keep_dims, "Moments", "keep_dims")

    def construct(self, x: Any) -> tuple[Tensor, Tensor]:
        given = real_operand(x, "Moments")
        axes = normalize_axes(self.axis, given.ndim, "Moments")
        found = [cast(each, given.dtype) for each in statistics(widened(given), axes)]
        mean, variance = found if self.keep_dims or not axes else [squeeze(each, axes) for each in found]
        return mean, variance


class Range(Cell):
    """The sequence ``start``, ``start + delta``, ... below ``limit``.

    Args:
        start (number): first element of the sequence. If ``limit`` is ``None``, ``start`` is the limit and
            the sequence starts at 0.
        limit (number): upper bound of the sequence, which is not included.
        delta (number): difference of consecutive elements.

    Outputs:
        1-D tensor.

    Raises:
        TypeError: If an argument is not a number.
        ValueError: If ``delta`` is 0.

    >>> from mindgrad import nn
    >>> print(nn.Range(1, 8, 2)())
    [1 3 5 7]
    """

    def __init__(self, start: Any, limit: Any = None, delta: Any = 1) -> None:
        super().__init__()
        if limit is None:
            start, limit = 0, start
        if delta == 0:
            raise ValueError("For 'Range', the 'delta' must not be 0.")
        self.start, self.limit, self.delta = start, limit, delta

    def construct(self) -> Tensor:
        return creation.arange(self.start, self.limit, self.delta)


__all__ = list(function_cells(globals()))
__all__ += ["MatMul", "Moments", "Range"]
