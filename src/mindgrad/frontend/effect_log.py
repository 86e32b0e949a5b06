"""The effect log: the attributes and variables that a traced function assigns.

A *location* (:class:`Place`) is an attribute of an object, a variable of an enclosing function, or a global
variable. During a trace, an assignment really changes its location, so that all code reads the new value.

A *body* is the code of one branch or of one loop iteration that is traced to its own graph. The log is a
stack of *levels*: one for the function, and one for each body that is being traced. An assignment is recorded
at the innermost level, with the value that the location had before. At the end of a level, its locations get
their old values back. Two modules use the recorded locations:

- ``frontend.control.traced`` makes the locations that a body assigns outputs of the branch or loop.
- ``side_effects`` makes the locations that the function assigns outputs of the compiled function.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

__all__ = [
    "UNDEFINED", "Attribute", "Global", "Level", "Local", "Place", "Variable", "Watch", "assign", "body",
    "changed_since", "current_values", "innermost", "is_known", "isolated", "may_assign", "name_of",
    "note_assignable", "note_read", "watch", "watched",
]  # fmt: skip


class _Undefined:
    """The type of ``UNDEFINED``: an unbound variable, or a missing attribute."""

    def __repr__(self) -> str:
        return "<not defined>"


UNDEFINED = _Undefined()

# -- locations -----------------------------------------------------------------------------------


class Place:
    """A location: an attribute or variable that a function can assign.

    Attributes:
        holder: the object that has the attribute, the closure cell, or the dict of global variables.
        name: name of the attribute or variable.
        label: description for messages.
    """

    __slots__ = ("holder", "label", "name")

    def __init__(self, holder: Any, name: str, label: str) -> None:
        self.holder = holder
        self.name = name
        self.label = label

    @property
    def key(self) -> tuple[int, str]:
        """Return a key that identifies the location, for use in dicts."""
        return (id(self.holder), self.name)

    def value(self) -> Any:
        """Return the current value, or ``UNDEFINED`` if the location has no value."""
        return self.own()

    def own(self) -> Any:
        """Return the value that the holder itself stores, or ``UNDEFINED``.

        Attributes of the holder's class do not count.
        """
        raise RuntimeError("subclasses of Place define this method")

    def put(self, value: Any) -> None:
        """Store ``value`` without calling user code.

        If ``value`` is ``UNDEFINED``, delete the attribute or variable.
        """
        raise RuntimeError("subclasses of Place define this method")

    def store(self, value: Any) -> None:
        """Assign ``value`` as user code does, so that properties and ``__setattr__`` run."""
        self.put(value)


def name_of(owner: Any) -> str:
    """Return the name of a class, function, or module.

    For any other object, return the name of its class.
    """
    if isinstance(owner, type):
        return owner.__qualname__
    has_name = isinstance(owner, (types.FunctionType, types.ModuleType))
    return owner.__name__ if has_name else type(owner).__name__


class Attribute(Place):
    """An attribute of an object."""

    __slots__ = ()

    def __init__(self, owner: Any, name: str) -> None:
        super().__init__(owner, name, f"the attribute '{name}' of {name_of(owner)}")

    def value(self) -> Any:
        return getattr(self.holder, self.name, UNDEFINED)

    def own(self) -> Any:
        if not _is_slot(self.holder, self.name):
            return getattr(self.holder, "__dict__", {}).get(self.name, UNDEFINED)
        return getattr(self.holder, self.name, UNDEFINED)

    def may_exist(self) -> bool:
        """Return whether the object can have the attribute.

        It can if it has a ``__dict__``, or a slot for the attribute.
        """
        return hasattr(self.holder, "__dict__") or _is_slot(self.holder, self.name)

    def put(self, value: Any) -> None:
        kind = type if isinstance(self.holder, type) else object
        if value is not UNDEFINED:
            kind.__setattr__(self.holder, self.name, value)
        elif self.own() is not UNDEFINED:
            kind.__delattr__(self.holder, self.name)

    def store(self, value: Any) -> None:
        if value is not UNDEFINED:
            setattr(self.holder, self.name, value)
        elif self.own() is not UNDEFINED:
            delattr(self.holder, self.name)


class Variable(Place):
    """A variable of an enclosing function. ``holder`` is its closure cell."""

    __slots__ = ()

    def own(self) -> Any:
        try:
            return self.holder.cell_contents
        except ValueError:
            return UNDEFINED

    def put(self, value: Any) -> None:
        if value is not UNDEFINED:
            self.holder.cell_contents = value
        elif self.own() is not UNDEFINED:
            del self.holder.cell_contents


class Local(Variable):
    """A variable of the traced function that a nested function assigns (``nonlocal``)."""

    __slots__ = ()


class Global(Place):
    """A global variable. ``holder`` is the ``__dict__`` of its module."""

    __slots__ = ()

    def own(self) -> Any:
        return self.holder.get(self.name, UNDEFINED)

    def put(self, value: Any) -> None:
        if value is not UNDEFINED:
            self.holder[self.name] = value
        else:
            self.holder.pop(self.name, None)


def _static(kind: Any, name: str) -> Any:
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def _is_slot(owner: Any, name: str) -> bool:
    return not isinstance(owner, type) and isinstance(_static(type(owner), name), types.MemberDescriptorType)


#: types whose ``__setattr__`` and ``__delattr__`` only store and delete the attribute
_PLAIN: tuple[Any, ...] = (object, type, types.ModuleType, types.SimpleNamespace)


def may_assign(owner: Any, name: str) -> bool:
    """Return whether assigning ``owner.name`` only stores the value.

    A trace can undo only such an assignment. In contrast, the setter of a property may have other effects.
    """
    kind: Any = type(owner)
    if kind.__setattr__ not in [each.__setattr__ for each in _PLAIN]:
        return hasattr(kind, "construct") and hasattr(owner, "parameters_and_names")
    if kind.__delattr__ not in [each.__delattr__ for each in _PLAIN]:
        return False
    if isinstance(owner, type):
        return not owner.__module__.startswith(("mindgrad.", "builtins"))
    found = _static(kind, name)
    return (hasattr(owner, "__dict__") and not hasattr(type(found), "__set__")) or _is_slot(owner, name)


# -- assignments while tracing -----------------------------------------------------------------------


class Level(dict):
    """The assignments of a function, or of the body of a branch or loop.

    The dict maps the key of each location to ``[location, value before, surely]``. ``surely`` is ``False``
    for a variable that a nested function declares ``nonlocal`` or ``global``, because it is unknown whether
    that function runs and assigns the variable.
    """

    def note(self, location: Place, surely: bool = True) -> None:
        """Record the value of ``location`` before its first assignment.

        Args:
            location: the location that is about to be assigned.
            surely: whether it is certain that the assignment takes place.
        """
        entry = self.setdefault(location.key, [location, location.own(), surely])
        entry[2] = entry[2] or surely

    def places(self) -> list[Place]:
        """List the locations whose assignment is certain."""
        return [place for place, _, surely in self.values() if surely]

    def undo(self) -> None:
        """Restore the values that all locations had before their first assignment."""
        for place, before, _ in reversed(self.values()):
            place.put(before)


class Watch:
    """The effect log of one trace.

    Attributes:
        levels: one :class:`Level` for the function, followed by one for each branch or iteration that is
            being traced, innermost last.
        reads: attributes and variables that the function read before it assigned them, as ``key -> (location,
            value)``.
        bound: locations whose tensors or numbers are inputs of the graph, with their values before the trace.
            During the trace, these locations contain symbols.
    """

    __slots__ = ("bound", "levels", "reads")

    def __init__(self) -> None:
        self.levels: list[Level] = []
        self.reads: dict[tuple[int, str], tuple[Place, Any]] = {}
        self.bound = Level()


class _Local(threading.local):
    def __init__(self) -> None:
        self.watch: Watch | None = None


_local = _Local()


def watch() -> Watch | None:
    """Return the effect log of the trace on this thread, or ``None`` outside traces."""
    return _local.watch


@contextmanager
def watched() -> Iterator[Watch]:
    """A context for the trace of a function: record its assignments, and undo them."""
    outer, _local.watch = _local.watch, Watch()
    try:
        with body():
            yield _local.watch
    finally:
        _local.watch.bound.undo()
        _local.watch = outer


@contextmanager
def body() -> Iterator[Level]:
    """A context for one branch or iteration that records and undoes its assignments."""
    level, watch = Level(), _local.watch
    if watch is None:
        yield level
        return
    if watch.levels:  # the body may call functions that assign these nonlocal or global variables
        for place, _, _ in watch.levels[-1].values():
            if not isinstance(place, Attribute):
                level.note(place, surely=False)
    watch.levels.append(level)
    try:
        yield level
    finally:
        watch.levels.pop()
        level.undo()


def isolated() -> AbstractContextManager[Any]:
    """Return a context manager that undoes assignments when it ends.

    It restores attributes of objects, global variables, and variables of enclosing functions.
    """
    return watched() if _local.watch is None else body()


def innermost() -> Level:
    """Return the assignments of the innermost branch or iteration being traced.

    If no function is being traced, return an empty dict.
    """
    found = _local.watch
    return Level() if found is None else found.levels[-1]


def current_values() -> dict[tuple[int, str], Any]:
    """Return the present values of assigned attributes and variables, by key.

    The result contains only locations that the innermost branch or iteration being traced has assigned.
    """
    return {key: place.value() for key, (place, _, _) in innermost().items()}


def changed_since(before: dict[tuple[int, str], Any]) -> str | None:
    """Return the label of a location that was assigned since ``before`` was taken.

    Args:
        before: an earlier result of :func:`current_values`.

    Returns:
        The label, or ``None`` if no location was assigned.
    """
    for key, (place, first, _) in innermost().items():
        if place.value() is not before.get(key, first):
            return place.label
    return None


def is_known(owner: Any, name: str) -> bool:
    """Return whether the trace assigned ``owner.name`` or uses it as a graph input."""
    found = _local.watch
    key = (id(owner), name)
    return found is not None and (key in found.bound or any(key in level for level in found.levels))


def assign(location: Place, value: Any) -> None:
    """Assign ``value`` until the end of the traced branch, iteration, or function.

    Then, the location gets its old value back.
    """
    innermost().note(location)
    location.put(value)


def note_read(location: Place, own: bool = False) -> None:
    """Record that the traced function reads ``location``.

    Nothing is recorded if the trace has already assigned the location.

    Args:
        location: the attribute or variable.
        own: whether to record only the attribute of the instance, so that no property of the class runs.
    """
    watch = _local.watch
    if watch is not None and not is_known(location.holder, location.name):
        watch.reads.setdefault(location.key, (location, location.own() if own else location.value()))


def note_assignable(location: Place) -> None:
    """Record the present value of a variable that a nested function may assign later.

    If the value differs at the end of a traced branch or iteration, the nested function has run.
    """
    if _local.watch is not None:
        for level in _local.watch.levels:
            level.note(location, surely=False)
