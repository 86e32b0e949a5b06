"""Functions that repeat elements: tile, repeat_interleave, meshgrid, and others."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.core.arrays.index_checks import read_along
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import structural
from mindgrad.ops.arguments import axis_in_range, one_or_more, sizes, whole_number
from mindgrad.ops.joining import stack
from mindgrad.ops.layout import atleast_1d, expand_dims, ravel, reshape
from mindgrad.ops.operands import broadcast_to, operand
from mindgrad.ops.registry import public

__all__ = ["cartesian_prod", "meshgrid", "repeat_elements", "repeat_interleave", "tile"]


@public("Tile mint")
def tile(input: Any, dims: Any) -> Tensor:
    """Repeat a tensor ``dims[i]`` times along axis i.

    Args:
        input (Tensor): tensor of any shape.
        dims (tuple or list of int): numbers of repetitions for the trailing axes. If ``dims`` has more
            entries than ``input`` has axes, leading axes of size 1 are added first.

    Returns:
        Tensor of the repeated elements.

    Raises:
        TypeError: If an entry of ``dims`` is not an int.
        ValueError: If an entry of ``dims`` is negative.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.tile(Tensor([1.0, 2.0]), (2, 2)))
    [[1. 2. 1. 2.]
     [1. 2. 1. 2.]]
    """
    x = operand(input, "Tile")
    times = sizes(dims, "Tile", "dims", least=0)
    rank = max(len(times), x.ndim)
    times = (1,) * (rank - len(times)) + times
    shape = (1,) * (rank - x.ndim) + x.shape
    # insert an axis for the repetitions before each axis, broadcast (1, n₀, 1, n₁) to (t₀, n₀, t₁, n₁), and
    # merge pairs of axes
    spread = tuple(n for pair in zip(times, shape, strict=True) for n in pair)
    if spread == tuple(n for n in shape for n in (1, n)):
        return reshape(x, shape)
    apart = reshape(x, tuple(n for size in shape for n in (1, size)))
    return reshape(broadcast_to(apart, spread), tuple(t * n for t, n in zip(times, shape, strict=True)))


def repeat_elements(x: Any, rep: int, axis: int = 0) -> Tensor:
    """Repeat each element ``rep`` times along an axis.

    Args:
        x (Tensor): tensor whose elements are repeated.
        rep (int): number of repetitions of each element.
        axis (int): axis along which elements are repeated.

    Returns:
        Tensor with ``rep`` times as many elements along ``axis``.

    Raises:
        TypeError: If ``rep`` or ``axis`` is not an int.
        ValueError: If ``rep`` is not positive, or ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.repeat_elements(Tensor([1.0, 2.0]), 2))
    [1. 1. 2. 2.]
    """
    tensor = operand(x, "RepeatElements")
    axis = axis_in_range(axis, tensor.ndim, "RepeatElements")
    times = whole_number(rep, "RepeatElements", "rep", least=1)
    return _repeated(tensor, times, axis)


def _repeated(x: Tensor, times: int, axis: int) -> Tensor:
    before, count, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    spread = broadcast_to(expand_dims(x, axis + 1), (*before, count, times, *after))
    return reshape(spread, (*before, count * times, *after))


@public(
    "Tensor.repeat_interleave(repeats, axis=None, *, output_size: unused=None)",
    "mint.repeat_interleave(input, repeats, dim=None, *, output_size: unused=None)",
    "numpy.repeat(a, repeats, axis=None)",
)
def repeat_interleave(input: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element along an axis.

    Args:
        input (Tensor): tensor of any shape.
        repeats (int, tuple of int, list of int, or Tensor): number of repetitions of every element, or one
            number for each element along ``axis``. The values of a tensor must be known at compile time,
            because they determine the shape of the result.
        axis (int or None): axis along which elements are repeated. ``None`` flattens the tensor first.

    Returns:
        Tensor of the repeated elements.

    Raises:
        TypeError: If an entry of ``repeats``, or ``axis``, is not an int.
        ValueError: If an entry of ``repeats`` is negative, the number of entries is not the size of the axis,
            or ``axis`` is out of range.
        RuntimeError: If ``repeats`` is a tensor whose values are unknown at compile time.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.repeat_interleave(Tensor([1.0, 2.0, 3.0]), (1, 0, 2)))
    [1. 3. 3.]
    """
    operator = "RepeatInterleave"
    x = operand(input, operator)
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_in_range(axis, x.ndim, operator)
    times = [whole_number(n, operator, "repeats", least=0) for n in one_or_more(repeats)]
    if len(times) == 1:
        return _repeated(x, times[0], axis)
    if len(times) != x.shape[axis]:
        raise ValueError(
            f"For '{operator}', the 'repeats' must contain one number for each of the {x.shape[axis]} "
            f"elements along axis {axis}, but it holds {len(times)}."
        )
    return read_along(x, np.repeat(np.arange(len(times), dtype=np.int32), times), axis)


def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Return the coordinates of the grid that vectors span.

    Args:
        *inputs (Tensor or number): 1-D tensors x₀, x₁, …, each with the coordinates along one axis.
        indexing (str): with ``"ij"``, axis k of the results corresponds to xₖ. With ``"xy"``, axes 0 and 1
            are swapped.

    Returns:
        Tuple of tensors with the shape of the grid.

    Raises:
        TypeError: If an input is not a tensor.
        ValueError: If an input has more than one axis, or ``indexing`` is neither ``"ij"`` nor ``"xy"``.

    >>> from mindgrad import Tensor, ops
    >>> x, y = ops.meshgrid(Tensor([1.0, 2.0]), Tensor([3.0, 4.0, 5.0]))
    >>> print(x)
    [[1. 2.]
     [1. 2.]
     [1. 2.]]
    """
    one_of(indexing, ("xy", "ij"), "Meshgrid", "indexing")
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    vectors = [atleast_1d(operand(x, "Meshgrid")) for x in inputs]
    for x in vectors:
        if x.ndim > 1:
            raise ValueError(
                f"For 'Meshgrid', each input must have one axis, but one has the shape {x.shape}."
            )
    axes = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        axes[0], axes[1] = 1, 0
    shape = [0] * len(vectors)
    for axis, x in zip(axes, vectors, strict=True):
        shape[axis] = x.size
    return tuple(
        apply(structural.broadcast_in_dim, x, shape=tuple(shape), dims=(axis,))
        for axis, x in zip(axes, vectors, strict=True)
    )


def cartesian_prod(*inputs: Any) -> Tensor:
    """Return the Cartesian product of vectors as the rows of a matrix.

    The element of the last vector changes fastest from row to row.

    Args:
        *inputs (Tensor): 1-D tensors of the same dtype.

    Returns:
        Tensor of shape (n₀ · n₁ · …, number of vectors); for one vector, the vector itself.

    Raises:
        TypeError: If no vector is given, or an input is not a tensor.
        ValueError: If an input is not 1-D.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cartesian_prod(Tensor([1, 2]), Tensor([5, 6])))
    [[1 5]
     [1 6]
     [2 5]
     [2 6]]
    """
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    if not inputs:
        raise TypeError("For 'CartesianProd', at least one vector must be given.")
    vectors = [operand(x, "CartesianProd") for x in inputs]
    for x in vectors:
        if x.ndim != 1:
            raise ValueError(
                f"For 'CartesianProd', each input must have one axis, but one has the shape {x.shape}."
            )
    if len(vectors) == 1:
        return vectors[0]
    return reshape(stack(meshgrid(*vectors, indexing="ij"), -1), (-1, len(vectors)))
