"""Record the Python state that a trace reads, as entries of its guards.

Each read is stored as one *entry*, a list ``[read, holder, name, value, label, advice]``:

- ``read`` is a function such as ``getattr``, and ``value`` is the result of ``read(holder, name, MISSING)``
  during the trace. Guards call ``read`` again and compare the new result with ``value``. If ``read`` is a
  :class:`~mindgrad.frontend.contents.Kind`, they compare the contents of ``holder``, such as the items of a
  list.
- ``label`` describes the state, and ``advice`` explains how to avoid changes. Both are used in messages.

The runtime calls the methods of :class:`Reads`. ``guards`` compares the entries.
"""

from __future__ import annotations

import types
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.cell_guards import (
    ALL,
    INVENTORY,
    MISSING,
    OF_CALLS,
    UNREAD,
    has_implicit_methods,
    is_followed,
)  # fmt: skip
from mindgrad.frontend.contents import (
    ATTRIBUTES,
    CLASS_NAMES,
    DICT,
    KEYWORDS,
    NAMES,
    Kind,
    guarded_kind,
    same_item,
)  # fmt: skip
from mindgrad.frontend.effect_log import UNDEFINED, Attribute, Place, name_of, note_read
from mindgrad.frontend.named_reads import NamedReads
from mindgrad.frontend.owned_objects import is_of_program
from mindgrad.frontend.python.convert import is_made_inside
from mindgrad.frontend.user_functions import (
    captured,
    defines_classes,
    functions_in,
    global_names,
    imported_names,
    in_package,
    is_cell,
    is_constant,
    is_users_class,
)  # fmt: skip

__all__ = [
    "MAKE_ONCE", "OF_FUNCTIONS", "Reads", "content", "is_traced_value", "read_entry", "stands", "static",
]  # fmt: skip

#: name of the closure variable through which converted functions call the runtime (``frontend.control``)
_RUNTIME = "mg__"
#: attributes that Python creates in each class. Guards do not compare them
_OF_CLASSES = frozenset(
    ["__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__"]
)
OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")
_ATTRIBUTE = "Make it a Parameter, pass it as a Tensor argument, or do not change it between calls."
MAKE_ONCE = "Define the function once, outside the loop, and pass changing values as Tensors."
_FUNCTION = "Store it in a variable of your program and use this variable, so that changes are detected."
_CODE_ADVICE = "Define it once."
_VARIABLE = "Pass it as a Tensor argument, or make it a Parameter."


# -- entries: [read, holder, name, value, label, advice] --------------------------------------------


def static(kind: Any, name: str, default: Any) -> Any:
    """Return an attribute from the ``__dict__`` of a class; call no descriptor."""
    return vars(kind).get(name, default)


def _own_attribute(owner: Any, name: str, default: Any) -> Any:
    """Return an attribute from the ``__dict__`` of ``owner``; ignore its class."""
    return owner.__dict__.get(name, default)


def content(cell: Any, _: str, default: Any) -> Any:
    """Return the content of the closure cell ``cell``, or ``default`` if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:  # the closure variable has no value
        return default


def read_entry(read: Any, holder: Any, name: str) -> Any:
    """Repeat a recorded read of Python state, and return the present value."""
    if type(read) is Kind:
        return read.read(holder)
    return read(holder, name, MISSING)


def stands(entry: list[Any]) -> bool:
    """Repeat the read of ``entry``, and return whether the value is unchanged.

    If the new value is an equal but different object, ``entry`` stores the new object.
    """
    read, holder, name, value, _, _ = entry
    now = read_entry(read, holder, name)
    if not (read.same(now, value) if type(read) is Kind else same_item(value, now)):
        return False
    entry[3] = now  # so that the next comparison by identity succeeds
    return True


class Reads:
    """The reads of Python state in one trace, recorded as entries.

    Attributes:
        roots: pairs of an object and its label: the traced function and its arguments.
    """

    __slots__ = ("_constants", "_entries", "_is_busy", "_met", "_named", "_owners", "_pending", "roots")

    def __init__(self) -> None:
        # one entry for each recorded read. The key contains ``id(holder)``, and usually the name
        self._entries: dict[Any, list[Any]] = {}
        # entries of library functions and classes, which are constants of the compiled function
        self._constants: dict[Any, list[Any]] = {}
        self._met: dict[int, Any] = {}
        self._owners: dict[int, Any] = {}
        self._named: dict[Any, NamedReads] = {}
        self._pending: list[Any] = []
        self._is_busy = False
        self.roots: list[tuple[Any, str]] = []

    def owners(self) -> list[Any]:
        """List the Cells whose attributes the trace has read."""
        return list(self._owners.values())

    def owner(self, cell: Any) -> None:
        """Record that the method ``construct`` of ``cell`` runs.

        :meth:`read_of_cell` records attributes later, at the time when the method reads them.
        """
        if id(cell) not in self._owners:
            self._owners[id(cell)] = cell
            label = f"the __dict__ of {type(cell).__name__}"
            self._entries[("dict", id(cell))] = [getattr, cell, ALL, vars(cell), label, _ATTRIBUTE]
            if "construct" in vars(cell):
                self.read_of_cell(cell, "construct")
            else:
                self.method(cell, "construct")
            self.class_of(cell)
            has_rule = vars(cell).get("_custom") is not None
            for name in (*OF_CALLS, "bprop") if has_rule else OF_CALLS:
                self.read_of_cell(cell, name)
            self._cell(cell)

    def _cell(self, cell: Any) -> None:
        """Record attributes that unconverted methods of a Cell may read.

        Such methods do not record their reads when they run.
        """
        kind: Any = type(cell)
        if not is_followed(kind):
            self.read_of_cell(cell, ALL)
        elif has_implicit_methods(kind) and id(cell) not in self._met:
            self._met[id(cell)] = cell
            self.unconverted(kind, (cell,))

    def was_read(self, cell: Any, name: str) -> bool:
        """Return whether the trace has read an attribute of a Cell so far."""
        return (id(cell), name) in self._entries or (id(cell), ALL) in self._entries

    def read_of_cell(self, cell: Any, name: str) -> None:
        """Record that code is about to read the attribute ``name`` of a Cell.

        The name ``ALL`` stands for all attributes.
        """
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
                self._contents_of(NAMES, cell, f"the attribute names of {whose}", key)
                for base in type(cell).__mro__:
                    if is_users_class(base):
                        self._contents_of(
                            CLASS_NAMES, base, f"the class {base.__qualname__}", ("names", id(base))
                        )
                        self._contents_of_class(base, f"the class {base.__qualname__}")
            elif read_name in INVENTORY:
                label = label if read_name == "_hooks" else f"the Parameters and Cells of {whose}"
                self._contents_of(DICT, attributes_of_cell[read_name], label, key)
                for value in attributes_of_cell[read_name].values():
                    self._value(value, label)
            elif read_name in attributes_of_cell:
                value = attributes_of_cell[read_name]
                self._entries[key] = [dict.get, attributes_of_cell, read_name, value, label, _ATTRIBUTE]
                self._value(value, label)
                self._hidden(type(cell), read_name, label)
            elif read_name[:1] != "_" or not in_package(getattr(type(cell), read_name, None)):
                self._class_attribute(cell, read_name, label)

    def attribute(self, owner: Any, name: str, value: Any) -> None:
        """Record a read of ``owner.name``, which returned ``value``."""
        key = (id(owner), name)
        if key in self._entries:
            return
        kind: Any = type(owner)
        if is_cell(kind):
            self.read_of_cell(owner, name)
            return
        label = f"the attribute '{name}' of {name_of(owner)}"
        self._entries[key] = [getattr, owner, name, value, label, _ATTRIBUTE]
        self.class_of(owner)
        if value is not MISSING:
            self._value(value, label)

    def constant(self, module: types.ModuleType, name: str, value: Any) -> None:
        """Record that a library function or class is a constant of the compiled function."""
        label = f"the function '{name}' of {module.__name__}"
        self._constants.setdefault((id(module), name), [getattr, module, name, value, label, _FUNCTION])

    def class_of(self, owner: Any) -> None:
        """Record the class of ``owner``, because user code can assign ``__class__``."""
        kind: Any = type(owner)
        if (is_users_class(kind) or id(owner) in self._owners) and not is_of_program(owner):
            label = f"the class of {kind.__name__}"
            entry = [getattr, owner, "__class__", kind, label, _CODE_ADVICE]
            self._entries.setdefault((id(owner), "__class__"), entry)

    def method(self, owner: Any, name: str, noun: str = "method") -> None:
        """Record the lookup of a method or property in the class of ``owner``.

        Args:
            owner: an object, or a class.
            name: name of the method or property.
            noun: "method", "property", or another word for messages.
        """
        kind = owner if isinstance(owner, type) else type(owner)
        self.class_of(owner)
        self._class_attribute(owner, name, f"the {noun} '{name}' of {kind.__qualname__}")

    def _class_attribute(self, owner: Any, name: str, label: str) -> None:
        """Record a read of ``owner.name`` that finds an attribute of the class.

        Guards also check that the instance ``owner`` itself has no attribute of this name.
        """
        kind = owner if isinstance(owner, type) else type(owner)
        has_none = hasattr(owner, "__dict__") and name not in owner.__dict__
        if kind is not owner and has_none and not is_of_program(owner):
            key = ("own", id(owner), name)
            own = [dict.get, owner.__dict__, name, MISSING, label, _CODE_ADVICE]
            self._entries.setdefault(key, own)
        self._first_of(kind.__mro__, name, label)

    def inherited(self, kind: type, after: type, name: str) -> None:
        """Record the method that ``super(after, owner).name`` finds.

        Args:
            kind: the class of ``owner``.
            after: the class after which the lookup begins.
            name: name of the method.
        """
        order = kind.__mro__
        label = f"the method '{name}' that {after.__qualname__} inherits"
        self._first_of(order[order.index(after) + 1 :], name, label)

    def _first_of(self, bases: tuple[type, ...], name: str, label: str) -> None:
        """Record the class attribute that a lookup of ``name`` in ``bases`` finds.

        The lookup stops at the first class that has the attribute. Guards compare its value, and check that
        none of the user's classes before it in ``bases`` has defined an attribute with this name.
        """
        for base in bases:
            value = vars(base).get(name, MISSING)
            if value is not MISSING or is_users_class(base):
                entry = [static, base, name, value, label, _CODE_ADVICE]
                self._entries.setdefault(("class", id(base), name), entry)
            if value is not MISSING:
                self._value(value, label)
                return

    def _hidden(self, kind: type, name: str, label: str) -> None:
        """Record class attributes called ``name`` that an instance attribute hides.

        Guards then detect if the user adds a property of this name to a class. The property would override
        the instance attribute.
        """
        for base in kind.__mro__:
            if is_users_class(base):
                entry = [static, base, name, vars(base).get(name, MISSING), label, _CODE_ADVICE]
                self._entries.setdefault(("class", id(base), name), entry)

    def function(self, function: Any) -> None:
        """Record the global and closure variables that ``function`` reads.

        If mindgrad created ``function`` as a wrapper of user functions, record the variables that these user
        functions read.
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
                    self.variables(target)

    def unconverted(self, kind: type, operands: tuple[Any, ...] = (), is_created: bool = False) -> None:
        """Record the reads of methods that Python calls implicitly, such as ``__len__``.

        These methods are not converted. Therefore, ``named_reads`` finds the attributes that they may read by
        the names in their code.

        Args:
            kind: the class that has the methods.
            operands: the objects on which the methods are called, and the arguments of the calls.
            is_created: whether to include methods that run when an object or a subclass is created.
        """
        self._pending.append((kind, operands, is_created))
        while self._pending and not self._is_busy:
            self._is_busy = True
            kind, operands, is_created = self._pending.pop()
            named = self._named.get((kind, is_created))
            if named is None:
                named = self._named[kind, is_created] = NamedReads(self, kind, is_created)
                operands = (kind, *operands)
            if operands:
                named.note(operands)
            self._is_busy = False

    def contents(self, owner: Any, label: str) -> None:
        """Record all items, attributes, or variables of ``owner``.

        Use this method for objects that unconverted code can access, because it may read any of them.
        """
        kind: Any = type(owner)
        if isinstance(owner, types.FunctionType):
            if not in_package(owner):
                self.variables(owner)
        elif is_cell(kind):
            self.read_of_cell(owner, ALL)
        elif isinstance(owner, type):
            self._contents_of_class(owner, label)
        elif hasattr(owner, "__dict__") and is_users_class(kind):
            self._contents_of(ATTRIBUTES, owner, label)
        else:
            self._value(owner, label)

    def _contents_of_class(self, kind: type, label: str) -> None:
        for name, value in vars(kind).items():
            if name not in _OF_CLASSES:
                entry = [static, kind, name, value, label, _CODE_ADVICE]
                self._entries.setdefault(("class", id(kind), name), entry)

    def namespace(self, names: dict[str, Any]) -> None:
        """Record all globals of a module, and the contents of its mutable globals.

        ``names`` is the ``__dict__`` of the module.
        """
        self._contents_of(DICT, names, "the global variables")
        self.roots.append((names, "the global variables"))
        for name, value in names.items():
            if name[:2] != "__":
                self._value(value, f"the global variable '{name}'")

    def _contents_of(self, kind: Kind, owner: Any, label: str, key: Any = None) -> Any:
        """Record the contents of ``owner``, such as the items of a list, and return them."""
        entry = [kind, owner, "", kind.read(owner), label, _ATTRIBUTE if kind.write is None else _VARIABLE]
        return self._entries.setdefault(key or ("value", id(owner)), entry)[3]

    def variables(self, function: types.FunctionType) -> None:
        """Record the code of a function, its defaults, and the variables that it reads."""
        self._of_function(function)
        code, namespace = function.__code__, function.__globals__
        self._imports(function)
        key: Any
        for name in global_names(code):
            key = (id(namespace), name)
            if key in self._entries:
                continue
            value = namespace.get(name, MISSING)
            label = f"the global variable '{name}'"
            self._entries[key] = [dict.get, namespace, name, value, label, _VARIABLE]
            self._value(value, label)
            self._base(value, code)
        for name, cell in captured(function):
            try:
                value = cell.cell_contents
            except ValueError:  # the closure variable has no value yet
                continue
            key = ("cell", id(cell))
            if key in self._entries or name in ("__class__", _RUNTIME):
                continue
            label = f"the variable '{name}' that {function.__qualname__} uses"
            self._entries[key] = [content, cell, name, value, label, _VARIABLE]
            self._value(value, label)
            self._base(value, code)
            # if ``function`` is a decorator's wrapper, it may call ``value``, so record its reads, too
            if isinstance(value, types.FunctionType):
                self.function(value)

    def _base(self, value: Any, code: types.CodeType) -> None:
        """Record the methods that run if ``code`` defines a subclass of ``value``.

        An example is ``__init_subclass__``. Nothing is recorded if ``code`` contains no ``class`` statement.
        """
        if isinstance(value, type) and defines_classes(code):
            self.unconverted(value, is_created=True)

    def _imports(self, function: types.FunctionType) -> None:
        """Record the reads by the statements ``from module import name`` in ``function``."""
        for module, name in imported_names(function):
            value = getattr(module, name, MISSING)
            if is_constant(module, value):
                self.constant(module, name, value)
            else:
                self.attribute(module, name, value)
                note_read(Attribute(module, name))

    def _of_function(self, function: types.FunctionType) -> None:
        """Record the code and the defaults of ``function``."""
        label = f"the function {function.__qualname__}"
        for name in () if is_made_inside(function) else OF_FUNCTIONS:
            value = getattr(function, name)
            self._entries[(id(function), name)] = [getattr, function, name, value, label, _CODE_ADVICE]
        defaults, keywords = function.__defaults__ or (), function.__kwdefaults__
        label = f"the defaults of {function.__qualname__}"
        if keywords:
            entry = [KEYWORDS, function, "__kwdefaults__", KEYWORDS.read(function), label, _CODE_ADVICE]
            self._entries[(id(function), "contents of __kwdefaults__")] = entry
        for value in (*defaults, *(keywords or {}).values()):
            self._value(value, label)

    def _value(self, value: Any, label: str) -> None:
        """Record the contents of ``value`` and of all mutable objects inside it."""
        waiting = [value]
        objects = []
        while waiting:
            value = waiting.pop()
            kind: Any = type(value)
            if is_cell(kind):
                self._cell(value)
                continue
            if is_users_class(kind):
                objects.append(value)
            if isinstance(value, tuple):
                waiting.extend(value)
                continue
            if isinstance(value, (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)):
                if not isinstance(value.__self__, types.ModuleType):
                    waiting.append(value.__self__)
                continue
            if ("value", id(value)) in self._entries or is_of_program(value):
                continue
            guarded = guarded_kind(value)
            if guarded is not None:
                contents = self._contents_of(guarded, value, label)
                if type(contents) is tuple:
                    waiting.extend(contents)
        for each in objects:
            self.unconverted(type(each), (each,))

    def assigned(self, location: Place, before: Any, counts: bool) -> None:
        """Update the entries of a location that the traced function assigns.

        Args:
            location: the attribute or variable.
            before: the value of the location before the trace.
            counts: whether guards compare ``before``. They do not if the function assigns the location before
                it reads it, or if the value is an input of the graph.
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
        # replace the entry for all attributes by one entry for each attribute except the assigned one
        if entry and entry[0] is ATTRIBUTES:
            label = entry[4]
            self._entries[("value", id(holder))] = []
            for attribute, value in vars(holder).items():
                if attribute != name or counts:
                    value = before if attribute == name else value
                    record = [_own_attribute, holder, attribute, value, label, _ATTRIBUTE]
                    self._entries.setdefault((id(holder), attribute), record)

    def effects(self) -> list[list[Any]]:
        """List the entries whose value has changed during the trace.

        The traced function has changed this state, which is a side effect.
        """
        entries = [e for e in self._entries.values() if e and _is_effect(e[0])]
        entries = [e for e in entries if e[3] is not MISSING and not (e[0] is static and e[3] is None)]
        return [e for e in entries if not is_traced_value(e[3]) and not stands(e) and not _is_computed(e)]

    def compares(self, holder: Any) -> bool:
        """Return whether guards compare the contents of ``holder``."""
        return bool(self._entries.get(("value", id(holder))))

    def compares_attributes(self, holder: Any) -> bool:
        """Return whether guards compare all attributes of ``holder``."""
        return self.compares(holder) and self._entries["value", id(holder)][0] is ATTRIBUTES

    def effect_on(self, holder: Any) -> list[Any] | None:
        """Return the entry of the contents of ``holder`` if the trace has changed them.

        Otherwise, return ``None``.
        """
        entry = self._entries.get(("value", id(holder)))
        return entry if entry and _is_effect(entry[0]) and not stands(entry) else None


def _is_effect(read: Any) -> bool:
    """Return whether a change of state that is read by ``read`` is a side effect."""
    return read.is_effect if type(read) is Kind else read in (getattr, dict.get, static)


def is_traced_value(value: Any) -> bool:
    """Return whether ``value`` is a traced tensor, or a tuple that contains one."""
    if isinstance(value, Tensor):
        return value._array is None
    return type(value) is tuple and any(isinstance(x, Tensor) and x._array is None for x in value)


def _is_computed(entry: list[Any]) -> bool:
    """Return whether the read of ``entry`` runs code, as the read of a property does.

    Such a read may return a new object each time, so a different object does not prove a change.
    """
    read, holder, name = entry[:3]
    if read is not getattr or name in getattr(holder, "__dict__", ()):
        return False
    for kind in type(holder).__mro__:
        if name in vars(kind):
            descriptor = type(vars(kind)[name])
            return hasattr(descriptor, "__get__") and descriptor is not types.MemberDescriptorType
    return getattr(holder, name, MISSING) is not MISSING
