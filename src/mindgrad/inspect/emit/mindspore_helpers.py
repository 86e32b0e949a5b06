"""Helper functions for primitives without an equivalent in MindSpore.

An emitted module contains the definitions of the helpers that it uses. The first argument of a helper is
``mindspore.ops``. Helpers use no other part of MindSpore, so the tests can run them with mindgrad's ``ops``.
Each helper in ``HELPERS`` computes the primitive of the same name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

__all__ = ["HELPERS"]


def masked_multiply(ops: Any, a: Any, b: Any) -> Any:
    """Compute a · b, where zero times infinity is zero."""
    return ops.where(ops.logical_or(a == 0, b == 0), ops.zeros_like(a), a * b)


def shield(ops: Any, x: Any, keep: Any) -> Any:
    """Replace infinite or NaN elements of ``x`` by zeros, unless ``keep`` is true."""
    return ops.where(ops.logical_or(keep, ops.isfinite(x)), x, ops.zeros_like(x))


def safe_reciprocal(ops: Any, x: Any) -> Any:
    """Compute 1 / x, where the reciprocal of 0 is 0."""
    is_zero = x == 0
    return ops.where(is_zero, ops.zeros_like(x), 1 / ops.where(is_zero, ops.ones_like(x), x))


def safe_quotient(ops: Any, x: Any, y: Any) -> Any:
    """Compute x / y, where a quotient with y = 0 is 0."""
    is_zero = y == 0
    return ops.where(is_zero, ops.zeros_like(x), x / ops.where(is_zero, ops.ones_like(y), y))


def sech_squared(ops: Any, x: Any) -> Any:
    """Compute 1 / cosh² x without overflow."""
    small = ops.exp(-2 * ops.abs(x))
    return 4 * small / ((1 + small) * (1 + small))


def direction(ops: Any, x: Any, y: Any) -> Any:
    """Compute x / hypot(x, y), where the quotient at the origin is 0."""
    return x * safe_reciprocal(ops, ops.hypot(x, y))


def one_minus_square(ops: Any, x: Any) -> Any:
    """Compute (1 − x)(1 + x)."""
    return (1 - x) * (1 + x)


def dot(ops: Any, a: Any, b: Any, contract: Any, batch: Any) -> Any:
    """Sum products of ``a`` and ``b`` over the axes ``contract``.

    The result has the batch axes, the remaining axes of ``a``, and the remaining axes of ``b``, in this
    order.
    """
    free = [
        [axis for axis in range(len(x.shape)) if axis not in contract[k] and axis not in batch[k]]
        for k, x in enumerate((a, b))
    ]
    sizes = [a.shape[axis] for axis in batch[0]]
    rows, columns = [a.shape[axis] for axis in free[0]], [b.shape[axis] for axis in free[1]]
    inner = math.prod([a.shape[axis] for axis in contract[0]])
    shape = (*sizes, *rows, *columns)
    if not math.prod(shape) or not inner:
        return ops.zeros(shape, a.dtype)
    left = moved(ops, a, (*batch[0], *free[0], *contract[0])).reshape((*sizes, math.prod(rows), inner))
    right = moved(ops, b, (*batch[1], *contract[1], *free[1])).reshape((*sizes, inner, math.prod(columns)))
    return ops.matmul(left, right).reshape(shape)


def moved(ops: Any, x: Any, permutation: Any) -> Any:
    """Transpose ``x``, even if it has fewer than two axes."""
    return ops.transpose(x, tuple(permutation)) if len(permutation) > 1 else x


def pad(ops: Any, x: Any, low: Any, high: Any, interior: Any) -> Any:
    """Add zeros around and between the elements of ``x``; negative widths crop ``x``."""
    for axis, (before, after, inside) in enumerate(zip(low, high, interior, strict=True)):
        size = x.shape[axis]
        if inside and size:
            first, others = x.shape[:axis], x.shape[axis + 1 :]
            gaps = ops.zeros((*first, size, inside, *others), x.dtype)
            x = ops.cat([ops.expand_dims(x, axis + 1), gaps], axis + 1)
            x = x.reshape((*first, size * (inside + 1), *others))
            after -= inside
        x = cropped(x, axis, max(0, -before), x.shape[axis] - max(0, -after))
        for count, is_first in ((max(0, before), True), (max(0, after), False)):
            if count:
                zeros = ops.zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)
                x = ops.cat([zeros, x] if is_first else [x, zeros], axis) if x.shape[axis] else zeros
    return x


def cropped(x: Any, axis: int, start: int, end: int) -> Any:
    """Return ``x[start:end]`` along ``axis``."""
    if start == 0 and end == x.shape[axis]:
        return x
    return x[(slice(None),) * axis + (slice(start, end),)]


def arranged(ops: Any, x: Any, axes: Any, batch: Any) -> Any:
    """Merge the axes ``batch`` and ``axes`` of ``x`` to one leading axis of *rows*.

    Returns:
        The merged array, the permutation of the axes, and the shape before merging.
    """
    order = (*batch, *axes, *[k for k in range(len(x.shape)) if k not in axes and k not in batch])
    count = len(axes) + len(batch)
    y = moved(ops, x, order)
    return y.reshape((math.prod(y.shape[:count]), *y.shape[count:])), order, y.shape


def rows_of(ops: Any, indices: Any, shape: Any, batch: int) -> Any:
    """Convert multidimensional ``indices`` to row indices of :func:`arranged` arrays.

    An out-of-range index becomes the number of rows, which is the index of an extra row.
    """
    total = math.prod(shape)
    row = ops.zeros(indices.shape[:-1], indices.dtype)
    inside = ops.ones(indices.shape[:-1], indices.dtype) == 1
    for axis, size in enumerate(shape):
        if axis < batch:
            column = ops.arange(size).reshape([size if k == axis else 1 for k in range(len(row.shape))])
            column = column.astype(indices.dtype)
        else:
            column = indices[..., axis - batch]
            inside = ops.logical_and(inside, ops.logical_and(column >= 0, column < size))
        row = row * size + column
    return ops.where(inside, row, ops.full_like(row, total))


def gather(
    ops: Any, x: Any, indices: Any, axes: Any, batch: Any = (), fill: str = "nan", inside: bool = False
) -> Any:
    """Read the elements of ``x`` at ``indices``.

    An out-of-range index reads NaN or zero. ``inside`` promises that all indices are in range.
    """
    y, _, shape = arranged(ops, x, axes, batch)
    others = y.shape[1:]
    is_float = fill == "nan" and "Float" in str(x.dtype)
    outside = ops.full((1, *others), math.nan if is_float else 0, dtype=x.dtype)
    y = ops.cat([y, outside], 0)
    row = rows_of(ops, indices.astype("int32"), shape[: len(axes) + len(batch)], len(batch))
    return ops.gather(y, row.reshape((-1,)), 0).reshape((*row.shape, *others))


def scattered(ops: Any, write: Any, x: Any, indices: Any, updates: Any, axes: Any, batch: Any) -> Any:
    """Write ``updates`` to ``x`` at ``indices``; ignore out-of-range indices."""
    y, order, shape = arranged(ops, x, axes, batch)
    others = y.shape[1:]
    row = rows_of(ops, indices.astype("int32"), shape[: len(axes) + len(batch)], len(batch))
    y = ops.cat([y, ops.zeros((1, *others), x.dtype)], 0)
    y = write(y, row.reshape((-1, 1)), updates.reshape((-1, *others)))
    inverse = [order.index(k) for k in range(len(order))]
    return moved(ops, y[:-1].reshape(shape), inverse)


def scatter_add(ops: Any, x: Any, indices: Any, updates: Any, axes: Any, batch: Any = ()) -> Any:
    """Add ``updates`` to ``x`` at ``indices``."""
    return scattered(ops, ops.tensor_scatter_add, x, indices, updates, axes, batch)


def scatter_set(
    ops: Any, x: Any, indices: Any, updates: Any, axes: Any, batch: Any = (), unique: bool = False
) -> Any:
    """Replace the elements of ``x`` at ``indices`` by ``updates``."""
    return scattered(ops, ops.tensor_scatter_update, x, indices, updates, axes, batch)


def dynamic_slice(ops: Any, x: Any, *starts: Any, sizes: Any) -> Any:
    """Return the slice of ``x`` that begins at ``starts`` and has the shape ``sizes``.

    The indices in ``starts`` are clamped, so that the slice fits into ``x``.
    """
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        if size != x.shape[axis]:
            first = ops.clamp(start.astype("int32"), 0, x.shape[axis] - size)
            x = ops.gather(x, ops.arange(size).astype("int32") + first, axis)
    return x


def dynamic_update_slice(ops: Any, x: Any, update: Any, *starts: Any) -> Any:
    """Replace the slice of ``x`` that begins at ``starts`` by ``update``.

    The indices in ``starts`` are clamped, so that the slice fits into ``x``.
    """
    if 0 in update.shape:
        return x
    inside = ops.ones(x.shape, x.dtype) == 1
    for axis, start in enumerate(starts):
        size, count = update.shape[axis], x.shape[axis]
        first = ops.clamp(start.astype("int32"), 0, count - size)
        offset = ops.arange(count).astype("int32") - first
        shape = [count if k == axis else 1 for k in range(len(x.shape))]
        inside = ops.logical_and(inside, ops.logical_and(offset >= 0, offset < size).reshape(shape))
        update = ops.gather(update, ops.clamp(offset, 0, size - 1), axis)
    return ops.where(inside, update, x)


def conv(ops: Any, x: Any, w: Any, channels_last: bool = False, **window: Any) -> Any:
    """Compute a convolution over one or two spatial axes."""
    if not channels_last:
        return convolved(ops, x, w, **window)
    rank, spatial = len(x.shape), len(w.shape) - 2
    lead = rank - spatial - 1
    x = ops.transpose(x, (*range(lead), rank - 1, *range(lead, rank - 1)))
    w = ops.transpose(w, (spatial + 1, spatial, *range(spatial)))
    return ops.transpose(convolved(ops, x, w, **window), (*range(lead), *range(lead + 1, rank), lead))


def convolved(
    ops: Any, x: Any, w: Any, strides: Any, padding: Any, lhs_dilation: Any, rhs_dilation: Any, groups: int
) -> Any:
    """Compute a convolution of ``x``, whose channel axis precedes its spatial axes."""
    samples = x.shape[: len(x.shape) - len(w.shape) + 1]
    if len(samples) > 1:
        x = x.reshape(-1, *x.shape[len(samples) :])
    x = pad(
        ops,
        x,
        (0, 0, *[low for low, _ in padding]),
        (0, 0, *[high for _, high in padding]),
        (0, 0, *[d - 1 for d in lhs_dilation]),
    )
    if len(strides) == 1:
        x, w = ops.expand_dims(x, 2), ops.expand_dims(w, 2)
        strides, rhs_dilation = (1, *strides), (1, *rhs_dilation)
    y = ops.conv2d(x, w, stride=strides, pad_mode="valid", dilation=rhs_dilation, groups=groups)
    y = y if len(padding) == 2 else ops.squeeze(y, 2)
    return y.reshape(*samples, *y.shape[1:]) if len(samples) > 1 else y


def window_reach(ops: Any, live: Any, skips: Any, window: Any, **steps: Any) -> Any:
    """Return, for each input position, whether any selected window contains it.

    ``live`` selects windows: it contains one Boolean for each window. Where ``skips`` is true, the result is
    also true.
    """
    lead = live.shape[: len(live.shape) - len(window)]
    x = live.reshape(-1, 1, *live.shape[len(lead) :]).astype("float32")
    y = convolved(ops, x, ops.ones((1, 1, *window), x.dtype), groups=1, **steps) > 0
    return ops.logical_or(y.reshape(*lead, *y.shape[2:]), skips.reshape(*lead[:-1], *[1] * (len(window) + 1)))


def solve(ops: Any, a: Any, b: Any, transpose: bool = False) -> Any:
    """Compute A⁻¹ b, or A⁻ᵀ b if ``transpose`` is true."""
    if transpose:
        a = ops.swapaxes(a, -1, -2)
    return ops.matmul(ops.inverse(a), b)


def argsort(ops: Any, x: Any, axis: int, descending: bool) -> Any:
    """Return the indices that sort ``x`` along ``axis``."""
    return ops.argsort(x, axis, descending).astype("int32")


def logcumsumexp(ops: Any, x: Any, axis: int, reverse: bool) -> Any:
    """Compute the cumulative log Σ exp along ``axis``, from the end if ``reverse``."""
    y = ops.logcumsumexp(ops.flip(x, (axis,)) if reverse else x, axis)
    return ops.flip(y, (axis,)) if reverse else y


def linear_recurrence(ops: Any, a: Any, b: Any, axis: int, reverse: bool) -> Any:
    """Compute y[i] = a[i] y[i - 1] + b[i] along ``axis``.

    The number of steps is log₂ of the size of the axis, because each step doubles the number of combined
    terms.
    """
    a, b = [ops.flip(x, (axis,)) if reverse else x for x in (a, b)]
    size, step = a.shape[axis], 1
    while step < size:
        first_a, first_b = [cropped(x, axis, 0, step) for x in (a, b)]
        later_a, later_b = [cropped(x, axis, step, size) for x in (a, b)]
        before_a, before_b = [cropped(x, axis, 0, size - step) for x in (a, b)]
        b = ops.cat([first_b, later_b + ops.where(before_b == 0, before_b, later_a * before_b)], axis)
        a = ops.cat([first_a, later_a * before_a], axis)
        step *= 2
    return ops.flip(b, (axis,)) if reverse else b


#: maps the name of a primitive to its helper, which the emitted program calls
HELPERS: dict[str, Callable[..., Any]] = {
    helper.__name__: helper
    for helper in (
        masked_multiply, shield, safe_reciprocal, safe_quotient, sech_squared, direction, one_minus_square,
        dot, pad, gather, scatter_add, scatter_set, dynamic_slice, dynamic_update_slice, conv, window_reach,
        argsort, solve, logcumsumexp, linear_recurrence,
    )
}  # fmt: skip
