"""Scatter operators, which write elements at positions given by index tensors.

The result is a new tensor. Functions that MindSpore defines for Parameters also assign the result to the
Parameter. If an index is repeated, additions accumulate, and the last of several writes remains. A known
index out of range is an error. An index that is unknown at compile time and out of range is ignored.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.core.arrays.index_checks import known, places, places_nd, side_by_side
from mindgrad.core.ir.dtype import int32, int64
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import arithmetic, indexing, piecewise, static_slices, structural
from mindgrad.core.trace import references
from mindgrad.ops.arguments import axis_in_range, sizes, whole_number
from mindgrad.ops.creation import zeros
from mindgrad.ops.getitem import updated
from mindgrad.ops.indexing import indexed_axes, part_over
from mindgrad.ops.operands import broadcast_shapes, broadcast_to, cast, operand
from mindgrad.ops.registry import public
from mindgrad.ops.scatter_folds import fold

__all__ = [
    "index_add", "index_fill", "masked_scatter", "scatter", "scatter_add", "scatter_nd", "scatter_update",
    "select_scatter", "slice_scatter", "tensor_scatter_add", "tensor_scatter_div", "tensor_scatter_elements",
    "tensor_scatter_max", "tensor_scatter_min", "tensor_scatter_mul", "tensor_scatter_sub",
    "tensor_scatter_update",
]  # fmt: skip


def _updates(x: Tensor, updates: Any, shape: tuple[int, ...], operator: str) -> Tensor:
    new = operand(updates, operator, x)
    if new.dtype is not x.dtype:
        raise TypeError(
            f"For '{operator}', the updates must have the dtype {x.dtype} of the input, but got "
            f"{new.dtype}; convert them: updates.astype(input.dtype)."
        )
    if new.shape != shape:
        raise ValueError(
            f"For '{operator}', the updates must have the shape {shape} (the shape of the indices without "
            f"their last axis, followed by the other axes of the input), but got {new.shape}."
        )
    return new


def _wide(indices: Any, operator: str) -> Tensor:
    index = operand(indices, operator)
    if index.dtype not in (int32, int64):
        raise TypeError(
            f"For '{operator}', the indices must have the dtype Int32 or Int64, but the dtype is "
            f"{index.dtype}."
        )
    return index


def _written(row: Any, operator: str, x: Tensor, indices: Any, updates: Any, sign: int = 1) -> Tensor:
    index = _wide(indices, operator)
    axes = indexed_axes(x, index, operator)
    new = _updates(x, updates, (*index.shape[:-1], *x.shape[len(axes) :]), operator)
    columns = places_nd(index, [x.shape[axis] for axis in axes], operator)
    if sign < 0:
        new = apply(arithmetic.neg, new)
    return apply(row, x, columns, new, axes=axes)


@public("TensorScatterUpdate")
def tensor_scatter_update(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """Write updates into a tensor at multi-dimensional indices.

    Args:
        input_x (Tensor): the tensor to start from; it does not change.
        indices (Tensor): nonnegative integers of shape (…, k). Each vector along the last axis holds indices
            along the first k axes of ``input_x``.
        updates (Tensor): values of the dtype of ``input_x``, of shape ``indices.shape[:-1] +
            input_x.shape[k:]``.

    Returns:
        Tensor with the shape and dtype of ``input_x``.

    Raises:
        TypeError: If ``indices`` is not int32 or int64, or the dtypes of ``input_x`` and ``updates`` differ.
        ValueError: If the shape of ``updates`` does not match.
        IndexError: If an index is out of range. Compiled functions check only indices that are known at
            compile time.

    >>> from mindgrad import Tensor, ops
    >>> x, places = Tensor([1.0, 2.0, 3.0]), Tensor([[0], [2]])
    >>> print(ops.tensor_scatter_update(x, places, Tensor([7.0, 8.0])))
    [7. 2. 8.]
    """
    x = operand(input_x, "TensorScatterUpdate")
    return _written(indexing.scatter_set, "TensorScatterUpdate", x, indices, updates)


@public("TensorScatterAdd")
def tensor_scatter_add(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """Add updates to a tensor at multi-dimensional indices.

    {as tensor_scatter_update}

    >>> from mindgrad import Tensor, ops
    >>> x, places = Tensor([1.0, 2.0, 3.0]), Tensor([[0], [0]])
    >>> print(ops.tensor_scatter_add(x, places, Tensor([7.0, 8.0])))
    [16.  2.  3.]
    """
    x = operand(input_x, "TensorScatterAdd")
    return _written(indexing.scatter_add, "TensorScatterAdd", x, indices, updates)


@public("TensorScatterSub Tensor.scatter_sub")
def tensor_scatter_sub(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """Subtract updates from a tensor at multi-dimensional indices.

    {as tensor_scatter_update}

    >>> from mindgrad import Tensor, ops
    >>> x, places = Tensor([1.0, 2.0, 3.0]), Tensor([[0], [0]])
    >>> print(ops.tensor_scatter_sub(x, places, Tensor([7.0, 8.0])))
    [-14.   2.   3.]
    """
    x = operand(input_x, "TensorScatterSub")
    return _written(indexing.scatter_add, "TensorScatterSub", x, indices, updates, sign=-1)


def _folded(row: Any, operator: str, input_x: Any, indices: Any, updates: Any) -> Tensor:
    """Apply ``row`` to elements of ``input_x`` and their updates, one after another."""
    x, index = operand(input_x, operator), _wide(indices, operator)
    axes = indexed_axes(x, index, operator)
    new = _updates(x, updates, (*index.shape[:-1], *x.shape[len(axes) :]), operator)
    return fold(row, operator, x, places_nd(index, [x.shape[axis] for axis in axes], operator), new)


@public("TensorScatterMul Tensor.scatter_mul")
def tensor_scatter_mul(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """Multiply a tensor by updates at multi-dimensional indices.

    {as tensor_scatter_update}

    >>> from mindgrad import Tensor, ops
    >>> x, places = Tensor([1.0, 2.0, 3.0]), Tensor([[2], [2]])
    >>> print(ops.tensor_scatter_mul(x, places, Tensor([7.0, 2.0])))
    [ 1.  2. 42.]
    """
    return _folded(arithmetic.mul, "TensorScatterMul", input_x, indices, updates)


@public("TensorScatterDiv Tensor.scatter_div")
def tensor_scatter_div(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """Divide a tensor by updates at multi-dimensional indices.

    {as tensor_scatter_update}

    >>> from mindgrad import Tensor, ops
    >>> x, places = Tensor([1.0, 2.0, 3.0]), Tensor([[2], [2]])
    >>> print(ops.tensor_scatter_div(x, places, Tensor([3.0, 2.0])))
    [1.  2.  0.5]
    """
    return _folded(arithmetic.div, "TensorScatterDiv", input_x, indices, updates)


@public("TensorScatterMax Tensor.scatter_max")
def tensor_scatter_max(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """Set elements at multi-dimensional indices to their maximum with updates.

    {as tensor_scatter_update}

    >>> from mindgrad import Tensor, ops
    >>> x, places = Tensor([1.0, 2.0, 3.0]), Tensor([[0], [2]])
    >>> print(ops.tensor_scatter_max(x, places, Tensor([7.0, 2.0])))
    [7. 2. 3.]
    """
    return _folded(piecewise.maximum, "TensorScatterMax", input_x, indices, updates)


@public("TensorScatterMin Tensor.scatter_min")
def tensor_scatter_min(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """Set elements at multi-dimensional indices to their minimum with updates.

    {as tensor_scatter_update}

    >>> from mindgrad import Tensor, ops
    >>> x, places = Tensor([1.0, 2.0, 3.0]), Tensor([[0], [2]])
    >>> print(ops.tensor_scatter_min(x, places, Tensor([7.0, 2.0])))
    [1. 2. 2.]
    """
    return _folded(piecewise.minimum, "TensorScatterMin", input_x, indices, updates)


@public("ScatterNd")
def scatter_nd(indices: Any, updates: Any, shape: Any) -> Tensor:
    """Create a tensor of zeros with updates added at multi-dimensional indices.

    Args:
        indices (Tensor): integers of shape (…, k). Each entry along the last axis is an index along the first
            k axes of the result.
        updates (Tensor): the added values, of shape ``indices.shape[:-1] + shape[k:]``.
        shape (tuple of int): shape of the result.

    Returns:
        Tensor of shape ``shape``.

    Raises:
        TypeError: If the indices are not integers, or an entry of ``shape`` is not an int.
        ValueError: If the shape of ``updates`` does not match.
        IndexError: If an index is out of range. Compiled functions check only indices that are known at
            compile time.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.scatter_nd(Tensor([[0], [2], [2]]), Tensor([1.0, 2.0, 3.0]), (4,)))
    [1. 0. 5. 0.]
    """
    new = operand(updates, "ScatterNd")
    target = zeros(sizes(shape, "ScatterNd", "shape", least=0), new.dtype)
    return _written(indexing.scatter_add, "ScatterNd", target, indices, new)


def _assigned(row: Any, operator: str, input_x: Any, indices: Any, updates: Any) -> Tensor:
    x = operand(input_x, operator)
    index = operand(indices, operator)
    column = apply(structural.reshape, index, shape=(*index.shape, 1))
    result = _written(row, operator, x, column, updates)
    if isinstance(input_x, Tensor) and input_x.is_parameter:
        references.write(input_x, result)
    return result


@public("ScatterUpdate(use_locking: unused=True)(x, indices, updates)")
def scatter_update(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """Replace slices of a tensor or Parameter along its first axis.

    The slice ``input_x[indices[i]]`` is replaced by ``updates[i]``. If ``input_x`` is a Parameter, the result
    is also assigned to the Parameter. If ``input_x`` is a tensor, it is not modified.

    Args:
        input_x (Parameter or Tensor): the Parameter or tensor whose slices are replaced.
        indices (Tensor): nonnegative integers, of any shape. They are indices along the first axis.
        updates (Tensor): the new slices, of shape ``indices.shape + input_x.shape[1:]``.

    Returns:
        Tensor with the shape and dtype of ``input_x``.

    {errors of scattering}

    >>> from mindgrad import Parameter, Tensor, ops
    >>> w = Parameter(Tensor([1.0, 2.0, 3.0]), name="w")
    >>> print(ops.scatter_update(w, Tensor([1]), Tensor([9.0])), w.value())
    [1. 9. 3.] [1. 9. 3.]
    """
    return _assigned(indexing.scatter_set, "ScatterUpdate", input_x, indices, updates)


@public("ScatterAdd(use_locking: unused=False)(x, indices, updates)")
def scatter_add(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """Add slices to a tensor or Parameter at indices along its first axis.

    {as scatter_update}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.scatter_add(Tensor([1.0, 2.0, 3.0]), Tensor([1, 1]), Tensor([9.0, 1.0])))
    [ 1. 12.  3.]
    """
    return _assigned(indexing.scatter_add, "ScatterAdd", input_x, indices, updates)


@public(
    "TensorScatterElements(axis=0, reduction='none')(data, indices, updates)",
    "mint.scatter_add(input, dim, index, src)(reduction='add')"
    " >>> mint.scatter_add(Tensor([1.0, 2.0]), 0, Tensor([0, 0]), Tensor([10.0, 20.0])) => [31.  2.]",
)
def tensor_scatter_elements(
    input_x: Any, indices: Any, updates: Any, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """Write or add one update per index along an axis.

    ``y[indices[i, j, …], j, …] = updates[i, j, …]`` for ``axis`` 0.

    Args:
        input_x (Tensor): the tensor to start from; it does not change.
        indices (Tensor): integer tensor with as many axes as ``input_x``. Negative indices count from the
            end.
        updates (Tensor): values to write or add, with the shape of ``indices`` and the dtype of ``input_x``.
        axis (int): axis of ``input_x`` to which ``indices`` refer.
        reduction (str): ``"none"`` to write the updates, or ``"add"`` to add them.

    Returns:
        Tensor with the shape and dtype of ``input_x``.

    Raises:
        TypeError: If the indices are not integers, or the tensor and the updates have different dtypes.
        ValueError: If the shapes of the tensor, the indices, and the updates do not match, ``axis`` is out of
            range, or ``reduction`` is unknown.
        IndexError: If an index is out of range. Compiled functions check only indices that are known at
            compile time.

    >>> from mindgrad import Tensor, ops
    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> print(ops.tensor_scatter_elements(x, Tensor([[1, 0]]), Tensor([[7.0, 8.0]])))
    [[1. 8.]
     [7. 4.]]
    """
    operator = "TensorScatterElements"
    x, index = operand(input_x, operator), operand(indices, operator)
    one_of(reduction, ("none", "add"), operator, "reduction")
    dim = axis_in_range(axis, x.ndim, operator)
    part_over(x, index, dim, operator)
    new = operand(updates, operator, x)
    if new.dtype is not x.dtype or new.shape != index.shape:
        raise (TypeError if new.dtype is not x.dtype else ValueError)(
            f"For '{operator}', the updates must have the dtype {x.dtype} of the input and the "
            f"shape {index.shape} of the indices, but got {new.type}."
        )
    positions = places(index, x.shape[dim], operator, dim)
    columns: list[Any] = list(np.ogrid[tuple(builtins.slice(n) for n in index.shape)])
    columns = [column.astype(np.int32) for column in columns]
    columns[dim] = positions
    row = indexing.scatter_add if reduction == "add" else indexing.scatter_set
    return apply(row, x, side_by_side(columns, operator), new, axes=tuple(range(x.ndim)))


def scatter(input: Any, axis: int, index: Any, src: Any) -> Tensor:
    """Write one value per index along an axis.

    Args:
        input (Tensor): the tensor to start from; it does not change.
        axis (int): axis of ``input`` to which ``index`` refers.
        index (Tensor): integer tensor with as many axes as ``input``. Negative indices count from the end.
        src (Tensor or number): values to write, with the shape of ``index``, or one number for all indices.

    Returns:
        Tensor with the shape and dtype of ``input``.

    {Raises as tensor_scatter_elements}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.scatter(Tensor([1.0, 2.0, 3.0]), 0, Tensor([2]), Tensor([9.0])))
    [1. 2. 9.]
    """
    x, places_ = operand(input, "Scatter"), operand(index, "Scatter")
    new = operand(src, "Scatter", x)
    if not new.ndim:
        new = broadcast_to(cast(new, x.dtype), places_.shape)
    return tensor_scatter_elements(x, places_, new, axis)


def _along(axis: int, index: Any) -> tuple[Any, ...]:
    return (*(builtins.slice(None),) * axis, index)


@public("IndexAdd(axis: integer, use_lock: unused=True, check_index_bound: unused=True)(x, indices, y)")
def index_add(
    x: Any, indices: Any, y: Any, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Tensor:
    """Add slices to a tensor or Parameter at indices along an axis.

    Args:
        x (Parameter or Tensor): the tensor to add to.
        indices (Tensor): 1-D integer tensor of indices along ``axis``.
        y (Tensor): slices to add, one along ``axis`` for each index. The other axes have the sizes of ``x``.
        axis (int): axis along which slices are selected.
        use_lock, check_index_bound (bool): accepted for compatibility; known indices are always
            checked.

    Returns:
        Tensor with the shape and dtype of ``x``.

    Raises:
        TypeError: If the indices are not integers, or the tensor and the updates have different dtypes.
        ValueError: If ``indices`` is not 1-D, or the shape of ``y`` does not match ``x`` and ``indices``.
        IndexError: If an index is out of range. Compiled functions check only indices that are known at
            compile time.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.index_add(Tensor([1.0, 2.0]), Tensor([0, 0]), Tensor([3.0, 4.0]), 0))
    [8. 2.]
    """
    operator = "IndexAdd"
    target, index, new = operand(x, operator), operand(indices, operator), operand(y, operator)
    dim = axis_in_range(axis, target.ndim, operator)
    wanted = (*target.shape[:dim], index.size, *target.shape[dim + 1 :])
    if index.ndim != 1 or new.shape != wanted:
        raise ValueError(
            f"For '{operator}', the 'indices' must have one axis, and 'y' must have the shape of 'x', "
            f"except that its size along axis {dim} must be the number of indices. The shapes of "
            f"'indices', 'y' and 'x' are {index.shape}, {new.shape} and {target.shape}."
        )
    if new.dtype is not target.dtype:
        raise TypeError(
            f"For '{operator}', 'x' and 'y' must have the same dtype, but got {target.dtype} and {new.dtype}."
        )
    positions = places(index, target.shape[dim], operator, dim)
    order = (dim, *(i for i in range(new.ndim) if i != dim))
    new = apply(structural.transpose, new, permutation=order)
    result = apply(indexing.scatter_add, target, side_by_side([positions], operator), new, axes=(dim,))
    if isinstance(x, Tensor) and x.is_parameter:
        references.write(x, result)
    return result


@public("IndexFill Tensor")
def index_fill(x: Any, axis: int, index: Any, value: Any) -> Tensor:
    """Fill slices at indices along an axis with a value.

    Args:
        x (Tensor): the tensor to start from; it does not change.
        axis (int): axis along which slices are selected.
        index (Tensor, int, or tuple of int): indices along ``axis`` of the slices to fill.
        value (Tensor or number): fill value, a number or a tensor of one element.

    Returns:
        Tensor with the shape and dtype of ``x``.

    Raises:
        TypeError: If ``index`` does not consist of integers.
        ValueError: If ``value`` has several elements, or ``axis`` is out of range.
        IndexError: If an index is out of range. Compiled functions check only indices that are known at
            compile time.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.index_fill(Tensor([1.0, 2.0, 3.0]), 0, Tensor([0, 2]), 7.0))
    [7. 2. 7.]
    """
    target = operand(x, "IndexFill")
    dim = axis_in_range(axis, target.ndim, "IndexFill")
    filling = operand(value, "IndexFill", target)
    if filling.size != 1:
        raise ValueError(
            f"For 'IndexFill', the 'value' must be a number or a tensor of one element, but its shape is "
            f"{filling.shape}."
        )
    return updated(target, _along(dim, operand(index, "IndexFill")), filling)


@public("Tensor")
def slice_scatter(
    input: Any, src: Any, axis: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Write a tensor into the slice ``start:end:step`` along an axis.

    Args:
        input (Tensor): the tensor to start from; it does not change.
        src (Tensor): values to write, which broadcast to the slice.
        axis (int): axis along which slices are selected.
        start, end (int or None): bounds of the slice. ``None`` means the start or the end of the axis.
        step (int): step between neighboring elements of the slice.

    Returns:
        Tensor with the shape of ``input``.

    Raises:
        TypeError: If a bound is not an int.
        ValueError: If ``src`` does not broadcast to the slice, or ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.slice_scatter(Tensor([1.0, 2.0, 3.0]), Tensor([8.0, 9.0]), 0, 1))
    [1. 8. 9.]
    """
    x = operand(input, "SliceScatter")
    place = axis_in_range(axis, x.ndim, "SliceScatter")
    return updated(x, _along(place, builtins.slice(start, end, step)), src)


@public("Tensor")
def select_scatter(input: Any, src: Any, axis: int, index: int) -> Tensor:
    """Write a tensor at one index along an axis.

    Args:
        input (Tensor): the tensor to start from; it does not change.
        src (Tensor): values to write, which broadcast to the slice.
        axis (int): axis along which slices are selected.
        index (int): index along ``axis`` at which ``src`` is written.

    Returns:
        Tensor with the shape of ``input``.

    Raises:
        TypeError: If ``index`` is not an int.
        ValueError: If ``src`` does not broadcast to the slice, or ``axis`` is out of range.
        IndexError: If ``index`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.select_scatter(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([8.0, 9.0]), 0, 1))
    [[1. 2.]
     [8. 9.]]
    """
    x = operand(input, "SelectScatter")
    place = axis_in_range(axis, x.ndim, "SelectScatter")
    return updated(x, _along(place, whole_number(index, "SelectScatter", "index")), src)


@public("Tensor")
def masked_scatter(input: Any, mask: Any, source: Any) -> Tensor:
    """Write elements of ``source``, one after another, where a mask is true.

    Args:
        input (Tensor): the tensor to start from; it does not change.
        mask (Tensor): Boolean tensor that broadcasts with ``input``.
        source (Tensor): values to write, at least as many as the mask has true elements.

    Returns:
        Tensor with the shape of ``input``.

    Raises:
        ValueError: If ``source`` has fewer elements than ``mask`` has true elements.
        RuntimeError: If the values of ``mask`` are unknown at compile time.

    >>> from mindgrad import Tensor, ops
    >>> x, mask = Tensor([1.0, 2.0, 3.0]), Tensor([True, False, True])
    >>> print(ops.masked_scatter(x, mask, Tensor([8.0, 9.0])))
    [8. 2. 9.]
    """
    x, where, new = (operand(each, "MaskedScatter") for each in (input, mask, source))
    where = broadcast_to(where, broadcast_shapes("MaskedScatter", where.shape, x.shape))
    values = known(where)
    if values is None:
        raise RuntimeError(
            "For 'MaskedScatter', the number of elements that are used depends on the mask, which is not "
            "known at compile time. Use ops.where(mask, source, x), or PYNATIVE_MODE."
        )
    count = int(values.sum())
    if new.size < count:
        raise ValueError(
            f"For 'MaskedScatter', the mask has {count} true elements, but the source has only {new.size}."
        )
    flat = apply(structural.reshape, new, shape=(new.size,))
    chosen = apply(static_slices.slice, flat, start=(0,), limit=(count,), strides=(1,))
    return updated(x, where, chosen)
