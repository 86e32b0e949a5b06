"""Reductions: sum, average, multiply, and compare elements over axes.

An axis is an int, or a tuple or list of ints; negative axes count from the last. ``None`` or an empty tuple
means all axes. Reduced axes are removed, or remain with size 1 if ``keep_dims`` is set.
"""

from __future__ import annotations

import math as _math
from functools import lru_cache
from typing import Any, NamedTuple

from mindgrad.core.ir.dtype import as_dtype, bool_, float32, int32, int64, uint64
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives import reduction as primitives
from mindgrad.core.primitives.comparisons import not_equal
from mindgrad.core.primitives.structural import reshape
from mindgrad.ops import arithmetic
from mindgrad.ops.axes import is_plain, normalize_axes
from mindgrad.ops.define import also_named
from mindgrad.ops.operands import accepted_types, cast, full_tensor, inexact, is_selection, operand, truth
from mindgrad.ops.registry import public

__all__ = [
    "all", "any", "count_nonzero", "logsumexp", "mean", "prod", "reduce_all", "reduce_any",
    "reduce_mean", "reduce_prod", "reduce_sum", "sum",
]  # fmt: skip


# --- functions that all reductions use ---------------------------------------------------------------


def flag(value: Any, operator: str, name: str) -> bool:
    """Check that ``value`` is a bool, and return it.

    Raises:
        TypeError: If ``value`` is not a bool.
    """
    if not isinstance(value, bool):
        raise TypeError(f"For '{operator}', the '{name}' must be bool, but got {type(value).__name__}.")
    return value


def widened(x: Tensor) -> Tensor:
    """Convert float16 and bfloat16 to float32, so that long sums lose less precision."""
    return cast(x, float32) if x.dtype.is_half else x


def with_reduced_axes(y: Tensor, shape: tuple[int, ...], axes: tuple[int, ...], keep: bool) -> Tensor:
    """Insert axes of size 1 for the reduced ``axes`` into ``y`` if ``keep``."""
    if not keep or not axes:
        return y
    return apply(reshape, y, shape=_with_ones(shape, axes))


def reduced(
    primitive: Primitive, operator: str, x: Any, axis: Any, keep: Any, name: str = "keep_dims"
) -> Tensor:
    """Apply a primitive that reduces the axes in its parameter ``axes``."""
    if type(x) is not Tensor and is_selection(x):
        axes = normalize_axes(axis, x.values.ndim, operator)
        return x.reduced(
            primitive, axes, lambda values: reduced(primitive, operator, values, axes, keep, name)
        )
    if axis is None or type(axis) is int:  # the next lines inline ``_resolved``
        reduction = _reduction(primitive, operator, x._type or x.type, axis, keep, name)
    else:
        reduction = _resolved(primitive, operator, x, axis, keep, name)
    y = apply(primitive, x, axes=reduction.axes)
    return y if reduction.shape is None else apply(reshape, y, shape=reduction.shape)


class _Reduction(NamedTuple):
    """A reduction of a tensor.

    Attributes:
        axes: the reduced axes.
        size: number of elements along the reduced axes.
        shape: shape of the result if the reduced axes are kept, else ``None``.
    """

    axes: tuple[int, ...]
    size: int
    shape: tuple[int, ...] | None


def _resolved(primitive: Primitive, operator: str, x: Tensor, axis: Any, keep: Any, name: str) -> _Reduction:
    if axis is None or type(axis) is int or is_plain(axis):
        return _reduction(primitive, operator, x._type or x.type, axis, keep, name)
    return _reduction.__wrapped__(primitive, operator, x.type, axis, keep, name)


@lru_cache(maxsize=4096, typed=True)
def _reduction(
    primitive: Primitive, operator: str, x: TensorType, axis: Any, keep: Any, name: str
) -> _Reduction:
    axes = normalize_axes(axis, x.rank, operator)
    flag(keep, operator, name)
    accepted_types(primitive, operator, x, axes=axes)
    count = _math.prod(x.shape[i] for i in axes)
    if primitive in _NONEMPTY and not count:
        raise ValueError(
            f"For '{operator}', the reduced axes must not be empty, but the input has shape {x.shape} "
            f"and the axes are {axes}."
        )
    return _Reduction(axes, count, _with_ones(x.shape, axes) if keep and axes else None)


def _with_ones(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


_NONEMPTY = (primitives.reduce_max, primitives.reduce_min)


def _number(x: Any, operator: str) -> Tensor:
    """Convert ``x`` to a tensor, and Booleans to int64."""
    x = operand(x, operator)
    return cast(x, int64) if x.dtype is bool_ else x


def whole_as_int64(x: Any, operator: str, dtype: Any = None) -> Tensor:
    """Convert ``x`` to ``dtype``; by default, ints to int64, against overflow."""
    if type(x) is not Tensor:
        x = operand(x, operator)
    if dtype is not None:
        return cast(x, as_dtype(dtype))
    own = (x._type or x.type).dtype
    return x if own.is_inexact or own is uint64 else cast(x, int64)


# --- sum, mean, product, logsumexp -------------------------------------------------------------------


@public("mint", "ops.auto_generate.SumExt()(x, dim=None, keepdim=False, dtype=None)")
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum the elements along axes.

    Args:
        input (Tensor or number): values of any shape.
        dim (int, tuple of int, or None): axis or axes to sum over. ``None`` means all axes.
        keepdim (bool): whether to keep the reduced axes with size 1.
        dtype (mindgrad.dtype): dtype in which to sum. ``None`` means int64 for Booleans and
            integers except uint64, because a small type would overflow, and the dtype of ``input``
            otherwise.

    Returns:
        Tensor without the reduced axes. The sum is 0 if there are no elements.

    Raises:
        TypeError: If ``keepdim`` is not a bool, ``dim`` is not an int, or ``input`` is neither a tensor nor
            a number.
        ValueError: If ``dim`` is out of range or repeats an axis.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0))
    [4. 6.]
    """
    return reduced(primitives.reduce_sum, "Sum", whole_as_int64(input, "Sum", dtype), dim, keepdim, "keepdim")


@public()
def reduce_sum(x: Any, axis: Any = (), keep_dims: bool = False) -> Tensor:
    """Sum the elements along axes, integers in their own dtype.

    Args:
        x (Tensor or number): values of any shape. The sum of integers may overflow (:func:`sum`
            uses int64); Booleans are counted as int64.
        axis (int, tuple of int, or None): axis or axes to sum over. ``()`` and ``None`` mean all
            axes.

    {as sum}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.reduce_sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
    [3. 7.]
    """
    return reduced(primitives.reduce_sum, "ReduceSum", _number(x, "ReduceSum"), axis, keep_dims)


@public(
    "ReduceMean(keep_dims=False)(x, axis=())",
    "Tensor.mean(axis=None, keepdims=False)",
    "mint.mean(input: typed(dtype), dim=None, keepdim=False, *, dtype: unused=None)",
    "ops.auto_generate.MeanExt()(x: typed(dtype), dim=None, keepdim=False, dtype: unused=None)",
    "numpy.mean(a: floating(dtype), axis=None, keepdims=False, dtype: unused=None)",
)
def mean(x: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Average the elements along axes.

    Args:
        x (Tensor or number): values of any shape; integers and Booleans are converted to float32.
        axis (int, tuple of int, or None): axis or axes to average over. ``None`` and ``()`` mean
            all axes.
        keep_dims (bool): whether to keep the reduced axes with size 1.

    Returns:
        Tensor without the reduced axes. The mean is NaN if there are no elements.

    {errors of a reduction of x}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.mean(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0))
    [2. 3.]
    """
    x = inexact(operand(x, "ReduceMean"))
    wide: Any = widened(x)
    total = reduced(primitives.reduce_sum, "ReduceMean", wide, axis, keep_dims)
    if is_selection(wide):
        size = wide.count(normalize_axes(axis, wide.values.ndim, "ReduceMean"))
    else:
        size = _resolved(primitives.reduce_sum, "ReduceMean", wide, axis, keep_dims, "keep_dims").size
    return cast(arithmetic.true_divide(total, size), x.type.dtype)


@public(
    "Tensor.prod(axis=None, keepdims=False, dtype=None)",
    "mint.prod(input, dim=None, keepdim=False, *, dtype=None)",
)
def prod(input: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Tensor:
    """Multiply the elements along axes.

    The derivative is computed without division, so it is exact if elements are zero.

    Args:
        input (Tensor or number): values of any shape.
        axis (int, tuple of int, or None): axis or axes to multiply over. ``None`` and ``()`` mean
            all axes.
        keep_dims (bool): whether to keep the reduced axes with size 1.
        dtype (mindgrad.dtype): dtype in which to multiply. ``None`` means int64 for Booleans and
            integers except uint64, because a small type would overflow, and the dtype of ``input``
            otherwise.

    Returns:
        Tensor without the reduced axes. The product is 1 if there are no elements.

    {errors of a reduction of input}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.prod(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0))
    [3. 8.]
    """
    return reduced(
        primitives.reduce_prod, "ReduceProd", whole_as_int64(input, "ReduceProd", dtype), axis, keep_dims
    )


@public("ReduceProd(keep_dims=False)(x, axis=())")
def reduce_prod(x: Any, axis: Any = (), keep_dims: bool = False) -> Tensor:
    """Multiply the elements along axes, integers in their own dtype.

    Args:
        x (Tensor or number): values of any shape. The product of integers may overflow
            (:func:`prod` uses int64).
        axis (int, tuple of int, or None): axis or axes to multiply over. ``()`` and ``None`` mean
            all axes.

    Returns:
        Tensor without the reduced axes. The product is 1 if there are no elements.

    {as reduce_sum}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.reduce_prod(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
    [ 2. 12.]
    """
    return reduced(primitives.reduce_prod, "ReduceProd", _number(x, "ReduceProd"), axis, keep_dims)


@public("Tensor", "mint.logsumexp(input, dim, keepdim=False)")
@also_named(dim="axis", keepdim="keep_dims")
def logsumexp(input: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Compute log Σ exp x along axes without overflow; its derivative is softmax.

    Args:
        input (Tensor or number): real values of any shape; integers are converted to float32.
        axis (int, tuple of int, or None): axis or axes to sum over. ``None`` and ``()`` mean all
            axes.
        keep_dims (bool): whether to keep the reduced axes with size 1.

    Returns:
        Tensor without the reduced axes; −inf, with derivative 0, if all elements are −inf.

    Raises:
        TypeError: If ``keep_dims`` is not a bool, ``axis`` is not an int, or ``input`` is complex or not a
            tensor.
        ValueError: If ``axis`` is out of range or repeats an axis.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.logsumexp(Tensor([1000.0, 1000.0]), 0):.4f}")
    1000.6932
    """
    return reduced(primitives.logsumexp, "LogSumExp", inexact(operand(input, "LogSumExp")), axis, keep_dims)


@public(
    "Tensor",
    "CountNonZero(dims: anything('axes or None')=None)(x)"
    "(axis=() if self.dims is None else self.dims) >>> ops.CountNonZero()(Tensor([1.0, 0.0, 3.0])) => 2",
    "mint.count_nonzero(input, dim=None)(axis=() if dim is None else dim)",
    "numpy.count_nonzero(x, axis=None, keepdims=False)(axis=() if axis is None else axis)",
)
def count_nonzero(x: Any, axis: Any = (), keep_dims: bool = False, dtype: Any = int32) -> Tensor:
    """Count the nonzero elements along axes.

    Args:
        x (Tensor or number): values of any shape.
        axis (int, tuple of int, or None): axis or axes to count over. ``()`` and ``None`` mean
            all axes.
        keep_dims (bool): whether to keep the reduced axes with size 1.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of ``dtype`` without the reduced axes.

    {errors of a reduction of x}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.count_nonzero(Tensor([[1.0, 0.0], [3.0, 4.0]]), 0))
    [2 1]
    """
    x = operand(x, "CountNonZero")
    hits = apply(not_equal, x, full_tensor(0, x.dtype, x.shape))
    return reduced(primitives.reduce_sum, "CountNonZero", cast(hits, as_dtype(dtype)), axis, keep_dims)


# --- all and any -------------------------------------------------------------------------------------


@public(
    "ReduceAll(keep_dims=False)(x, axis=())",
    "Tensor.all(axis=None, keepdims=False)",
    "mint.all(input, dim=None, keepdim=False)",
)
def all(input: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Check whether all elements along axes are true (nonzero).

    Args:
        input (Tensor or number): values of any shape and dtype.
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` and ``()`` mean all
            axes.
        keep_dims (bool): whether to keep the reduced axes with size 1.

    Returns:
        Boolean tensor without the reduced axes. The result for no elements is true.

    {errors of a reduction of input}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.all(Tensor([[True, False], [True, True]]), 0))
    [ True False]
    """
    return reduced(primitives.reduce_all, "ReduceAll", truth(input, "ReduceAll"), axis, keep_dims)


@public(
    "ReduceAny(keep_dims=False)(x, axis=())",
    "Tensor.any(axis=None, keepdims=False)",
    "mint.any(input, dim=None, keepdim=False)",
)
def any(input: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Check whether any element along axes is true (nonzero).

    Returns:
        Boolean tensor without the reduced axes. The result for no elements is false.

    {Args as all}

    {errors of a reduction of input}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.any(Tensor([[True, False], [False, False]]), 0))
    [ True False]
    """
    return reduced(primitives.reduce_any, "ReduceAny", truth(input, "ReduceAny"), axis, keep_dims)


# alternative names, as in MindSpore 1.x
reduce_all = all
reduce_any = any
reduce_mean = mean
