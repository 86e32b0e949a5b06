"""Reachability: find the mutable Python objects that a function can change.

An object *reaches* another object if code can access the second object through the first:

    A function reaches    the contents of its closure, its defaults, and its global variables
    An object reaches     its attributes and items, and all objects that the functions of its class reach
    An iterator reaches   the objects that it iterates over, found by ``_cpython.referents``

``snapshots`` and ``outside_effects`` compare the contents of these objects before and after a trace. The
search does not enter tensors, numbers, strings, functions of mindgrad, or objects of libraries. From Python's
standard library, it enters only objects that contain data: containers, iterators, random number generators,
and files.

A search takes a few tenths of a microsecond per object. It runs once for each traced body of a branch or
loop.
"""

from __future__ import annotations

import array
import collections
import functools
import io
import os
import queue
import random
import types
import weakref
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import numpy as np

from mindgrad.core.base._cpython import referents
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.cell_guards import INVENTORY, UNREAD
from mindgrad.frontend.user_functions import (
    NOT_THE_USERS,
    captured,
    global_names,
    is_cell,
    is_of_library,
    is_users_class,
    root,
)

__all__ = [
    "HOLDERS",
    "attribute_names",
    "is_iterator",
    "objects_in_reach",
    "own_attributes",
    "tensors_in_reach",
]

#: types of immutable objects without mutable parts
_FIXED: Any = (
    bool, int, float, complex, str, bytes, range, slice, type(None), type(Ellipsis), type(NotImplemented),
    types.CodeType, types.FrameType, types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip

#: internal attributes of Cells, which the search skips
_PRIVATE = UNREAD.union(INVENTORY, ["_auto_prefix"])
#: classes of Python's standard library that store a container in an attribute
HOLDERS = (
    collections.UserDict, collections.UserList, collections.ChainMap, weakref.WeakSet,
    weakref.WeakValueDictionary, weakref.WeakKeyDictionary, type(os.environ),
)  # fmt: skip
#: modules of Python's standard library whose iterators the search enters
_DATA = frozenset(["builtins", "collections", "itertools", "types", "contextlib", "queue", "functools"])
#: the search skips a container with more items than this if all items are immutable
_MANY = 4096

_Children = Iterator[tuple[Any, str]]


@functools.lru_cache(maxsize=4096)
def attribute_names(kind: Any) -> tuple[str, ...]:
    """Return the names in ``__slots__`` of a user's class and its base classes."""
    slots = [
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if type(value) is types.MemberDescriptorType and is_users_class(base)
    ]
    return tuple(slots)


def own_attributes(owner: Any) -> dict[str, Any]:
    """Copy the ``__dict__`` of ``owner``, without the internal attributes of Cells."""
    attributes = dict(getattr(owner, "__dict__", {}))
    if is_cell(_type(owner)):
        for name in _PRIVATE:
            attributes.pop(name, None)
    return attributes


def is_iterator(kind: type) -> bool:
    """Return whether ``kind`` is a class of iterators in Python's library.

    Files are excluded.
    """
    return hasattr(kind, "__next__") and not issubclass(kind, io.IOBase) and root(kind.__module__) in _DATA


# -- the children of an object ---------------------------------------------------------------------


def _of_function(function: types.FunctionType) -> _Children:
    code = function.__code__
    for name, cell in captured(function):
        try:
            yield cell.cell_contents, f"'{name}'"
        except ValueError:
            continue
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield value, f"a default of {function.__name__}"
    if is_of_library(function):
        return
    for name, value in function.__dict__.items():
        yield value, f"the attribute '{name}' of {function.__name__}"
    held = function.__globals__
    for name in global_names(code):
        value = held.get(name)
        if isinstance(value, types.ModuleType):
            yield from _of_module(value, code)
        else:
            yield value, f"the global variable '{name}'"


#: maps each module whose functions change a hidden object to this object, such as the global random generator
_HELD: dict[types.ModuleType, Any] = {
    os: os.environ,
    random: random.random.__self__,  # type: ignore[attr-defined]
    np: np.random.rand.__self__,  # type: ignore[attr-defined]
    np.random: np.random.rand.__self__,  # type: ignore[attr-defined]
}


def _of_module(module: types.ModuleType, code: types.CodeType) -> _Children:
    if root(module.__name__) in NOT_THE_USERS:
        if module in _HELD:
            whose = "the environment" if module is os else f"the generator of {module.__name__}"
            yield _HELD[module], whose
        return
    held = vars(module)
    for name in code.co_names:
        value = held.get(name)
        if not isinstance(value, types.ModuleType):
            yield value, f"the global variable '{name}'"


def _type(value: Any) -> Any:
    return type(value)


def _of_class(kind: type) -> _Children:
    for name, value in vars(kind).items():
        if _way(_type(value))[0] is not None:
            yield value, f"the attribute '{name}' of {kind.__name__}"
    for base in kind.__bases__:
        yield base, ""


def _of_instance(owner: Any) -> _Children:
    kind: Any = type(owner)
    of = f"of {kind.__name__}"
    values = list(own_attributes(owner).items())
    for name in attribute_names(kind):
        if (value := getattr(owner, name, None)) is not None:
            values.append((name, value))
    for name, value in values:
        yield value, f"the attribute '{name}' {of}"
    yield kind, ""


def _of_cell(owner: Any, _: str) -> _Children:
    """Yield the Cells inside a Cell, and the other attributes of a user's Cell."""
    for name, cell in vars(owner)["_cells"].items():
        yield cell, f"the Cell '{name}'"
    if is_users_class(_type(owner)):
        yield from _of_instance(owner)


def _items(values: Any, label: str) -> _Children:
    values = list(values)
    if len(values) > _MANY and all(issubclass(kind, _FIXED) for kind in set(map(type, values))):
        return
    for value in values:
        yield value, f"an item of {label}"


def _of_sequence(container: Any, label: str) -> _Children:
    return _items(container, label)


def _of_dict(container: Any, label: str) -> _Children:
    return _items(dict.values(container), label)


def _of_iterator(iterator: Any, label: str) -> _Children:
    for value in referents(iterator):
        for each in value if type(value) is tuple else (value,):
            yield each, label if is_iterator(type(each)) else f"an object that {label} iterates over"


def _of_wrapper(wrapper: Any, _: str) -> _Children:
    names = ("__func__", "__self__", "func", "args", "keywords", "fget", "fset", "fdel", "__wrapped__")
    for name in names:
        if (value := getattr(wrapper, name, None)) is not None and not isinstance(value, types.ModuleType):
            yield value, f"an object that {getattr(wrapper, '__name__', 'a function')} holds"


def _of_cache(function: Any, label: str) -> _Children:
    """Yield the function that ``functools.lru_cache`` wraps, and its cached results."""
    for value in referents(function):
        for each in value.values() if type(value) is dict else (value,):
            yield each, label


_WRAPPERS = (
    types.MethodType, types.BuiltinMethodType, functools.partial, functools.partialmethod, property,
    staticmethod, classmethod, functools.cached_property, types.MethodWrapperType,
)  # fmt: skip


def _nothing(*_: Any) -> _Children:
    return iter(())


@functools.lru_cache(maxsize=8192)
def _way(kind: Any) -> tuple[Callable[[Any, str], _Children] | None, bool]:
    """Return how the search enters instances of a class.

    Returns:
        A function that yields the objects to which an instance refers, or ``None`` if the search does not
        enter instances; and a bool that is true if instances are mutable.
    """
    if issubclass(kind, (*_FIXED, Tensor, np.generic, types.ModuleType)):
        return None, False
    if issubclass(kind, types.FunctionType):
        return lambda f, _: _of_function(f), True
    if issubclass(kind, type):
        return lambda k, _: _of_class(k), True
    if issubclass(kind, _WRAPPERS):
        return _of_wrapper, False
    if issubclass(kind, type(functools.lru_cache(len))):
        return _of_cache, False
    if issubclass(kind, weakref.ref):
        return lambda reference, label: iter([(reference(), label)]), False
    if kind is tuple or issubclass(kind, tuple):
        return _of_sequence, False
    if issubclass(kind, np.ndarray):
        return (lambda a, label: _items(a.flat, label) if a.dtype.hasobject else iter(())), True
    if issubclass(kind, types.CellType):
        return _of_closure_cell, False
    is_users = is_users_class(kind)
    if issubclass(kind, (list, collections.deque, set, frozenset)):
        return _and_attributes(_of_sequence, is_users), not issubclass(kind, frozenset)
    if issubclass(kind, dict):
        return _and_attributes(_of_dict, is_users), True
    if issubclass(kind, (bytearray, array.array, memoryview, random.Random, io.IOBase, *_NUMPY_RANDOM)):
        return _and_attributes(_nothing, is_users), True
    if issubclass(kind, queue.Queue):
        return (lambda q, label: _of_sequence([q.queue], label)), False
    if is_iterator(kind):
        return _of_iterator, True
    holds = kind in _HOLDERS or kind.__module__ == "contextlib"
    if is_cell(kind):
        return _of_cell, True
    if holds or is_users:
        return (lambda owner, _: _of_instance(owner)), True
    return None, False


#: classes of Python's standard library whose attributes the search enters
_HOLDERS = (
    types.SimpleNamespace, collections.UserString, *HOLDERS,
)  # fmt: skip
_NUMPY_RANDOM = (np.random.Generator, np.random.BitGenerator, np.random.RandomState)


def _of_closure_cell(cell: Any, label: str) -> _Children:
    try:
        yield cell.cell_contents, label
    except ValueError:
        return


def _and_attributes(way: Callable[[Any, str], _Children], is_users: bool) -> Callable[[Any, str], _Children]:
    if not is_users:
        return way

    def both(owner: Any, label: str) -> _Children:
        yield from way(owner, label)
        yield from _of_instance(owner)

    return both


def _references(roots: Sequence[tuple[Any, str]]) -> Iterator[tuple[Any, str, bool]]:
    """Search the objects that code can reach from ``roots``; yield each reference.

    Yields:
        The object, its label, and whether it is a mutable object that the search has not found before.
    """
    met: set[int] = set()
    waiting = list(roots)
    while waiting:
        value, label = waiting.pop()
        way, changes = _way(_type(value))
        is_left_out = (
            way is None or id(value) in met or (isinstance(value, type) and not is_users_class(value))
        )
        yield value, label, changes and not is_left_out
        if way is not None and not is_left_out:
            met.add(id(value))
            waiting.extend(way(value, label))


def objects_in_reach(
    roots: Sequence[tuple[Any, str]], also: Container[int] = ()
) -> Iterator[tuple[Any, str]]:
    """Yield the mutable objects that code can access through ``roots``, with labels.

    Args:
        roots: pairs of an object and its label for messages.
        also: ``id`` of objects to yield even if they are immutable. Such an object is yielded once for each
            reference to it.
    """
    for value, label, is_mutable in _references(roots):
        if id(value) in also:
            yield value, label
        if is_mutable:
            yield value, label


def tensors_in_reach(root: Any) -> Iterator[Tensor]:
    """Yield the tensors that code can access through ``root``."""
    for value, _, _ in _references([(root, "")]):
        if isinstance(value, Tensor):
            yield value
