"""Guards record the Python state that a trace read besides its arguments, and check it at the next call.

The rule, which the page "Graph mode" states for users:

    Cells       every attribute that the trace read, in whatever way it changes: of the Cell, of its class, a
                method, an item of a container of Cells, a Parameter, a hook
    variables   globals, closure variables, defaults and attributes of objects and of the user's modules:
                compared by identity, then as constants are (:func:`~mindgrad.trace.signature.same`)
    contents    lists, dicts, sets and other containers of Python by their items; NumPy arrays and tensors of
                at most 256 KiB by their elements
    the rest    is a constant of the program: larger arrays, the insides of libraries, files, the environment

Every read is one entry ``[read, holder, name, value, label, advice]``: ``read(holder, name, MISSING)`` is the
question, ``value`` the answer that the trace got. Before each call of a compiled program all questions are
asked again, those of one kind in one pass that runs no Python code.
"""

from __future__ import annotations

import dis
import functools
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from operator import attrgetter, is_
from typing import Any, NamedTuple

import numpy as np

from mindgrad.ir.tensor import Tensor
from mindgrad.trace.cell_guards import ALL, INVENTORY, MISSING, UNREAD
from mindgrad.trace.effect_log import UNDEFINED, Attribute, Global, Place, Variable, may_assign, name_of
from mindgrad.trace.signature import alike, same, shown
from mindgrad.trace.state_equality import (
    CONTAINERS,
    array_of_tensor,
    attributes,
    checksum,
    elements_of_array,
    has_items,
    held_items,
    is_changeable_array,
    is_read_unseen,
    is_traced_value,
    is_users_class,
    items,
    keyword_defaults,
    own_attribute,
    same_elements,
    same_items,
    static,
)
from mindgrad.trace.user_functions import functions_in, in_package

__all__ = [
    "CONTENTS",
    "MAKE_ONCE",
    "MISSING",
    "Change",
    "Clock",
    "Dependencies",
    "change",
    "clock",
    "global_names",
]

#: the name of the closure variable that rewritten functions have more than those that users wrote
_RUNTIME = "mg__"
#: attributes that Python keeps in classes
_OF_CLASSES = frozenset(
    ["__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__"]
)
_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")


class Clock:
    """Counts the changes of Cells' attributes and of Parameters' types in the whole process."""

    __slots__ = ("ticks",)

    def __init__(self) -> None:
        self.ticks = 0

    def tick(self) -> None:
        """Say that one changed; called after the change."""
        self.ticks += 1


clock = Clock()


class Change(NamedTuple):
    """The reason why a program was not used again.

    Attributes:
        what: what changed: an argument, an attribute, a global, ….
        text: the whole reason.
        advice: what to do if it keeps changing.
    """

    what: str
    text: str
    advice: str


def change(subject: str, before: Any, after: Any, advice: str) -> Change:
    """The change of ``subject`` from one value to another."""
    old_text, new_text = shown(before), shown(after)
    if before is MISSING or after is MISSING:
        text = f"{subject} was {'deleted' if after is MISSING else 'defined'}"
    elif old_text == new_text:
        text = f"{subject} changed to another one ({new_text})"
    else:
        text = f"{subject} changed from {old_text} to {new_text}"
    return Change(subject, text, advice)


_ATTRIBUTE = (
    "Make it a Parameter, pass it as an argument that is a Tensor, or do not change it between calls."
)
MAKE_ONCE = "Define the function once, outside of the loop, and pass what changes as a Tensor."
_CODE_ADVICE = "Define it once."
_VARIABLE = "Pass it as an argument that is a Tensor, or make it a Parameter."


class _Pass:
    """Entries of one kind of read, which are asked in one pass."""

    __slots__ = ("_ask", "_values", "entries")

    def __init__(
        self, entries: list[list[Any]], ask: Callable[[list[list[Any]]], Callable[[], Iterator]]
    ) -> None:
        self.entries = entries
        self._ask = ask(entries)
        self._values = [entry[3] for entry in entries]

    def hold(self) -> bool:
        if all(map(is_, self._ask(), self._values)):
            return True
        if not all(map(Dependencies.stands, self.entries)):
            return False
        self._values = [entry[3] for entry in self.entries]  # the next question is quick again
        return True


def _reader(read: Callable[..., Any]) -> Callable[[list[list[Any]]], Callable[[], Iterator]]:
    """Asks ``read(holder, name, MISSING)`` of every entry."""

    def prepared(entries: list[list[Any]]) -> Callable[[], Iterator]:
        holders, names = [_holder(entry) for entry in entries], [entry[2] for entry in entries]
        return lambda: map(read, holders, names, repeat(MISSING))

    return prepared


def _kinds(entries: list[list[Any]]) -> Callable[[], Iterator]:
    holders = [entry[1] for entry in entries]
    return lambda: map(type, holders)


def _kind(holder: Any, _: str, __: Any) -> Any:
    return type(holder)


def _holder(entry: list[Any]) -> Any:
    return vars(entry[1]) if entry[0] is static else entry[1]


def _of_cells(entries: list[list[Any]]) -> Callable[[], Iterator]:
    cells = [entry[1] for entry in entries]
    content = attrgetter("cell_contents")
    return lambda: map(content, cells)


class _Inventory:
    """Dictionaries with names as keys: those of Cells that hold their Parameters, Cells and hooks."""

    __slots__ = ("_dicts", "_empty", "_keys", "_values", "entries")

    def __init__(self, entries: list[list[Any]]) -> None:
        self.entries = entries
        self._empty = [entry[1] for entry in entries if not entry[3]]
        entries = [entry for entry in entries if entry[3]]
        self._dicts = [entry[1] for entry in entries]
        held = [(entry[3], len(entry[3]) // 2) for entry in entries]  # names, then values
        self._keys = [each[:count] for each, count in held]
        self._values = [value for each, count in held for value in each[count:]]

    def hold(self) -> bool:
        if any(self._empty):
            return False
        if [*map(tuple, self._dicts)] == self._keys and all(
            map(is_, chain.from_iterable(map(dict.values, self._dicts)), self._values)
        ):
            return True
        return all(map(Dependencies.stands, self.entries))


class Dependencies:
    """Collects the reads of a trace; :meth:`close` ends that, :meth:`hold` asks whether they still stand."""

    __slots__ = (
        "_cells", "_contents", "_entries", "_inventory", "_met", "_names", "_owners", "_passes", "_ticks",
        "_typed", "roots",
    )  # fmt: skip

    def __init__(self) -> None:
        # while tracing: by what is read, so that it is noted once
        self._entries: dict[Any, list[Any]] = {}
        self._met: dict[int, Any] = {}
        self._owners: dict[int, Any] = {}
        #: the traced function and its arguments, with labels
        self.roots: list[tuple[Any, str]] = []
        self._ticks = -1
        #: (the Parameter, its type)
        self._typed: list[tuple[Any, Any]] = []
        # closed: the entries of closure cells, of contents, of inventories and of everything else
        self._names: list[list[Any]] = []
        self._cells: list[list[Any]] = []
        self._contents: list[list[Any]] = []
        self._inventory: list[list[Any]] = []
        self._passes: list[Any] | None = None

    # -- while tracing ---------------------------------------------------------------------------

    def owner(self, cell: Any) -> None:
        """Note a Cell whose ``construct`` runs: those of its attributes count that the trace reads."""
        if id(cell) not in self._owners:
            self._owners[id(cell)] = cell
            self.method(cell, "construct")
            self._class(cell)

    def read_of_cell(self, cell: Any, name: str) -> None:
        """Note that an attribute of a Cell is about to be read, by whatever code."""
        self.owner(cell)
        held = vars(cell)
        for each in [*held, ALL] if name == ALL else [name]:
            key = (id(cell), each)
            if key in self._entries or each in UNREAD:
                continue
            whose = type(cell).__name__
            label = f"the hooks of {whose}" if each == "_hooks" else f"the attribute '{each}' of {whose}"
            if each == ALL:
                names = {*held} - UNREAD
                self._entries[key] = [_attribute_names, cell, ALL, names, f"the set of {label}", _ATTRIBUTE]
            elif each in INVENTORY:
                label = label if each == "_hooks" else f"the inventory of {whose}"
                self._entries[key] = [items, held[each], "", _items_of(held[each]), label, _ATTRIBUTE]
            elif each in held:
                self._entries[key] = [dict.get, held, each, held[each], label, _ATTRIBUTE]
                self._value(held[each], label)
                self._hidden(type(cell), each, label)
            elif each[:1] != "_" or not in_package(getattr(type(cell), each, None)):
                self._class_attribute(cell, each, label)

    def attribute(self, owner: Any, name: str, value: Any, own: bool = False) -> None:
        """Note that ``owner.name`` was read and is ``value``; ``own``: without looking at its class."""
        key = (id(owner), name)
        if key in self._entries:
            return
        kind: Any = type(owner)
        if hasattr(kind, "construct") and hasattr(owner, "attributes_version"):
            self.read_of_cell(owner, name)
            return
        label = f"the attribute '{name}' of {name_of(owner)}"
        read = own_attribute if own else getattr
        self._entries[key] = [read, owner, name, value, label, _ATTRIBUTE]
        self._class(owner)
        if value is not MISSING:
            self._value(value, label)

    def _class(self, owner: Any) -> None:
        """Note the class of an object."""
        kind: Any = type(owner)
        if is_users_class(kind) or id(owner) in self._owners:
            label = f"the class of {kind.__name__}"
            entry = [_kind, owner, "__class__", kind, label, _CODE_ADVICE]
            self._entries.setdefault((id(owner), "__class__"), entry)

    def method(self, owner: Any, name: str) -> None:
        """Note that the class of ``owner``, or ``owner`` if it is one, has this method or property."""
        kind = owner if isinstance(owner, type) else type(owner)
        self._class(owner)
        self._class_attribute(owner, name, f"the method '{name}' of {kind.__qualname__}")

    def _class_attribute(self, owner: Any, name: str, label: str) -> None:
        """Note an attribute that the class of ``owner`` has, and no class before it, nor ``owner`` itself."""
        kind = owner if isinstance(owner, type) else type(owner)
        if kind is not owner and hasattr(owner, "__dict__") and name not in owner.__dict__:
            key = ("own", id(owner), name)
            own = [dict.get, owner.__dict__, name, MISSING, label, _CODE_ADVICE]
            self._entries.setdefault(key, own)
        for each in kind.__mro__:
            value = vars(each).get(name, MISSING)
            if value is not MISSING or is_users_class(each):
                entry = [static, each, name, value, label, _CODE_ADVICE]
                self._entries.setdefault(("class", id(each), name), entry)
            if value is not MISSING:
                self._value(value, label)
                return

    def _hidden(self, kind: type, name: str, label: str) -> None:
        """Note that the user's classes have no attribute, as a property, that hides one of the instance."""
        for each in kind.__mro__:
            if is_users_class(each):
                entry = [static, each, name, vars(each).get(name, MISSING), label, _CODE_ADVICE]
                self._entries.setdefault(("class", id(each), name), entry)

    def function(self, function: Any) -> None:
        """Note the globals and closure variables that ``function`` reads.

        Of a function of this package, those of the user's functions in its closure.
        """
        self._value(function, "the compiled function")
        kind: Any = type(function)
        if is_users_class(kind) and not hasattr(kind, "construct") and hasattr(kind, "__call__"):  # noqa: B004
            self.method(function, "__call__")
        for each in functions_in(function):
            construct = getattr(each, "construct", None)
            target = each if construct is None else construct
            target = getattr(target, "__func__", target)
            if isinstance(target, types.FunctionType) and id(target) not in self._met:
                self._met[id(target)] = target
                if not in_package(target):
                    self._variables(target)

    def contents(self, owner: Any, label: str) -> None:
        """Note everything that an object holds itself: code that is not converted may read it."""
        kind: Any = type(owner)
        if isinstance(owner, types.FunctionType):
            if not in_package(owner):
                self._variables(owner)
        elif hasattr(type(owner), "construct") and hasattr(owner, "attributes_version"):
            self.read_of_cell(owner, ALL)
        elif isinstance(owner, type):
            for name, value in vars(owner).items():
                if name not in _OF_CLASSES:
                    entry = [static, owner, name, value, label, _CODE_ADVICE]
                    self._entries.setdefault(("class", id(owner), name), entry)
        elif hasattr(owner, "__dict__") and is_users_class(kind):
            self._attributes(owner, label)
        else:
            self._value(owner, label)

    def namespace(self, names: dict[str, Any]) -> None:
        """Note all global variables of a module."""
        entry = [items, names, "", _items_of(names), "the global variables", _VARIABLE]
        self._entries.setdefault(("value", id(names)), entry)

    def _attributes(self, owner: Any, label: str) -> None:
        entry = [attributes, owner, "", attributes(owner, "", None), label, _ATTRIBUTE]
        self._entries.setdefault(("value", id(owner)), entry)

    def _variables(self, function: types.FunctionType) -> None:
        self._of_function(function)
        code, namespace = function.__code__, function.__globals__
        key: Any
        for name in global_names(code):
            key = (id(namespace), name)
            if key in self._entries:
                continue
            value = namespace.get(name, MISSING)
            label = f"the global variable '{name}'"
            self._entries[key] = [dict.get, namespace, name, value, label, _VARIABLE]
            self._value(value, label)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:  # assigned later
                continue
            key = ("cell", id(cell))
            if key in self._entries or name in ("__class__", _RUNTIME):
                continue
            label = f"the variable '{name}' that {function.__qualname__} uses"
            self._entries[key] = [None, cell, name, value, label, _VARIABLE]
            self._value(value, label)
            # a wrapped function runs as part of its wrapper
            if isinstance(value, types.FunctionType):
                self.function(value)

    def _of_function(self, function: types.FunctionType) -> None:
        """Note the code of a function and its defaults."""
        label = f"the function {function.__qualname__}"
        for name in _OF_FUNCTIONS:
            value = getattr(function, name)
            self._entries[(id(function), name)] = [getattr, function, name, value, label, _CODE_ADVICE]
        defaults, keywords = function.__defaults__ or (), function.__kwdefaults__
        label = f"the defaults of {function.__qualname__}"
        if keywords:
            value = keyword_defaults(function, "__kwdefaults__", None)
            entry = [keyword_defaults, function, "__kwdefaults__", value, label, _CODE_ADVICE]
            self._entries[(id(function), "contents of __kwdefaults__")] = entry
        for value in (*defaults, *(keywords or {}).values()):
            self._value(value, label)

    def _value(self, value: Any, label: str) -> None:
        """Note the contents of mutable objects."""
        waiting = [value]
        while waiting:
            value = waiting.pop()
            kind: Any = type(value)
            if isinstance(value, tuple):
                waiting.extend(value)
                continue
            if isinstance(value, (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)):
                if not isinstance(value.__self__, types.ModuleType):
                    waiting.append(value.__self__)
                continue
            key = ("value", id(value))
            if key in self._entries:
                continue
            if isinstance(value, Tensor):
                if not value.is_parameter and not value.is_traced:
                    self._entries[key] = [array_of_tensor, value, "", value._array, label, _VARIABLE]
            elif has_items(value):
                self._entries[key] = [items, value, "", _items_of(value), label, _VARIABLE]
                waiting.extend(held_items(value))
            elif isinstance(value, np.ndarray) or is_changeable_array(value):
                elements: Any = elements_of_array(value, "", None)
                read: Any = elements_of_array
                if elements is None:  # a constant of the program, which the trace must not change either
                    read, elements = checksum, checksum(value, "", None)
                if elements is not None:
                    self._entries[key] = [read, value, "", elements, label, _VARIABLE]
            elif hasattr(value, "__dict__") and is_read_unseen(kind):
                self._attributes(value, label)
                waiting.extend(vars(value).values())

    def assigned(self, location: Place, before: Any, counts: bool) -> None:
        """Note that the program assigns ``location``, which held ``before``.

        ``counts``: whether that selects the program. It does not if the program has not read it before, or
        takes it as an input.
        """
        holder, name = location.holder, location.name
        before = MISSING if before is UNDEFINED else before
        for key in (location.key, ("cell", id(holder)), ("own", id(holder), name)):
            if not counts:
                self._entries.pop(key, None)
        entry = self._entries.get(location.key)
        if entry and counts:
            entry[3] = before
        entry = self._entries.get(("value", id(holder)))
        if entry and entry[0] is attributes:  # each by itself, but this one
            label = entry[4]
            self._entries[("value", id(holder))] = []
            for attribute, value in vars(holder).items():
                if attribute != name or counts:
                    value = before if attribute == name else value
                    record = [own_attribute, holder, attribute, value, label, _ATTRIBUTE]
                    self._entries.setdefault((id(holder), attribute), record)

    def effects(self) -> list[list[Any]]:
        """The entries of objects whose contents have changed since they were read."""
        found = [
            e for e in self._entries.values() if len(e) == 6 and e[0] in _CHANGING and e[3] is not MISSING
        ]
        return [e for e in found if not is_traced_value(e[3]) and not self.stands(e)]

    def compares(self, holder: Any) -> bool:
        """Whether the contents of an object are compared."""
        return bool(self._entries.get(("value", id(holder))))

    def effect_on(self, holder: Any) -> list[Any] | None:
        """The entry of an object if its contents have changed since they were read."""
        entry = self._entries.get(("value", id(holder)))
        return entry if entry and entry[0] in _CHANGING and not self.stands(entry) else None

    # -- closed ----------------------------------------------------------------------------------

    def close(self, parameters: list[Any]) -> None:
        """End the trace; ``parameters`` are those that the program reads or writes.

        Left out: what the traced function changed itself, and objects that nothing else refers to.
        """
        self._typed = [(p, p.type) for p in parameters]
        entries = [e for e in self._entries.values() if len(e) == 6 and e[0] is not checksum]
        entries = [e for e in entries if not is_traced_value(e[3]) and self.stands(e)]
        cells = [weakref.ref(each) for each in self._owners.values()]
        self._entries, self._met, self._owners, self.roots = {}, {}, {}, []
        holders: dict[int, list[list[Any]]] = {}
        group: list[list[Any]] = []
        while entries:
            entry = entries.pop()
            holders.setdefault(id(entry[1]), []).append(entry)
        for group in holders.values():
            # an object, list or closure of the traced function alone: no one can change it now.
            # References: one per entry, and that of the call
            if sys.getrefcount(group[0][1]) > len(group) + 1:
                for entry in group:
                    read = entry[0]
                    if read in CONTENTS:
                        kept = self._inventory if _is_inventory(entry) else self._contents
                    else:
                        kept = self._names
                    (self._cells if read is None else kept).append(entry)
        del holders, group
        self._owners = {id(cell): cell for cell in (each() for each in cells) if cell is not None}

    def _prepared(self) -> list[Any]:
        """The entries in passes, each of one kind of read."""
        by_read: dict[Any, list[list[Any]]] = {getattr: [], dict.get: [], static: [], _kind: []}
        others = list(self._contents)
        for entry in self._names:
            by_read.get(entry[0], others).append(entry)
        passes: list[Any] = [
            _Pass(by_read[getattr], _reader(getattr)),
            _Pass(by_read[dict.get], _reader(dict.get)),
            _Pass(by_read[static], _reader(types.MappingProxyType.get)),
            _Pass(by_read[_kind], _kinds),
            _Pass([e for e in self._cells if type(e[1]) is not int], _of_cells),
            _Inventory(self._inventory),
            _Slow(others),
        ]
        self._passes = [each for each in passes if each.entries]
        return self._passes

    def hold(self) -> bool:
        """Whether everything still is as it was."""
        ticks = clock.ticks
        if ticks != self._ticks:
            if not all(p.type is type_ for p, type_ in self._typed):
                return False
            self._ticks = ticks
        try:
            for each in self._prepared() if self._passes is None else self._passes:
                if not each.hold():
                    return False
        except Exception:  # a variable that was deleted; a user's ``__getattr__`` that raises
            return False
        return True

    @staticmethod
    def stands(entry: list[Any]) -> bool:
        """The slow question, for a value that is not the very same object."""
        read, holder, name, value, _, _ = entry
        now = _read(read, holder, name)
        if now is value:
            return True
        if read is items or read is attributes or read is keyword_defaults:
            return same_items(now, value)
        if read is elements_of_array or read is checksum or read is _attribute_names:
            return now == value
        if read is array_of_tensor:
            if not same_elements(holder, value):
                return False
        elif not same(value, now) or isinstance(value, CONTAINERS):
            return False
        entry[3] = now  # the next question is quick again
        return True

    def _all(self) -> list[list[Any]]:
        cells = [entry for entry in self._cells if type(entry[1]) is not int]
        return [*self._names, *cells, *self._inventory, *self._contents]

    def changes(self) -> Iterator[Change]:
        """The changes, in words."""
        for parameter, type_ in self._typed:
            if parameter.type is not type_:
                text = f"Parameter '{parameter.name}' changed from {type_} to {parameter.type}"
                advice = "Give the Parameter its final shape and dtype before the first call."
                yield Change(f"Parameter '{parameter.name}'", text, advice)
        for entry in self._all():
            if not self.stands(entry):
                read, holder, name, value, label, advice = entry
                if name in _OF_FUNCTIONS:
                    yield Change(label, f"{label} was defined anew", advice)
                elif read in CONTENTS:
                    yield Change(label, f"the contents of {label} changed", advice)
                else:
                    yield change(label, value, _read(read, holder, name), advice)

    def shifting(self) -> list[Place]:
        """The places whose tensors and floats differ from those that were read in value, not in type."""
        locations: list[Place] = []
        cells = {id(vars(cell)): cell for cell in self.owners()}
        for read, holder, name, before, label, _ in self._names:
            if read in (getattr, dict.get) and alike(before, _read(read, holder, name)):
                cell = cells.get(id(holder), holder)
                if read is dict.get and cell is holder:
                    locations.append(Global(holder, name, label))
                elif may_assign(cell, name):
                    locations.append(Attribute(cell, name))
        for _, cell, name, before, label, _ in self._cells:
            if type(cell) is not int and alike(before, _read(None, cell, name)):
                locations.append(Variable(cell, name, label))
        return locations

    def detached(self, cells: list[Any], walked: set[int]) -> Dependencies:
        """A copy for any function that matches the traced one.

        Args:
            cells: the closure cells of the traced function.
            walked: the functions in it, by ``id``: of one that matches they are the same.
        """
        places = {id(cell): index for index, cell in enumerate(cells)}
        dependencies = self._copy()
        dependencies._names = [
            e for e in dependencies._names if e[2] not in _OF_FUNCTIONS or id(e[1]) not in walked
        ]
        for entry in dependencies._cells:
            index = places.get(id(entry[1]))
            if index is not None:
                entry[1], entry[3] = index, None
        return dependencies

    def attached(self, cells: list[Any], functions: Sequence[Any]) -> Dependencies:
        """The dependencies of a program of a function with these closure cells.

        ``functions``: the user's functions in it.
        """
        dependencies = self._copy()
        for entry in dependencies._cells:
            if type(entry[1]) is int:
                entry[1] = cells[entry[1]]
                entry[3] = _read(None, entry[1], "")
        own = Dependencies()
        for function in functions:
            own._of_function(function)
        dependencies._names += [e for e in own._entries.values() if e[2] in _OF_FUNCTIONS]
        return dependencies

    def _copy(self) -> Dependencies:
        duplicate = Dependencies()
        duplicate._owners = self._owners
        duplicate._typed = self._typed
        duplicate._names = [list(entry) for entry in self._names]
        duplicate._contents = [list(entry) for entry in self._contents]
        duplicate._cells = [list(entry) for entry in self._cells]
        duplicate._inventory = [list(entry) for entry in self._inventory]
        return duplicate

    def owners(self) -> list[Any]:
        """The Cells that were read."""
        return list(self._owners.values())


class _Slow:
    """Entries that are asked one by one."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[list[Any]]) -> None:
        self.entries = entries

    def hold(self) -> bool:
        return all(map(Dependencies.stands, self.entries))


def _items_of(container: Any) -> Any:
    return items(container, "", None)


def _attribute_names(cell: Any, _: str, __: Any) -> Any:
    return {*vars(cell)} - UNREAD


#: reads of the contents of an object, which is the holder itself
CONTENTS = (
    items,
    elements_of_array,
    checksum,
    array_of_tensor,
    attributes,
    _attribute_names,
    keyword_defaults,
)


#: … and of those that may be changed by functions that are not converted
_CHANGING = (items, elements_of_array, checksum, getattr, dict.get)


def _is_inventory(entry: list[Any]) -> bool:
    return entry[0] is items and type(entry[1]) is dict and all(type(key) is str for key in entry[1])


def _read(read: Callable[..., Any] | None, holder: Any, name: str) -> Any:
    if read is not None:
        return read(holder, name, MISSING)
    try:
        return holder.cell_contents
    except ValueError:
        return MISSING


@functools.lru_cache(maxsize=4096)
def global_names(code: types.CodeType) -> tuple[str, ...]:
    """The global names that a function and the functions inside it load."""
    names: dict[str, None] = {}
    waiting = [code]
    while waiting:
        inner = waiting.pop()
        for step in dis.get_instructions(inner):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                names[step.argval] = None
        waiting.extend(c for c in inner.co_consts if isinstance(c, types.CodeType))
    return tuple(names)
