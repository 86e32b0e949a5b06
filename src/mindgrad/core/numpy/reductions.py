"""Reductions, such as sums and means, and cumulative functions along axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any

from mindgrad.core.ir.dtype import as_dtype, bool_, int64
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.numpy.elementwise import (
    conjugate,
    divide,
    equal,
    isclose,
    isnan,
    multiply,
    not_equal,
    real,
    sqrt,
    subtract,
    where,
)
from mindgrad.core.primitives import cumulative, reduction
from mindgrad.core.primitives.structural import reshape
from mindgrad.core.trace.operands import applied, cast, inexact, operand

__all__ = [
    "all", "allclose", "amax", "amin", "any", "argmax", "argmin", "array_equal", "average",
    "count_nonzero", "cumprod", "cumsum", "logsumexp", "max", "mean", "min", "nanmax", "nanmean",
    "nanmin", "nansum", "prod", "ptp", "std", "sum", "var",
]  # fmt: skip

Axis = int | Sequence[int] | None


def axes_of(name: str, axis: Axis, rank: int) -> tuple[int, ...]:
    """Convert ``axis`` to a tuple of nonnegative axes; ``None`` means all axes."""
    listed: Sequence[Any] = range(rank) if axis is None else axis if isinstance(axis, Sequence) else [axis]
    for number in listed:
        is_integer = isinstance(number, Integral)
        if not is_integer:
            raise TypeError(f"For '{name}', the axis must be an int or a tuple of ints, but got {axis!r}.")
        if not -rank <= number < rank:
            raise ValueError(f"For '{name}', axis {number} is out of bounds for a tensor with {rank} axes.")
    axes = tuple([number % rank for number in listed])
    if len(set(axes)) < len(axes):
        raise ValueError(f"For '{name}', the axes must be distinct, but got {axis}.")
    return axes


def axis_of(name: str, axis: int, rank: int) -> int:
    """Convert ``axis``, which may be negative, to a nonnegative axis."""
    return axes_of(name, axis, rank)[0]


def _reduced(name: str, primitive: Primitive, x: Tensor, axis: Axis, keepdims: bool) -> Any:
    axes = tuple(sorted(axes_of(name, axis, x.type.rank)))
    result = applied(primitive, x, axes=axes) if axes or primitive not in _SAME_WITHOUT_AXES else x
    if not keepdims:
        return result
    return apply(reshape, result, shape=tuple([1 if k in axes else n for k, n in enumerate(x.shape)]))


#: reductions that return their operand unchanged if no axis is reduced
_SAME_WITHOUT_AXES = {reduction.reduce_max, reduction.reduce_min, reduction.reduce_all, reduction.reduce_any}


def _summable(x: object, name: str, dtype: object) -> Tensor:
    x = operand(x, name)
    if dtype is not None:
        return cast(x, as_dtype(dtype))
    return cast(x, int64) if x.dtype is bool_ else x


def sum(a: object, axis: Axis = None, dtype: object = None, keepdims: bool = False) -> Any:
    """Sum the elements along ``axis``."""
    return _reduced("sum", reduction.reduce_sum, _summable(a, "sum", dtype), axis, keepdims)


def prod(a: object, axis: Axis = None, dtype: object = None, keepdims: bool = False) -> Any:
    """Multiply the elements along ``axis``."""
    return _reduced("prod", reduction.reduce_prod, _summable(a, "prod", dtype), axis, keepdims)


def max(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the largest element along ``axis``."""
    return _reduced("max", reduction.reduce_max, operand(a, "max"), axis, keepdims)


def min(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the smallest element along ``axis``."""
    return _reduced("min", reduction.reduce_min, operand(a, "min"), axis, keepdims)


amax, amin = max, min


def all(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return whether all elements along ``axis`` are nonzero."""
    return _reduced("all", reduction.reduce_all, cast(operand(a, "all"), bool_), axis, keepdims)


def any(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return whether any element along ``axis`` is nonzero."""
    return _reduced("any", reduction.reduce_any, cast(operand(a, "any"), bool_), axis, keepdims)


def mean(a: object, axis: Axis = None, dtype: object = None, keepdims: bool = False) -> Any:
    """Compute the mean along ``axis``."""
    x = inexact(_summable(a, "mean", dtype))
    return divide(sum(x, axis, keepdims=keepdims), math.prod(_sizes("mean", x, axis)))


def _sizes(name: str, x: Tensor, axis: Axis) -> list[int]:
    return [x.shape[k] for k in axes_of(name, axis, x.type.rank)]


def var(a: object, axis: Axis = None, dtype: object = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Compute the variance along ``axis``, with divisor ``n − ddof``."""
    x = inexact(_summable(a, "var", dtype))
    deviation = subtract(x, mean(x, axis, keepdims=True))
    squares = real(multiply(deviation, conjugate(deviation)))
    return divide(sum(squares, axis, keepdims=keepdims), math.prod(_sizes("var", x, axis)) - ddof)


def std(a: object, axis: Axis = None, dtype: object = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Compute the standard deviation along ``axis``, with divisor ``n − ddof``."""
    return sqrt(var(a, axis, dtype, ddof, keepdims))


def average(a: object, axis: Axis = None, weights: object = None, keepdims: bool = False) -> Any:
    """Compute the mean along ``axis`` with ``weights``, which broadcast to ``a``."""
    if weights is None:
        return mean(a, axis, keepdims=keepdims)
    total = sum(multiply(weights, _ones_like(a)), axis, keepdims=keepdims)
    return divide(sum(multiply(a, weights), axis, keepdims=keepdims), total)


def _ones_like(a: object) -> Any:
    x = operand(a, "average")
    return equal(multiply(x, 0), multiply(x, 0))


def ptp(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the range, maximum minus minimum, along ``axis``."""
    return subtract(max(a, axis, keepdims), min(a, axis, keepdims))


def logsumexp(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute log Σ exp(a) along ``axis`` without overflow."""
    return _reduced("logsumexp", reduction.logsumexp, inexact(operand(a, "logsumexp")), axis, keepdims)


def count_nonzero(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Count the nonzero elements along ``axis``."""
    return sum(not_equal(a, 0), axis, keepdims=keepdims)


def nansum(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Sum the elements along ``axis``, without NaN."""
    return sum(where(isnan(a), 0, a), axis, keepdims=keepdims)


def nanmean(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the mean along ``axis``, without NaN."""
    return divide(nansum(a, axis, keepdims), sum(equal(a, a), axis, keepdims=keepdims))


def nanmax(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the largest element along ``axis``, without NaN."""
    return max(where(isnan(a), -math.inf, a), axis, keepdims)


def nanmin(a: object, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the smallest element along ``axis``, without NaN."""
    return min(where(isnan(a), math.inf, a), axis, keepdims)


def along(name: str, primitive: Primitive, a: object, axis: int | None, **parameters: object) -> Any:
    """Apply ``primitive`` along one axis, or to the flattened ``a`` without ``axis``."""
    x = operand(a, name)
    if axis is None:
        x, axis = apply(reshape, x, shape=(x.size,)), 0
    return applied(primitive, x, axis=axis_of(name, axis, x.ndim), **parameters)


def argmax(a: object, axis: int | None = None) -> Any:
    """Compute the index of the largest element along ``axis``."""
    return along("argmax", reduction.argmax, a, axis)


def argmin(a: object, axis: int | None = None) -> Any:
    """Compute the index of the smallest element along ``axis``."""
    return along("argmin", reduction.argmin, a, axis)


def cumsum(a: object, axis: int | None = None, dtype: object = None) -> Any:
    """Compute the cumulative sum along ``axis``."""
    return along("cumsum", cumulative.cumsum, _summable(a, "cumsum", dtype), axis, reverse=False)


def cumprod(a: object, axis: int | None = None, dtype: object = None) -> Any:
    """Compute the cumulative product along ``axis``."""
    return along("cumprod", cumulative.cumprod, _summable(a, "cumprod", dtype), axis, reverse=False)


def allclose(a: object, b: object, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Return whether |a − b| ≤ atol + rtol · |b| for all elements."""
    return all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: object, a2: object) -> Any:
    """Return whether ``a1`` and ``a2`` have the same shape and equal elements."""
    x, y = operand(a1, "array_equal"), operand(a2, "array_equal")
    return x.shape == y.shape and all(equal(x, y))
