"""Quantiles, reductions that ignore NaN, aminmax, and cumulative logsumexp."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.dtype import as_dtype, int32, int64
from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import (
    arithmetic,
    clipping,
    extremes,
    indexing,
    layout,
    movement,
    ordering,
    reduction,
    rounding,
)
from mindgrad.ops.arguments import axis_in_range
from mindgrad.ops.comparison import equal, greater, logical_not
from mindgrad.ops.operands import cast, inexact, operand
from mindgrad.ops.registry import public
from mindgrad.primitives.recurrence import logcumsumexp as running_logsumexp

__all__ = [
    "aminmax", "logcumsumexp", "nanmean", "nanmedian", "nanquantile", "nansum", "quantile",
]  # fmt: skip


@public("Tensor")
def aminmax(input: Any, *, axis: Any = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the smallest and the largest element along axes.

    Args:
        input (Tensor): real tensor.
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` means all axes.
        keepdims (bool): whether to keep the reduced axes with size 1.

    Returns:
        Two tensors without the reduced axes: the minimum and the maximum.

    >>> from mindgrad import Tensor, ops
    >>> low, high = ops.aminmax(Tensor([[3.0, 1.0], [2.0, 4.0]]))
    >>> print(low, high)
    [2. 1.] [3. 4.]
    """
    if axis == 0 and not operand(input, "Aminmax").ndim:
        axis = None
    return extremes.amin(input, axis, keepdims), extremes.amax(input, axis, keepdims)


# --- reductions that ignore NaN ---------------------------------------------------------------------------


@public(
    "Tensor",
    "mint.nansum(input, dim=None, keepdim=False, *, dtype=None)",
    "numpy.nansum(a, axis=None, dtype: unused=None, keepdims=False) -> converted(_, dtype)",
)
def nansum(input: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum the elements along axes, with NaN counted as 0.

    Args:
        input (Tensor): tensor of any shape.
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` means all axes.
        keepdims (bool): whether to keep the reduced axes with size 1.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype that :func:`sum` returns for
            ``input``.

    Returns:
        Tensor without the reduced axes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.nansum(Tensor([1.0, float("nan"), 2.0])))
    3.0
    """
    x = operand(input, "Nansum")
    if x.dtype.is_inexact:
        x = indexing.where(rounding.isnan(x), 0, x)
    return reduction.sum(x, axis, keepdims, dtype=dtype)


@public("Tensor", "numpy.nanmean(a, axis=None, dtype: unused=None, keepdims=False) -> converted(_, dtype)")
def nanmean(input: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """Average the elements along axes, ignoring NaN.

    Returns:
        Tensor without the reduced axes; NaN if all elements are NaN.

    {as nansum}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.nanmean(Tensor([1.0, float("nan"), 2.0])))
    1.5
    """
    x = inexact(operand(input, "Nanmean"))
    count = reduction.sum(cast(logical_not(rounding.isnan(x)), x.dtype), axis, keepdims)
    mean = arithmetic.true_divide(nansum(x, axis, keepdims, dtype=dtype), count)
    return mean if dtype is None else cast(mean, as_dtype(dtype))


# --- quantiles and medians --------------------------------------------------------------------------------


@public("Tensor")
def quantile(input: Any, q: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Compute quantiles, interpolated linearly between neighboring elements.

    Sort n elements as x₀ ≤ … ≤ x₍ₙ₋₁₎, and let p = q (n − 1), k = ⌊p⌋ and r = p − k. The result is
    (1 − r) x_k + r x_{k+1}.

    Args:
        input (Tensor): floating-point tensor; if it contains NaN, the result is NaN.
        q (float or Tensor): quantile to compute, a number from 0 to 1, or a 1-D tensor of such numbers.
        axis (int or None): axis to reduce. ``None`` means all elements.
        keepdims (bool): whether to keep the reduced axis with size 1.

    Returns:
        Tensor without the axis; a 1-D ``q`` adds a leading axis.

    Raises:
        ValueError: If ``q`` is not between 0 and 1 or has more than one axis, or ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.quantile(Tensor([3.0, 1.0, 2.0, 4.0]), 0.5))
    2.5
    """
    return _quantile("Quantile", input, q, axis, keepdims, False)


@public("Tensor")
def nanquantile(input: Any, q: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Compute quantiles, ignoring NaN.

    Returns:
        Tensor without the reduced axis. A 1-D ``q`` adds a leading axis. The result is NaN if all elements
        are NaN.

    {as quantile}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.nanquantile(Tensor([3.0, 1.0, float("nan"), 2.0]), 0.5))
    2.0
    """
    return _quantile("Nanquantile", input, q, axis, keepdims, True)


@public("Tensor")
def nanmedian(input: Any, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the median along an axis, ignoring NaN, and its index.

    If the number of elements is even, the median is the smaller of the two middle elements.

    Args:
        input (Tensor): tensor of at least one axis.
        axis (int): axis to reduce.
        keepdims (bool): whether to keep the reduced axis with size 1.

    Returns:
        ``(values, indices)``: the medians, and their indices along ``axis``. The median is NaN if all
        elements are NaN.

    >>> from mindgrad import Tensor, ops
    >>> value, place = ops.nanmedian(Tensor([3.0, float("nan"), 1.0, 2.0, 4.0]))
    >>> print(value, place)
    2.0 3
    """
    x = operand(input, "Nanmedian")
    dim = axis_in_range(axis, x.ndim, "Nanmedian")
    missing = rounding.isnan(x)
    ordered, places = ordering.sort(indexing.where(missing, np.inf, x), dim)
    numbers = reduction.reduce_sum(cast(logical_not(missing), int32), dim, True)
    middle = arithmetic.floor_divide(clipping.maximum(arithmetic.sub(numbers, 1), 0), 2)
    value = indexing.gather_elements(ordered, dim, middle)
    value = indexing.where(equal(numbers, 0), np.nan, value)
    found = cast(indexing.gather_elements(places, dim, middle), int64)
    value = cast(value, x.dtype)
    return (value, found) if keepdims else (layout.squeeze(value, dim), layout.squeeze(found, dim))


def _quantile(operator: str, input: Any, q: Any, axis: Any, keepdims: bool, leave_out: bool) -> Tensor:
    x = inexact(operand(input, operator))
    part = operand(q, operator, x)
    if part.ndim > 1:
        raise ValueError(f"For '{operator}', 'q' must have at most one axis, but its shape is {part.shape}.")
    if part._array is not None and not ((part.host_array() >= 0) & (part.host_array() <= 1)).all():
        raise ValueError(f"For '{operator}', 'q' must be from 0 to 1, but got {part.host_array()}.")
    if axis is None:
        reduced_shape: tuple[int, ...] = (1,) * x.ndim
        x = layout.ravel(x)
    else:
        place = axis_in_range(axis, x.ndim, operator)
        reduced_shape = tuple(1 if k == place else n for k, n in enumerate(x.shape))
        x = layout.moveaxis(x, place, 0)
    count, others = x.shape[0], x.shape[1:]
    if not count:
        raise ValueError(
            f"For '{operator}', the quantile of an empty axis is undefined. Pass an input with at least "
            "one element along the axis."
        )
    missing = rounding.isnan(x)
    absent = reduction.sum(cast(missing, x.dtype), 0)
    ordered, _ = ordering.sort(indexing.where(missing, np.inf, x), 0)
    last = clipping.maximum(arithmetic.sub(count - 1, absent), 0) if leave_out else count - 1
    column = layout.reshape(cast(part, x.dtype), (part.size, *(1 for _ in others)))
    position = movement.broadcast_to(arithmetic.mul(column, last), (part.size, *others))
    low = rounding.floor(position)
    share = arithmetic.sub(position, low)
    before = indexing.gather_elements(ordered, 0, cast(low, int32))
    after = indexing.gather_elements(
        ordered, 0, cast(clipping.minimum(arithmetic.add(low, 1), count - 1), int32)
    )
    step = arithmetic.mul(share, arithmetic.sub(after, before))
    value = indexing.where(equal(share, 0), before, arithmetic.add(before, step))
    value = indexing.where(equal(absent, count) if leave_out else greater(absent, 0), np.nan, value)
    shape = reduced_shape if keepdims else others
    return layout.reshape(value, (part.size, *shape) if part.ndim else shape)


@public("Tensor")
def logcumsumexp(input: Any, axis: int) -> Tensor:
    """Compute the cumulative logsumexp log Σ_{j ≤ i} exp x_j along an axis.

    Args:
        input (Tensor): floating-point tensor.
        axis (int): axis along which to sum.

    Returns:
        Tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.logcumsumexp(Tensor([0.0, 0.0, 0.0]), 0))
    [0.        0.6931472 1.0986123]
    """
    x = inexact(operand(input, "Logcumsumexp"))
    dim = axis_in_range(axis, x.ndim, "Logcumsumexp")
    if not x.size:
        return x
    return apply(running_logsumexp, x, axis=dim, reverse=False)
