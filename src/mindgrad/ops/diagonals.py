"""Diagonals of matrices: create, extract, and replace them.

Several diagonals, from ``k[0]`` to ``k[1]``, are the rows of one matrix. The uppermost diagonal is the first
row. Shorter diagonals are padded to the length of the longest one. ``align`` controls the side of the
padding: ``"RIGHT_LEFT"`` moves diagonals above the main one to the right, and diagonals below it to the left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import indexing, layout, matrices
from mindgrad.ops.arguments import of_two_axes, whole_number
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.registry import public

__all__ = ["matrix_diag", "matrix_diag_part", "matrix_set_diag"]

_ALIGNMENTS = ("LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT")


@public("MatrixDiagV3(align='RIGHT_LEFT')(x, k=0, num_rows=-1, num_cols=-1, padding_value=0)")
def matrix_diag(
    x: Any,
    k: Any = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Create matrices with given diagonals, and a padding value elsewhere.

    Args:
        x (Tensor): one diagonal for each matrix, of shape (…, n), or several diagonals, of shape (…, number
            of diagonals, n).
        k (int, Tensor, or tuple of int): index of the diagonal (0 for the main diagonal, positive above
            it), or the indices of the lowest and the uppermost diagonal.
        num_rows, num_cols (int): number of rows and columns of the matrices. −1 means the smallest number
            that fits.
        padding_value (Tensor or number): value of the elements that are not on a given diagonal.
        align (str): ``"RIGHT_LEFT"``, ``"LEFT_RIGHT"``, ``"LEFT_LEFT"``, or ``"RIGHT_RIGHT"``:
            how diagonals shorter than the longest one are aligned in ``x``, above and below the main
            diagonal.

    Returns:
        Tensor of shape (…, num_rows, num_cols).

    Raises:
        ValueError: If the diagonals do not fit into ``num_rows`` and ``num_cols``, or ``align`` is not
            supported.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matrix_diag(Tensor([1.0, 2.0])))
    [[1. 0.]
     [0. 2.]]
    """
    operator = "MatrixDiag"
    values = operand(x, operator)
    low, high = _limits(k, operator)
    if values.ndim < 1 + (low != high):
        raise ValueError(
            f"For '{operator}', 'x' must have {1 + (low != high)} axes, but its shape is {values.shape}."
        )
    longest = values.shape[-1]
    rows, columns = [whole_number(_number(n), operator, "the sizes") for n in (num_rows, num_cols)]
    least = (longest - min(high, 0), longest + max(low, 0))
    rows, columns = _sizes(rows, columns, least, (low, high))
    if min(rows + min(high, 0), columns - max(low, 0)) != longest:
        raise ValueError(
            f"For '{operator}', matrices of shape {(rows, columns)} do not fit diagonals of length {longest}."
        )
    base = np.zeros((*values.shape[: values.ndim - (2 if low != high else 1)], rows, columns))
    start = Tensor(base, values.dtype) + cast(operand(padding_value, operator, values), values.dtype)  # type: ignore[operator]
    return _replaced(start, values, (low, high), align, operator)


@public("MatrixDiagPartV3(align='RIGHT_LEFT')(x, k=0, padding_value=0)")
def matrix_diag_part(x: Any, k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Extract diagonals of matrices.

    Args:
        x (Tensor): tensor of shape (…, n, m).
        k (int, Tensor, or tuple of int): index of the diagonal (0 for the main diagonal, positive above
            it), or the indices of the lowest and the uppermost diagonal.
        padding_value (Tensor or number): value that fills up diagonals shorter than the longest one.
        align (str): ``"RIGHT_LEFT"``, ``"LEFT_RIGHT"``, ``"LEFT_LEFT"``, or ``"RIGHT_RIGHT"``:
            how diagonals shorter than the longest one are aligned in the result, above and below the main
            diagonal.

    Returns:
        Tensor of shape (…, n) for one diagonal, or (…, number of diagonals, n) for several.

    Raises:
        ValueError: If a diagonal ``k`` is outside the matrices, or ``align`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matrix_diag_part(Tensor([[1.0, 2.0], [3.0, 4.0]])))
    [1. 4.]
    >>> print(ops.matrix_diag_part(Tensor([[1.0, 2.0], [3.0, 4.0]]), (0, 1)))
    [[0. 2.]
     [1. 4.]]
    """
    operator = "MatrixDiagPart"
    matrix = of_two_axes(x, operator)
    low, high = _limits(k, operator)
    if low == high:
        return matrices.diagonal(matrix, low, -2, -1)
    rows, columns, inside = _places(matrix.shape[-2:], (low, high), align, operator)
    values = matrix[..., rows, columns]  # type: ignore[index]
    filling = cast(operand(padding_value, operator, matrix), matrix.dtype)
    return indexing.where(Tensor(inside), values, filling)


@public("MatrixSetDiagV3(align='RIGHT_LEFT')(x, diagonal, k=0)")
def matrix_set_diag(x: Any, diagonal: Any, k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Replace diagonals of matrices.

    Args:
        x (Tensor): tensor of shape (…, n, m).
        diagonal (Tensor): tensor with the shape of ``matrix_diag_part(x, k)``.
        k (int, Tensor, or tuple of int): index of the diagonal, or the indices of the lowest and the
            uppermost diagonal. The main diagonal has the index 0. Diagonals above it have positive indices.
        align (str): how to align diagonals that are shorter than the longest one, first above and then below
            the main diagonal: ``"RIGHT_LEFT"``, ``"LEFT_RIGHT"``, ``"LEFT_LEFT"``, or ``"RIGHT_RIGHT"``.

    Returns:
        Tensor of the same shape as ``x``.

    Raises:
        ValueError: If the shape of ``diagonal`` does not match ``x`` and ``k``, or ``align`` is not
            supported.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matrix_set_diag(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([0.0, 0.0])))
    [[0. 2.]
     [3. 0.]]
    """
    operator = "MatrixSetDiag"
    matrix = of_two_axes(x, operator)
    values = cast(operand(diagonal, operator, matrix), matrix.dtype)
    return _replaced(matrix, values, _limits(k, operator), align, operator)


def _replaced(matrix: Tensor, values: Tensor, limits: tuple[int, int], align: str, operator: str) -> Tensor:
    """Replace diagonals of ``matrix`` with ``values``."""
    low, high = limits
    rows, columns, inside = _places(matrix.shape[-2:], limits, align, operator)
    shape = (*matrix.shape[:-2], *(inside.shape if low != high else inside.shape[1:]))
    if values.shape != shape:
        raise ValueError(
            f"For '{operator}', the diagonals have the shape {shape}, but got values of shape {values.shape}."
        )
    source = np.zeros(matrix.shape[-2:], np.int64)
    is_set = np.zeros(matrix.shape[-2:], bool)
    source[rows[inside], columns[inside]] = np.flatnonzero(inside)
    is_set[rows[inside], columns[inside]] = True
    flat = layout.reshape(values, (*matrix.shape[:-2], inside.size))
    return indexing.where(Tensor(is_set), flat[..., source], matrix)  # type: ignore[index]


def _places(shape: Any, limits: tuple[int, int], align: str, operator: str) -> tuple[Any, Any, Any]:
    """Return the row and column of each element of the diagonals.

    The third result is a mask that is false for padding.
    """
    if align not in _ALIGNMENTS:
        raise ValueError(
            f"For '{operator}', 'align' must be one of {', '.join(_ALIGNMENTS)}, but got {align!r}."
        )
    (height, width), (low, high) = shape, limits
    if not (-height < low <= high < width):
        raise ValueError(
            f"For '{operator}', diagonals {low} to {high} are outside the matrices of shape {tuple(shape)}."
        )
    numbers = np.arange(high, low - 1, -1)[:, None]
    lengths = np.minimum(height + np.minimum(numbers, 0), width - np.maximum(numbers, 0))
    longest = int(lengths.max())
    above, below = align.split("_")
    is_right = np.where(numbers >= 0, above == "RIGHT", below == "RIGHT")
    position = np.arange(longest) - np.where(is_right, longest - lengths, 0)
    inside = (position >= 0) & (position < lengths)
    position = np.where(inside, position, 0)
    return position + np.maximum(-numbers, 0), position + np.maximum(numbers, 0), inside


def _sizes(rows: int, columns: int, least: tuple[int, int], limits: tuple[int, int]) -> tuple[int, int]:
    """Return the numbers of rows and columns; −1 means the smallest number that fits."""
    if rows < 0 and columns < 0:
        size = max(least)
        return size, size
    return (least[0] if rows < 0 else rows), (least[1] if columns < 0 else columns)


def _limits(k: Any, operator: str) -> tuple[int, int]:
    """Return the indices of the lowest and the uppermost diagonal."""
    values = known(k) if isinstance(k, Tensor) else k
    if values is None:
        raise ValueError(f"For '{operator}', 'k' must be known at compile time. Pass ints.")
    numbers = np.atleast_1d(values)
    if numbers.size not in (1, 2) or numbers.dtype.kind not in "iu" or numbers[0] > numbers[-1]:
        raise ValueError(
            f"For '{operator}', 'k' must be one or two integers in ascending order, but got {k}."
        )
    return int(numbers[0]), int(numbers[-1])


def _number(size: Any) -> Any:
    return size.item() if isinstance(size, Tensor) else size
