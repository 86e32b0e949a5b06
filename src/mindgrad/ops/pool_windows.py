"""Pooling: the maximum or average of windows over the last axes of a tensor.

A window over several axes is reduced one axis at a time. The number of operators is then the sum of its side
lengths, not their product. If elements of a window are equal, the first of them in memory gets the
derivative.
"""

from __future__ import annotations

import itertools
import math as _math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.ops import arithmetic, comparison, extremes, rounding
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import one_or_more, whole_number
from mindgrad.ops.contraction import mm
from mindgrad.ops.convolution import Sizes, margins, per_axis
from mindgrad.ops.joining import concat
from mindgrad.ops.layout import moveaxis, reshape
from mindgrad.ops.movement import slice_axis
from mindgrad.ops.operands import broadcast_to, cast, choose, operand
from mindgrad.ops.padding import padded
from mindgrad.ops.reduction import flag, widened
from mindgrad.ops.reduction import mean as mean_of
from mindgrad.ops.reduction import sum as sum_of

__all__ = ["adaptive", "adaptive_avg", "adaptive_max", "avg_pooled", "max_pooled", "mixed", "pool_windows"]

# maximum length of a window that is pooled by a chain of elementwise operators. Longer windows are pooled by
# a reduction
_CHAIN = 8


class Windows(NamedTuple):
    """The windows along each of the pooled axes."""

    kernel: Sizes
    stride: Sizes
    dilation: Sizes
    padding: tuple[tuple[int, int], ...]
    counts: Sizes


def pool_windows(
    operator: str,
    axes: int,
    shape: Sizes,
    kernel_size: Any,
    stride: Any,
    pad_mode: Any,
    padding: Any,
    dilation: Any = 1,
    ceil_mode: Any = False,
) -> Windows:
    """Compute the windows over the last ``axes`` axes of ``shape``.

    Raises:
        TypeError: If an argument is not an int, or ``ceil_mode`` is not a bool.
        ValueError: If ``shape`` has an unsupported number of axes, an argument is out of range, or the
            windows do not fit into the input.
    """
    _check_axes(operator, axes, shape)
    sizes = shape[-axes:]
    kernel = per_axis(kernel_size, axes, operator, "kernel_size", 1)
    strides = kernel if stride is None else per_axis(stride, axes, operator, "stride", 1)
    steps = per_axis(dilation, axes, operator, "dilation", 1)
    span = tuple((k - 1) * d + 1 for k, d in zip(kernel, steps, strict=True))
    around = margins(operator, pad_mode, padding, sizes, span, strides)
    if pad_mode == "pad" and any(2 * max(pair) > k for pair, k in zip(around, span, strict=True)):
        raise ValueError(
            f"For '{operator}', the 'padding' must be at most half of the 'kernel_size', but they are "
            f"{padding} and {kernel_size}."
        )
    counts, pairs = [], []
    for n, k, s, (low, high) in zip(sizes, span, strides, around, strict=True):
        travel = n + low + high - k
        count = travel // s + 1
        if flag(ceil_mode, operator, "ceil_mode") and travel % s and count * s < n + low:
            count += 1  # in ceil mode, the last window may begin inside the input and end after it
            high += (count - 1) * s - travel
        counts.append(count)
        pairs.append((low, high))
    if min(counts) < 1:
        raise ValueError(
            f"For '{operator}', the windows of size {span} must fit into the input, but its shape is {shape}."
        )
    return Windows(kernel, strides, steps, tuple(pairs), tuple(counts))


def _check_axes(operator: str, axes: int, shape: Sizes) -> None:
    if len(shape) not in (axes + 1, axes + 2):
        raise ValueError(
            f"For '{operator}', the input must have {axes + 2} axes (or {axes + 1}, without a batch), but "
            f"its shape is {shape}."
        )


def _part(x: Tensor, axis: int, start: int, count: int, step: int) -> Tensor:
    return slice_axis(x, axis, start, start + (count - 1) * step + 1, step)


def _folded(x: Tensor, axis: int, count: int, size: int) -> Tensor:
    """Reshape the first ``count · size`` elements of ``axis`` to two axes."""
    x = _part(x, axis, 0, count * size, 1)
    return reshape(x, (*x.shape[:axis], count, size, *x.shape[axis + 1 :]))


def _chained(
    parts: Sequence[tuple[Tensor, ...]], step: Callable[..., tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    extreme = parts[0]
    for each in parts[1:]:
        extreme = step(extreme, each)
    return extreme


# --- maximum pooling ---------------------------------------------------------------------------------


def _greater(a: tuple[Tensor, ...], b: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Of two pairs (value, index), select the greater value; NaN is the greatest.

    If the values are equal, the first pair is selected.
    """
    first = comparison.logical_or(comparison.greater_equal(a[0], b[0]), rounding.isnan(a[0]))
    return tuple(choose(first, x, y) for x, y in zip(a, b, strict=True))


def _lowest(x: Tensor) -> Any:
    return -_math.inf if x.dtype.is_float else int(np.iinfo(x.dtype.numpy).min)


def max_pooled(operator: str, axes: int, x: Any, pooled: Callable[[Sizes], Windows], places: Any) -> Any:
    """Return the maximum of each window and, with ``places``, its flat index."""
    x = operand(x, operator)
    w = pooled(x.shape)
    first = x.ndim - axes
    pairs = [(0, 0)] * first + list(w.padding)
    maxima: tuple[Tensor, ...] = (padded(x, pairs, "constant", _lowest(x)),)
    if flag(places, operator, "return_indices"):
        numbers = np.arange(_math.prod(x.shape[first:]), dtype=np.int64).reshape(x.shape[first:])
        numbers = np.pad(numbers, w.padding)
        maxima = (*maxima, broadcast_to(make_tensor(numbers), maxima[0].shape))
    for k in reversed(range(axes)):
        axis, size, step, count = first + k, w.kernel[k], w.stride[k], w.counts[k]
        folds = w.dilation[k] == 1 and (step == size or count == 1)
        if folds and size > _CHAIN and len(maxima) == 1:
            maxima = (extremes.max(_folded(maxima[0], axis, count, size), axis + 1)[0],)
            continue
        parts = [tuple(_part(y, axis, j * w.dilation[k], count, step) for y in maxima) for j in range(size)]
        maxima = _chained(parts, _greater)
    return maxima if len(maxima) > 1 else maxima[0]


# --- average pooling ---------------------------------------------------------------------------------


def _summed(x: Tensor, first: int, w: Windows) -> Tensor:
    for k in reversed(range(len(w.kernel))):
        axis, size, step, count = first + k, w.kernel[k], w.stride[k], w.counts[k]
        if size == 1 and step == 1:
            x = _part(x, axis, 0, count, 1)
        elif step == size or count == 1:
            x = sum_of(_folded(x, axis, count, size), axis + 1)
        else:
            parts = [(_part(x, axis, j, count, step),) for j in range(size)]
            (x,) = _chained(parts, lambda a, b: (arithmetic.add(a[0], b[0]),))
    return x


def _counted(
    w: Windows, sizes: Sizes, with_padding: bool, margins: tuple[tuple[int, int], ...]
) -> np.ndarray:
    """Return the number of elements over which each window averages."""
    total = np.ones((), np.float64)
    for n, k, s, (low, high), count in zip(sizes, w.kernel, w.stride, margins, w.counts, strict=True):
        start = np.arange(count) * s
        bounds = (0, n + low + high) if with_padding else (low, n + low)
        total = np.multiply.outer(total, np.clip(start + k, *bounds) - np.clip(start, *bounds))
    return total


def avg_pooled(
    operator: str,
    axes: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    pad_mode: Any = "pad",
    padding: Any = 0,
    ceil_mode: Any = False,
    count_include_pad: Any = True,
    divisor_override: Any = None,
) -> Tensor:
    """Return the average of each window, without the zeros that ``"same"`` adds."""
    original = real_operand(x, operator)
    x = widened(original)
    w = pool_windows(operator, axes, x.shape, kernel_size, stride, pad_mode, padding, 1, ceil_mode)
    strict = pool_windows(operator, axes, x.shape, kernel_size, stride, pad_mode, padding)
    first = x.ndim - axes
    total = _summed(padded(x, [(0, 0)] * first + list(w.padding), "constant"), first, w)
    counts = flag(count_include_pad, operator, "count_include_pad") and pad_mode == "pad"
    if divisor_override:
        shares = np.asarray(1 / whole_number(divisor_override, operator, "divisor_override", 1))
    else:
        shares = 1 / _counted(w, x.shape[first:], counts, strict.padding)
    if (shares == shares.flat[0]).all():
        return cast(arithmetic.mul(total, float(shares.flat[0])), original.dtype)
    return cast(arithmetic.mul(total, make_tensor(shares.astype(x.dtype.numpy))), original.dtype)


# --- adaptive pooling: the number of windows is given ------------------------------------------------


def adaptive(operator: str, axes: int, x: Tensor, output_size: Any) -> Sizes:
    """Return the sizes of the pooled axes of the result.

    Raises:
        TypeError: If a size is not an int or ``None``.
        ValueError: If a size is not positive, or the number of sizes or of axes is wrong.
    """
    _check_axes(operator, axes, x.shape)
    targets = one_or_more(output_size)
    targets = targets * axes if len(targets) == 1 else targets
    if len(targets) != axes:
        raise ValueError(
            f"For '{operator}', the 'output_size' must be one int or {axes} ints, but got {output_size}."
        )
    return tuple(
        n if m is None else whole_number(m, operator, "output_size", 1)
        for n, m in zip(x.shape[-axes:], targets, strict=True)
    )


def _borders(size: int, count: int) -> list[tuple[int, int]]:
    """Return (start, stop) of each of ``count`` windows that cover ``size`` elements."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def adaptive_avg(operator: str, axes: int, x: Any, output_size: Any) -> Tensor:
    """Return the averages of a given number of windows along each axis."""
    original = real_operand(x, operator)
    x = widened(original)
    first = x.ndim - axes
    for axis, count in enumerate(adaptive(operator, axes, x, output_size), first):
        size = x.shape[axis]
        if size == count:
            continue
        if size % count == 0:
            x = mean_of(_folded(x, axis, count, size // count), axis + 1)
            continue
        shares = np.zeros((size, count), x.dtype.numpy)
        for i, (start, stop) in enumerate(_borders(size, count)):
            shares[start:stop, i] = 1 / (stop - start)
        x = mixed(x, axis, shares)
    return cast(x, original.dtype)


def mixed(x: Tensor, axis: int, shares: np.ndarray) -> Tensor:
    """Compute sums along ``axis``; ``shares[i, j]`` weights element i in sum j."""
    last = moveaxis(x, axis, -1)
    rows = mm(reshape(last, (-1, last.shape[-1])), make_tensor(shares.astype(x.dtype.numpy)))
    return moveaxis(reshape(rows, (*last.shape[:-1], shares.shape[1])), -1, axis)


def adaptive_max(operator: str, axes: int, x: Any, output_size: Any, places: Any = False) -> Any:
    """Return the maxima of a given number of windows along each axis."""
    x = operand(x, operator)
    first = x.ndim - axes
    pooled: tuple[Tensor, ...] = (x,)
    targets = adaptive(operator, axes, x, output_size)
    if flag(places, operator, "return_indices"):
        numbers = np.arange(_math.prod(x.shape[first:]), dtype=np.int64).reshape(x.shape[first:])
        pooled = (x, broadcast_to(make_tensor(numbers), x.shape))
    for k in reversed(range(axes)):
        axis, size = first + k, x.shape[first + k]
        borders = _borders(size, targets[k])
        longest = max(stop - start for start, stop in borders)
        # extend all windows to the length of the longest window by repeating their last element
        columns = [[min(start + j, stop - 1) for start, stop in borders] for j in range(longest)]
        parts = [tuple(_columns(y, axis, each) for y in pooled) for each in columns]
        pooled = _chained(parts, _greater)
    return pooled if len(pooled) > 1 else pooled[0]


def _columns(x: Tensor, axis: int, places: list[int]) -> Tensor:
    steps = {b - a for a, b in itertools.pairwise(places)}
    if len(steps) <= 1 and steps != {0}:
        return _part(x, axis, places[0], len(places), *(steps or {1}))
    return concat([_part(x, axis, place, 1, 1) for place in places], axis)
