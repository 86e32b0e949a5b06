"""Indexing operators read elements by index tensors: gather, take, and selection by a mask.

Places whose values are known are checked and an ``IndexError`` names the one that is out of range.
Where they are unknown, because the program is being compiled, a place outside reads NaN (integers: the
largest magnitude below zero). The derivative of a read adds up at the places it read from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.dtype import bool_
from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor, make_tensor, scalar_tensor
from mindgrad.ops.arguments import axis_in_range, whole_number
from mindgrad.ops.index_checks import known, places, places_nd, read_along
from mindgrad.ops.layout import ravel
from mindgrad.ops.operands import (
    broadcast_shapes,
    broadcast_to,
    broadcast_together,
    cast,
    choose,
    operand,
    promoted,
)
from mindgrad.ops.registry import public
from mindgrad.ops.selection import selected
from mindgrad.rows import arithmetic, indexing, static_slices, structural

__all__ = [
    "embedding", "gather", "gather_d", "gather_elements", "gather_nd", "index_select",
    "masked_fill", "masked_select",
    "select", "take", "where",
]  # fmt: skip


# --- places along axes -----------------------------------------------------------------------------


@public(
    "Gather(batch_dims=0)(x, indices, axis)",
    "GatherV2()(x, indices, axis)",
    "SparseGatherV2()(x, indices, axis)",
)
def gather(input_params: Any, input_indices: Any, axis: int, batch_dims: int = 0) -> Tensor:
    """The elements of ``input_params`` at ``input_indices`` along ``axis``.

    Args:
        input_params: the tensor to read from.
        input_indices: integers of any shape; negative ones count from the end. Their axes replace
            ``axis`` in the result.
        axis: the axis along which they count.
        batch_dims: the first so many axes of both belong together and are no lookups.

    Returns:
        Tensor of the elements. Where a compiled program finds an index out of range in its data it cannot
        raise; it reads NaN, the lowest integer, the largest unsigned one, or False (docs/graph_mode.md).

    Raises:
        TypeError: the indices are not integers, or ``axis`` is no int.
        ValueError: ``axis`` or ``batch_dims`` is out of range, or the batch axes differ.
        IndexError: a known index is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.gather(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1, 1, 0]), 0))
    [[3. 4.]
     [3. 4.]
     [1. 2.]]
    """
    x, indices = operand(input_params, "Gather"), operand(input_indices, "Gather")
    dim = axis_in_range(axis, x.ndim, "Gather")
    batch = whole_number(batch_dims, "Gather", "batch_dims")
    batch += indices.ndim if batch < 0 else 0
    if not 0 <= batch <= min(dim, indices.ndim) or x.shape[:batch] != indices.shape[:batch]:
        raise ValueError(
            f"For 'Gather', the first 'batch_dims' axes must be the same for both inputs and stand before "
            f"'axis', but got batch_dims {batch_dims}, axis {axis} and the shapes {x.shape} and "
            f"{indices.shape}."
        )
    positions = places(indices, x.shape[dim], "Gather", dim)
    if not batch:
        return read_along(x, positions, dim)
    column = make_tensor(positions) if isinstance(positions, np.ndarray) else positions
    return _batched(x, column, dim, tuple(range(batch)))


def _batched(x: Tensor, index: Tensor, axis: int, batch: tuple[int, ...]) -> Tensor:
    """A read along ``axis`` in which the first axes of both are the same ones."""
    count = len(batch)
    lookups = index.ndim - count
    column = apply(structural.reshape, index, shape=(*index.shape, 1))
    elements = apply(indexing.gather, x, column, axes=(axis,), batch=batch)
    # (batch, lookups, the axes of x before axis, those behind) -> lookups in the place of axis
    before = axis - count
    order = (
        *range(count),
        *range(count + lookups, count + lookups + before),
        *range(count, count + lookups),
        *range(count + lookups + before, elements.ndim),
    )
    return apply(structural.transpose, elements, permutation=order) if before else elements


@public("mint.nn.functional")
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """The rows of a table at the indices.

    Args:
        input: indices of any shape.
        weight: the table, a tensor of shape (n, d).
        padding_idx: a row that gets no gradient.
        max_norm, norm_type, scale_grad_by_freq: must be left as they are: a table is not changed by reading.

    Returns:
        Tensor of the shape of ``input`` and d behind.

    Raises:
        TypeError: ``input`` holds no integers.
        ValueError: ``max_norm`` or ``scale_grad_by_freq`` is given, or ``padding_idx`` is no row.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.embedding(Tensor([1]), Tensor([[1.0, 2.0], [3.0, 4.0]])))
    [[3. 4.]]
    """
    if max_norm is not None or scale_grad_by_freq:
        raise ValueError(
            "For 'Embedding', 'max_norm' and 'scale_grad_by_freq' are not supported; scale the table or the "
            "gradient in the training step."
        )
    places, table = operand(input, "Embedding"), operand(weight, "Embedding")
    rows = gather(table, places, 0)
    if padding_idx is None:
        return rows
    row = axis_in_range(padding_idx, table.shape[0], "Embedding", "padding_idx")
    is_padding = apply(arithmetic.equal, places, scalar_tensor(row, places.type))
    shape = (*places.shape, *table.shape[1:])
    is_padding = apply(structural.broadcast_in_dim, is_padding, shape=shape, dims=tuple(range(places.ndim)))
    return choose(is_padding, apply(structural.stop_gradient, rows), rows)


@public("GatherNd Tensor")
def gather_nd(input_x: Any, indices: Any) -> Tensor:
    """The parts of ``input_x`` at ``indices``, whose last axis holds a place along its first k axes.

    Args:
        input_x: the tensor to read from.
        indices: integers of shape (…, k) that count from 0, k at most the rank of ``input_x``.

    Returns:
        Tensor of shape (…, the axes of ``input_x`` behind the first k).

    Raises:
        TypeError: the indices are not integers.
        ValueError: k is 0 or above the rank.
        IndexError: a known index is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.gather_nd(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[0, 1], [1, 0]])))
    [2. 3.]
    """
    x, index = operand(input_x, "GatherNd"), operand(indices, "GatherNd")
    axes = indexed_axes(x, index, "GatherNd")
    columns = places_nd(index, [x.shape[axis] for axis in axes], "GatherNd")
    return apply(indexing.gather, x, columns, axes=axes)


def indexed_axes(x: Tensor, indices: Tensor, operator: str) -> tuple[int, ...]:
    """The first k axes of ``x`` that indices of shape (…, k) are about.

    Raises:
        ValueError: k is 0 or above the rank.
    """
    count = indices.shape[-1] if indices.shape else 0
    if not 0 < count <= x.ndim:
        raise ValueError(
            f"For '{operator}', the last axis of the 'indices' must hold 1 to {x.ndim} places, one per "
            f"axis of the input of shape {x.shape}, but the indices have the shape {indices.shape}."
        )
    return tuple(range(count))


@public("Tensor", "mint.gather(input, dim, index)")
def gather_elements(input: Any, dim: int, index: Any) -> Tensor:
    """``y[i, j, …] = input[index[i, j, …], j, …]``, with the index in the place of axis ``dim``.

    Args:
        input: the tensor to read from.
        dim: the axis along which ``index`` counts.
        index: integers of the rank of ``input``, no larger than it along the other axes; negative
            ones count from the end. The result has its shape.

    Raises:
        TypeError: ``index`` is not made of integers, or ``dim`` is no int.
        ValueError: ``dim`` is out of range, or the shape of ``index`` does not fit.
        IndexError: a known index is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.gather_elements(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, Tensor([[0, 0], [1, 0]])))
    [[1. 1.]
     [4. 3.]]
    """
    x, lookups = operand(input, "GatherD"), operand(index, "GatherD")
    axis = axis_in_range(dim, x.ndim, "GatherD", "dim")
    part = part_over(x, lookups, axis, "GatherD")
    found = places(lookups, x.shape[axis], "GatherD", axis)
    return _elementwise(part, make_tensor(found) if isinstance(found, np.ndarray) else found, axis)


def part_over(x: Tensor, index: Tensor, axis: int, operator: str) -> Tensor:
    """The part of ``x`` that elementwise lookups along ``axis`` reach.

    Raises:
        ValueError: ``index`` has another rank, or is larger than ``x`` along another axis.
    """
    fits = index.ndim == x.ndim and all(
        n <= m or i == axis for i, (n, m) in enumerate(zip(index.shape, x.shape, strict=True))
    )
    if not fits:
        raise ValueError(
            f"For '{operator}', the index must have as many axes as the input and be no larger than it, "
            f"apart from axis {axis}, but got the shapes {index.shape} and {x.shape}."
        )
    limit = tuple(m if i == axis else n for i, (n, m) in enumerate(zip(index.shape, x.shape, strict=True)))
    if limit == x.shape:
        return x
    return apply(static_slices.slice, x, start=(0,) * x.ndim, limit=limit, strides=(1,) * x.ndim)


def _elementwise(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """The elements at ``index`` along ``axis``, where all other axes belong together."""
    others = tuple(i for i in range(x.ndim) if i != axis)
    behind = apply(structural.transpose, index, permutation=(*others, axis))
    column = apply(structural.reshape, behind, shape=(*behind.shape, 1))
    found = apply(indexing.gather, x, column, axes=(axis,), batch=others)
    order = (*range(axis), x.ndim - 1, *range(axis, x.ndim - 1))
    return apply(structural.transpose, found, permutation=order)


@public("GatherD")
def gather_d(x: Any, dim: int, index: Any) -> Tensor:
    """:func:`gather_elements` under its other name.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.gather_d(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0, Tensor([[1, 0]])))
    [[3. 2.]]
    """
    return gather_elements(x, dim, index)


@public("Tensor", "mint.index_select(input, dim, index)")
def index_select(input: Any, axis: int, index: Any) -> Tensor:
    """The parts of ``input`` at the places ``index``, one-dimensional, along ``axis``.

    Raises:
        TypeError: ``index`` is not made of integers, or ``axis`` is no int.
        ValueError: ``index`` has not one axis, or ``axis`` is out of range.
        IndexError: a known index is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.index_select(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, Tensor([1])))
    [[2.]
     [4.]]
    """
    x, chosen = operand(input, "IndexSelect"), operand(index, "IndexSelect")
    dim = axis_in_range(axis, x.ndim, "IndexSelect")
    if chosen.ndim != 1:
        raise ValueError(
            f"For 'IndexSelect', the 'index' must have one axis, but its shape is {chosen.shape}."
        )
    return read_along(x, places(chosen, x.shape[dim], "IndexSelect", dim), dim)


@public("mint.take(input, index)")
def take(input: Any, index: Any, axis: int | None = None) -> Tensor:
    """The elements of ``input`` at ``index``, along ``axis`` or of the flattened tensor.

    Raises:
        TypeError: ``index`` is not made of integers, or ``axis`` is no int.
        ValueError: ``axis`` is out of range.
        IndexError: a known index is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.take(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([3, -4])))
    [4. 1.]
    """
    x = operand(input, "Take")
    if axis is None:
        x, dim = ravel(x), 0
    else:
        dim = axis_in_range(axis, x.ndim, "Take")
    return read_along(x, places(operand(index, "Take"), x.shape[dim], "Take", dim), dim)


# --- choice by a mask ------------------------------------------------------------------------------


def _condition(condition: Any, operator: str, name: str) -> Tensor:
    tensor = operand(condition, operator)
    if tensor.dtype is not bool_:
        raise TypeError(
            f"For '{operator}', the '{name}' must be a tensor of type Bool, but got {tensor.dtype}; "
            f"compare first, for example x != 0."
        )
    return tensor


@public("Select")
def select(condition: Any, input: Any, other: Any) -> Tensor:
    """The elements of ``input`` where ``condition`` holds, those of ``other`` elsewhere.

    An element that is not chosen contributes nothing to a derivative, whatever its value.

    Args:
        condition: a tensor of type Bool.
        input, other: tensors or numbers; the three shapes broadcast, the element types are promoted.

    Raises:
        TypeError: ``condition`` is not Bool, or an operand is no tensor or number.
        ValueError: the shapes do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.select(Tensor([True, False]), Tensor([1.0, 2.0]), 0.0))
    [1. 0.]
    """
    return _chosen("Select", condition, input, other)


@public("Tensor.where(condition, y) >>> Tensor([1.0, -2.0]).where(Tensor([True, False]), 0.0) => [1. 0.]")
def where(condition: Any, input: Any, other: Any) -> Tensor:
    """:func:`select` under NumPy's name.

    >>> from mindgrad import Tensor, ops
    >>> x = Tensor([4.0, -1.0])
    >>> print(ops.where(x > 0, x, 0.0))
    [4. 0.]
    """
    return _chosen("Where", condition, input, other)


def _chosen(operator: str, condition: Any, first: Any, second: Any) -> Tensor:
    mask = _condition(condition, operator, "condition")
    a, b = promoted(operator, first, second, broadcast=False)
    return apply(arithmetic.select, *broadcast_together(operator, mask, a, b))


@public("MaskedFill Tensor")
def masked_fill(input_x: Any, mask: Any, value: Any) -> Tensor:
    """``input_x`` with ``value`` where ``mask`` holds.

    Args:
        input_x: the tensor; the result has its element type.
        mask: a tensor of type Bool; its shape and that of ``input_x`` broadcast.
        value: a number, or a tensor of one element.

    Raises:
        TypeError: ``mask`` is not Bool, or ``value`` is of a higher kind than ``input_x`` (a float
            into integers).
        ValueError: ``value`` has several elements, or the shapes do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.masked_fill(Tensor([1.0, 2.0]), Tensor([True, False]), 7.0))
    [7. 2.]
    """
    x, where_ = operand(input_x, "MaskedFill"), _condition(mask, "MaskedFill", "mask")
    filling = operand(value, "MaskedFill", x)
    if filling.ndim:
        raise ValueError(
            f"For 'MaskedFill', the 'value' must be a number or a tensor without axes, but its shape is "
            f"{filling.shape}."
        )
    if filling.dtype.rank > x.dtype.rank and not (filling.dtype.rank <= 2 and x.dtype.rank in (1, 2)):
        raise TypeError(
            f"For 'MaskedFill', the 'value' of type {filling.dtype} does not fit the input's type "
            f"{x.dtype}; convert one of them."
        )
    shape = broadcast_shapes("MaskedFill", x.shape, where_.shape)
    operands = [broadcast_to(t, shape) for t in (where_, cast(filling, x.dtype), x)]
    return apply(arithmetic.select, *operands)


@public("MaskedSelect Tensor mint")
def masked_select(input: Any, mask: Any) -> Tensor:
    """The elements of ``input`` where ``mask`` holds, as one axis.

    Args:
        input: the tensor to read from.
        mask: a tensor of type Bool; the shapes broadcast.

    Raises:
        TypeError: ``mask`` is not Bool.
        ValueError: the shapes do not broadcast.
        CompileError: If the program is being compiled, the mask is unknown, and code needs the shape of the
            result. Pointwise operators and reductions of the result are compiled.

    >>> from mindgrad import Tensor, ops
    >>> x = Tensor([1.0, 2.0, 3.0])
    >>> print(ops.masked_select(x, x > 1.5))
    [2. 3.]
    """
    x, where_ = operand(input, "MaskedSelect"), _condition(mask, "MaskedSelect", "mask")
    shape = broadcast_shapes("MaskedSelect", x.shape, where_.shape)
    values = known(where_)
    if values is None:
        return selected(broadcast_to(x, shape), broadcast_to(where_, shape))
    chosen = np.flatnonzero(np.broadcast_to(values, shape)).astype(np.int32)
    return read_along(ravel(broadcast_to(x, shape)), chosen, 0)
