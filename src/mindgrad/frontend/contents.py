"""Read, compare, and restore the contents of mutable Python objects.

The *contents* of a list are its items, the contents of an ordinary object are its attributes, and the
contents of an iterator are its position. A :class:`Kind` has the functions that read, compare, and restore
one kind of contents. Three modules use them:

- ``guards`` compares the contents that a trace has read with the contents at a later call.
- ``snapshots`` compares and restores objects that the body of a branch or loop can change.
- ``outside_effects`` compares and restores, at the end of a trace, objects that existed before the trace.

Reading contents calls no methods that users define. Items are compared by identity; numbers and strings are
also compared by value. If an item is itself mutable, ``reach`` finds it, and its contents are compared
separately.
"""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import inspect
import io
import itertools
import operator
import random
import types
import warnings
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.ir.array_conversion import array_of_object
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.cell_guards import UNREAD
from mindgrad.frontend.reach import HOLDERS, attribute_names, is_iterator, own_attributes
from mindgrad.frontend.signature import COMPARED_BYTES, same
from mindgrad.frontend.user_functions import cached_names, is_read_unseen

__all__ = [
    "ATTRIBUTES", "CHECKSUM", "CLASS_NAMES", "COPIED_BYTES", "DICT", "ITERATOR", "KEYWORDS", "NAMES",
    "OBJECT", "Kind", "guarded_kind", "is_generator", "kinds_of", "same_item",
]  # fmt: skip

#: maximum size in bytes of NumPy arrays that ``snapshots`` copies. ``snapshots`` makes larger arrays
#: read-only instead
COPIED_BYTES = 1 << 16
#: maximum size in bytes of an array whose checksum a trace computes to detect changes of its elements
_LARGEST_CHECKED = 1 << 28


class Kind(NamedTuple):
    """Functions that read, compare, and restore one kind of contents.

    Attributes:
        read: returns the contents of an object.
        same: compares two results of ``read``.
        write: restores the contents of an object. ``None`` if they cannot be restored.
        verb: participle for messages about a change, such as "drawn from" for a random number generator.
        is_effect: whether ``outside_effects`` raises an error if the contents change during a trace.
    """

    read: Callable[[Any], Any]
    same: Callable[[Any, Any], bool]
    write: Callable[[Any, Any], None] | None
    verb: str = "changed"
    is_effect: bool = True


def same_item(before: Any, now: Any) -> bool:
    """Return whether two items are the same object or equal immutable values."""
    return before is now or (not isinstance(before, (list, dict, set)) and same(before, now))


def _same_items(now: Any, then: Any) -> bool:
    if len(now) != len(then):
        return False
    return all(map(operator.is_, now, then)) or all(map(same_item, then, now))


def _equal(now: Any, then: Any) -> bool:
    return now == then


# -- containers ------------------------------------------------------------------------------------


def _write_list(container: Any, items: tuple[Any, ...]) -> None:
    list.__setitem__(container, slice(None), items)


def _write_deque(container: Any, items: tuple[Any, ...]) -> None:
    container.clear()
    container.extend(items)


def _plain(container: Any) -> Any:
    """Return ``dict`` or ``OrderedDict``, to call methods that no subclass overrides."""
    return collections.OrderedDict if isinstance(container, collections.OrderedDict) else dict


def _read_dict(container: Any) -> tuple[Any, ...]:
    kind = _plain(container)
    return (*kind.keys(container), *kind.values(container))


def _write_dict(container: Any, items: tuple[Any, ...]) -> None:
    kind, count = _plain(container), len(items) // 2
    kind.clear(container)
    for key, value in zip(items[:count], items[count:], strict=True):
        kind.__setitem__(container, key, value)


def _same_set(now: Any, then: Any) -> bool:
    return now == then and {*map(type, now)} == {*map(type, then)}


def _write_set(container: Any, items: Any) -> None:
    container.clear()
    container.update(items)


def _read_partial(function: Any) -> tuple[Any, ...]:
    keywords = function.keywords
    return (function.func, *function.args, *keywords, *keywords.values())


def _read_variable(variable: contextvars.ContextVar[Any]) -> tuple[Any, ...]:
    try:
        return (variable.get(),)
    except LookupError:
        return ()


def _write_variable(variable: contextvars.ContextVar[Any], content: tuple[Any, ...]) -> None:
    variable.set(*content)


# -- arrays --------------------------------------------------------------------------------------


def _write_bytes(container: Any, items: bytes) -> None:
    if isinstance(container, (bytearray, memoryview)):
        container[:] = items
    else:
        del container[:]
        container.frombytes(items)


def _read_array(array: Any) -> Any:
    if array.dtype.hasobject:
        return tuple(array.flat)
    return (array.shape, array.dtype, array.tobytes())


def _same_array(now: Any, then: Any) -> bool:
    return now == then if then and type(then[-1]) is bytes else _same_items(now, then)


def _write_array(owner: np.ndarray, contents: tuple[Any, ...]) -> None:
    if owner.dtype.hasobject:
        for k, x in enumerate(contents):
            owner.flat[k] = x
        return
    shape, dtype, elements = contents
    if owner.shape != shape:
        owner.resize(shape, refcheck=False)
    if elements:
        owner[...] = np.frombuffer(elements, dtype).reshape(shape)


def _read_checksum(array: np.ndarray) -> Any:
    return (array.shape, zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data))


def _same_elements(now: Any, then: Any) -> bool:
    """Return whether two arrays have the same elements, even on different devices."""
    if now is then or now is None or now.dtype != then.dtype or now.shape != then.shape:
        return now is then
    return np.asarray(now).tobytes() == np.asarray(then).tobytes()


# -- objects ---------------------------------------------------------------------------------------


def _read_attributes(owner: Any) -> dict[str, Any]:
    kind: Any = type(owner)
    attributes = own_attributes(owner)
    for name in cached_names(kind):  # storing the value of a ``functools.cached_property`` is not a change
        attributes.pop(name, None)
    for name in attribute_names(kind):
        if hasattr(owner, name):
            attributes[name] = getattr(owner, name)
    return attributes


def _same_attributes(now: dict[str, Any], then: dict[str, Any]) -> bool:
    return now.keys() == then.keys() and all(same_item(then[name], value) for name, value in now.items())


def _write_attributes(owner: Any, attributes: dict[str, Any]) -> None:
    now = _read_attributes(owner)
    for name in now.keys() - attributes.keys():
        object.__delattr__(owner, name)
    for name, value in attributes.items():
        if name not in now or now[name] is not value:
            object.__setattr__(owner, name, value)


def _keyword_defaults(function: Any) -> tuple[Any, ...]:
    return _read_dict(function.__kwdefaults__ or {})


def _same_class(now: dict[str, Any], then: dict[str, Any]) -> bool:
    if now.keys() == then.keys() and all(map(operator.is_, now.values(), then.values())):
        return True
    names = [name for name in {**now, **then} if not (name.startswith("__") and name.endswith("__"))]
    return all(name in now and name in then and now[name] is then[name] for name in names)


def _read_function(function: Any) -> dict[str, Any]:
    return {**function.__dict__, **_stored_cells(function)}


def is_generator(function: Any) -> bool:
    return bool(function.__code__.co_flags & inspect.CO_GENERATOR)


def _stored_cells(function: Any) -> dict[str, Any]:
    """Return the closure variables of a generator function, by name.

    Generators are not converted. Their assignments to these variables are detected by comparing the values.
    """
    code = function.__code__
    if not is_generator(function):
        return {}
    contents = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            contents[f" {name}"] = cell.cell_contents
        except ValueError:
            continue
    return contents


# -- iterators, random numbers, files ----------------------------------------------------------------


def _read_iterator(iterator: Any) -> Any:
    kind = type(iterator)
    if isinstance(iterator, types.GeneratorType):
        frame = iterator.gi_frame
        return None if frame is None else (frame.f_lasti, _local_values(iterator))
    if kind is itertools.count:
        return repr(iterator)
    if kind.__module__ == "itertools" and hasattr(iterator, "__reduce__"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                return _flat(iterator.__reduce__()[1:])
            except TypeError:
                pass
    hint = getattr(iterator, "__length_hint__", None)
    if hint is not None:
        return (hint(), hasattr(iterator, "__setstate__") and _flat(iterator.__reduce__()[2:]))
    return _flat(getattr(iterator, "__dict__", ()))


def _write_iterator(iterator: Any, state: Any) -> None:
    """Restore the position of a list, tuple, or string iterator that is not exhausted.

    A range iterator can be restored only in Python 3.11, because later versions of Python do not store its
    position.
    """
    if hasattr(iterator, "__length_hint__") and state[1]:
        ((_, place),) = state[1]
        if place is not None:
            iterator.__setstate__(place)


def _local_values(generator: Any) -> Any:
    return _flat(list(inspect.getgeneratorlocals(generator).values()))


def _flat(value: Any) -> Any:
    """Convert a value to nested tuples, so that ``==`` compares its contents.

    Containers are compared by their items, numbers and strings by value, and other objects by identity.
    """
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return (type(value), value if value == value else "nan")
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.tobytes()) if value.nbytes <= COPIED_BYTES else id(value)
    if type(value) in (tuple, list):
        return tuple(map(_flat, value))
    if type(value) is dict:
        return tuple((key, _flat(item)) for key, item in value.items())
    return id(value)


def _write_bits(bits: Any, state: Any) -> None:
    bits.state = state


def _write_generator(generator: Any, state: Any) -> None:
    generator.bit_generator.state = state


def _same_flat(now: Any, then: Any) -> bool:
    return _flat(now) == _flat(then)


def _read_file(file: Any) -> Any:
    if file.closed:
        return "closed"
    try:
        return file.tell()
    except (OSError, ValueError):  # a file without a position, such as a terminal
        return None


_BYTES = Kind(bytes, _equal, _write_bytes)
_ARRAY = Kind(_read_array, _same_array, _write_array)
DICT = Kind(_read_dict, _same_items, _write_dict)
_KINDS: list[tuple[Any, Kind]] = [
    (list, Kind(lambda container: tuple(list.__iter__(container)), _same_items, _write_list)),
    (collections.deque, Kind(tuple, _same_items, _write_deque)),
    (dict, DICT),
    (set, Kind(frozenset, _same_set, _write_set)),
    ((bytearray, array.array, memoryview), _BYTES),
    (np.ndarray, _ARRAY),
    (random.Random, Kind(random.Random.getstate, _equal, random.Random.setstate, "drawn from")),
    (
        np.random.Generator,
        Kind(lambda x: x.bit_generator.state, _same_flat, _write_generator, "drawn from"),
    ),
    (np.random.BitGenerator, Kind(lambda x: x.state, _same_flat, _write_bits, "drawn from")),
    (
        np.random.RandomState,
        Kind(np.random.RandomState.get_state, _same_flat, np.random.RandomState.set_state, "drawn from"),
    ),
    (io.IOBase, Kind(_read_file, _equal, None, "written to or read")),
    (types.FunctionType, Kind(_read_function, _same_attributes, None)),
    (type, Kind(lambda kind: dict(vars(kind)), _same_class, None)),
]  # fmt: skip
ITERATOR = Kind(_read_iterator, _equal, _write_iterator, "advanced")
OBJECT = Kind(_read_attributes, _same_attributes, _write_attributes)


@functools.lru_cache(maxsize=4096)
def kinds_of(kind: Any) -> tuple[Kind, ...]:
    """Return the kinds of contents that ``snapshots`` reads from a class's instances.

    For example, an instance of a user's subclass of ``list`` has items and attributes, so the result has two
    entries.
    """
    if is_iterator(kind):
        return (ITERATOR,)
    kinds = [each for base, each in _KINDS if issubclass(kind, base)][:1]
    if not kinds or (kind.__dictoffset__ and not issubclass(kind, (type, types.FunctionType, io.IOBase))):
        kinds.append(OBJECT)
    return tuple(kinds)


# -- contents that guards compare ------------------------------------------------------------------
# Guards compare all attributes of some objects (ATTRIBUTES), the attribute names of Cells (NAMES), and the
# keyword defaults of functions (KEYWORDS)

ATTRIBUTES = Kind(lambda owner: _read_dict(vars(owner)), _same_items, None, is_effect=False)
NAMES = Kind(lambda owner: {*vars(owner)} - UNREAD, _equal, None, is_effect=False)
CLASS_NAMES = Kind(lambda kind: {*vars(kind)}, _equal, None, is_effect=False)
KEYWORDS = Kind(_keyword_defaults, _same_items, None, is_effect=False)
#: for an array that is too large to be copied: guards compare a checksum of its elements
CHECKSUM = Kind(_read_checksum, _equal, None)
_TENSOR = Kind(lambda tensor: tensor._array, _same_elements, None, is_effect=False)
_FOREIGN = Kind(lambda array: _read_array(array_of_object(array)), _equal, None)
_CONTAINERS: list[tuple[Any, Kind]] = [
    *_KINDS[:4],
    (types.MappingProxyType, Kind(lambda container: (*container, *container.values()), _same_items, None)),
    (frozenset, Kind(frozenset, _same_set, None)),
    (functools.partial, Kind(_read_partial, _same_items, None)),
    (contextvars.ContextVar, Kind(_read_variable, _same_items, _write_variable)),
]


def guarded_kind(value: Any) -> Kind | None:
    """Return the functions with which guards read and compare a value's contents.

    The result is ``None`` if guards do not compare the contents, for example because ``value`` is a number or
    a Parameter.
    """
    if isinstance(value, Tensor):
        return None if value.is_parameter or value.is_traced else _TENSOR
    for base, each in _CONTAINERS:
        if isinstance(value, base):
            return each
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject or value.nbytes <= COMPARED_BYTES:
            return _ARRAY
        # a larger array is a constant of the compiled function. The checksum detects whether the trace
        # changes its elements
        is_checked = value.flags.writeable and value.ndim and value.nbytes <= _LARGEST_CHECKED
        return CHECKSUM if is_checked else None
    kind: Any = type(value)
    if isinstance(value, (bytearray, array.array, memoryview)):
        return _BYTES if memoryview(value).nbytes <= COMPARED_BYTES else None
    if (hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")) and not kind.__module__.startswith("jax"):
        return _FOREIGN if _is_small(value) else None
    # special methods such as ``__len__`` are not converted, so they may read any attribute
    has_state = hasattr(value, "__dict__") and (isinstance(value, HOLDERS) or is_read_unseen(kind))
    return ATTRIBUTES if has_state else None


def _is_small(foreign: Any) -> bool:
    try:
        elements = array_of_object(foreign)
    except TypeError:
        return False
    return elements.nbytes <= COMPARED_BYTES and not elements.dtype.hasobject
