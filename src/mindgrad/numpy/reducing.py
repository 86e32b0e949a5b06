"""Reductions as in NumPy: sums, means, extremes, cumulative sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.tensor import Tensor
from mindgrad.numpy.coercion import converted, element_type, floating, tensor
from mindgrad.ops import (
    arithmetic,
    comparison,
    cumulative,
    extremes,
    indexing,
    layout,
    math,
    movement,
    quantiles,
    reduction,
    rounding,
    sequences,
)
from mindgrad.ops.arguments import axis_in_range
from mindgrad.ops.define import also_named

__all__ = [
    "array_equal", "array_equiv", "average", "cumprod", "in1d", "isscalar", "nancumsum", "nanmax",
    "nanmin", "nanstd", "nanvar", "sometrue", "sum",
]  # fmt: skip

# --- sums and means ---


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """Sum the elements along axes; integers and Booleans are summed as int64.

    Args:
        a (Tensor or array_like): values of any shape.
        axis (int, tuple of int, or None): axis or axes to sum over. ``None`` means all axes.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means int64 for integers and Booleans, and the
            dtype of ``a`` otherwise.
        keepdims (bool): whether to keep the reduced axes with size 1.
        initial (number or None): number to add to the sum.

    Returns:
        Tensor without the reduced axes.

    >>> import mindgrad.numpy as np
    >>> print(np.sum([[1, 2], [3, 4]], axis=0))
    [4 6]
    """
    total = reduction.sum(tensor(a, "sum"), axis, keepdims, dtype=dtype)
    return total if initial is None else arithmetic.add(total, initial)


def average(x: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """Compute the weighted mean along axes.

    Args:
        x (Tensor or array_like): values of any shape.
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` means all axes.
        weights (Tensor, array_like, or None): weight of each element. ``None`` means equal
            weights.
        returned (bool): whether to return also the sum of the weights.

    Returns:
        Tensor of the means; if ``returned`` is true, a tuple of the means and the sums of the weights.

    >>> import mindgrad.numpy as np
    >>> print(np.average([1.0, 2.0], weights=[3.0, 1.0]))
    1.25
    """
    values = floating(x, "average")
    if weights is None:
        mean = reduction.mean(values, axis)
        total = arithmetic.true_divide(float(values.size), float(max(mean.size, 1)))
    else:
        counts = floating(weights, "average")
        if counts.shape != values.shape and counts.ndim == 1 and axis is not None:
            place = axis_in_range(axis, values.ndim, "average")
            counts = layout.reshape(counts, tuple(-1 if k == place else 1 for k in range(values.ndim)))
        counts = movement.broadcast_to(counts, values.shape)
        total = reduction.sum(counts, axis)
        mean = arithmetic.true_divide(reduction.sum(arithmetic.mul(values, counts), axis), total)
    if not returned:
        return mean
    return mean, movement.broadcast_to(converted(total, mean.dtype), mean.shape)


# --- reductions that ignore NaN ---


def nanvar(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Compute the variance along axes, ignoring NaN.

    Args:
        a (Tensor or array_like): values of any shape.
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` means all axes.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of ``a``.
        ddof (int): number to subtract from the number of elements in the divisor.
        keepdims (bool): whether to keep the reduced axes with size 1.

    Returns:
        Tensor without the reduced axes.

    >>> import mindgrad.numpy as np
    >>> print(np.nanvar([1.0, 3.0, np.nan]))
    1.0
    """
    x = converted(floating(a, "nanvar"), dtype)
    is_number = comparison.logical_not(rounding.isnan(x))
    apart = arithmetic.sub(x, quantiles.nanmean(x, axis, True))
    squares = indexing.where(is_number, math.square(indexing.where(is_number, apart, 0)), 0)
    count = reduction.sum(converted(is_number, x.dtype), axis, keepdims)
    return arithmetic.true_divide(reduction.sum(squares, axis, keepdims), arithmetic.sub(count, ddof))


def nanstd(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Compute the standard deviation along axes, ignoring NaN.

    {as nanvar}

    >>> import mindgrad.numpy as np
    >>> print(np.nanstd([1.0, 3.0, np.nan]))
    1.0
    """
    return math.sqrt(nanvar(a, axis, dtype, ddof, keepdims))


def _without_nan(x: Tensor, name: str, filler: float, function: Any, axis: Any, keepdims: bool) -> Tensor:
    if not x.dtype.is_float:
        return function(x, axis, keepdims)
    missing = rounding.isnan(x)
    found = function(indexing.where(missing, filler, x), axis, keepdims)
    return indexing.where(reduction.all(missing, axis, keepdims), np.nan, found)


def nanmax(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Return the largest element along axes, ignoring NaN.

    Args:
        a (Tensor or array_like): values of any shape.
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` means all axes.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of ``a``.
        keepdims (bool): whether to keep the reduced axes with size 1.

    Returns:
        Tensor without the reduced axes; NaN if all elements are NaN.

    >>> import mindgrad.numpy as np
    >>> print(np.nanmax([1.0, np.nan]))
    1.0
    """
    x = tensor(a, "nanmax")
    return converted(_without_nan(x, "nanmax", -np.inf, extremes.amax, axis, keepdims), dtype)


def nanmin(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Return the smallest element along axes, ignoring NaN.

    {Args as nanmax}

    Returns:
        Tensor without the reduced axes; NaN if all elements are NaN.

    >>> import mindgrad.numpy as np
    >>> print(np.nanmin([1.0, np.nan]))
    1.0
    """
    x = tensor(a, "nanmin")
    return converted(_without_nan(x, "nanmin", np.inf, extremes.amin, axis, keepdims), dtype)


# --- cumulative sums and products ---


def _along(x: Tensor, axis: Any) -> tuple[Tensor, int]:
    return (layout.ravel(x), 0) if axis is None else (x, axis_in_range(axis, x.ndim, "cumulative"))


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Compute the cumulative product along an axis, or of the flattened tensor.

    Args:
        a (Tensor or array_like): values of any shape.
        axis (int or None): axis along which to accumulate. ``None`` flattens the tensor first.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means int32 for Booleans and small
            integers, and the dtype of ``a`` otherwise.

    Returns:
        Tensor of the cumulative products.

    >>> import mindgrad.numpy as np
    >>> print(np.cumprod([1, 2, 3]))
    [1 2 6]
    """
    x = tensor(a, "cumprod")
    x = cumulative.at_least_int32(x) if dtype is None else converted(x, dtype)
    return cumulative.cumprod(*_along(x, axis), x.dtype)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Compute the cumulative sum, with NaN counted as 0.

    Args:
        a (Tensor or array_like): values of any shape.
        axis (int or None): axis along which to accumulate. ``None`` flattens the tensor first.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of ``a``.

    Returns:
        Tensor of the cumulative sums.

    >>> import mindgrad.numpy as np
    >>> print(np.nancumsum([1.0, np.nan, 2.0]))
    [1. 1. 3.]
    """
    x = tensor(a, "nancumsum")
    numbers = indexing.where(rounding.isnan(x), 0, x) if x.dtype.is_float else x
    return cumulative.sums_of_array(numbers, axis, element_type(dtype))


# --- membership, equality, and type tests ---


def in1d(ar1: Any, ar2: Any, invert: bool = False) -> Tensor:
    """Check for each element of the flattened tensor whether it is in another tensor.

    Args:
        ar1 (Tensor or array_like): elements to look for in ``ar2``, which are flattened.
        ar2 (Tensor or array_like): tensor of any shape in which to look.
        invert (bool): whether to return true for the elements that are not found.

    Returns:
        Boolean 1-D tensor with one element for each element of ``ar1``.

    >>> import mindgrad.numpy as np
    >>> print(np.in1d([[1], [2]], [2, 3]))
    [False  True]
    """
    return sequences.isin(layout.ravel(tensor(ar1, "in1d")), tensor(ar2, "in1d"), invert=invert)


def isscalar(element: Any) -> bool:
    """Check whether an object is a number or a string.

    Args:
        element (object): any object.

    Returns:
        bool: ``True`` for a number or a string.

    >>> import mindgrad.numpy as np
    >>> np.isscalar(3), np.isscalar([3])
    (True, False)
    """
    return isinstance(element, (bool, int, float, complex, str, np.generic))


@also_named(a="x")
def sometrue(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Check whether any element along axes is true.

    Args:
        x (Tensor or array_like): values of any shape.
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` means all axes.
        keepdims (bool): whether to keep the reduced axes with size 1.

    Returns:
        Boolean tensor without the reduced axes.

    >>> import mindgrad.numpy as np
    >>> print(np.sometrue([False, True]))
    True
    """
    return reduction.any(tensor(x, "sometrue"), axis, keepdims)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Check whether two tensors have the same shape and elements.

    Args:
        a1, a2 (Tensor or array_like): tensors to compare.
        equal_nan (bool): whether NaN counts as equal to NaN.

    Returns:
        0-D Boolean tensor.

    >>> import mindgrad.numpy as np
    >>> print(np.array_equal([1, 2], [1, 2]), np.array_equal([1], [1, 1]))
    True False
    """
    x, y = tensor(a1, "array_equal"), tensor(a2, "array_equal")
    if x.shape != y.shape:
        return Tensor(False)
    same = comparison.equal(x, y)
    if equal_nan:
        same = comparison.logical_or(same, comparison.logical_and(rounding.isnan(x), rounding.isnan(y)))
    return reduction.all(same)


def array_equiv(a1: Any, a2: Any) -> Any:
    """Check whether two tensors have the same elements after broadcasting.

    Args:
        a1, a2 (Tensor or array_like): tensors to compare.

    Returns:
        0-D Boolean tensor.

    >>> import mindgrad.numpy as np
    >>> print(np.array_equiv([1, 1], 1))
    True
    """
    x, y = tensor(a1, "array_equiv"), tensor(a2, "array_equiv")
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return Tensor(False)
    return reduction.all(comparison.equal(x, y))
