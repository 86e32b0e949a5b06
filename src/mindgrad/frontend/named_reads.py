"""Find the attributes that special methods read, by the names in their bytecode.

Special methods such as ``__len__``, constructors, and properties run unconverted, so their reads cannot be
recorded when they happen. Instead, a search starts at the objects that the method can access: its global and
closure variables, ``self``, and its arguments. If such an object has an attribute whose name occurs in the
bytecode of the method, the attribute is recorded as read (``guard_reads``), and the search continues in its
value.
"""

from __future__ import annotations

import collections
import functools
import itertools
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.effect_log import UNDEFINED, Attribute, is_known, note_read
from mindgrad.frontend.owned_objects import is_of_program
from mindgrad.frontend.reach import attribute_names
from mindgrad.frontend.user_functions import (
    NOT_THE_USERS,
    NUMERIC,
    captured,
    cell_content,
    global_names,
    is_cell,
    is_of_library,
    is_users_class,
    names_read,
    root,
)

if TYPE_CHECKING:
    from mindgrad.frontend.guard_reads import Reads

__all__ = ["NamedReads"]

#: special methods that Python calls only when an object or class is created or deleted
_AT_CREATION = frozenset(
    ["__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__del__"]
)
#: code whose bytecode contains one of these names may read any attribute
_ANY = frozenset(["__dict__", "vars", "getattr", "attrgetter", "asdict", "astuple"])
_CONTAINERS = (list, tuple, set, frozenset, dict, types.MappingProxyType, collections.deque)
_PLAIN = (int, float, bool, str, bytes, type(None))
#: packages whose objects are constants of the compiled function, so the search skips them
_KEPT = NUMERIC | {"mindgrad"}
#: attributes of functools objects and bound methods that contain functions, arguments, or the object of the
#: method
_PARTS = ("__func__", "__self__", "__wrapped__", "func", "fget", "args", "keywords")
_WRAPPERS = (
    types.MethodType, staticmethod, classmethod, property, functools.partial, functools.partialmethod,
    functools.cached_property, type(functools.lru_cache(len)),
)  # fmt: skip


class NamedReads:
    """The attributes that the special methods and properties of one class may read.

    Args:
        record: receives the reads.
        kind: the class.
        is_created: whether to include methods that run when an object or a subclass is created.
    """

    __slots__ = ("_count", "_done", "_holders", "_met", "_names", "_record", "_searched", "_waiting")

    def __init__(self, record: Reads, kind: type, is_created: bool) -> None:
        self._record = record
        self._names: dict[str, None] = {}  # in the order in which the search has found them
        self._met: dict[int, Any] = {}
        self._holders: list[Any] = []
        # ``_holders`` contains all objects found so far, and ``_waiting`` the objects that must still be
        # searched. ``_count`` is the number of names in the last search of all ``_holders``. If a name is
        # added, all objects are searched again, each for the names that ``_searched`` does not count
        self._waiting: list[Any] = []
        self._count = 0
        self._searched: dict[int, int] = {}
        self._done: set[tuple[int, str]] = set()
        self._add([method for base in kind.__mro__ for method in self._methods_of(base, is_created)])
        if self._names:
            self._add([kind])

    def note(self, operands: tuple[Any, ...]) -> None:
        """Record the attributes that a call of a special method or property may read.

        Args:
            operands: the object on which the method is called, and the arguments of the call.
        """
        if not self._names:
            return
        self._add([*operands])
        while True:
            if self._count != len(self._names):  # search all objects again for the new names
                self._count = len(self._names)
                self._waiting = [*self._holders]
            if not self._waiting:
                return
            holder = self._waiting.pop()
            start = self._searched.get(id(holder), 0)
            self._searched[id(holder)] = len(self._names)
            for name in [*itertools.islice(self._names, start, None)]:
                self._add([*self._read(holder, name)])
            if not _ANY.isdisjoint(self._names):
                for name in _names_of(holder):
                    if (id(holder), name) not in self._done:
                        self._done.add((id(holder), name))
                        self._add([*self._read(holder, name)])

    def _methods_of(self, base: type, is_created: bool) -> Iterator[Any]:
        if not is_users_class(base):
            return
        for name, value in vars(base).items():
            is_special = name[:2] == "__" == name[-2:] and (is_created or name not in _AT_CREATION)
            method = getattr(value, "__func__", value)
            if is_special and isinstance(method, types.FunctionType) and not is_of_library(method):
                self._record.method(base, name)
                yield method
            elif isinstance(value, (property, functools.cached_property)):
                yield value

    def _add(self, values: list[Any]) -> None:
        """Add ``values``, their items, and the variables of functions to the search."""
        while values:
            value = values.pop()
            kind: Any = type(value)
            if kind in _PLAIN or id(value) in self._met:
                continue
            self._met[id(value)] = value
            if isinstance(value, types.FunctionType):
                values += self._values_of(value)
            elif isinstance(value, _WRAPPERS):
                values += [getattr(value, name, None) for name in _PARTS]
            elif isinstance(value, _CONTAINERS):
                values += _items(value)
            if _may_hold(value):
                self._holders.append(value)
                self._waiting.append(value)
                if isinstance(value, type):
                    self._record.unconverted(value, is_created=True)
                else:
                    values.append(kind)
                    self._record.class_of(value)

    def _values_of(self, function: types.FunctionType) -> list[Any]:
        """Record the variables that ``function`` reads, and return their values.

        The names in the bytecode of ``function`` are added to the attribute names for which the search looks.
        """
        if is_of_library(function):
            return []
        self._record.variables(function)
        self._names.update(dict.fromkeys(names_read(function.__code__)))
        values = [function.__globals__.get(name) for name in global_names(function.__code__)]
        values += [cell_content(cell) for _, cell in captured(function)]
        return [*values, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]

    def _read(self, holder: Any, name: str) -> Iterator[Any]:
        """Record the read of ``holder.name``, and yield the value if there is one."""
        if isinstance(holder, type):
            bases = [base for base in holder.__mro__ if is_users_class(base) and name in vars(base)]
            for base in bases if "super" in self._names else bases[:1]:
                self._record.method(holder if base is bases[0] else base, name, "attribute")
                yield vars(base)[name]
            return
        kind: Any = type(holder)
        value = _own(holder, name)
        if value is not UNDEFINED:
            if self._is_noted(holder, name):
                self._record.attribute(holder, name, value)
                note_read(Attribute(holder, name))
            yield value
        elif is_users_class(kind) and hasattr(kind, name) and self._is_noted(holder, name):
            self._record.method(holder, name, "attribute")
            if is_cell(kind):  # a property is not called, because its code would not be converted
                note_read(Attribute(holder, name), own=isinstance(getattr(kind, name), property))

    def _is_noted(self, holder: Any, name: str) -> bool:
        """Return whether guards must compare ``holder.name``.

        They need not if the trace has created or assigned it, or if they compare all of ``holder``.
        """
        is_own = is_of_program(holder) or is_known(holder, name)
        return not (is_own or self._record.compares_attributes(holder))


def _items(container: Any) -> list[Any]:
    """List the items of a container without calling methods of a user's subclass.

    Numbers, strings, and ``None`` are left out, because the search does not enter them.
    """
    kind: Any = next(base for base in _CONTAINERS if isinstance(container, base))
    items = kind.values(container) if hasattr(kind, "values") else kind.__iter__(container)
    return [item for item in items if type(item) not in _PLAIN]


def _own(holder: Any, name: str) -> Any:
    """Return an attribute of ``holder`` itself, not of its class; else ``UNDEFINED``."""
    kind: Any = type(holder)
    if is_cell(kind):
        held = vars(holder)
        return held.get("_cells", {}).get(name, held.get(name, UNDEFINED))
    if name in attribute_names(kind):
        return getattr(holder, name, UNDEFINED)
    return getattr(holder, "__dict__", {}).get(name, UNDEFINED)


def _names_of(holder: Any) -> list[str]:
    """List the names of the attributes of ``holder`` itself, not of its class."""
    kind: Any = type(holder)
    names = [name for name in vars(holder) if name[:2] != "__"] if hasattr(holder, "__dict__") else []
    return [*names, *attribute_names(kind)]


def _may_hold(value: Any) -> bool:
    """Return whether the search must enter the attributes of ``value``.

    It enters objects of Python's standard library, because user code can assign their attributes.
    """
    kind: Any = type(value)
    if isinstance(value, type):
        return is_users_class(value)
    if isinstance(value, types.ModuleType):
        return root(value.__name__) not in NOT_THE_USERS
    if isinstance(value, Tensor) or (root(kind.__module__) in _KEPT and not is_cell(kind)):
        return False
    return hasattr(value, "__dict__") or bool(attribute_names(kind))
