"""Guards record the Python state that a trace read besides its arguments, and check it at the next call.

    a program is current  ⇔  every name, attribute, closure variable, container and array that its trace
                             read holds what it held

Reads are recorded with their values while tracing, and checked before every call of a compiled program: at
the cost of a comparison for each, and at none for Cells and the types of Parameters while none of the
process changed (``clock``). Values are compared by identity first and else as constants are
(:func:`~mindgrad.trace.signature.same`); a list, dict or set by its items; a small NumPy array
or tensor by its elements, a larger one by identity. Limits: what a tracing function itself changes is
no dependency, and the elements of a NumPy array of more than 256 KiB can be changed in place unseen.
"""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mindgrad.ir.tensor import Tensor
from mindgrad.trace.cell_guards import MISSING, CellGuard
from mindgrad.trace.effect_log import UNDEFINED, Attribute, Global, Place, Variable, may_assign
from mindgrad.trace.signature import alike, same, shown
from mindgrad.trace.state_equality import (
    CONTAINERS,
    array_of_tensor,
    attributes,
    elements_of_array,
    is_changeable_array,
    is_read_unseen,
    is_traced_value,
    items,
    own_attribute,
    same_elements,
    same_items,
)
from mindgrad.trace.user_functions import functions_in, in_package

__all__ = ["MAKE_ONCE", "MISSING", "Change", "Clock", "Dependencies", "change", "clock", "global_names"]

#: the name of the closure variable that rewritten functions have more than those that users wrote
_RUNTIME = "mg__"
_OF_FUNCTIONS = ("__code__", "__defaults__")
_CODE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, type)


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


class Dependencies:
    """Collects what a trace reads; :meth:`close` ends that, :meth:`hold` asks whether it still stands."""

    __slots__ = ("_cells", "_contents", "_entries", "_met", "_names", "_owners", "_ticks", "_typed")

    def __init__(self) -> None:
        # while tracing: by what is read, so that it is noted once
        self._entries: dict[Any, list[Any]] = {}
        self._met: dict[int, Any] = {}
        self._ticks = -1
        self._owners: list[CellGuard] = []
        #: (the Parameter, its type)
        self._typed: list[tuple[Any, Any]] = []
        # closed: [read, holder, name, value, label, advice] of everything else: what has a name, the
        # closure cells, and what is changed in place
        self._names: list[list[Any]] = []
        self._cells: list[list[Any]] = []
        self._contents: list[list[Any]] = []

    # -- while tracing ---------------------------------------------------------------------------

    def owner(self, cell: Any) -> None:
        """Note a Cell whose ``construct`` runs: those of its attributes count that the trace reads."""
        key = ("owner", id(cell))
        if key not in self._entries:
            guard = CellGuard(cell)
            self._entries[key] = [guard]
            self._owners.append(guard)
            self.method(cell, "construct", type(cell).construct)

    def attribute(self, owner: Any, name: str, value: Any, own: bool = False) -> None:
        """Note that ``owner.name`` was read and is ``value``; ``own``: without looking at its class."""
        key = (id(owner), name)
        if key in self._entries:
            return
        whose = owner.__qualname__ if isinstance(owner, type) else getattr(owner, "__name__", None)
        label = f"the attribute '{name}' of {whose or type(owner).__name__}"
        if hasattr(type(owner), "construct") and hasattr(owner, "attributes_version"):
            self.owner(owner)
            self._entries[key] = []
        else:
            read = own_attribute if own else getattr
            self._entries[key] = [read, owner, name, value, label, _ATTRIBUTE]
        if value is not MISSING:
            self._value(value, label)

    def method(self, owner: Any, name: str, function: Any) -> None:
        """Note that the class of ``owner`` has this method."""
        kind = type(owner)
        if getattr(kind, name, None) is function and not in_package(function):
            key: Any = (id(kind), name)
            label = f"the method '{name}' of {kind.__qualname__}"
            self._entries.setdefault(key, [getattr, kind, name, function, label, _CODE_ADVICE])
            if hasattr(owner, "__dict__"):
                key = ("own", id(owner), name)
                self._entries.setdefault(key, [own_attribute, owner, name, MISSING, label, _CODE_ADVICE])

    def function(self, function: Any) -> None:
        """Note the globals and closure variables that ``function`` reads.

        Of a function of this package, those of the user's functions in its closure.
        """
        for each in functions_in(function):
            construct = getattr(each, "construct", None)
            target = each if construct is None else construct
            target = getattr(target, "__func__", target)
            if isinstance(target, types.FunctionType) and id(target) not in self._met:
                self._met[id(target)] = target
                if not in_package(target):
                    self._variables(target)

    def _variables(self, function: types.FunctionType) -> None:
        label = f"the function {function.__qualname__}"
        for name in _OF_FUNCTIONS:
            value = getattr(function, name)
            self._entries[(id(function), name)] = [getattr, function, name, value, label, _CODE_ADVICE]
        code, namespace = function.__code__, function.__globals__
        key: Any
        for name in global_names(code):
            value = namespace.get(name, MISSING)
            key = (id(namespace), name)
            if value is MISSING or key in self._entries or _is_foreign(value):
                continue
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

    def _value(self, value: Any, label: str) -> None:
        """Note the contents of mutable objects."""
        kind: Any = type(value)
        if isinstance(value, (Tensor, np.ndarray, *CONTAINERS)) or is_changeable_array(value):
            key = ("value", id(value))
            if key in self._entries:
                return
            entry = self._entries[key] = []
            if isinstance(value, Tensor):
                if not value.is_parameter and not value.is_traced:
                    entry += [array_of_tensor, value, "", value._array, label, _VARIABLE]
            elif not isinstance(value, CONTAINERS):
                elements = elements_of_array(value, "", None)
                if elements is not None:
                    entry += [elements_of_array, value, "", elements, label, _VARIABLE]
            else:
                entry += [items, value, "", items(value, "", None), label, _VARIABLE]
                for item in [*value, *value.values()] if isinstance(value, dict) else value:
                    self._value(item, label)
        elif isinstance(value, tuple):
            for item in value:
                self._value(item, label)
        elif hasattr(value, "__dict__") and is_read_unseen(kind):
            key = ("value", id(value))
            if key not in self._entries:
                self._entries[key] = [attributes, value, "", attributes(value, "", None), label, _ATTRIBUTE]
                for item in vars(value).values():
                    self._value(item, label)

    def assigned(self, location: Place, before: Any, counts: bool) -> None:
        """Note that the program assigns ``location``, which held ``before``.

        ``counts``: whether that selects the program. It does not if the program has not read it before, or
        takes it as an input.
        """
        holder, name = location.holder, location.name
        for key in (location.key, ("cell", id(holder))):
            if not counts:
                self._entries.pop(key, None)
        entry = self._entries.get(("owner", id(holder)))
        if entry is not None and counts:
            entry[0].assign(name, MISSING if before is UNDEFINED else before)
        elif entry is not None:
            entry[0].skipped.add(name)
        entry = self._entries.get(("value", id(holder)))
        if entry and entry[0] is attributes:  # each by itself, but this one
            label = entry[4]
            self._entries[("value", id(holder))] = []
            for attribute, value in vars(holder).items():
                if attribute != name or counts:
                    value = before if attribute == name else value
                    record = [own_attribute, holder, attribute, value, label, _ATTRIBUTE]
                    self._entries.setdefault((id(holder), attribute), record)

    # -- closed ----------------------------------------------------------------------------------

    def close(self, parameters: list[Any]) -> None:
        """End the trace; ``parameters`` are those that the program reads or writes.

        What the traced function changed itself is left out, and what nothing else holds on to.
        """
        self._typed = [(p, p.type) for p in parameters]
        entries = [e for key, e in self._entries.items() if len(e) == 6]
        entries = [e for e in entries if not is_traced_value(e[3]) and self._stands(e)]
        self._entries, self._met = {}, {}
        holders: dict[int, list[list[Any]]] = {}
        while entries:
            entry = entries.pop()
            holders.setdefault(id(entry[1]), []).append(entry)
        for group in holders.values():
            # an object, list or closure of the traced function alone: no one can change it now.
            # References: one per entry, and that of the call
            if sys.getrefcount(group[0][1]) > len(group) + 1:
                for entry in group:
                    read = entry[0]
                    kept = self._contents if read in (items, elements_of_array, attributes) else self._names
                    (self._cells if read is None else kept).append(entry)

    def hold(self) -> bool:
        """Whether everything still is as it was."""
        ticks = clock.ticks
        if ticks != self._ticks:
            if not all(guard.holds() for guard in self._owners):
                return False
            if not all(p.type is type_ for p, type_ in self._typed):
                return False
            self._ticks = ticks
        for entry in self._names:
            read, holder, name, value, _, _ = entry
            if read(holder, name, MISSING) is not value and not self._stands(entry):
                return False
        for entry in self._cells:
            try:
                if entry[1].cell_contents is not entry[3] and not self._stands(entry):
                    return False
            except ValueError:
                return False
        return not self._contents or all(map(self._stands, self._contents))

    @staticmethod
    def _stands(entry: list[Any]) -> bool:
        """The slow question, for a value that is not the very same object."""
        read, holder, name, value, _, _ = entry
        now = _read(read, holder, name)
        if now is value:
            return True
        if read is items or read is attributes:
            return same_items(now, value)
        if read is elements_of_array:
            return now == value
        if read is array_of_tensor:
            if not same_elements(holder, value):
                return False
        elif not same(value, now) or isinstance(value, CONTAINERS):
            return False
        entry[3] = now  # the next question is quick again
        return True

    def changes(self) -> Iterator[Change]:
        """The changes, in words."""
        for guard in self._owners:
            kind = type(guard.cell).__name__
            for name, before, after in guard.changed():
                if name not in ("_params", "_cells"):
                    what = f"the hooks of {kind}" if name == "_hooks" else f"the attribute '{name}' of {kind}"
                    yield change(what, before, after, _ATTRIBUTE)
        for parameter, type_ in self._typed:
            if parameter.type is not type_:
                text = f"Parameter '{parameter.name}' changed from {type_} to {parameter.type}"
                advice = "Give the Parameter its final shape and dtype before the first call."
                yield Change(f"Parameter '{parameter.name}'", text, advice)
        cells = [entry for entry in self._cells if type(entry[1]) is not int]
        for entry in [*self._names, *cells, *self._contents]:
            if not self._stands(entry):
                read, holder, name, value, label, advice = entry
                if name in _OF_FUNCTIONS:
                    yield Change(label, f"{label} was defined anew", advice)
                elif read in (items, elements_of_array, array_of_tensor, attributes):
                    yield Change(label, f"the contents of {label} changed", advice)
                else:
                    yield change(label, value, _read(read, holder, name), advice)

    def shifting(self) -> list[Place]:
        """The places whose tensors and floats differ from those that were read in value, not in type."""
        locations: list[Place] = []
        for guard in self._owners:
            for name, before, after in guard.differing():
                if alike(before, after):
                    locations.append(Attribute(guard.cell, name))
        for read, holder, name, before, label, _ in self._names:
            if alike(before, _read(read, holder, name)):
                if read is getattr and may_assign(holder, name):
                    locations.append(Attribute(holder, name))
                elif read is dict.get:
                    locations.append(Global(holder, name, label))
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

    def attached(self, cells: list[Any]) -> Dependencies:
        """The dependencies of a program of a function with these closure cells."""
        dependencies = self._copy()
        for entry in dependencies._cells:
            if type(entry[1]) is int:
                entry[1] = cells[entry[1]]
                entry[3] = _read(None, entry[1], "")
        return dependencies

    def _copy(self) -> Dependencies:
        duplicate = Dependencies()
        duplicate._owners = [guard.copy() for guard in self._owners]
        duplicate._typed = self._typed
        duplicate._names = [list(entry) for entry in self._names]
        duplicate._contents = [list(entry) for entry in self._contents]
        duplicate._cells = [list(entry) for entry in self._cells]
        return duplicate

    def owners(self) -> list[Any]:
        """The Cells that were read."""
        return [guard.cell for guard in self._owners]


def _read(read: Callable[..., Any] | None, holder: Any, name: str) -> Any:
    if read is not None:
        return read(holder, name, MISSING)
    try:
        return holder.cell_contents
    except ValueError:
        return MISSING


def _is_foreign(value: Any) -> bool:
    """Whether a global is none of the program's own: a module, or a name imported from this package.

    What the program made by such names, ``grad(f)``, is its own.
    """
    if isinstance(value, types.ModuleType):
        return True
    module = str(getattr(value, "__module__", ""))
    if not isinstance(value, _CODE) or module.partition(".")[0] not in ("mindgrad", "builtins"):
        return False
    code = getattr(value, "__code__", None)
    if code is None or "<locals>" not in code.co_qualname:
        return True
    return getattr(sys.modules.get(module), value.__name__, None) is value


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
