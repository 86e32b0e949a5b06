"""Reads of Python state by a trace, noted as entries of its guards (``guards``)."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.ir.tensor import Tensor
from mindgrad.trace.cell_guards import ALL, INVENTORY, MISSING, UNREAD
from mindgrad.trace.effect_log import UNDEFINED, Attribute, Place, name_of, note_read
from mindgrad.trace.guard_entries import CHANGING, attribute_names, attributes_of, items_of, kind_of, stands
from mindgrad.trace.state_equality import (
    NOT_THE_USERS,
    array_of_tensor,
    attributes,
    checksum,
    elements_of_array,
    has_items,
    held_items,
    holds_state,
    is_cell,
    is_changeable_array,
    is_traced_value,
    is_users_class,
    items,
    keyword_defaults,
    own_attribute,
    static,
)
from mindgrad.trace.user_functions import (
    NUMERIC,
    captured,
    functions_in,
    global_names,
    imported_names,
    in_package,
)

__all__ = ["MAKE_ONCE", "OF_FUNCTIONS", "Reads", "global_names", "is_constant"]

#: the name of the closure variable that rewritten functions have more than those that users wrote
_RUNTIME = "mg__"
#: attributes that Python keeps in classes
_OF_CLASSES = frozenset(
    ["__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__"]
)
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
_OTHER_MODULES = NOT_THE_USERS | NUMERIC
#: special methods that run when an object or class is created, or not while a program is traced
_AT_CREATION = frozenset(
    ["__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__del__"]
)
OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")
_ATTRIBUTE = (
    "Make it a Parameter, pass it as an argument that is a Tensor, or do not change it between calls."
)
MAKE_ONCE = "Define the function once, outside of the loop, and pass what changes as a Tensor."
_FUNCTION = "Call it by a variable of your own program, whose changes are seen."
_CODE_ADVICE = "Define it once."
_VARIABLE = "Pass it as an argument that is a Tensor, or make it a Parameter."


class Reads:
    """Collects the reads of a trace.

    Attributes:
        roots: the traced function and its arguments, with labels.
    """

    __slots__ = ("_constants", "_entries", "_met", "_owners", "roots")

    def __init__(self) -> None:
        # by what is read, so that it is noted once
        self._entries: dict[Any, list[Any]] = {}
        # reads of constants of the program
        self._constants: dict[Any, list[Any]] = {}
        self._met: dict[int, Any] = {}
        self._owners: dict[int, Any] = {}
        self.roots: list[tuple[Any, str]] = []

    def owners(self) -> list[Any]:
        """The Cells that were read."""
        return list(self._owners.values())

    def owner(self, cell: Any) -> None:
        """Note a Cell whose ``construct`` runs: those of its attributes count that the trace reads."""
        if id(cell) not in self._owners:
            self._owners[id(cell)] = cell
            label = f"the __dict__ of {type(cell).__name__}"
            self._entries[("dict", id(cell))] = [attributes_of, cell, "", vars(cell), label, _ATTRIBUTE]
            self.method(cell, "construct")
            self._class(cell)

    def read_of_cell(self, cell: Any, name: str) -> None:
        """Note that an attribute of a Cell is about to be read, by whatever code."""
        self.owner(cell)
        attributes_of_cell = vars(cell)
        for read_name in [*attributes_of_cell, ALL] if name == ALL else [name]:
            key = (id(cell), read_name)
            if key in self._entries or read_name in UNREAD:
                continue
            whose = type(cell).__name__
            label = (
                f"the hooks of {whose}"
                if read_name == "_hooks"
                else f"the attribute '{read_name}' of {whose}"
            )
            if read_name == ALL:
                names = {*attributes_of_cell} - UNREAD
                self._entries[key] = [attribute_names, cell, ALL, names, f"the set of {label}", _ATTRIBUTE]
            elif read_name in INVENTORY:
                label = label if read_name == "_hooks" else f"the inventory of {whose}"
                self._entries[key] = [
                    items,
                    attributes_of_cell[read_name],
                    "",
                    items_of(attributes_of_cell[read_name]),
                    label,
                    _ATTRIBUTE,
                ]
            elif read_name in attributes_of_cell:
                self._entries[key] = [
                    dict.get,
                    attributes_of_cell,
                    read_name,
                    attributes_of_cell[read_name],
                    label,
                    _ATTRIBUTE,
                ]
                self._value(attributes_of_cell[read_name], label)
                self._hidden(type(cell), read_name, label)
            elif read_name[:1] != "_" or not in_package(getattr(type(cell), read_name, None)):
                self._class_attribute(cell, read_name, label)

    def attribute(self, owner: Any, name: str, value: Any, own: bool = False) -> None:
        """Note that ``owner.name`` was read and is ``value``; ``own``: without looking at its class."""
        key = (id(owner), name)
        if key in self._entries:
            return
        kind: Any = type(owner)
        if is_cell(kind):
            self.read_of_cell(owner, name)
            return
        label = f"the attribute '{name}' of {name_of(owner)}"
        read = own_attribute if own else getattr
        self._entries[key] = [read, owner, name, value, label, _ATTRIBUTE]
        self._class(owner)
        if value is not MISSING:
            self._value(value, label)

    def constant(self, module: types.ModuleType, name: str, value: Any) -> None:
        """Note that a function or class of a library was read, which is a constant of the program."""
        label = f"the function '{name}' of {module.__name__}"
        self._constants.setdefault((id(module), name), [getattr, module, name, value, label, _FUNCTION])

    def _class(self, owner: Any) -> None:
        """Note the class of an object."""
        kind: Any = type(owner)
        if is_users_class(kind) or id(owner) in self._owners:
            label = f"the class of {kind.__name__}"
            entry = [kind_of, owner, "__class__", kind, label, _CODE_ADVICE]
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
        self._first_of(kind.__mro__, name, label)

    def inherited(self, kind: type, after: type, name: str) -> None:
        """Note the attribute that ``super(after, owner).name`` finds for an owner of class ``kind``."""
        order = kind.__mro__
        label = f"the method '{name}' that {after.__qualname__} inherits"
        self._first_of(order[order.index(after) + 1 :], name, label)

    def _first_of(self, bases: tuple[type, ...], name: str, label: str) -> None:
        """Note an attribute of the first of these classes that has it, and that no class before it does."""
        for base in bases:
            value = vars(base).get(name, MISSING)
            if value is not MISSING or is_users_class(base):
                entry = [static, base, name, value, label, _CODE_ADVICE]
                self._entries.setdefault(("class", id(base), name), entry)
            if value is not MISSING:
                self._value(value, label)
                return

    def _hidden(self, kind: type, name: str, label: str) -> None:
        """Note that the user's classes have no attribute, as a property, that hides one of the instance."""
        for base in kind.__mro__:
            if is_users_class(base):
                entry = [static, base, name, vars(base).get(name, MISSING), label, _CODE_ADVICE]
                self._entries.setdefault(("class", id(base), name), entry)

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

    def special_methods(self, kind: type, is_created: bool = False) -> None:
        """Note the variables of the methods of a user's class that Python calls itself, unconverted.

        ``is_created``: also of those that run when an object is created.
        """
        for base in kind.__mro__:
            key = ("methods", id(base), is_created)
            if key in self._entries or base.__module__.partition(".")[0] in _OTHER_MODULES:
                continue
            self._entries[key] = []
            for name, held in vars(base).items():
                is_special = name[:2] == "__" == name[-2:] and (is_created or name not in _AT_CREATION)
                for method in (getattr(held, "__func__", held) if is_special else None, *_computed_by(held)):
                    if isinstance(method, types.FunctionType):
                        self._unconverted(method, kind)

    def _unconverted(self, function: types.FunctionType, kind: type) -> None:
        """Note the variables of a method that is not converted, and of the functions that it calls."""
        waiting = [function]
        while waiting:
            method = waiting.pop()
            code, namespace = method.__code__, method.__globals__
            module = str(namespace.get("__name__")).partition(".")[0]
            if id(method) in self._met or module in _OTHER_MODULES:
                continue
            self._met[id(method)] = method
            self._variables(method)
            read = [namespace.get(name) for name in global_names(code)]
            read += [inspect.getattr_static(kind, name, None) for name in code.co_names]
            for value in read:
                called = getattr(value, "__func__", value)
                if isinstance(called, types.FunctionType):
                    waiting.append(called)
                elif isinstance(value, type):
                    self.special_methods(value, is_created=True)

    def contents(self, owner: Any, label: str) -> None:
        """Note everything that an object holds itself: code that is not converted may read it."""
        kind: Any = type(owner)
        if isinstance(owner, types.FunctionType):
            if not in_package(owner):
                self._variables(owner)
        elif is_cell(kind):
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
        """Note all global variables of a module, and the contents of those that the user has defined."""
        entry = [items, names, "", items_of(names), "the global variables", _VARIABLE]
        self._entries.setdefault(("value", id(names)), entry)
        self.roots.append((names, "the global variables"))
        for name, value in names.items():
            if name[:2] != "__":
                self._value(value, f"the global variable '{name}'")

    def _attributes(self, owner: Any, label: str) -> None:
        entry = [attributes, owner, "", attributes(owner, "", None), label, _ATTRIBUTE]
        self._entries.setdefault(("value", id(owner)), entry)

    def _variables(self, function: types.FunctionType) -> None:
        self._of_function(function)
        code, namespace = function.__code__, function.__globals__
        self._imports(code, str(namespace.get("__package__") or ""))
        key: Any
        for name in global_names(code):
            key = (id(namespace), name)
            if key in self._entries:
                continue
            value = namespace.get(name, MISSING)
            label = f"the global variable '{name}'"
            self._entries[key] = [dict.get, namespace, name, value, label, _VARIABLE]
            self._value(value, label)
        for name, cell in captured(function):
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

    def _imports(self, code: types.CodeType, package: str) -> None:
        """Note the attributes of modules that ``from module import name`` reads inside a function."""
        for path, names in imported_names(code):
            try:
                module = sys.modules[importlib.util.resolve_name(path, package)]
            except (ImportError, KeyError):  # outside of any package, or not imported yet
                continue
            for name in names:
                value = getattr(module, name, MISSING)
                if is_constant(module, value):
                    self.constant(module, name, value)
                else:
                    self.attribute(module, name, value)
                    note_read(Attribute(module, name))

    def _of_function(self, function: types.FunctionType) -> None:
        """Note the code of a function and its defaults."""
        label = f"the function {function.__qualname__}"
        for name in OF_FUNCTIONS:
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
            if not is_cell(kind):
                self.special_methods(kind)
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
                self._entries[key] = [items, value, "", items_of(value), label, _VARIABLE]
                waiting.extend(held_items(value))
            elif isinstance(value, np.ndarray) or is_changeable_array(value):
                elements: Any = elements_of_array(value, "", None)
                read: Any = elements_of_array
                # else a constant of the program, which the trace must not change either
                if elements is None and isinstance(value, np.ndarray) and value.flags.writeable:
                    read, elements = checksum, checksum(value, "", None)
                if elements is not None:
                    self._entries[key] = [read, value, "", elements, label, _VARIABLE]
            elif holds_state(value):
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
            is_of_class = before is MISSING and entry[0] is getattr and not isinstance(holder, type)
            entry[3] = getattr(type(holder), name, MISSING) if is_of_class else before
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
        entries = [
            e for e in self._entries.values() if len(e) == 6 and e[0] in CHANGING and e[3] is not MISSING
        ]
        return [e for e in entries if not is_traced_value(e[3]) and not stands(e) and not _is_computed(e)]

    def compares(self, holder: Any) -> bool:
        """Whether the contents of an object are compared."""
        return bool(self._entries.get(("value", id(holder))))

    def effect_on(self, holder: Any) -> list[Any] | None:
        """The entry of an object if its contents have changed since they were read."""
        entry = self._entries.get(("value", id(holder)))
        return entry if entry and entry[0] in CHANGING and not stands(entry) else None


def _is_computed(entry: list[Any]) -> bool:
    """Whether a read ran Python, a property or ``__getattr__``: it may return a new object each time."""
    read, holder, name = entry[:3]
    if read is not getattr or name in getattr(holder, "__dict__", ()):
        return False
    for kind in type(holder).__mro__:
        if name in vars(kind):
            descriptor = type(vars(kind)[name])
            return hasattr(descriptor, "__get__") and descriptor is not types.MemberDescriptorType
    return getattr(holder, name, MISSING) is not MISSING


def _computed_by(held: Any) -> Sequence[Any]:
    """The functions that reading an attribute runs whose class holds ``held``."""
    return (held.fget,) if isinstance(held, property) else (getattr(held, "func", None),)


def is_constant(module: types.ModuleType, value: Any) -> bool:
    """Whether an attribute of a module is a constant of the program: functions and classes of libraries."""
    return isinstance(value, _CODE) and module.__name__.partition(".")[0] in _OTHER_MODULES
