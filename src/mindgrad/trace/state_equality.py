"""Equality of mutable state reads objects that can change in place, and compares them with a copy.

A reader returns the contents of a list, dict, set, object, array or tensor for a later comparison:
``reader(holder, name, default)``, as ``getattr``.
"""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import os
import sys
import types
import weakref
import zlib
from operator import is_
from typing import Any

import numpy as np

from mindgrad.ir.array_conversion import array_of_object
from mindgrad.ir.tensor import Tensor
from mindgrad.trace.signature import COMPARED_BYTES, same

__all__ = [
    "CONTAINERS", "HOLDERS", "NOT_THE_USERS", "array_of_tensor", "attributes", "cached_names", "checksum",
    "elements_of_array", "has_items", "held_items", "holds_state", "is_cell", "is_changeable_array",
    "is_read_unseen", "is_traced_value", "is_users_class", "items", "keyword_defaults", "own_attribute",
    "same_elements", "same_items", "static",
]  # fmt: skip

CONTAINERS = (list, dict, set)

#: bytes of an array up to which a trace is checked for changes of its elements
_LARGEST_CHECKED = 1 << 28
_BUFFERS = (array.array, memoryview, bytearray)
_MAPPINGS = (dict, types.MappingProxyType)
_SEQUENCES = (list, collections.deque)
_OTHERS = (set, frozenset, functools.partial, contextvars.ContextVar)
#: classes of Python's library that hold such containers in attributes
HOLDERS = (
    collections.UserDict, collections.UserList, collections.ChainMap, weakref.WeakSet,
    weakref.WeakValueDictionary, weakref.WeakKeyDictionary, type(os.environ),
)  # fmt: skip


def holds_state(value: Any) -> bool:
    """Whether all attributes of an object count, because methods that are not converted read them."""
    kind: Any = type(value)
    return hasattr(value, "__dict__") and (isinstance(value, HOLDERS) or is_read_unseen(kind))


def _same_item(before: Any, after: Any) -> bool:
    return before is after or (not isinstance(before, CONTAINERS) and same(before, after))


def has_items(value: Any) -> bool:
    """Whether a value is a container of Python whose items a guard compares."""
    if isinstance(value, np.ndarray):
        return value.dtype.hasobject
    return isinstance(value, (*_MAPPINGS, *_SEQUENCES, *_OTHERS))


def items(container: Any, _: str, __: Any) -> Any:
    """The items of a container, as a guard keeps them."""
    if isinstance(container, _MAPPINGS):
        return (*container, *container.values())
    if isinstance(container, (set, frozenset)):
        return frozenset(container)
    if isinstance(container, functools.partial):
        keywords = container.keywords
        return (container.func, *container.args, *keywords, *keywords.values())
    if isinstance(container, contextvars.ContextVar):
        try:
            return (container.get(),)
        except LookupError:
            return ()
    return tuple(container.flat) if isinstance(container, np.ndarray) else tuple(container)


def held_items(container: Any) -> Any:
    """The items of a container that may be containers themselves."""
    return () if isinstance(container, (set, frozenset)) else items(container, "", None)


def keyword_defaults(function: Any, _: str, __: Any) -> Any:
    """Names and values of the keyword defaults of a function."""
    held = function.__kwdefaults__ or {}
    return (*held, *held.values())


def static(kind: Any, name: str, default: Any) -> Any:
    """An attribute of a class itself, as it was defined."""
    return vars(kind).get(name, default)


def same_items(now: Any, then: Any) -> bool:
    """Whether a container still has the items that a guard has kept."""
    if isinstance(then, frozenset):
        return now == then and {type(x) for x in now} == {type(x) for x in then}
    if len(now) != len(then):
        return False
    return all(map(is_, now, then)) or all(map(_same_item, then, now))


def own_attribute(owner: Any, name: str, default: Any) -> Any:
    """The attribute of the instance itself that hides a method of its class."""
    return owner.__dict__.get(name, default)


def attributes(owner: Any, _: str, __: Any) -> Any:
    """Names and values of an object's attributes, as a guard keeps them."""
    held = vars(owner)
    return (*held, *held.values())


def is_changeable_array(data: Any) -> bool:
    """Whether ``data``, no array of NumPy, is an array or buffer whose elements may be assigned."""
    kind = type(data)
    if isinstance(data, _BUFFERS):
        return True
    return (hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")) and not kind.__module__.startswith(
        "jax"
    )


def elements_of_array(array: Any, _: str, __: Any) -> Any:
    """Shape, dtype and bytes of an array, of NumPy or another library; ``None`` of large ones."""
    if isinstance(array, bytearray):
        return bytes(array) if len(array) <= COMPARED_BYTES else None
    if not isinstance(array, np.ndarray):
        try:
            array = array_of_object(array)
        except TypeError:
            return None
    if array.nbytes > COMPARED_BYTES or array.dtype.hasobject:
        return None
    return (array.shape, array.dtype, array.tobytes())


def array_of_tensor(tensor: Tensor, _: str, __: Any) -> Any:
    """The array of a tensor, which is compared by identity."""
    return tensor._array


def same_elements(tensor: Tensor, array: Any) -> bool:
    """Whether ``tensor`` still holds the elements of ``array``: it may have moved to another device."""
    now = tensor._array
    if now is None or tensor.is_traced or now.dtype != array.dtype or now.shape != array.shape:
        return False
    return np.asarray(now).tobytes() == np.asarray(array).tobytes()


def checksum(array: Any, _: str, __: Any) -> Any:
    """Shape and checksum of a NumPy array that is too large to be kept; ``None`` of other objects."""
    if not isinstance(array, np.ndarray) or array.nbytes > _LARGEST_CHECKED or not array.ndim:
        return None
    return (array.shape, zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data))


#: special methods whose reading is seen: flow of control converts them, or nothing is read
_SEEN = frozenset([
    "__init__", "__new__", "__post_init__", "__init_subclass__", "__call__", "__repr__", "__str__", "__del__",
    "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__reduce__", "__reduce_ex__",
    "__getstate__", "__setstate__", "__copy__", "__deepcopy__", "__format__", "__dir__", "__class_getitem__",
])  # fmt: skip


#: the packages whose classes are none of the user's
NOT_THE_USERS = {"mindgrad", *sys.stdlib_module_names}


@functools.lru_cache(maxsize=4096)
def is_users_class(kind: Any) -> bool:
    """Whether a class is not of this package and not of Python's library."""
    return kind.__module__.partition(".")[0] not in NOT_THE_USERS


@functools.lru_cache(maxsize=4096)
def is_cell(kind: Any) -> bool:
    """Whether a class is one of Cells."""
    return hasattr(kind, "construct") and hasattr(kind, "parameters_and_names")


@functools.lru_cache(maxsize=4096)
def cached_names(kind: Any) -> tuple[str, ...]:
    """The names of the attributes of a class that are computed once: ``functools.cached_property``."""
    held = [(name, value) for base in kind.__mro__ for name, value in vars(base).items()]
    return tuple(name for name, value in held if isinstance(value, functools.cached_property))


@functools.lru_cache(maxsize=4096)
def is_read_unseen(kind: Any) -> bool:
    """Whether a class of the user's has methods that Python calls itself: ``len(o)``, ``o[k]``, ``o == p``.

    Of its instances all attributes count.
    """
    return any(
        name.startswith("__") and name.endswith("__") and name not in _SEEN
        for base in kind.__mro__
        if base.__module__.partition(".")[0] not in NOT_THE_USERS
        for name, held in vars(base).items()
        if isinstance(held, types.FunctionType)
    )


def is_traced_value(value: Any) -> bool:
    """Whether a value belongs to a program that was traced."""
    if isinstance(value, Tensor):
        return value._array is None
    if isinstance(value, tuple):
        return any(isinstance(x, Tensor) and x._array is None for x in value)
    return False
