"""Joining functions: concatenate, stack, and split tensors."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Any

import numpy as np

from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.types import TensorType
from mindgrad.ops.arguments import axis_in_range, listed_tensors, sizes, whole_number
from mindgrad.ops.define import also_named
from mindgrad.ops.layout import atleast_1d, atleast_2d, atleast_3d, expand_dims, reshape, squeeze
from mindgrad.ops.movement import slice_axis
from mindgrad.ops.operands import operand
from mindgrad.ops.registry import public
from mindgrad.primitives import static_slices

__all__ = [
    "cat", "chunk", "column_stack", "concat", "concatenate", "dsplit", "dstack", "hsplit", "hstack",
    "split", "stack", "tensor_split", "unbind", "unstack", "vsplit", "vstack",
]  # fmt: skip


# --- joining tensors -------------------------------------------------------------------------------


@public("Concat(axis=0)(tensors)", "ParallelConcat()(values)(axis=0)")
def concat(tensors: Any, axis: int = 0) -> Tensor:
    """Join tensors along an existing axis.

    Args:
        tensors (tuple or list of Tensor): tensors to join, whose shapes are equal except along ``axis``.
            Different dtypes are promoted.
        axis (int): axis along which the tensors are joined.

    Returns:
        Tensor whose size along ``axis`` is the sum of the sizes of ``tensors``.

    Raises:
        TypeError: If ``tensors`` is not a tuple or list of tensors, or ``axis`` is not an int.
        ValueError: If ``tensors`` is empty, the shapes of the tensors do not match, or ``axis`` is out of
            range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.concat((Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]))))
    [[1. 2.]
     [3. 4.]]
    """
    listed = listed_tensors(tensors, "Concat", "tensors")
    types = [x.type for x in listed]
    axis = (_concat_axis if type(axis) is int else _concat_axis.__wrapped__)(axis, *types)
    return listed[0] if len(listed) == 1 else apply(static_slices.concatenate, *listed, axis=axis)


@lru_cache(maxsize=1024)
def _concat_axis(axis: Any, *types: TensorType) -> int:
    """Make ``axis`` nonnegative, and check that all other axes have equal sizes."""
    first = types[0].shape
    axis = axis_in_range(axis, len(first), "Concat")
    rest = first[:axis], first[axis + 1 :]
    for x in types:
        if x.rank != len(first) or (x.shape[:axis], x.shape[axis + 1 :]) != rest:
            raise ValueError(
                f"For 'Concat', the tensors must have one shape apart from axis {axis}, but got "
                f"{', '.join(str(each.shape) for each in types)}."
            )
    return axis


@public("mint.cat(tensors, dim=0)", "mint.concat(tensors, dim=0)")
def cat(tensors: Any, axis: int = 0) -> Tensor:
    """Join tensors along an existing axis; another name of :func:`concat`.

    {as concat}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cat((Tensor([1.0]), Tensor([2.0]))))
    [1. 2.]
    """
    return concat(tensors, axis)


def concatenate(tensors: Any, axis: int = 0) -> Tensor:
    """Join tensors along an existing axis; NumPy's name of :func:`concat`.

    {as concat}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.concatenate((Tensor([1.0]), Tensor([2.0]))))
    [1. 2.]
    """
    return concat(tensors, axis)


@public(
    "Stack(axis=0)(tensors)",
    "Pack(axis=0)(tensors)",
    "mint.stack(tensors, dim=0)",
    "numpy.stack(arrays: common, axis=0)",
)
def stack(tensors: Any, axis: int = 0) -> Tensor:
    """Join tensors of equal shape along a new axis.

    Args:
        tensors (tuple or list of Tensor or number, or Tensor): tensors to join. Different dtypes are
            promoted.
        axis (int): index of the new axis in the result.

    Returns:
        Tensor with one axis more than each tensor in ``tensors``.

    Raises:
        TypeError: If ``tensors`` is not a tuple or list of tensors, or ``axis`` is not an int.
        ValueError: If ``tensors`` is empty, the shapes of the tensors differ, or ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.stack((Tensor([1.0, 2.0]), Tensor([3.0, 4.0])), axis=1))
    [[1. 3.]
     [2. 4.]]
    """
    listed = listed_tensors([tensors] if isinstance(tensors, Tensor) else tensors, "Stack", "tensors")
    shape = listed[0].shape
    if any(x.shape != shape for x in listed):
        raise ValueError(
            f"For 'Stack', the tensors must have one shape, but got "
            f"{', '.join(str(x.shape) for x in listed)}."
        )
    place = axis_in_range(axis, len(shape) + 1, "Stack")
    parts = [expand_dims(x, place) for x in listed]
    return parts[0] if len(parts) == 1 else apply(static_slices.concatenate, *parts, axis=place)


@public("mint", "numpy.hstack(tup: common)")
def hstack(tensors: Any) -> Tensor:
    """Join tensors along the second axis, or vectors along their only axis.

    Args:
        tensors (tuple or list of Tensor): tensors to join.

    Returns:
        Joined tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.hstack((Tensor([[1.0], [2.0]]), Tensor([[3.0], [4.0]]))))
    [[1. 3.]
     [2. 4.]]
    """
    listed = [atleast_1d(x) for x in listed_tensors(tensors, "HStack", "tensors")]
    return concat(listed, 1 if listed[0].ndim > 1 else 0)


@public("mint", "numpy.vstack(tup: common)")
@also_named(inputs="tensors")
def vstack(tensors: Any) -> Tensor:
    """Join tensors along the first axis; vectors become rows.

    Args:
        tensors (tuple or list of Tensor): tensors to join.

    Returns:
        Joined tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.vstack((Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))))
    [[1. 2.]
     [3. 4.]]
    """
    return concat([atleast_2d(x) for x in listed_tensors(tensors, "VStack", "tensors")], 0)


@public("mint", "numpy.dstack(tup: common)")
def dstack(tensors: Any) -> Tensor:
    """Join tensors along the third axis, which is added if it is missing.

    Args:
        tensors (tuple or list of Tensor): tensors to join.

    Returns:
        Joined tensor.

    >>> from mindgrad import Tensor, ops
    >>> ops.dstack((Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))).shape
    (1, 2, 2)
    """
    return concat([atleast_3d(x) for x in listed_tensors(tensors, "DStack", "tensors")], 2)


@public("numpy.column_stack(tup: common)")
def column_stack(tensors: Any) -> Tensor:
    """Join tensors along the second axis; vectors become columns.

    Args:
        tensors (tuple or list of Tensor): tensors to join.

    Returns:
        Joined tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.column_stack((Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))))
    [[1. 3.]
     [2. 4.]]
    """
    listed = listed_tensors(tensors, "ColumnStack", "tensors")
    return concat([reshape(x, (x.size, 1)) if x.ndim < 2 else x for x in listed], 1)


# --- splitting tensors -----------------------------------------------------------------------------


def _cut(x: Tensor, axis: int, places: list[int]) -> tuple[Tensor, ...]:
    """Return the parts of ``x`` between neighboring indices ``places`` along ``axis``."""
    return tuple(slice_axis(x, axis, start, max(start, limit)) for start, limit in itertools.pairwise(places))


def unstack(input_x: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into its slices along an axis, which is removed.

    Args:
        input_x (Tensor): input tensor.
        axis (int): axis to remove.

    Returns:
        Tuple of the slices, which are tensors without ``axis``.

    Raises:
        TypeError: If ``axis`` is not an int.
        ValueError: If ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> first, second = ops.unstack(Tensor([[1.0, 2.0], [3.0, 4.0]]))
    >>> print(second)
    [3. 4.]
    """
    x = operand(input_x, "Unstack")
    axis = axis_in_range(axis, x.ndim, "Unstack")
    places = list(range(x.shape[axis] + 1))
    return tuple(squeeze(part, axis) for part in _cut(x, axis, places))


@public("Tensor mint")
def unbind(input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into its slices along an axis; another name of ``unstack``.

    {as unstack}

    >>> from mindgrad import Tensor, ops
    >>> len(ops.unbind(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
    2
    """
    return unstack(input, dim)


@public(
    "Tensor",
    "SplitV(size_splits: integers, split_dim: integer, num_split: unused integer)(x)"
    "(split_size_or_sections=list(self.size_splits), axis=self.split_dim)"
    " >>> ops.SplitV([1, 2], 0, 2)(Tensor([1.0, 2.0, 3.0]))[1] => [2. 3.]",
    "mint.split(tensor, split_size_or_sections, dim=0)",
    "ops.auto_generate.SplitWithSize()(x, split_size, dim=0)(split_size_or_sections=list(split_size))"
    " >>> ops.auto_generate.SplitWithSize()(Tensor([1.0, 2.0, 3.0]), [1, 2])[1] => [2. 3.]",
)
def split(tensor: Any, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into parts along an axis.

    Args:
        tensor (Tensor): input tensor.
        split_size_or_sections (int, or tuple or list of int): size of each part, or the sizes of all parts.
            With one size, the last part may be smaller.
        axis (int): axis along which to split the tensor.

    Returns:
        Tuple of the parts, which are tensors.

    Raises:
        TypeError: If a size or ``axis`` is not an int.
        ValueError: If a size is not positive, the sum of the sizes is not the size of ``axis``, or ``axis``
            is out of range.

    >>> from mindgrad import Tensor, ops
    >>> [part.shape for part in ops.split(ops.ones((5, 2)), 2)]
    [(2, 2), (2, 2), (1, 2)]
    """
    x = operand(tensor, "Split")
    axis = axis_in_range(axis, x.ndim, "Split")
    count = x.shape[axis]
    if isinstance(split_size_or_sections, (tuple, list)):
        parts = sizes(split_size_or_sections, "Split", "split_size_or_sections", least=0)
        if sum(parts) != count:
            raise ValueError(
                f"For 'Split', the 'split_size_or_sections' must add up to {count}, the size of axis "
                f"{axis}, but got {split_size_or_sections}."
            )
        places = [0, *np.cumsum(parts, dtype=int).tolist()]
    else:
        step = whole_number(split_size_or_sections, "Split", "split_size_or_sections", least=1)
        places = [*range(0, count, step), count] if count else [0, 0]
    return _cut(x, axis, places)


@public("Tensor", "mint.chunk(input, chunks, dim=0)")
def chunk(input: Any, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into at most ``chunks`` parts of equal size.

    The last part may be smaller.

    Args:
        input (Tensor): input tensor.
        chunks (int): largest number of parts.
        axis (int): axis along which to split the tensor.

    Returns:
        Tuple of the parts, which are tensors.

    Raises:
        TypeError: If ``chunks`` or ``axis`` is not an int.
        ValueError: If ``chunks`` is not positive, or ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> [part.shape for part in ops.chunk(ops.ones(5), 2)]
    [(3,), (2,)]
    """
    x = operand(input, "Chunk")
    axis = axis_in_range(axis, x.ndim, "Chunk")
    parts = whole_number(chunks, "Chunk", "chunks", least=1)
    return split(x, max(-(-x.shape[axis] // parts), 1), axis)


@public("Tensor", "numpy.array_split(x, indices_or_sections, axis=0) -> tuple(_)")
def tensor_split(input: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into a number of parts, or at given indices.

    Args:
        input (Tensor): input tensor.
        indices_or_sections (int, or tuple or list of int): an int is the number of parts, whose sizes differ
            by at most one. A tuple or list contains the indices at which a new part begins; negative indices
            count from the end.
        axis (int): axis along which to split the tensor.

    Returns:
        Tuple of the parts, which are tensors.

    Raises:
        TypeError: If an element of ``indices_or_sections``, or ``axis``, is not an int.
        ValueError: If the number of parts is not positive, or ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> [part.shape for part in ops.tensor_split(ops.ones(5), 3)]
    [(2,), (2,), (1,)]
    """
    x = operand(input, "TensorSplit")
    axis = axis_in_range(axis, x.ndim, "TensorSplit")
    count = x.shape[axis]
    if isinstance(indices_or_sections, (tuple, list)):
        given = sizes(indices_or_sections, "TensorSplit", "indices_or_sections")
        inner = [min(max(place + count if place < 0 else place, 0), count) for place in given]
        places = [0, *inner, count]
    else:
        parts = whole_number(indices_or_sections, "TensorSplit", "indices_or_sections", least=1)
        small, larger = divmod(count, parts)
        places = [k * small + min(k, larger) for k in range(parts + 1)]
    return _cut(x, axis, places)


@public("Tensor")
def hsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split a tensor along the second axis, or a vector along its only axis.

    Args:
        input (Tensor): input tensor.
        indices_or_sections (int, or tuple or list of int): number of parts, or indices at which parts begin,
            as for :func:`tensor_split`.

    Returns:
        Tuple of the parts, which are tensors.

    >>> from mindgrad import Tensor, ops
    >>> [part.shape for part in ops.hsplit(ops.ones((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    x = operand(input, "HSplit")
    return tensor_split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


@public("Tensor")
def vsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split a tensor along the first axis.

    Args:
        input (Tensor): input tensor.
        indices_or_sections (int, or tuple or list of int): number of parts, or indices at which parts begin,
            as for :func:`tensor_split`.

    Returns:
        Tuple of the parts, which are tensors.

    >>> from mindgrad import Tensor, ops
    >>> [part.shape for part in ops.vsplit(ops.ones((2, 4)), 2)]
    [(1, 4), (1, 4)]
    """
    return tensor_split(input, indices_or_sections, 0)


@public("Tensor")
def dsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split a tensor along the third axis.

    Args:
        input (Tensor): input tensor.
        indices_or_sections (int, or tuple or list of int): number of parts, or indices at which parts begin,
            as for :func:`tensor_split`.

    Returns:
        Tuple of the parts, which are tensors.

    >>> from mindgrad import Tensor, ops
    >>> [part.shape for part in ops.dsplit(ops.ones((2, 1, 4)), 2)]
    [(2, 1, 2), (2, 1, 2)]
    """
    return tensor_split(input, indices_or_sections, 2)
