"""Diagonals, triangles, and one-hot encodings of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import promote
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.primitives import arithmetic, comparisons, indexing, reduction, structural
from mindgrad.ops.arguments import axis_in_range, of_two_axes, whole_number
from mindgrad.ops.layout import moveaxis, ravel
from mindgrad.ops.operands import broadcast_to, cast, operand
from mindgrad.ops.registry import public

__all__ = [
    "diag", "diag_embed", "diagflat", "diagonal", "one_hot", "trace", "tril", "triu",
]  # fmt: skip


def _grid(count: int, shift_rows: int, shift_columns: int) -> Tensor:
    """Return the row and column indices of ``count`` elements of a diagonal."""
    steps = np.arange(count, dtype=np.int32)
    return make_tensor(np.stack([steps + shift_rows, steps + shift_columns], axis=-1).astype(np.int32))


def _placement(operator: str, rank: int, offset: Any, dim1: Any, dim2: Any) -> tuple[int, int, int, int]:
    """Return both axes of a diagonal, and its distances from the main diagonal."""
    first, second = axis_in_range(dim1, rank, operator, "dim1"), axis_in_range(dim2, rank, operator, "dim2")
    if first == second:
        raise ValueError(
            f"For '{operator}', 'dim1' and 'dim2' must be different axes, but got {dim1} and {dim2}."
        )
    shift = whole_number(offset, operator, "offset")
    return first, second, max(shift, 0), max(-shift, 0)


@public(
    "DiagPart()(x)",
    "Tensor.diagonal(offset=0, axis1=0, axis2=1)(dim1=axis1, dim2=axis2)",
    "numpy.diagonal(a, offset=0, axis1=0, axis2=1)(dim1=axis1, dim2=axis2)",
)
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return a diagonal of the matrices that two axes form, as the last axis.

    Args:
        input (Tensor): tensor with at least two axes.
        offset (int): index of the diagonal: 0 for the main diagonal, positive above it, negative below it.
        dim1 (int): axis of the matrix rows.
        dim2 (int): axis of the matrix columns.

    Returns:
        Tensor without the axes ``dim1`` and ``dim2``, and with the diagonal as the last axis.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If ``dim1`` or ``dim2`` is out of range, or they are equal.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.diagonal(Tensor([[1.0, 2.0], [3.0, 4.0]])))
    [1. 4.]
    """
    x = operand(input, "Diagonal")
    first, second, above, below = _placement("Diagonal", x.ndim, offset, dim1, dim2)
    count = max(min(x.shape[first] - below, x.shape[second] - above), 0)
    found = apply(indexing.gather, x, _grid(count, below, above), axes=(first, second))
    return moveaxis(found, 0, -1)


@public("Tensor")
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Create matrices with the last axis of a tensor as their diagonal.

    Args:
        input (Tensor): tensor with at least one axis.
        offset (int): index of the diagonal: 0 for the main diagonal, positive above it, negative below it.
        dim1, dim2 (int): axis of the rows and axis of the columns in the result.

    Returns:
        Tensor with one axis more than ``input``, with zeros outside the diagonal.

    {Raises as diagonal}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.diag_embed(Tensor([1.0, 2.0])))
    [[1. 0.]
     [0. 2.]]
    """
    x = operand(input, "DiagEmbed")
    if not x.ndim:
        raise ValueError("For 'DiagEmbed', the input must have at least one axis, but it has none.")
    first, second, above, below = _placement("DiagEmbed", x.ndim + 1, offset, dim1, dim2)
    count = x.shape[-1]
    size = count + above + below
    rest = x.shape[:-1]
    nothing = make_tensor(np.zeros((size, size, *rest), x.dtype.numpy))
    placed = apply(
        indexing.scatter_set,
        nothing,
        _grid(count, below, above),
        moveaxis(x, -1, 0),
        axes=(0, 1),
        unique=True,
    )
    return moveaxis(placed, (0, 1), (first, second))


@public("Diag")
def diag(input: Any) -> Tensor:
    """Create a tensor with given elements at [i, j, …, i, j, …] and zeros elsewhere.

    For a vector, the result is a diagonal matrix. Use :func:`diagonal` for the diagonal of a matrix.

    Args:
        input (Tensor): tensor with at least one axis.

    Returns:
        Tensor with twice as many axes as ``input``.

    Raises:
        ValueError: If ``input`` is 0-D.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.diag(Tensor([1.0, 2.0])))
    [[1. 0.]
     [0. 2.]]
    """
    x = operand(input, "Diag")
    if not x.ndim:
        raise ValueError("For 'Diag', the input must have at least one axis, but it has none.")
    return apply(structural.reshape, diag_embed(ravel(x)), shape=(*x.shape, *x.shape))


@public("Tensor", "numpy.diagflat(v, k=0)(offset=k)")
def diagflat(input: Any, offset: int = 0) -> Tensor:
    """Create a matrix with all elements of a tensor on its diagonal.

    Args:
        input (Tensor): tensor of any shape.
        offset (int): index of the diagonal: 0 for the main diagonal, positive above it, negative below it.

    Returns:
        Square matrix, a 2-D tensor.

    Raises:
        TypeError: If ``offset`` is not an int.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.diagflat(Tensor([[1.0], [2.0]])))
    [[1. 0.]
     [0. 2.]]
    """
    return diag_embed(ravel(input), offset)


@public("Trace", "mint.trace(input)")
def trace(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Compute the trace: the sum of the elements of a diagonal.

    Returns:
        Tensor without the axes ``dim1`` and ``dim2``.

    {as diagonal}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.trace(Tensor([[1.0, 2.0], [3.0, 4.0]])))
    5.0
    """
    x = diagonal(input, offset, dim1, dim2)
    return apply(reduction.reduce_sum, x, axes=(x.ndim - 1,))


def _triangle(operator: str, input: Any, diagonal: int, keep: Any) -> Tensor:
    x = of_two_axes(input, operator)
    shift = whole_number(diagonal, operator, "diagonal")
    mask = np.broadcast_to(keep(np.ones(x.shape[-2:], bool), shift), x.shape)
    nothing = make_tensor(np.zeros((), x.dtype.numpy))
    return apply(arithmetic.select, make_tensor(mask), x, broadcast_to(nothing, x.shape))


@public("Tensor mint", "Tril(diagonal=0)(x)", "numpy.tril(m, k=0)(diagonal=k)")
def tril(input: Any, diagonal: int = 0) -> Tensor:
    """Return the lower triangles of matrices, with zeros above a diagonal.

    Args:
        input (Tensor): tensor with at least two axes.
        diagonal (int): index of the diagonal: 0 for the main diagonal, positive above it, negative below it.

    Returns:
        Tensor of the same shape and dtype as ``input``.

    Raises:
        TypeError: If ``diagonal`` is not an int.
        ValueError: If ``input`` has fewer than two axes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.tril(Tensor([[1.0, 2.0], [3.0, 4.0]])))
    [[1. 0.]
     [3. 4.]]
    """
    return _triangle("Tril", input, diagonal, np.tril)


@public("Tensor mint", "Triu(diagonal=0)(x)", "numpy.triu(m, k=0)(diagonal=k)")
def triu(input: Any, diagonal: int = 0) -> Tensor:
    """Return the upper triangles of matrices, with zeros below a diagonal.

    {as tril}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.triu(Tensor([[1.0, 2.0], [3.0, 4.0]])))
    [[1. 2.]
     [0. 4.]]
    """
    return _triangle("Triu", input, diagonal, np.triu)


@public("OneHot(axis=-1)(indices, depth, on_value, off_value)")
def one_hot(indices: Any, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    """Encode indices as one-hot vectors along a new axis.

    Args:
        indices (Tensor): integers of any shape. For an index outside [0, depth), all elements of the vector
            are ``off_value``.
        depth (int): size of the new axis.
        on_value, off_value (Tensor or number): value at the index, and value of the other elements: numbers
            or 0-D tensors. The result has their promoted dtype (int64 for ints, float32 for floats).
        axis (int): index of the new axis in the result. −1 means the last axis.

    Returns:
        Tensor with one axis more than ``indices``.

    Raises:
        TypeError: If ``indices`` is not an integer tensor, or ``depth`` or ``axis`` is not an int.
        ValueError: If ``depth`` is negative, ``axis`` is out of range, or ``on_value`` or ``off_value`` is
            not 0-D.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.one_hot(Tensor([0, 2]), 3, 1.0, 0.0))
    [[1. 0. 0.]
     [0. 0. 1.]]
    """
    index = operand(indices, "OneHot")
    if index.dtype.kind not in ("int", "uint"):
        raise TypeError(f"For 'OneHot', the 'indices' must be integers, but their dtype is {index.dtype}.")
    count = whole_number(depth, "OneHot", "depth", least=0)
    dim = axis_in_range(axis, index.ndim + 1, "OneHot")
    on, off = operand(on_value, "OneHot"), operand(off_value, "OneHot")
    if on.ndim or off.ndim:
        raise ValueError(
            f"For 'OneHot', 'on_value' and 'off_value' must be numbers or 0-D tensors, but got "
            f"the shapes {on.shape} and {off.shape}."
        )
    dtype = promote(on.dtype, off.dtype)
    shape = (*index.shape[:dim], count, *index.shape[dim:])
    dims = tuple(axis for axis in range(len(shape)) if axis != dim)
    spread = apply(structural.broadcast_in_dim, index, shape=shape, dims=dims)
    numbers = np.arange(count).astype(index.dtype.numpy)
    steps = np.broadcast_to(numbers.reshape([-1 if i == dim else 1 for i in range(len(shape))]), shape)
    hit = apply(comparisons.equal, spread, make_tensor(steps))
    return apply(arithmetic.select, hit, *[broadcast_to(cast(each, dtype), shape) for each in (on, off)])
