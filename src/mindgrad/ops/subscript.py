"""``x[index]`` and ``x[index] = value``: everything that NumPy indexes, as applications of rows.

An index is read in two steps. The *basic* part (ints, slices, ``None``, ``...``) is static: it is a
slice, a reversal and a reshape. The *advanced* part (integer tensors, masks) is a read at places
along the axes that are left. Where the axes of the advanced part stand follows NumPy: at the place of
the first one if they are neighbours (an int counts as one of them), else in front.

A write is the same steps backwards and gives a new tensor; the name ``x`` is bound to it. Of several
values written to one place the last one stays. A mask whose values are unknown while compiling can be
written (``where``), not read: the shape of what is read would depend on the data.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from mindgrad.core.dtype import bool_
from mindgrad.core.scope import apply, rebind
from mindgrad.core.tensor import Tensor, make_tensor
from mindgrad.frontend import state
from mindgrad.ops.operands import broadcast_shapes, cast, operand
from mindgrad.ops.operands import broadcast_to as broadcast
from mindgrad.ops.places import Places, known, places, read_at, write_at
from mindgrad.primitives import arithmetic, slicing, structural

__all__ = ["getitem", "iterate", "setitem", "updated"]

Slot = tuple[int, int, int]  # first place, number of places, step (positive)

_READ, _WRITE = "getitem", "setitem"


class _Mask:
    """A mask whose values are unknown."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class _Subscript:
    """An index resolved against a shape.

    Attributes:
        slots: per axis of x the places that the basic part takes.
        reversed: axes whose places are taken in opposite order.
        middle: the shape after the basic part: taken axes without ints, truth values as axes.
        new: places of ``None`` in the result without the advanced part's axes.
        columns: the advanced part: places along ``axes`` of ``middle``.
        mask: a mask with unknown values instead, over the axes from ``axes[0]`` on.
        front: how many axes of the result stand before those of the advanced part; ``None`` entries
            of the index count.
    """

    __slots__ = ("axes", "columns", "front", "mask", "middle", "new", "reversed", "slots")

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.reversed: list[int] = []
        self.middle: list[int] = []
        self.new: list[int] = []
        self.columns: list[Places] = []
        self.axes: list[int] = []
        self.mask: _Mask | None = None
        self.front = 0

    @property
    def is_basic(self) -> bool:
        return not self.axes and self.mask is None

    def basic_shape(self) -> tuple[int, ...]:
        """The shape of the result without the advanced part's axes."""
        taken = set(self.axes)
        shape = [n for i, n in enumerate(self.middle) if i not in taken]
        for place in self.new:
            shape.insert(place, 1)
        return tuple(shape)

    def shape(self, operator: str) -> tuple[int, ...]:
        """The shape of the result."""
        basic = self.basic_shape()
        if not self.axes:
            return basic
        lookups = broadcast_shapes(operator, *[column.shape for column in self.columns])
        return (*basic[: self.front], *lookups, *basic[self.front :])


# --- reading an index ------------------------------------------------------------------------------


def _items(index: Any) -> list[Any]:
    """The entries of an index, each an int, slice, None, Ellipsis, array, Tensor or _Mask."""
    given = index if type(index) is tuple else (index,)
    return [_item(each) for each in given]


def _item(item: Any) -> Any:
    if item is None or item is Ellipsis or isinstance(item, (int, slice)):
        return np.asarray(item) if isinstance(item, bool) else item
    if isinstance(item, Tensor):
        tensor = state.read(item) if item.is_parameter else item
        values = known(tensor)
        if values is not None:
            return _array(values)
        if tensor.dtype is bool_:
            return _Mask(tensor)
        return tensor if tensor.dtype.kind in ("int", "uint") else _refused(item)
    if isinstance(item, (np.ndarray, np.generic)):
        return _array(np.asarray(item))
    if isinstance(item, (list, tuple, range)):
        return _listed(item)
    return _refused(item)


def _array(array: np.ndarray) -> Any:
    if array.dtype.kind not in "biu":
        return _refused(array)
    return int(array) if array.ndim == 0 and array.dtype.kind != "b" else array


def _listed(item: Any) -> Any:
    """A (nested) list of ints, truth values and tensors as one array or tensor."""
    rows = [_listed(each) if isinstance(each, (list, tuple)) else each for each in item]
    if any(isinstance(each, Tensor) and known(each) is None for each in rows):
        parts = [operand(each, _READ) for each in rows]
        shape = parts[0].shape
        if any(part.shape != shape or part.dtype.kind not in ("int", "uint") for part in parts):
            return _refused(item)
        return _item(_stacked(parts))
    rows = [each.numpy() if isinstance(each, Tensor) else each for each in rows]
    try:
        array = np.asarray(rows if rows else np.zeros(0, np.int64))
    except ValueError:
        return _refused(item)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    return array if array.dtype.kind in "biu" else _refused(item)


def _stacked(parts: list[Tensor]) -> Tensor:
    dtype = parts[0].dtype
    wide = [
        apply(structural.reshape, cast(part, dtype), shape=(1, *part.shape)) for part in parts
    ]
    return wide[0] if len(wide) == 1 else apply(structural.concatenate, *wide, axis=0)


def _refused(item: Any) -> Any:
    what = f"of type {type(item).__name__}"
    if isinstance(item, (np.ndarray, Tensor)):
        what = f"with elements of type {item.dtype}"
    raise IndexError(
        f"For '{_READ}', a tensor is indexed by ints, slices, '...', None, and tensors, arrays or lists "
        f"of ints or truth values, but got {item!r} {what}."
    )


def _parsed(index: Any, shape: tuple[int, ...]) -> _Subscript:
    items = _items(index)
    consumed = sum(_consumes(item) for item in items)
    rank = len(shape)
    dots = sum(item is Ellipsis for item in items)
    if dots > 1:
        raise IndexError(f"For '{_READ}', an index can have only one '...', but got {index!r}.")
    if consumed > rank:
        if rank == 0 and consumed == len(items):
            raise TypeError(f"For '{_READ}', a tensor without axes has no parts: use x[()], x[...] or x[None].")
        raise IndexError(
            f"For '{_READ}', there are too many indices: the tensor of shape {shape} has {rank} axes, "
            f"but {consumed} were indexed."
        )
    if not dots:
        items.append(Ellipsis)
    advanced = any(isinstance(item, (np.ndarray, Tensor, _Mask)) for item in items)
    found = _Subscript()
    gaps, inside, lookups = 0, False, False  # whether ints and arrays are all neighbours
    axis = 0
    for item in items:
        if advanced and not (item is None or item is Ellipsis or isinstance(item, slice)):
            if not inside:
                gaps += lookups
                if not lookups:
                    found.front = _axes_so_far(found)
                inside = lookups = True
        else:
            inside = False
        axis = _take(found, item, axis, shape, rank - consumed)
    if gaps:
        found.front = 0
    return found


def _axes_so_far(found: _Subscript) -> int:
    return len(found.middle) - len(found.axes) + len(found.new)


def _consumes(item: Any) -> int:
    """How many axes of the tensor an entry of the index is about."""
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, _Mask):
        return item.tensor.ndim
    if isinstance(item, np.ndarray) and item.dtype.kind == "b":
        return item.ndim
    return 1


def _take(found: _Subscript, item: Any, axis: int, shape: tuple[int, ...], rest: int) -> int:
    """Add one entry of the index, about the axes from ``axis`` on; the first axis after them."""
    if item is None:
        found.new.append(_axes_so_far(found))
        return axis
    if item is Ellipsis:
        for size in shape[axis : axis + rest]:
            found.slots.append((0, size, 1))
            found.middle.append(size)
        return axis + rest
    if isinstance(item, int):
        size = shape[axis]
        if not -size <= item < size:
            raise IndexError(
                f"For '{_READ}', the index {item} is out of bounds for axis {axis} with size {size}."
            )
        found.slots.append((item % size, 1, 1))
        return axis + 1
    if isinstance(item, slice):
        found.slots.append(_slot(found, item, axis, shape[axis]))
        found.middle.append(found.slots[-1][1])
        return axis + 1
    if isinstance(item, _Mask) or item.dtype is np.dtype(bool):
        return _take_mask(found, item, axis, shape)
    found.slots.append((0, shape[axis], 1))
    found.axes.append(len(found.middle))
    found.middle.append(shape[axis])
    found.columns.append(places(item, shape[axis], _READ, axis))
    return axis + 1


def _slot(found: _Subscript, item: slice, axis: int, size: int) -> Slot:
    try:
        start, stop, step = item.indices(size)
    except TypeError:
        raise TypeError(
            f"For '{_READ}', the bounds and the step of a slice must be ints or None, but got {item!r}."
        ) from None
    except ValueError:
        raise ValueError(f"For '{_READ}', the step of a slice must not be 0, but got {item!r}.") from None
    except RuntimeError:
        raise RuntimeError(
            f"For '{_READ}', a bound of the slice of axis {axis} is a tensor whose value is unknown while "
            f"the program is being compiled, so that the shape of the result is unknown too. Use "
            f"ops.slice(x, begin, size), whose size is fixed, or run in PYNATIVE_MODE."
        ) from None
    count = len(range(start, stop, step))
    if step < 0:
        if count > 1:
            found.reversed.append(axis)
        return (start + (count - 1) * step if count else 0, count, -step)
    return (start if count else 0, count, step)


def _take_mask(found: _Subscript, item: Any, axis: int, shape: tuple[int, ...]) -> int:
    mask = item.tensor if isinstance(item, _Mask) else item
    count = len(mask.shape)
    part = shape[axis : axis + count]
    for offset, (size, wanted) in enumerate(zip(mask.shape, part, strict=True)):
        if size != wanted:
            raise IndexError(
                f"For '{_READ}', the mask of shape {mask.shape} does not match the tensor of shape "
                f"{shape}: axis {axis + offset} has size {wanted}, but that of the mask {size}."
            )
    place = len(found.middle)
    for size in part:
        found.slots.append((0, size, 1))
        found.middle.append(size)
    if isinstance(item, _Mask):
        if found.mask is not None or found.columns:
            _unknown_shape()
        found.mask = item
        found.axes.extend(range(place, place + count))
        return axis + count
    if count == 0:  # a truth value: an axis of one element or none
        found.axes.append(place)
        found.middle.append(1)
        found.columns.append(np.zeros(1 if mask else 0, np.int32))
        return axis
    found.axes.extend(range(place, place + count))
    found.columns.extend(column.astype(np.int32) for column in np.nonzero(mask))
    return axis + count


def _unknown_shape() -> Any:
    raise RuntimeError(
        "For 'getitem', the shape of what a mask selects depends on its values, which are unknown while "
        "the program is being compiled. Use ops.where(mask, x, 0) or ops.masked_fill, which keep the "
        "shape, or run in PYNATIVE_MODE: set_context(mode=PYNATIVE_MODE)."
    )


# --- x[index] --------------------------------------------------------------------------------------


def getitem(x: Any, index: Any) -> Tensor:
    """``x[index]``, as NumPy indexes.

    Args:
        x: the tensor.
        index: an int, slice, ``None``, ``...``, tensor, array or list of ints or truth values, or a
            tuple of these.

    Raises:
        IndexError: a known index is out of range, there are too many, a mask has another shape, or
            the index is of a type that does not index.
        TypeError: a bound of a slice is no int, or ``x`` has no axes.
        RuntimeError: the shape of the result depends on values that are unknown while compiling.

    >>> from mindgrad import Tensor
    >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> print(x[1], x[:, ::-1][0], x[x > 4.0], x[[0, 1], [0, 2]])
    [4. 5. 6.] [3. 2. 1.] [5. 6.] [1. 6.]
    """
    x = operand(x, _READ)
    found = _parsed(index, x.shape)
    if found.mask is not None:
        _unknown_shape()
    part = _part(x, found.slots)
    if found.reversed:
        part = apply(structural.reverse, part, axes=tuple(found.reversed))
    part = _reshaped(part, tuple(found.middle) if found.axes else found.basic_shape())
    if not found.axes:
        return part
    return _placed(read_at(part, found.columns, tuple(found.axes), _READ), found)


def _reshaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return x if x.shape == shape else apply(structural.reshape, x, shape=shape)


def _part(x: Tensor, slots: list[Slot]) -> Tensor:
    """The elements at ``slots``, in ascending order."""
    if all(count == size for (_, count, _), size in zip(slots, x.shape, strict=True)):
        return x
    return apply(
        structural.slice,
        x,
        start=tuple(first for first, _, _ in slots),
        limit=tuple(first + (count - 1) * step + 1 if count else first for first, count, step in slots),
        strides=tuple(step if count > 1 else 1 for _, count, step in slots),
    )


def _placed(x: Tensor, found: _Subscript) -> Tensor:
    """The result of a read, whose looked-up axes stand in front, with its axes where they belong."""
    basic = found.basic_shape()
    before = found.front - sum(place < found.front for place in found.new)
    rank = x.ndim - (len(found.middle) - len(found.axes))
    lookups = x.shape[:rank]
    order = (*range(rank, rank + before), *range(rank), *range(rank + before, x.ndim))
    if before:
        x = apply(structural.transpose, x, permutation=order)
    return _reshaped(x, (*basic[: found.front], *lookups, *basic[found.front :]))


# --- x[index] = value ------------------------------------------------------------------------------


def updated(x: Any, index: Any, value: Any) -> Tensor:
    """A tensor like ``x`` in which ``x[index]`` is ``value``; ``x`` stays as it is.

    Args:
        x: the tensor.
        index: as for :func:`getitem`; also masks whose values are unknown while compiling.
        value: a tensor, array, number or list that broadcasts to ``x[index]``; it is converted to
            the element type of ``x``.

    Raises:
        IndexError: as for :func:`getitem`.
        ValueError: ``value`` does not broadcast to the shape of ``x[index]``.
        TypeError: ``value`` is no tensor or number, or complex where ``x`` is real.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.subscript import updated
    >>> print(updated(Tensor([1.0, 2.0, 3.0]), slice(1, None), 0.0))
    [1. 0. 0.]
    """
    x = operand(x, _WRITE)
    found = _parsed(index, x.shape)
    value = _value(value, x)
    if found.mask is not None or _covers_mask(index, found):
        written = _masked(x, index, found, value)
        if written is not None:
            return written
    value = _fitted(value, found.shape(_WRITE))
    if found.is_basic:
        return _put(x, found, _reshaped(value, tuple(count for _, count, _ in found.slots)))
    part = _reshaped(_part(x, found.slots), tuple(found.middle))
    if found.reversed:  # the places count in the order of the slice
        part = _flipped(part, found)
    part = write_at(part, found.columns, tuple(found.axes), _fronted(value, found), _WRITE)
    return _put_back(x, part, found)


def _flipped(part: Tensor, found: _Subscript) -> Tensor:
    shape = tuple(count for _, count, _ in found.slots)
    flipped = apply(structural.reverse, _reshaped(part, shape), axes=tuple(found.reversed))
    return _reshaped(flipped, part.shape)


def _put_back(x: Tensor, part: Tensor, found: _Subscript) -> Tensor:
    """``x`` with its basic part replaced by ``part``, of the shape ``middle``."""
    return _put(x, found, _reshaped(part, tuple(count for _, count, _ in found.slots)))


def _value(value: Any, x: Tensor) -> Tensor:
    if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
        value = _stacked([cast(operand(each, _WRITE), x.dtype) for each in value])
    if isinstance(value, (bool, int, float, np.generic)):
        value = np.asarray(value)
        try:
            return make_tensor(np.asarray(value.item(), x.dtype.numpy))
        except (OverflowError, ValueError):
            raise OverflowError(
                f"For '{_WRITE}', the number {value} does not fit the element type {x.dtype} of the tensor."
            ) from None
    tensor = operand(value, _WRITE)
    if tensor.dtype.kind == "complex" and x.dtype.kind != "complex":
        raise TypeError(
            f"For '{_WRITE}', complex values cannot be written into a tensor of type {x.dtype}; take "
            f"their real part first: ops.real(value)."
        )
    return cast(tensor, x.dtype)


def _fitted(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    """``value`` broadcast to ``shape``; leading axes of size 1 that it has too many are left out."""
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


def _fronted(value: Tensor, found: _Subscript) -> Tensor:
    """The inverse of ``_placed``: the looked-up axes of ``value`` in front, ``None`` axes left out."""
    rest = len(found.middle) - len(found.axes)
    rank = value.ndim - rest - len(found.new)
    before = found.front - sum(place < found.front for place in found.new)
    dropped = {place if place < found.front else place + rank for place in found.new}
    value = _reshaped(value, tuple(n for i, n in enumerate(value.shape) if i not in dropped))
    if not before:
        return value
    order = (*range(before, before + rank), *range(before), *range(before + rank, value.ndim))
    return apply(structural.transpose, value, permutation=order)


def _put(x: Tensor, found: _Subscript, value: Tensor) -> Tensor:
    """``x`` with ``value``, which has one axis per axis of ``x``, at the slots of the basic part."""
    if found.reversed:
        value = apply(structural.reverse, value, axes=tuple(found.reversed))
    slots = found.slots
    if value.shape == x.shape:
        return value
    if value.size == 0:
        return x
    if all(step == 1 or count == 1 for _, count, step in slots):
        starts = [make_tensor(np.asarray(first, np.int32)) for first, _, _ in slots]
        return apply(slicing.dynamic_update_slice, x, value, *starts)
    # with steps between the places: the values spread out over x, and a mask of where they stand
    strides = [step if count > 1 else 1 for _, count, step in slots]
    spans = [(count - 1) * step + 1 for (_, count, _), step in zip(slots, strides, strict=True)]
    low = tuple(first for first, _, _ in slots)
    high = tuple(n - a - b for n, a, b in zip(x.shape, low, spans, strict=True))
    interior = tuple(step - 1 for step in strides)
    written = np.zeros(x.shape, bool)
    written[tuple(map(builtins.slice, low, map(sum, zip(low, spans, strict=True)), strides))] = True
    spread = apply(structural.pad, value, low=low, high=high, interior=interior)
    return apply(arithmetic.select, make_tensor(written), spread, x)


# --- masks -----------------------------------------------------------------------------------------


def _covers_mask(index: Any, found: _Subscript) -> bool:
    """Whether the advanced part is one mask of known values."""
    if not found.axes:
        return False
    masks = [
        item
        for item in _items(index)
        if isinstance(item, (np.ndarray, Tensor)) and not (isinstance(item, np.ndarray) and not item.ndim)
    ]
    return len(masks) == 1 and isinstance(masks[0], np.ndarray) and masks[0].dtype.kind == "b"


def _masked(x: Tensor, index: Any, found: _Subscript, value: Tensor) -> Tensor | None:
    """The write through one mask as ``where``, whose shape does not depend on the mask.

    ``None`` where the values are as many as the mask has true elements and must be counted.
    """
    mask = _mask_tensor(index, found)
    basic = found.basic_shape()
    behind = basic[found.front :]
    own = value.shape
    while len(own) > len(basic) + 1 and own[0] == 1:
        own = own[1:]
    if len(own) > len(behind) and own[len(own) - len(behind) - 1] != 1:
        if found.mask is None:
            return None
        raise RuntimeError(
            f"For '{_WRITE}', as many values as the mask has true elements can be written only where the "
            f"mask is known; while the program is being compiled the value must be a number or broadcast "
            f"without the masked axes, but its shape is {value.shape}. Use ops.where(mask, value, x)."
        )
    # the result's axis of true elements as one of size 1, which then becomes the axes of the mask
    value = _fitted(value, (*basic[: found.front], 1, *behind))
    value = _fronted(value, found)
    count = mask.ndim
    first = found.axes[0] if found.axes else found.front - sum(p < found.front for p in found.new)
    rest = [n for i, n in enumerate(found.middle) if not first <= i < first + count]
    value = _reshaped(value, (*rest[:first], *[1] * count, *rest[first:]))
    part = _reshaped(_part(x, found.slots), tuple(found.middle))
    if found.reversed:
        part = _flipped(part, found)
    everywhere = apply(
        structural.broadcast_in_dim, mask, shape=part.shape, dims=tuple(range(first, first + count))
    )
    part = apply(arithmetic.select, everywhere, broadcast(value, part.shape), part)
    return _put_back(x, part, found)


def _mask_tensor(index: Any, found: _Subscript) -> Tensor:
    if found.mask is not None:
        return found.mask.tensor
    return make_tensor(next(i for i in _items(index) if isinstance(i, np.ndarray) and i.ndim))


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value``: the object ``x`` stands for :func:`updated` from here on.

    Inside a compiled function arguments are objects of their own, so that the caller's tensor never
    changes; a Parameter is assigned.

    >>> from mindgrad import Tensor
    >>> x = Tensor([1.0, 2.0, 3.0])
    >>> x[0] = 5.0
    >>> print(x)
    [5. 2. 3.]
    """
    if x.is_parameter:
        state.write(x, updated(x, index, value))
    else:
        rebind(x, updated(x.__copy__(), index, value))


def iterate(x: Tensor) -> Any:
    """The parts of ``x`` along its first axis, one after another.

    Raises:
        TypeError: ``x`` has no axes.

    >>> from mindgrad import Tensor
    >>> [float(each) for each in Tensor([1.0, 2.0])]
    [1.0, 2.0]
    """
    if not x.shape:
        raise TypeError("iteration over a 0-d tensor")
    return (getitem(x, position) for position in range(x.shape[0]))
