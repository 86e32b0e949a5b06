"""Cumulative operators give running sums, products and extremes along an axis."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import as_dtype, bool_, int32, int64
from mindgrad.ir.primitive import Primitive
from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.define import also_named
from mindgrad.ops.layout import ravel
from mindgrad.ops.operands import accepted, cast, full_tensor, operand
from mindgrad.ops.reduction import flag, whole_as_int64
from mindgrad.ops.registry import public
from mindgrad.rows import cumulative as rows
from mindgrad.rows.indexing import gather
from mindgrad.rows.static_slices import concatenate, slice
from mindgrad.rows.structural import reshape, transpose

__all__ = ["cummax", "cummin", "cumprod", "cumsum"]


def running(
    row: Primitive,
    operator: str,
    x: Any,
    axis: Any,
    exclusive: bool = False,
    reverse: bool = False,
    dtype: Any = None,
) -> Tensor:
    """Apply a row that runs along ``axis``.

    ``exclusive`` leaves each element itself out of its result; ``reverse`` runs from the end.
    """
    x = operand(x, operator)
    flag(exclusive, operator, "exclusive")
    flag(reverse, operator, "reverse")
    if dtype is not None:
        x = cast(x, as_dtype(dtype))
    axis = _axis(axis, x, operator)
    accepted(row, operator, x, axis=axis, reverse=reverse)
    if exclusive:
        x = _moved_on(x, axis, reverse, 0 if row is rows.cumsum else 1)
    return apply(row, x, axis=axis, reverse=reverse)


def _axis(axis: Any, x: Tensor, operator: str) -> int:
    axis = normalize_axis(axis, x.ndim, operator)
    if not x.ndim:
        raise ValueError(f"For '{operator}', the input must have an axis to run along, but has none.")
    return axis


def _moved_on(x: Tensor, axis: int, reverse: bool, first: int) -> Tensor:
    """``x`` one place further along ``axis`` (back if ``reverse``), with ``first`` in the place left."""
    count = x.shape[axis]
    if not count:
        return x
    start = tuple(1 if i == axis and reverse else 0 for i in range(x.ndim))
    limit = tuple(n - 1 if i == axis and not reverse else n for i, n in enumerate(x.shape))
    rest = apply(slice, x, start=start, limit=limit, strides=(1,) * x.ndim)
    filled = full_tensor(first, x.dtype, tuple(1 if i == axis else n for i, n in enumerate(x.shape)))
    return apply(concatenate, *((rest, filled) if reverse else (filled, rest)), axis=axis)


def at_least_int32(x: Tensor) -> Tensor:
    """``x``, truth values and integers narrower than Int32 as Int32: the type of ``Tensor.cumsum``."""
    return cast(x, int32) if not x.dtype.is_inexact and x.dtype.itemsize < 4 else x


@public(
    "mint.cumsum(input: whole_as_int64(dtype), dim, dtype: unused=None)",
    "ops.auto_generate.CumsumExt()(x: whole_as_int64(dtype), dim, dtype: unused=None)",
)
def cumsum(x: Any, axis: int, dtype: Any = None) -> Tensor:
    """The running sum y_i = x_0 + … + x_i along ``axis``.

    Args:
        x: a tensor of numbers with at least one axis.
        axis: the axis to run along.
        dtype: the element type in which to sum; by default that of ``x``, which may wrap around
            (``Tensor.cumsum`` takes at least Int32).

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``axis`` is no int, or ``x`` holds truth values or is no tensor.
        ValueError: ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cumsum(Tensor([1.0, 2.0, 3.0]), 0))
    [1. 3. 6.]
    """
    return running(rows.cumsum, "CumSum", x, axis, dtype=dtype)


@public("Tensor.cumsum")
@also_named(dim="axis")
def sums_of_tensor(self: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running sum along ``axis``, or of the flattened tensor; see :func:`mindgrad.ops.cumsum`.

    Truth values and integers narrower than Int32 are summed as Int32, if no ``dtype`` is given.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0, 3.0]).cumsum())
    [1. 3. 6.]
    """
    x = at_least_int32(self) if dtype is None else self
    return cumsum(ravel(x), 0, dtype) if axis is None else cumsum(x, axis, dtype)


@public("numpy.cumsum(a, axis=None, dtype: element_type=None)")
def sums_of_array(x: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running sum along ``axis``, or of the flattened tensor; of truth values whether one was true.

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
    """The running sum along ``axis``; ``exclusive`` leaves each element out, ``reverse`` begins behind."""
    return running(rows.cumsum, "CumSum", x, axis, exclusive, reverse)


@public(
    "CumProd(exclusive=False, reverse=False)(x, axis)"
    " >>> ops.CumProd(reverse=True)(Tensor([1.0, 2.0, 3.0]), 0) => [6. 6. 3.]"
)
def running_product(x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """The running product along ``axis``, with the options of :func:`running_sum`."""
    return running(rows.cumprod, "CumProd", x, axis, exclusive, reverse)


@public("Tensor mint")
def cumprod(input: Any, dim: int, dtype: Any = None) -> Tensor:
    """The running product y_i = x_0 · … · x_i along ``dim``.

    Its derivative is made by multiplication alone, so that factors that are 0 are like any other number.

    Args:
        input: a tensor with at least one axis.
        dim: the axis to run along.
        dtype: the element type in which to multiply; by default that of ``input``, and Int64 for integers
            and truth values, as a small type would wrap around (UInt64 stays).

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: ``dim`` is no int, or ``input`` is no tensor.
        ValueError: ``dim`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cumprod(Tensor([1.0, 2.0, 3.0]), 0))
    [1. 2. 6.]
    """
    return running(rows.cumprod, "CumProd", whole_as_int64(input, "CumProd", dtype), dim)


@public("Tensor", "Cummax(axis: integer)(x)", "mint.cummax(input, dim)")
def cummax(input: Any, axis: int) -> tuple[Tensor, Tensor]:
    """The greatest element so far along ``axis``, and where it stands: of equal ones the last.

    Args:
        input: a real tensor with at least one axis.
        axis: the axis to run along.

    Returns:
        The elements, NaN from the first NaN on, and their positions as Int64, both of the shape of
        ``input``. The derivative goes to the element that was found.

    Raises:
        TypeError: ``axis`` is no int, or ``input`` complex or no tensor.
        ValueError: ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> values, places = ops.cummax(Tensor([3.0, 1.0, 4.0]), 0)
    >>> print(values, places)
    [3. 3. 4.] [0 0 2]
    """
    values, places = _extreme_so_far(rows.cumulative_argmax, "Cummax", input, axis)
    return values, cast(places, int64)


@public("Tensor", "Cummin(axis: integer)(x)", "mint.cummin(input, dim) -> pair(_)")
def cummin(input: Any, axis: int) -> tuple[Tensor, Tensor]:
    """The smallest element so far along ``axis``, and where it stands: of equal ones the last.

    {Args as cummax}

    Returns:
        The elements, NaN from the first NaN on, and their positions as Int32 (Int64 from
        ``cummax``: both as MindSpore), both of the shape of
        ``input``. The derivative goes to the element that was found.

    {Raises as cummax}

    >>> from mindgrad import Tensor, ops
    >>> values, places = ops.cummin(Tensor([3.0, 4.0, 1.0]), 0)
    >>> print(values, places)
    [3. 3. 1.] [0 0 2]
    """
    return _extreme_so_far(rows.cumulative_argmin, "Cummin", input, axis)


def _extreme_so_far(row: Primitive, operator: str, x: Any, axis: Any) -> tuple[Tensor, Tensor]:
    x = operand(x, operator)
    axis = _axis(axis, x, operator)
    accepted(row, operator, x, axis=axis, reverse=False)
    places = apply(row, x, axis=axis, reverse=False)
    # the lookups of each line of x are a batch: their axis goes behind the batch axes
    others = tuple(i for i in range(x.ndim) if i != axis)
    order = (*others, axis)
    lined = _arranged(places, order)
    values = apply(gather, x, apply(reshape, lined, shape=(*lined.shape, 1)), axes=(axis,), batch=others)
    back = tuple(order.index(i) for i in range(x.ndim))
    return _arranged(values, back), places


def _arranged(x: Tensor, permutation: tuple[int, ...]) -> Tensor:
    return apply(transpose, x, permutation=permutation)
