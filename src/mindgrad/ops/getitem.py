"""Indexing as in NumPy: ``x[index]`` and ``x[index] = value``, as primitives.

A read consists of a slice, a reversal, and a reshape for the basic part of the index, and a gather for the
advanced part (see ``ops.subscript``). A write applies the inverse steps, which results in a new tensor, and
rebinds the name ``x`` to it. If several values are written to one index, the last one is stored.

A mask whose values are unknown at compile time can be written, as ``where``. If such a mask is read, the
shape depends on the data. The result is a selection (``ops.selection``), and only its reductions have a known
shape.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from mindgrad.ir.primitive import Primitive
from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor, make_tensor
from mindgrad.ops.index_checks import read_at, write_at
from mindgrad.ops.operands import broadcast_to as broadcast
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.selection import selected
from mindgrad.ops.subscript import Slot, Subscript, basic_key, resolve, stacked, unknown_mask_error
from mindgrad.primitives import arithmetic, slicing, static_slices, structural
from mindgrad.trace import state
from mindgrad.trace.aliases import rebind

__all__ = ["getitem", "iterate", "setitem", "updated"]

_READ, _WRITE = "getitem", "setitem"


# --- reading: x[index] -----------------------------------------------------------------------------


def getitem(x: Any, index: Any) -> Tensor:
    """Read ``x[index]`` as NumPy does.

    Args:
        x: input tensor.
        index: an int, slice, ``None``, ``...``, tensor, array or list of ints or Booleans, or a tuple of
            these.

    Raises:
        IndexError: If an index is out of range and its value is known, there are too many indices, a mask
            does not match the shape, or the index has an unsupported type.
        TypeError: If a bound of a slice is not an int, or ``x`` is 0-D.
        RuntimeError: If the shape of the result depends on values that are unknown at compile time.

    >>> from mindgrad import Tensor
    >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> print(x[1], x[:, ::-1][0], x[x > 4.0], x[[0, 1], [0, 2]])
    [4. 5. 6.] [3. 2. 1.] [5. 6.] [1. 6.]
    """
    x = operand(x, _READ)
    key = basic_key(index)
    steps = None if key is None else _READS.get((x.type.shape, key))
    if steps is not None:
        return _read(x, steps)
    subscript = resolve(index, x.shape)
    if subscript.is_unknown:
        mask = index[0] if type(index) is tuple and len(index) == 1 else index
        if not isinstance(mask, Tensor) or not mask.ndim:
            unknown_mask_error()
        return selected(x, mask)
    if not subscript.axes:
        steps = _steps(x.type.shape, subscript)
        if key is not None:
            if len(_READS) >= _READS_KEPT:
                _READS.clear()
            _READS[x.type.shape, key] = steps
        return _read(x, steps)
    part = _part(x, subscript.slots)
    if subscript.reversed:
        part = apply(static_slices.reverse, part, axes=tuple(subscript.reversed))
    part = _reshaped(part, tuple(subscript.middle))
    return _placed(read_at(part, subscript.columns, tuple(subscript.axes), _READ), subscript)


#: primitives and their parameters, to be applied one after another
Steps = list[tuple[Primitive, dict[str, Any]]]

# cache: (shape of the tensor, :func:`basic_key` of the index) -> steps that read the index
_READS: dict[Any, Steps] = {}
_READS_KEPT = 4096


def _read(x: Tensor, steps: Steps) -> Tensor:
    for row, parameters in steps:
        x = apply(row, x, **parameters)
    return x


def _steps(shape: tuple[int, ...], subscript: Subscript) -> Steps:
    """Return the primitives that read an index without an advanced part."""
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
    """Return the elements at ``slots``, in ascending order."""
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
    """Move the axes of an advanced index from the front to their final position."""
    basic = subscript.basic_shape()
    before = subscript.front - subscript.new_in_front
    rank = x.ndim - (len(subscript.middle) - len(subscript.axes))
    lookups = x.shape[:rank]
    order = (*range(rank, rank + before), *range(rank), *range(rank + before, x.ndim))
    if before:
        x = apply(structural.transpose, x, permutation=order)
    return _reshaped(x, (*basic[: subscript.front], *lookups, *basic[subscript.front :]))


# --- writing: x[index] = value ---------------------------------------------------------------------


def updated(x: Any, index: Any, value: Any) -> Tensor:
    """Return a copy of ``x`` in which ``x[index]`` is ``value``.

    Args:
        x: input tensor.
        index: index as in :func:`getitem`. The values of masks may be unknown at compile time.
        value: a tensor, array, number, or list that broadcasts to ``x[index]``. It is converted to the dtype
            of ``x``.

    Raises:
        IndexError: In the same cases as :func:`getitem`.
        ValueError: If ``value`` does not broadcast to the shape of ``x[index]``.
        TypeError: If ``value`` is not a tensor or number, or is complex although ``x`` is real.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.getitem import updated
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
    if subscript.reversed:  # the advanced index counts positions after the slice is reversed
        part = _flipped(part, subscript)
    part = write_at(part, subscript.columns, tuple(subscript.axes), _fronted(value, subscript), _WRITE)
    return _put_back(x, part, subscript)


def _flipped(part: Tensor, subscript: Subscript) -> Tensor:
    flipped = apply(
        static_slices.reverse, _reshaped(part, subscript.taken_shape()), axes=tuple(subscript.reversed)
    )
    return _reshaped(flipped, part.shape)


def _put_back(x: Tensor, part: Tensor, subscript: Subscript) -> Tensor:
    """Replace the basic part of ``x`` by ``part``, whose shape is ``middle``."""
    return _put(x, subscript, _reshaped(part, subscript.taken_shape()))


def _value(value: Any, x: Tensor) -> Tensor:
    if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
        value = stacked([cast(operand(each, _WRITE), x.dtype) for each in value])
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, (bool, int, float)):
        try:
            with np.errstate(over="ignore"):  # a number that is too large for the dtype becomes infinite
                return make_tensor(np.asarray(number, x.dtype.numpy))
        except (OverflowError, ValueError):
            raise OverflowError(
                f"For '{_WRITE}', the number {value} does not fit the element type {x.dtype} of the tensor."
            ) from None
    tensor = operand(value, _WRITE)
    if tensor.dtype.kind == "complex" and x.dtype.kind != "complex":
        raise TypeError(
            f"For '{_WRITE}', complex values cannot be written into a tensor of type {x.dtype}. Write "
            f"their real part: ops.real(value)."
        )
    return cast(tensor, x.dtype)


def _fitted(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Broadcast ``value`` to ``shape``; drop superfluous leading axes of size 1."""
    own = value.shape
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
    offset = len(shape) - len(own)
    if offset < 0 or any(n not in (1, m) for n, m in zip(own, shape[offset:], strict=True)):
        raise ValueError(
            f"For '{_WRITE}', a value of shape {value.shape} does not broadcast to the shape {shape} of "
            f"the part that is written."
        )
    return broadcast(_reshaped(value, own), shape)


def _fronted(value: Tensor, subscript: Subscript) -> Tensor:
    """Invert ``_placed``: move the axes of an advanced index to the front."""
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
    """Write ``value`` to the slots of the basic part of ``x``.

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
    # For slices with steps: pad ``value`` to the shape of x with gaps between its elements. Then a mask of
    # the written elements selects between the padded value and x.
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
    """Write through one mask by ``where``, whose shape does not depend on the mask.

    Return ``None`` if ``value`` has one element for each true element of the mask, which must be counted.
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
            "mask is not known at compile time. The value must be a number, or broadcast without the masked "
            "axes. Use ops.where(mask, value, x)."
        )
    # ``value`` has one axis of size 1 for the true elements. Replace it by the axes of the mask.
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


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Assign ``x[index] = value``: rebind ``x`` to the result of :func:`updated`.

    A compiled function has separate argument objects, so the caller's tensor never changes. A Parameter is
    assigned.

    >>> from mindgrad import Tensor
    >>> x = Tensor([1.0, 2.0, 3.0])
    >>> x[0] = 5.0
    >>> print(x)
    [5. 2. 3.]
    """
    if x.is_parameter:
        state.write(x, updated(x.value(), index, value))  # type: ignore[attr-defined]
    else:
        rebind(x, updated(x.__copy__(), index, value))


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
    return (getitem(x, position) for position in range(x.shape[0]))
