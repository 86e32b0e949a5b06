"""Band matrices, block diagonals, and products of several matrices."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import (
    arithmetic,
    complexes,
    creation,
    extremes,
    factorization,
    indexing,
    joining,
    layout,
    linalg,
    matrices,
    statistics,
)
from mindgrad.ops.arguments import axis_in_range, of_two_axes, whole_number
from mindgrad.ops.getitem import updated
from mindgrad.ops.operands import cast, inexact, operand, promoted
from mindgrad.ops.registry import public

__all__ = [
    "adjoint", "block_diag", "cond", "diagonal_scatter", "fill_diagonal", "matrix_band_part",
    "multi_dot", "t", "view_as_real",
]  # fmt: skip


# --- diagonals and bands of matrices ----------------------------------------------------------------------


@public("Tensor")
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Replace a diagonal of the matrices that two axes form.

    Args:
        input (Tensor): tensor of at least two axes.
        src (Tensor): new elements, with the shape of ``diagonal(input, offset, dim1, dim2)``.
        offset (int): index of the diagonal: 0 for the main diagonal, positive above it, negative below it.
        dim1, dim2 (int): axis of the rows and axis of the columns.

    Returns:
        Tensor of the same shape as ``input``.

    Raises:
        ValueError: If the shape of ``src`` is not the shape of the diagonal.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.diagonal_scatter(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([8.0]), 1))
    [[1. 8.]
     [3. 4.]]
    """
    x = operand(input, "DiagonalScatter")
    new = cast(operand(src, "DiagonalScatter", x), x.dtype)
    first, second = (axis_in_range(axis, x.ndim, "DiagonalScatter") for axis in (dim1, dim2))
    moved = layout.moveaxis(x, (first, second), (-2, -1))
    expected = matrices.diagonal(moved, offset, -2, -1).shape
    if new.shape != expected:
        raise ValueError(
            f"For 'DiagonalScatter', the diagonal has the shape {expected}, but 'src' the shape {new.shape}."
        )
    rows, columns = (np.arange(expected[-1]) + max(-offset, 0), np.arange(expected[-1]) + max(offset, 0))
    return layout.moveaxis(updated(moved, (..., rows, columns), new), (-2, -1), (first, second))


@public("Tensor", "FillDiagonal(fill_value: number, wrap=False)(x)")
def fill_diagonal(input: Any, fill_value: float, wrap: bool = False) -> Tensor:
    """Fill the main diagonal of a matrix with a number.

    Args:
        input (Tensor): 2-D tensor, or a tensor of several axes of equal size.
        fill_value (int or float): number on the diagonal of the result.
        wrap (bool): whether the diagonal of a tall matrix starts again one row below its end.

    Returns:
        Tensor of the same shape as ``input``.

    Raises:
        ValueError: If ``input`` has fewer than two axes, or more than two axes of different sizes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.fill_diagonal(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0.0))
    [[0. 2.]
     [3. 0.]]
    """
    x = of_two_axes(input, "FillDiagonal")
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise ValueError(f"For 'FillDiagonal', all axes must have one size, but the shape is {x.shape}.")
    mask = np.zeros(x.shape, bool)
    np.fill_diagonal(mask, True, wrap)
    return indexing.where(Tensor(mask), cast(operand(fill_value, "FillDiagonal", x), x.dtype), x)


@public("MatrixBandPart")
def matrix_band_part(x: Any, lower: int, upper: int) -> Tensor:
    """Set the elements of matrices outside a diagonal band to zero.

    Args:
        x (Tensor): tensor of shape (…, n, m).
        lower, upper (Tensor or int): number of diagonals to keep below and above the main diagonal. A
            negative number keeps all diagonals on this side.

    Returns:
        Tensor of the same shape as ``x``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matrix_band_part(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0, 1))
    [[1. 2.]
     [0. 4.]]
    """
    band = of_two_axes(x, "MatrixBandPart")
    low, high = (whole_number(n, "MatrixBandPart", name) for n, name in ((lower, "lower"), (upper, "upper")))
    if low >= 0:
        band = matrices.triu(band, -low)
    return matrices.tril(band, high) if high >= 0 else band


def block_diag(*inputs: Any) -> Tensor:
    """Create a block-diagonal matrix.

    Args:
        *inputs (Tensor): diagonal blocks, each with at most two axes.

    Returns:
        2-D tensor with the blocks on the diagonal and zeros elsewhere.

    Raises:
        ValueError: If there are no blocks, or a block has more than two axes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.block_diag(Tensor([[1.0]]), Tensor([[2.0, 3.0]])))
    [[1. 0. 0.]
     [0. 2. 3.]]
    """
    blocks = promoted("BlockDiag", *inputs, broadcast=False) if inputs else []
    if not blocks or any(each.ndim > 2 for each in blocks):
        raise ValueError(
            "For 'BlockDiag', there must be at least one input, and inputs must have at most two axes."
        )
    blocks = [layout.reshape(x, (1, -1)) if x.ndim < 2 else x for x in blocks]
    width, before, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        behind = width - before - x.shape[1]
        sides = [creation.zeros((x.shape[0], n), x.dtype) for n in (before, behind)]
        rows.append(joining.concat((sides[0], x, sides[1]), 1))
        before += x.shape[1]
    return joining.concat(rows, 0)


# --- transposes, products, and condition numbers ----------------------------------------------------------


@public("mint")
def t(input: Any) -> Tensor:
    """Transpose a matrix; a vector is returned unchanged.

    Args:
        input (Tensor): tensor of at most two axes.

    Returns:
        Tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.t(Tensor([[1.0, 2.0]])).shape)
    (2, 1)
    """
    return operand(input, "T").t()  # type: ignore[attr-defined]


@public("Tensor.adjoint")
def adjoint(x: Any) -> Tensor:
    """Return the conjugate transpose of matrices.

    Args:
        x (Tensor): tensor of shape (…, n, m).

    Returns:
        Tensor of shape (…, m, n).

    >>> from mindgrad import Tensor, ops
    >>> print(ops.adjoint(Tensor([[1j, 2 + 3j]])))
    [[0.-1.j]
     [2.-3.j]]
    """
    return linalg.adjoint_of(of_two_axes(x, "Adjoint"))


@public("numpy.multi_dot(arrays: tensors)")
def multi_dot(inputs: Any) -> Tensor:
    """Multiply several matrices in the order with the fewest multiplications.

    Args:
        inputs (tuple or list of Tensor): at least two matrices. The first and the last factor may be
            vectors.

    Returns:
        Tensor with the product of the matrices.

    Raises:
        ValueError: If there are fewer than two matrices, or their shapes do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.multi_dot([Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]), Tensor([[5.0]])]))
    [[55.]]
    """
    tensors = promoted("MultiDot", *inputs, broadcast=False)
    if len(tensors) < 2:
        raise ValueError("For 'MultiDot', there must be at least two inputs.")
    shapes = [x.shape for x in tensors]
    if len(shapes[0]) == 1:
        tensors[0] = layout.reshape(tensors[0], (1, -1))
    if len(shapes[-1]) == 1:
        tensors[-1] = layout.reshape(tensors[-1], (-1, 1))
    if any(x.ndim != 2 for x in tensors) or any(
        a.shape[1] != b.shape[0] for a, b in itertools.pairwise(tensors)
    ):
        raise ValueError(
            f"For 'MultiDot', matrices of the shapes {shapes} cannot be multiplied: the columns of each "
            "matrix must match the rows of the next one."
        )
    found = _product(tensors, *_plan([tensors[0].shape[0], *(x.shape[1] for x in tensors)]))
    ends = [found.shape[0]] * (len(shapes[0]) == 2) + [found.shape[1]] * (len(shapes[-1]) == 2)
    return layout.reshape(found, tuple(ends))


def _plan(sizes: list[int]) -> tuple[dict[tuple[int, int], int], int, int]:
    """Find the best split of each product of adjacent matrices (matrix chain problem)."""
    count = len(sizes) - 1
    cost = {(k, k): 0 for k in range(count)}
    cut: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j], cut[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return cut, 0, count - 1


def _product(tensors: list[Tensor], cut: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return tensors[i]
    k = cut[i, j]
    return _product(tensors, cut, i, k) @ _product(tensors, cut, k + 1, j)  # type: ignore[operator]


@public("Tensor")
def cond(A: Any, p: Any = None) -> Tensor:
    """Compute the condition number ‖A‖ ‖A⁻¹‖ of matrices.

    Args:
        A (Tensor): matrices of shape (…, n, m). They must be square unless ``p`` is ``None``, 2, or −2.
        p (int, float, str, or None): order of the norm, as for ``ops.norm``. ``None`` means the
            2-norm, with the condition number σ_max / σ_min.

    Returns:
        Tensor of shape (…) with the condition number of each matrix.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cond(Tensor([[2.0, 0.0], [0.0, 4.0]])))
    2.0
    """
    x = inexact(of_two_axes(A, "Cond"))
    if p in (None, 2, -2):
        values = factorization.svdvals(x)
        large, small = (extremes.amax(values, -1), extremes.amin(values, -1))
        return arithmetic.true_divide(small, large) if p == -2 else arithmetic.true_divide(large, small)
    norms = [statistics.matrix_norm(each, p) for each in (x, linalg.inverse(x))]
    return arithmetic.mul(*norms)


@public("Tensor")
def view_as_real(input: Any) -> Tensor:
    """Convert complex numbers to pairs of real numbers along a new last axis.

    Args:
        input (Tensor): complex tensor.

    Returns:
        Real tensor of shape (…, 2) with the real and the imaginary part of each element.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.view_as_real(Tensor([1 + 2j])))
    [[1. 2.]]
    """
    x = operand(input, "ViewAsReal")
    if x.dtype.kind != "complex":
        raise TypeError(f"For 'ViewAsReal', the input must be complex, but its type is {x.dtype}.")
    return joining.stack((complexes.real(x), complexes.imag(x)), -1)
