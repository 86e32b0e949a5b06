"""Resolve an index ``x[index]`` into slices and lookups, as NumPy does.

An index has two parts. The *basic* part (ints, slices, ``None``, ``...``) is computed by a slice, a reversal,
and a reshape. The *advanced* part (integer tensors and masks) looks up elements along the remaining axes.
If the advanced entries are adjacent (an int counts as one of them), the axes that they create are at the
position of the first entry. Otherwise, these axes come first.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from mindgrad.core.arrays.index_checks import Places, known, places
from mindgrad.core.base.refusal import SourceLocation, hints, refuse
from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import static_slices, structural
from mindgrad.core.trace import references
from mindgrad.core.trace.operands import broadcast_shapes, cast, operand

__all__ = [
    "OPERATOR", "Slot", "Subscript", "basic_key", "index_of", "resolve", "stacked", "unknown_mask_error",
]  # fmt: skip

Slot = tuple[int, int, int]  # (first index, number of indices, positive step)

#: name of the operator in error messages
OPERATOR = "getitem"


class Subscript:
    """An index of a tensor x, resolved into its basic and advanced parts.

    Attributes:
        slots: for each axis of x, the slice that the basic part selects.
        reversed: axes along which the slice is read in reverse order.
        middle: shape after the basic part, without the axes of ints, and with an axis for each Boolean entry.
        new: positions of the axes that ``None`` entries insert, in the result without the advanced axes.
        axes, columns: the advanced part. ``columns[k]`` contains the indices along axis ``axes[k]`` of
            ``middle``.
        mask: the mask, if the advanced part consists of one mask.
        is_unknown: whether there is a mask whose values are unknown; such a mask has no ``columns``.
        front: number of result axes before the axes of the advanced part, including the axes of ``None``
            entries.
    """

    __slots__ = ("axes", "columns", "front", "is_unknown", "mask", "middle", "new", "reversed", "slots")

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.reversed: list[int] = []
        self.middle: list[int] = []
        self.new: list[int] = []
        self.columns: list[Places] = []
        self.axes: list[int] = []
        self.mask: Tensor | np.ndarray | None = None
        self.is_unknown = False
        self.front = 0

    @property
    def is_basic(self) -> bool:
        """Whether the index has no advanced part."""
        return not self.axes and not self.is_unknown

    @property
    def new_in_front(self) -> int:
        """The number of axes of ``None`` entries before the axes of the advanced part."""
        return sum(place < self.front for place in self.new)

    def taken_shape(self) -> tuple[int, ...]:
        """Return the shape after the slices, before axes are removed or inserted."""
        return tuple(count for _, count, _ in self.slots)

    def basic_shape(self) -> tuple[int, ...]:
        """Return the shape of the result without the axes of the advanced part."""
        taken = set(self.axes)
        shape = [n for i, n in enumerate(self.middle) if i not in taken]
        for place in self.new:
            shape.insert(place, 1)
        return tuple(shape)

    def shape(self) -> tuple[int, ...]:
        """Return the shape of ``x[index]``."""
        basic = self.basic_shape()
        if not self.axes:
            return basic
        lookups = broadcast_shapes(OPERATOR, *[column.shape for column in self.columns])
        return (*basic[: self.front], *lookups, *basic[self.front :])


# --- parsing of an index ---------------------------------------------------------------------------

_BOUNDS = (int, type(None))


def basic_key(index: Any) -> Any:
    """Return a cache key of an index without advanced entries, or ``None``.

    Entries must be ints, slices whose bounds are ints or ``None``, ``None``, and ``...``. Booleans, NumPy
    integers, and tensors have no key, because they compare equal to ints or must first be converted to ints.
    """
    kind = type(index)
    if kind is int:
        return index
    if kind is tuple:
        keys = []
        for item in index:
            if item is None or item is Ellipsis:
                keys.append(item)
                continue
            key = None if type(item) is tuple else basic_key(item)
            if key is None:
                return None
            keys.append(key)
        return tuple(keys)
    if kind is slice:
        start, stop, step = index.start, index.stop, index.step
        if type(start) in _BOUNDS and type(stop) in _BOUNDS and type(step) in _BOUNDS:
            return (slice, start, stop, step)
    return None


def index_of(key: Any) -> Any:
    """Return the index whose :func:`basic_key` is ``key``."""
    if type(key) is not tuple:
        return key
    return slice(*key[1:]) if key[:1] == (slice,) else tuple(map(index_of, key))


def _items(index: Any) -> list[Any]:
    """Return the entries of an index: ints, slices, ``None``, ``...``, and arrays.

    As in MindSpore, a list of ints or Booleans is one array, and any other list is treated as a tuple.
    """
    is_tuple = type(index) is tuple or (
        type(index) is list and not all(isinstance(each, (int, np.integer, np.bool_)) for each in index)
    )
    return [_item(each) for each in (index if is_tuple else (index,))]


def _item(item: object) -> Any:
    if item is None or item is Ellipsis or isinstance(item, (int, slice)):
        return np.asarray(item) if isinstance(item, bool) else item
    if isinstance(item, Tensor):
        tensor = references.read(item) if item.is_parameter else item
        if tensor.dtype.kind not in ("bool", "int", "uint"):
            return _refused(tensor)
        values = known(tensor)
        return tensor if values is None else _array(values)
    if isinstance(item, (np.ndarray, np.generic)):
        return _array(np.asarray(item))
    if isinstance(item, (list, tuple, range)):
        return _listed(item)
    return _refused(item)


def _array(array: np.ndarray) -> Any:
    if array.dtype.kind not in "biu":
        return _refused(array)
    return int(array) if array.ndim == 0 and array.dtype.kind != "b" else array


def _listed(item: list | tuple | range) -> Any:
    """Convert a (nested) list of ints, Booleans, and tensors to one array or tensor."""
    rows = [_listed(element) if isinstance(element, (list, tuple)) else element for element in item]
    if any(isinstance(element, Tensor) and known(element) is None for element in rows):
        parts = [operand(element, OPERATOR) for element in rows]
        shape = parts[0].shape
        if any(part.shape != shape or part.dtype.kind not in ("int", "uint") for part in parts):
            return _refused(item)
        return _item(stacked(parts))
    rows = [element.host_array() if isinstance(element, Tensor) else element for element in rows]
    try:
        array = np.asarray(rows if rows else np.zeros(0, np.int64))
    except ValueError:
        return _refused(item)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    return array if array.dtype.kind in "biu" else _refused(item)


def stacked(parts: list[Tensor]) -> Tensor:
    """Stack tensors along a new first axis, with the dtype of the first tensor."""
    dtype = parts[0].dtype
    wide = [apply(structural.reshape, cast(part, dtype), shape=(1, *part.shape)) for part in parts]
    return wide[0] if len(wide) == 1 else apply(static_slices.concatenate, *wide, axis=0)


def _refused(item: object) -> Any:
    description = f"of type {type(item).__name__}"
    if isinstance(item, (np.ndarray, Tensor)):
        description = f"with elements of type {item.dtype}"
    raise IndexError(
        f"For '{OPERATOR}', a tensor is indexed by ints, slices, '...', None, and tensors, arrays or lists "
        f"of ints or Booleans, but got {item!r} {description}."
    )


def resolve(index: object, shape: tuple[int, ...]) -> Subscript:
    """Resolve an index of a tensor with shape ``shape`` into slices and lookups.

    Raises:
        IndexError: If a known index is out of range, there are too many indices, a mask does not match the
            shape, or the type of an entry is not supported.
        TypeError: If a bound of a slice is not an int, or a 0-D tensor is indexed.
        RuntimeError: If the shape of the result depends on values that are unknown at compile time.
    """
    items = _items(index)
    consumed = sum(_consumes(item) for item in items)
    rank = len(shape)
    dots = sum(item is Ellipsis for item in items)
    if dots > 1:
        raise IndexError(f"For '{OPERATOR}', an index can have only one '...', but got {index!r}.")
    if consumed > rank:
        if rank == 0 and consumed == len(items):
            raise TypeError(
                f"For '{OPERATOR}', a 0-D tensor has no axis to index: use x[()], x[...] or x[None]."
            )
        raise IndexError(
            f"For '{OPERATOR}', there are too many indices: the tensor of shape {shape} has {rank} axes, "
            f"but {consumed} were indexed."
        )
    if not dots:
        items.append(Ellipsis)
    advanced = any(isinstance(item, (np.ndarray, Tensor)) for item in items)
    subscript = Subscript()
    gaps, inside, lookups = 0, False, False  # gaps: number of groups of adjacent advanced entries, minus 1
    axis = 0
    for item in items:
        if advanced and not (item is None or item is Ellipsis or isinstance(item, slice)):
            if not inside:
                gaps += lookups
                if not lookups:
                    subscript.front = _axes_so_far(subscript)
                inside = lookups = True
        else:
            inside = False
        axis = _take(subscript, item, axis, shape, rank - consumed)
    if gaps:
        subscript.front = 0
    if subscript.mask is not None:
        count = 0 if subscript.is_unknown else len(subscript.mask.shape)
        if len(subscript.columns) != count:
            if subscript.is_unknown:
                unknown_mask_error()
            subscript.mask = None
    return subscript


def _axes_so_far(found: Subscript) -> int:
    return len(found.middle) - len(found.axes) + len(found.new)


def _consumes(item: Any) -> int:
    """Return the number of tensor axes to which an entry of the index applies."""
    if item is None or item is Ellipsis:
        return 0
    return len(item.shape) if _is_mask(item) else 1


def _is_mask(item: object) -> bool:
    if isinstance(item, Tensor):
        return item.dtype is bool_
    return isinstance(item, np.ndarray) and item.dtype.kind == "b"


def _take(subscript: Subscript, item: object, axis: int, shape: tuple[int, ...], count: int) -> int:
    """Add one entry of the index to ``subscript``; return the axis of the next entry.

    ``axis`` is the first axis of the entry, and ``count`` is the number of axes that ``...`` selects.
    """
    if item is None:
        subscript.new.append(_axes_so_far(subscript))
        return axis
    if item is Ellipsis:
        for size in shape[axis : axis + count]:
            subscript.slots.append((0, size, 1))
            subscript.middle.append(size)
        return axis + count
    if isinstance(item, int):
        size = shape[axis]
        if not -size <= item < size:
            raise IndexError(
                f"For '{OPERATOR}', the index {item} is out of bounds for axis {axis} with size {size}."
            )
        subscript.slots.append((item % size, 1, 1))
        return axis + 1
    if isinstance(item, slice):
        subscript.slots.append(_slot(subscript, item, axis, shape[axis]))
        subscript.middle.append(subscript.slots[-1][1])
        return axis + 1
    if _is_mask(item):
        return _take_mask(subscript, item, axis, shape)
    subscript.slots.append((0, shape[axis], 1))
    subscript.axes.append(len(subscript.middle))
    subscript.middle.append(shape[axis])
    subscript.columns.append(places(item, shape[axis], OPERATOR, axis))
    return axis + 1


def _slot(subscript: Subscript, item: slice, axis: int, size: int) -> Slot:
    try:
        start, stop, step = item.indices(size)
    except TypeError:
        if any(isinstance(each, Tensor) and each.is_traced for each in (item.start, item.stop, item.step)):
            refuse(
                "A tensor is a bound or the step of a slice, so the size of the result is not known at "
                "compile time",
                "Use a mask, where(arange(len(x)) < n, x, 0), or pass the bound as a Python int.",
            )
        raise TypeError(
            f"For '{OPERATOR}', the bounds and the step of a slice must be ints or None, but got {item!r}."
        ) from None
    except ValueError:
        raise ValueError(f"For '{OPERATOR}', the step of a slice must not be 0, but got {item!r}.") from None
    except RuntimeError:
        raise RuntimeError(
            f"For '{OPERATOR}', a bound of the slice of axis {axis} is a tensor whose value is not known at "
            "compile time, so the shape of the result is also unknown. Use a mask, where(arange(len(x)) < n, "
            "x, 0), or indices of a fixed number, x[begin + arange(size)]." + hints["slices"]
        ) from None
    count = len(range(start, stop, step))
    if step < 0:
        if count > 1:
            subscript.reversed.append(axis)
        return (start + (count - 1) * step if count else 0, count, -step)
    return (start if count else 0, count, step)


def _take_mask(subscript: Subscript, mask: Any, axis: int, shape: tuple[int, ...]) -> int:
    count = len(mask.shape)
    part = shape[axis : axis + count]
    for offset, (size, expected) in enumerate(zip(mask.shape, part, strict=True)):
        if size != expected:
            raise IndexError(
                f"For '{OPERATOR}', the mask of shape {mask.shape} does not match the tensor of shape "
                f"{shape}: axis {axis + offset} has size {expected}, but the axis of the mask has size "
                f"{size}."
            )
    position = len(subscript.middle)
    for size in part:
        subscript.slots.append((0, size, 1))
        subscript.middle.append(size)
    if isinstance(mask, Tensor):
        if subscript.is_unknown:
            unknown_mask_error()
        subscript.mask, subscript.is_unknown = mask, True
    elif count == 0:  # a Boolean entry adds an axis: of size 1 if it is True, else of size 0
        subscript.middle.append(1)
        subscript.columns.append(np.zeros(1 if mask else 0, np.int32))
        subscript.axes.append(position)
        return axis
    else:
        subscript.mask = mask
        subscript.columns.extend(column.astype(np.int32) for column in np.nonzero(mask))
    subscript.axes.extend(range(position, position + count))
    return axis + count


def unknown_mask_error(at: SourceLocation | None = None) -> NoReturn:
    """Raise an error, because a result's size depends on a mask with unknown values."""
    refuse(
        f"For '{OPERATOR}', the number of elements that a mask selects depends on the values of the "
        "mask, which are not known at compile time",
        "Use where(mask, x, 0), which keeps the shape." + hints["masks"],
        at=at,
    )
