"""Indexing as in NumPy: ``x[index]`` and ``updated(x, index, value)``.

The *basic* entries of an index are ints, slices, ``None``, and ``...``; the *advanced* entries are integer
tensors and masks. A read consists of a slice, a reversal, and a reshape for the basic entries, and a gather
for the advanced entries (``core.arrays.subscript``). A write applies the inverse steps, and returns a new
tensor. If several values are written to the same element, the last value is stored.

If the values of a mask are unknown at compile time, a write uses ``where``. The shape of a read would depend
on these values, so the caller must pass a function that computes the read (``select`` of :func:`element`).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import read_at, write_at
from mindgrad.core.arrays.subscript import (
    Slot,
    Subscript,
    basic_key,
    index_of,
    resolve,
    stacked,
    unknown_mask_error,
)
from mindgrad.core.base.tables import tabulated
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.primitives import arithmetic, slicing, static_slices, structural
from mindgrad.core.trace.operands import broadcast_to as broadcast
from mindgrad.core.trace.operands import cast, operand

__all__ = ["element", "iterate", "updated"]

_READ, _WRITE = "getitem", "setitem"


# --- reading: x[index] -----------------------------------------------------------------------------


def element(x: Tensor, index: object, select: Callable[[Tensor, Tensor], object] | None = None) -> Any:
    """Read ``x[index]`` as NumPy does.

    Args:
        x: input tensor.
        index: an int, slice, ``None``, ``...``, tensor, array or list of ints or Booleans, or a tuple of
            these.
        select: function ``select(x, mask)`` that returns ``x[mask]`` for a mask whose values are unknown at
            compile time. Default: ``None``, which raises an error for such a mask.

    Raises:
        IndexError: If an index is out of range and its value is known, there are too many indices, a mask
            does not match the shape, or the index has an unsupported type.
        TypeError: If a bound of a slice is not an int, or ``x`` is 0-D.
        RuntimeError: If the shape of the result depends on values that are unknown at compile time.
    """
    key = basic_key(index)
    if key is not None:
        return _read(x, tabulated(_basic_steps, x.type.shape, key))
    subscript = resolve(index, x.shape)
    if subscript.is_unknown:
        mask = index[0] if type(index) is tuple and len(index) == 1 else index
        if select is None or not isinstance(mask, Tensor) or not mask.ndim:
            unknown_mask_error()
        return select(x, mask)
    if not subscript.axes:
        return _read(x, _steps(x.type.shape, subscript))
    part = _part(x, subscript.slots)
    if subscript.reversed:
        part = apply(static_slices.reverse, part, axes=tuple(subscript.reversed))
    part = _reshaped(part, tuple(subscript.middle))
    return _placed(read_at(part, subscript.columns, tuple(subscript.axes), _READ), subscript)


#: list of pairs (primitive, parameters), which are applied one after another
Steps = list[tuple[Primitive, dict[str, Any]]]


def _read(x: Tensor, steps: Steps) -> Tensor:
    for row, parameters in steps:
        x = apply(row, x, **parameters)
    return x


def _basic_steps(shape: tuple[int, ...], key: Hashable) -> Steps:
    """Return the steps that read the index with this :func:`basic_key`."""
    return _steps(shape, resolve(index_of(key), shape))


def _steps(shape: tuple[int, ...], subscript: Subscript) -> Steps:
    """Return the primitives that read an index without advanced entries."""
    sliced, result = subscript.taken_shape(), subscript.basic_shape()
    steps: Steps = []
    if sliced != shape:
        steps.append((static_slices.slice, _bounds(subscript.slots)))
    if subscript.reversed:
        steps.append((static_slices.reverse, {"axes": tuple(subscript.reversed)}))
    if sliced != result:
        steps.append((structural.reshape, {"shape": result}))
    return steps


def _reshaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return x if x.shape == shape else apply(structural.reshape, x, shape=shape)


def _part(x: Tensor, slots: list[Slot]) -> Tensor:
    """Return the elements that the slices ``slots`` select, in ascending order."""
    if all(count == size for (_, count, _), size in zip(slots, x.shape, strict=True)):
        return x
    return apply(static_slices.slice, x, **_bounds(slots))


def _bounds(slots: list[Slot]) -> dict[str, Any]:
    return {
        "start": tuple([first for first, _, _ in slots]),
        "limit": tuple([first + (count - 1) * step + 1 if count else first for first, count, step in slots]),
        "strides": tuple([step if count > 1 else 1 for _, count, step in slots]),
    }


def _placed(x: Tensor, subscript: Subscript) -> Tensor:
    """Move the axes of the advanced entries from the front to their final position."""
    basic = subscript.basic_shape()
    before = subscript.front - subscript.new_in_front
    rank = x.ndim - (len(subscript.middle) - len(subscript.axes))
    lookups = x.shape[:rank]
    order = (*range(rank, rank + before), *range(rank), *range(rank + before, x.ndim))
    if before:
        x = apply(structural.transpose, x, permutation=order)
    return _reshaped(x, (*basic[: subscript.front], *lookups, *basic[subscript.front :]))


# --- writing: x[index] = value ---------------------------------------------------------------------


def updated(x: object, index: object, value: object) -> Tensor:
    """Return a copy of ``x`` in which ``x[index]`` is ``value``.

    Args:
        x: input tensor.
        index: an index as in :func:`element`. The values of a mask may be unknown at compile time.
        value: a tensor, array, number, or list that broadcasts to ``x[index]``. It is converted to the dtype
            of ``x``.

    Raises:
        IndexError: In the same cases as for :func:`element`.
        ValueError: If ``value`` does not broadcast to the shape of ``x[index]``.
        TypeError: If ``value`` is not a tensor or number, or is complex although ``x`` is real.

    >>> from mindgrad import Tensor
    >>> from mindgrad.core.arrays.getitem import updated
    >>> print(updated(Tensor([1.0, 2.0, 3.0]), slice(1, None), 0.0))
    [1. 0. 0.]
    """
    x = operand(x, _WRITE)
    subscript = resolve(index, x.shape)
    value = _value(value, x)
    if subscript.mask is not None:
        written = _masked(x, subscript, value)
        if written is not None:
            return written
    value = _fitted(value, subscript.shape())
    if subscript.is_basic:
        return _put(x, subscript, _reshaped(value, subscript.taken_shape()))
    part = _reshaped(_part(x, subscript.slots), tuple(subscript.middle))
    if subscript.reversed:  # advanced entries index the elements after the reversal
        part = _flipped(part, subscript)
    part = write_at(part, subscript.columns, tuple(subscript.axes), _fronted(value, subscript), _WRITE)
    return _put_back(x, part, subscript)


def _flipped(part: Tensor, subscript: Subscript) -> Tensor:
    flipped = apply(
        static_slices.reverse, _reshaped(part, subscript.taken_shape()), axes=tuple(subscript.reversed)
    )
    return _reshaped(flipped, part.shape)


def _put_back(x: Tensor, part: Tensor, subscript: Subscript) -> Tensor:
    """Return ``x`` with ``part``, of shape ``subscript.middle``, as its basic part."""
    return _put(x, subscript, _reshaped(part, subscript.taken_shape()))


def _value(value: object, x: Tensor) -> Tensor:
    if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
        value = stacked([cast(operand(each, _WRITE), x.dtype) for each in value])
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, (bool, int, float)):
        try:
            with np.errstate(over="ignore"):  # a number that is too large for the dtype becomes infinite
                return make_tensor(np.asarray(number, x.dtype.numpy))
        except (OverflowError, ValueError):
            raise OverflowError(
                f"For '{_WRITE}', the number {value} does not fit the dtype {x.dtype} of the tensor."
            ) from None
    tensor = operand(value, _WRITE)
    if tensor.dtype.kind == "complex" and x.dtype.kind != "complex":
        raise TypeError(
            f"For '{_WRITE}', complex values cannot be written into a tensor of type {x.dtype}. Write "
            f"their real part: real(value)."
        )
    return cast(tensor, x.dtype)


def _fitted(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Broadcast ``value`` to ``shape``, without its surplus leading axes of size 1."""
    own = value.shape
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
    offset = len(shape) - len(own)
    if offset < 0 or any(n not in (1, m) for n, m in zip(own, shape[offset:], strict=True)):
        raise ValueError(
            f"For '{_WRITE}', a value of shape {value.shape} does not broadcast to the shape {shape} of "
            f"the elements to which it is assigned."
        )
    return broadcast(_reshaped(value, own), shape)


def _fronted(value: Tensor, subscript: Subscript) -> Tensor:
    """Move the axes of the advanced entries to the front; inverts :func:`_placed`."""
    rest = len(subscript.middle) - len(subscript.axes)
    rank = value.ndim - rest - len(subscript.new)
    before = subscript.front - subscript.new_in_front
    dropped = {place if place < subscript.front else place + rank for place in subscript.new}
    value = _reshaped(value, tuple(n for i, n in enumerate(value.shape) if i not in dropped))
    if not before:
        return value
    order = (*range(before, before + rank), *range(before), *range(before + rank, value.ndim))
    return apply(structural.transpose, value, permutation=order)


def _put(x: Tensor, subscript: Subscript, value: Tensor) -> Tensor:
    """Return ``x`` with ``value`` in the slices ``subscript.slots``.

    ``value`` has the same number of axes as ``x``.
    """
    if subscript.reversed:
        value = apply(static_slices.reverse, value, axes=tuple(subscript.reversed))
    slots = subscript.slots
    if value.shape == x.shape:
        return value
    if value.size == 0:
        return x
    if all(step == 1 or count == 1 for _, count, step in slots):
        starts = [make_tensor(np.asarray(first, np.int32)) for first, _, _ in slots]
        return apply(slicing.dynamic_update_slice, x, value, *starts)
    # For slices with a step, pad ``value`` to the shape of x, with gaps between its elements. A mask of
    # the written elements then selects between the padded value and x.
    strides = [step if count > 1 else 1 for _, count, step in slots]
    spans = [(count - 1) * step + 1 for (_, count, _), step in zip(slots, strides, strict=True)]
    low = tuple(first for first, _, _ in slots)
    high = tuple(n - a - b for n, a, b in zip(x.shape, low, spans, strict=True))
    interior = tuple(step - 1 for step in strides)
    written = np.zeros(x.shape, bool)
    written[tuple(map(builtins.slice, low, map(sum, zip(low, spans, strict=True)), strides))] = True
    spread = apply(static_slices.pad, value, low=low, high=high, interior=interior)
    return apply(arithmetic.select, make_tensor(written), spread, x)


# --- writing through a Boolean mask, and iteration -------------------------------------------------


def _masked(x: Tensor, subscript: Subscript, value: Tensor) -> Tensor | None:
    """Return ``x`` with ``value`` at the true elements of a mask, by ``where``.

    Returns ``None`` if ``value`` has one element for each true element of the mask. In this case, the caller
    must compute the indices of the true elements.
    """
    mask = subscript.mask if isinstance(subscript.mask, Tensor) else make_tensor(subscript.mask)
    basic = subscript.basic_shape()
    behind = basic[subscript.front :]
    own = value.shape
    while len(own) > len(basic) + 1 and own[0] == 1:
        own = own[1:]
    if len(own) > len(behind) and own[len(own) - len(behind) - 1] != 1:
        if not subscript.is_unknown:
            return None
        raise RuntimeError(
            f"For '{_WRITE}', the value has shape {value.shape}, but the number of True elements of the "
            "mask is not known at compile time. The value must be a number, or a tensor without an "
            "axis for these elements. Otherwise, use where(mask, value, x)."
        )
    # ``value`` has one axis of size 1 for the true elements. Replace this axis by the axes of the mask.
    value = _fitted(value, (*basic[: subscript.front], 1, *behind))
    value = _fronted(value, subscript)
    count = mask.ndim
    first = subscript.axes[0] if subscript.axes else 0
    rest = [n for i, n in enumerate(subscript.middle) if not first <= i < first + count]
    value = _reshaped(value, (*rest[:first], *[1] * count, *rest[first:]))
    part = _reshaped(_part(x, subscript.slots), tuple(subscript.middle))
    if subscript.reversed:
        part = _flipped(part, subscript)
    everywhere = apply(
        structural.broadcast_in_dim, mask, shape=part.shape, dims=tuple(range(first, first + count))
    )
    part = apply(arithmetic.select, everywhere, broadcast(value, part.shape), part)
    return _put_back(x, part, subscript)


def iterate(x: Tensor) -> Any:
    """Iterate over the first axis of ``x``.

    Raises:
        TypeError: If ``x`` is 0-D.

    >>> from mindgrad import Tensor
    >>> [float(each) for each in Tensor([1.0, 2.0])]
    [1.0, 2.0]
    """
    if not x.shape:
        raise TypeError("iteration over a 0-d tensor")
    return (element(x, position) for position in range(x.shape[0]))
