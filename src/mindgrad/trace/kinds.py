"""Accessors read and restore the mutable state of an object: one row for each kind of object.

A state is read without running the user's methods, and compared by identity of what it holds: what changes in
there is an object of its own (``reach``).
"""

from __future__ import annotations

import array
import collections
import functools
import inspect
import io
import itertools
import operator
import random
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindgrad.trace.reach import attribute_names, is_iterator, own_attributes
from mindgrad.trace.state_equality import cached_names

__all__ = ["COPIED_BYTES", "ITERATOR", "OBJECT", "Kind", "is_generator", "kinds_of"]

#: NumPy arrays of at most this many bytes are copied, larger ones made read-only
COPIED_BYTES = 1 << 16


class Kind(NamedTuple):
    """Reader, comparison and writer of a state (``None``: it cannot be put back)."""

    read: Callable[[Any], Any]
    same: Callable[[Any, Any], bool]
    write: Callable[[Any, Any], None] | None
    verb: str = "changed"


def _are(now: Any, then: Any) -> bool:
    return len(now) == len(then) and all(map(operator.is_, now, then))


def _equal(now: Any, then: Any) -> bool:
    return now == then


# -- containers ------------------------------------------------------------------------------------


def _write_list(container: Any, items: tuple[Any, ...]) -> None:
    list.__setitem__(container, slice(None), items)


def _write_deque(container: Any, items: tuple[Any, ...]) -> None:
    container.clear()
    container.extend(items)


def _plain(container: Any) -> Any:
    """The class whose methods know the items and their order, whatever those of a subclass do."""
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
    return len(now) == len(then) and {*map(id, now)} == {*map(id, then)}


def _write_set(container: Any, items: Any) -> None:
    container.clear()
    container.update(items)


def _write_bytes(container: Any, items: bytes) -> None:
    if isinstance(container, (bytearray, memoryview)):
        container[:] = items
    else:
        del container[:]
        container.frombytes(items)


def _same_array(now: Any, then: np.ndarray) -> bool:
    return now.shape == then.shape and now.dtype == then.dtype and now.tobytes() == then.tobytes()


def _write_array(owner: np.ndarray, elements: np.ndarray) -> None:
    if not isinstance(elements, np.ndarray):  # the objects of an array that holds them
        for k, x in enumerate(elements):
            owner.flat[k] = x
    elif owner.shape == elements.shape:
        owner[...] = elements


# -- objects ---------------------------------------------------------------------------------------


def _read_attributes(owner: Any) -> dict[str, Any]:
    kind: Any = type(owner)
    attributes = own_attributes(owner)
    for name in cached_names(kind):  # to fill a cache is no change
        attributes.pop(name, None)
    for name in attribute_names(kind):
        if hasattr(owner, name):
            attributes[name] = getattr(owner, name)
    return attributes


def _same_attributes(now: dict[str, Any], then: dict[str, Any]) -> bool:
    return now.keys() == then.keys() and all(map(operator.is_, now.values(), then.values()))


def _write_attributes(owner: Any, attributes: dict[str, Any]) -> None:
    for name, value in _read_attributes(owner).items():
        if name not in attributes:
            object.__delattr__(owner, name)
        elif value is not attributes[name]:
            object.__setattr__(owner, name, attributes[name])
    for name in attributes.keys() - _read_attributes(owner).keys():
        object.__setattr__(owner, name, attributes[name])


def _read_class(kind: type) -> dict[str, Any]:
    return dict(vars(kind))


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
    """The variables of enclosing functions that a generator function assigns, which is not converted."""
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
    """Put an iterator of a list, tuple or text back to where it was, if it has not ended.

    Iterators of ranges go back in Python 3.11 only: they have no place in later versions.
    """
    if hasattr(iterator, "__length_hint__") and state[1]:
        ((_, place),) = state[1]
        if place is not None:
            iterator.__setstate__(place)


def _local_values(generator: Any) -> Any:
    return _flat(list(generator.gi_frame.f_locals.values()))


def _flat(value: Any) -> Any:
    """Nested tuples, lists and dicts with numbers and text by value and anything else by identity."""
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


def _same_flat(now: Any, then: Any) -> bool:
    return _flat(now) == _flat(then)


def _read_file(file: Any) -> Any:
    if file.closed:
        return "closed"
    try:
        return file.tell()
    except (OSError, ValueError):  # one that has no positions: writing to it is seen where it is called
        return None


_KINDS: list[tuple[Any, Kind]] = [
    (list, Kind(lambda x: tuple(list.__iter__(x)), _are, _write_list)),
    (collections.deque, Kind(tuple, _are, _write_deque)),
    (dict, Kind(_read_dict, _are, _write_dict)),
    (set, Kind(frozenset, _same_set, _write_set)),
    ((bytearray, array.array, memoryview), Kind(bytes, _equal, _write_bytes)),
    (np.ndarray, Kind(np.array, _same_array, _write_array)),
    (random.Random, Kind(random.Random.getstate, _equal, random.Random.setstate, "drawn from")),
    (
        np.random.Generator,
        Kind(
            lambda x: x.bit_generator.state,
            _same_flat,
            lambda x, state: _write_bits(x.bit_generator, state),
            "drawn from",
        ),
    ),
    (np.random.BitGenerator, Kind(lambda x: x.state, _same_flat, _write_bits, "drawn from")),
    (
        np.random.RandomState,
        Kind(np.random.RandomState.get_state, _same_flat, np.random.RandomState.set_state, "drawn from"),
    ),
    (io.IOBase, Kind(_read_file, _equal, None, "written to or read")),
    (types.FunctionType, Kind(_read_function, _same_attributes, None)),
    (type, Kind(_read_class, _same_class, None)),
]  # fmt: skip
ITERATOR = Kind(_read_iterator, _equal, _write_iterator, "advanced")
OBJECT = Kind(_read_attributes, _same_attributes, _write_attributes)


@functools.lru_cache(maxsize=4096)
def kinds_of(kind: Any) -> tuple[Kind, ...]:
    if is_iterator(kind):
        return (ITERATOR,)
    kinds = [each for base, each in _KINDS if issubclass(kind, base)][:1]
    if not kinds or (kind.__dictoffset__ and not issubclass(kind, (type, types.FunctionType, io.IOBase))):
        kinds.append(OBJECT)
    return tuple(kinds)
