"""Cumulative sums, products, and extremes along an axis."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.dtype import as_dtype, bool_, int32, int64
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import cumulative as primitives
from mindgrad.core.primitives.indexing import gather
from mindgrad.core.primitives.static_slices import concatenate, slice
from mindgrad.core.primitives.structural import reshape, transpose
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.define import also_named
from mindgrad.ops.layout import ravel
from mindgrad.ops.operands import accepted, cast, full_tensor, operand
from mindgrad.ops.reduction import flag, whole_as_int64
from mindgrad.ops.registry import public

__all__ = ["cummax", "cummin", "cumprod", "cumsum"]


def running(
    primitive: Primitive,
    operator: str,
    x: Any,
    axis: Any,
    exclusive: bool = False,
    reverse: bool = False,
    dtype: Any = None,
) -> Tensor:
    """Apply a cumulative primitive along ``axis``.

    With ``exclusive``, the result at index i excludes element i. With ``reverse``, accumulation starts at the
    last element.
    """
    x = operand(x, operator)
    flag(exclusive, operator, "exclusive")
    flag(reverse, operator, "reverse")
    if dtype is not None:
        x = cast(x, as_dtype(dtype))
    axis = _axis(axis, x, operator)
    accepted(primitive, operator, x, axis=axis, reverse=reverse)
    if exclusive:
        x = _moved_on(x, axis, reverse, 0 if primitive is primitives.cumsum else 1)
    return apply(primitive, x, axis=axis, reverse=reverse)


def _axis(axis: Any, x: Tensor, operator: str) -> int:
    axis = normalize_axis(axis, x.ndim, operator)
    if not x.ndim:
        raise ValueError(f"For '{operator}', the input must have at least one axis, but it is a 0-D tensor.")
    return axis


def _moved_on(x: Tensor, axis: int, reverse: bool, first: int) -> Tensor:
    """Shift ``x`` by one along ``axis``, and insert ``first`` at the free index.

    With ``reverse``, the elements are shifted to lower indices.
    """
    count = x.shape[axis]
    if not count:
        return x
    start = tuple(1 if i == axis and reverse else 0 for i in range(x.ndim))
    limit = tuple(n - 1 if i == axis and not reverse else n for i, n in enumerate(x.shape))
    rest = apply(slice, x, start=start, limit=limit, strides=(1,) * x.ndim)
    filled = full_tensor(first, x.dtype, tuple(1 if i == axis else n for i, n in enumerate(x.shape)))
    return apply(concatenate, *((rest, filled) if reverse else (filled, rest)), axis=axis)


def at_least_int32(x: Tensor) -> Tensor:
    """Convert Booleans and small integers to int32, as ``Tensor.cumsum`` does."""
    return cast(x, int32) if not x.dtype.is_inexact and x.dtype.itemsize < 4 else x


@public(
    "mint.cumsum(input: whole_as_int64(dtype), dim, dtype: unused=None)",
    "ops.auto_generate.CumsumExt()(x: whole_as_int64(dtype), dim, dtype: unused=None)",
)
def cumsum(x: Any, axis: int, dtype: Any = None) -> Tensor:
    """Compute the cumulative sum y_i = x_0 + … + x_i along an axis.

    Args:
        x (Tensor): tensor of numbers with at least one axis.
        axis (int): axis along which to sum.
        dtype (mindgrad.dtype): dtype in which to sum. ``None`` means the dtype of ``x``, so sums of small
            integer types may overflow. ``Tensor.cumsum`` uses at least int32.

    Returns:
        Tensor of the same shape as ``x``.

    Raises:
        TypeError: If ``axis`` is not an int, or ``x`` is Boolean or not a tensor.
        ValueError: If ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cumsum(Tensor([1.0, 2.0, 3.0]), 0))
    [1. 3. 6.]
    """
    return running(primitives.cumsum, "CumSum", x, axis, dtype=dtype)


@public("Tensor.cumsum")
@also_named(dim="axis")
def sums_of_tensor(self: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Compute the cumulative sum along an axis, or of the flattened tensor.

    Args:
        self (Tensor): input tensor.
        axis (int or None): axis along which to sum. ``None`` flattens the tensor.
        dtype (mindgrad.dtype): dtype in which to sum. ``None`` means int32 for Booleans and
            integers narrower than int32, and the dtype of the tensor otherwise.

    Returns:
        Tensor of the same shape as the input, or a 1-D tensor if ``axis`` is ``None``.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0, 3.0]).cumsum())
    [1. 3. 6.]
    """
    x = at_least_int32(self) if dtype is None else self
    return cumsum(ravel(x), 0, dtype) if axis is None else cumsum(x, axis, dtype)


@public("numpy.cumsum(a, axis=None, dtype: element_type=None)")
def sums_of_array(x: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Compute the cumulative sum along an axis, or of the flattened tensor.

    For a Boolean tensor, element i of the result is true if any of the elements 0 to i is true.

    Args:
        x (Tensor): input tensor.
        axis (int or None): axis along which to sum. ``None`` flattens the tensor.
        dtype (mindgrad.dtype): dtype in which to sum. ``None`` means the dtype of ``x``.

    Returns:
        Tensor of the same shape as ``x``, or a 1-D tensor if ``axis`` is ``None``.

    >>> import mindgrad.numpy as np
    >>> print(np.cumsum([1, 2, 3]))
    [1 3 6]
    """
    if dtype is bool_:
        return cast(sums_of_tensor(cast(x, bool_), axis), bool_)
    return sums_of_tensor(x, axis, dtype)


@public(
    "CumSum(exclusive=False, reverse=False)(x, axis)"
    " >>> ops.CumSum(exclusive=True)(Tensor([1.0, 2.0, 3.0]), 0) => [0. 1. 3.]"
)
def running_sum(x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Compute the cumulative sum along an axis, optionally exclusive or reversed.

    Args:
        x (Tensor): tensor of numbers with at least one axis.
        axis (int): axis along which to sum.
        exclusive (bool): whether the sum at index i excludes element i.
        reverse (bool): whether to accumulate from the last element to the first.

    Returns:
        Tensor of the same shape as ``x``.
    """
    return running(primitives.cumsum, "CumSum", x, axis, exclusive, reverse)


@public(
    "CumProd(exclusive=False, reverse=False)(x, axis)"
    " >>> ops.CumProd(reverse=True)(Tensor([1.0, 2.0, 3.0]), 0) => [6. 6. 3.]"
)
def running_product(x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Compute the cumulative product along an axis, optionally exclusive or reversed.

    Args:
        x (Tensor): tensor of numbers with at least one axis.
        axis (int): axis along which to multiply.
        exclusive (bool): whether the product at index i excludes element i.
        reverse (bool): whether to accumulate from the last element to the first.

    Returns:
        Tensor of the same shape as ``x``.
    """
    return running(primitives.cumprod, "CumProd", x, axis, exclusive, reverse)


@public("Tensor mint")
def cumprod(input: Any, dim: int, dtype: Any = None) -> Tensor:
    """Compute the cumulative product y_i = x_0 · … · x_i along an axis.

    The derivative does not divide by the elements, so it is correct for zeros too.

    Args:
        input (Tensor): tensor with at least one axis.
        dim (int): axis along which to multiply.
        dtype (mindgrad.dtype): dtype in which to multiply. ``None`` means int64 for Booleans and
            integers except uint64, because a small type would overflow, and the dtype of ``input``
            otherwise.

    Returns:
        Tensor of the same shape as ``input``.

    Raises:
        TypeError: If ``dim`` is not an int, or ``input`` is not a tensor.
        ValueError: If ``dim`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cumprod(Tensor([1.0, 2.0, 3.0]), 0))
    [1. 2. 6.]
    """
    return running(primitives.cumprod, "CumProd", whole_as_int64(input, "CumProd", dtype), dim)


@public("Tensor", "Cummax(axis: integer)(x)", "mint.cummax(input, dim)")
def cummax(input: Any, axis: int) -> tuple[Tensor, Tensor]:
    """Return the cumulative maximum along an axis, and its indices.

    If several elements are equal, the index is the index of the last one.

    Args:
        input (Tensor): real tensor with at least one axis.
        axis (int): axis along which to search.

    Returns:
        Two tensors of the same shape as ``input``: the maxima (NaN at and after the first NaN), and their
        int64 indices. The gradient of a maximum flows to the element at its index.

    Raises:
        TypeError: If ``axis`` is not an int, or ``input`` is complex or not a tensor.
        ValueError: If ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> values, places = ops.cummax(Tensor([3.0, 1.0, 4.0]), 0)
    >>> print(values, places)
    [3. 3. 4.] [0 0 2]
    """
    values, places = _extreme_so_far(primitives.cumulative_argmax, "Cummax", input, axis)
    return values, cast(places, int64)


@public("Tensor", "Cummin(axis: integer)(x)", "mint.cummin(input, dim) -> pair(_)")
def cummin(input: Any, axis: int) -> tuple[Tensor, Tensor]:
    """Return the cumulative minimum along an axis, and its indices.

    If several elements are equal, the index is the index of the last one.

    Returns:
        Two tensors of the same shape as ``input``: the minima (NaN at and after the first NaN), and their
        int32 indices. The indices of :func:`cummax` are int64, as in MindSpore. The gradient of a minimum
        flows to the element at its index.

    {as cummax}

    >>> from mindgrad import Tensor, ops
    >>> values, places = ops.cummin(Tensor([3.0, 4.0, 1.0]), 0)
    >>> print(values, places)
    [3. 3. 1.] [0 0 2]
    """
    return _extreme_so_far(primitives.cumulative_argmin, "Cummin", input, axis)


def _extreme_so_far(primitive: Primitive, operator: str, x: Any, axis: Any) -> tuple[Tensor, Tensor]:
    x = operand(x, operator)
    axis = _axis(axis, x, operator)
    accepted(primitive, operator, x, axis=axis, reverse=False)
    places = apply(primitive, x, axis=axis, reverse=False)
    # the lookup along ``axis`` treats all other axes as batch axes, and requires that these are the first
    # axes of the indices
    others = tuple(i for i in range(x.ndim) if i != axis)
    order = (*others, axis)
    lined = _arranged(places, order)
    values = apply(gather, x, apply(reshape, lined, shape=(*lined.shape, 1)), axes=(axis,), batch=others)
    back = tuple(order.index(i) for i in range(x.ndim))
    return _arranged(values, back), places


def _arranged(x: Tensor, permutation: tuple[int, ...]) -> Tensor:
    return apply(transpose, x, permutation=permutation)
