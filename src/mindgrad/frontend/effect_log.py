"""The effect log: the attributes and variables that a traced function assigns.

A *location* (:class:`Place`) is an attribute of an object, a variable of an enclosing function, or a global
variable. While a function is traced, its assignments really change these locations, so that all code sees the
new values.

A *body* is the code of one branch or of one loop iteration that is being traced. The log has one *level* for
the function and one for each open body. Each assignment is recorded at the innermost level, with the value
that the location had before. When a level ends, all its locations get their old values back. The recorded
locations are used as follows:

- Locations that a body has assigned become variables of its branch or loop (``frontend.control.traced``).
- Locations that the function has assigned become outputs of the compiled function (``side_effects``).
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
    """The value of a location that has no value, such as an unbound variable."""

    def __repr__(self) -> str:
        return "<not defined>"


UNDEFINED = _Undefined()

# -- locations -----------------------------------------------------------------------------------


class Place:
    """A location of Python state that a function can assign.

    Attributes:
        holder: the object, closure cell, or namespace that contains the location.
        name: name of the location in ``holder``.
        label: description for messages.
    """

    __slots__ = ("holder", "label", "name")

    def __init__(self, holder: Any, name: str, label: str) -> None:
        self.holder = holder
        self.name = name
        self.label = label

    @property
    def key(self) -> tuple[int, str]:
        """Return a key that is equal for two objects that represent the same location."""
        return (id(self.holder), self.name)

    def value(self) -> Any:
        """Return the current value. ``UNDEFINED``: the location has no value."""
        return self.own()

    def own(self) -> Any:
        """Return the current value. For an attribute, ignore values that the class defines."""
        raise RuntimeError("a place is an attribute or a variable")

    def put(self, value: Any) -> None:
        """Assign ``value`` without calling user code. ``UNDEFINED`` deletes the location."""
        raise RuntimeError("a place is an attribute or a variable")

    def store(self, value: Any) -> None:
        """Assign ``value`` as user code does, so that properties and ``__setattr__`` run."""
        self.put(value)


def name_of(owner: Any) -> str:
    """Return the name of a class, function, or module, or of an object's class."""
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
        """Return whether the object can have this attribute: in ``__dict__`` or in a slot."""
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
    """A variable of an enclosing function: its closure cell."""

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
    """A variable of a traced function that functions defined inside it assign."""

    __slots__ = ()


class Global(Place):
    """A global variable: an item of the namespace of a module."""

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


#: types that have Python's default ``__setattr__`` and ``__delattr__``
_PLAIN: tuple[Any, ...] = (object, type, types.ModuleType, types.SimpleNamespace)


def may_assign(owner: Any, name: str) -> bool:
    """Return whether assigning the attribute only stores a value and can be undone."""
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
    """The assignments of one level, as ``key -> [location, value before, surely]``.

    ``surely`` is ``False`` for a variable of an enclosing function if a function that ran contains an
    assignment to it, but it is unknown whether this assignment ran.
    """

    def note(self, place: Place, surely: bool = True) -> None:
        """Record the value of ``place`` at the first assignment. Call this before it is assigned."""
        entry = self.setdefault(place.key, [place, place.own(), surely])
        entry[2] = entry[2] or surely

    def places(self) -> list[Place]:
        """List the locations whose assignment is certain."""
        return [place for place, _, surely in self.values() if surely]

    def undo(self) -> None:
        """Restore the values of all locations."""
        for place, before, _ in reversed(self.values()):
            place.put(before)


class Watch:
    """The effect log of one trace.

    Attributes:
        levels: the level of the function, followed by the levels of the open bodies.
        reads: attributes that the function read before it assigned them, as ``key -> (location, value)``.
        bound: locations that hold symbolic inputs during the trace, with their previous values.
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
    """Return the effect log of the trace on this thread, or ``None``."""
    return _local.watch


@contextmanager
def watched() -> Iterator[Watch]:
    """Open the effect log for the trace of a function."""
    outer, _local.watch = _local.watch, Watch()
    try:
        with body():
            yield _local.watch
    finally:
        _local.watch.bound.undo()
        _local.watch = outer


@contextmanager
def body() -> Iterator[Level]:
    """Open a level for a function or a body. At the end, undo its assignments."""
    level, watch = Level(), _local.watch
    if watch is None:
        yield level
        return
    if watch.levels:  # the body may call the functions that can assign these variables
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
    """Open a context that undoes its assignments to locations at the end."""
    return watched() if _local.watch is None else body()


def innermost() -> Level:
    """Return the level of the innermost body."""
    found = _local.watch
    return Level() if found is None else found.levels[-1]


def current_values() -> dict[tuple[int, str], Any]:
    """Return the values of all locations at the innermost level, by key."""
    return {key: place.value() for key, (place, _, _) in innermost().items()}


def changed_since(before: dict[tuple[int, str], Any]) -> str | None:
    """Return the label of a location assigned since ``before``, or ``None``.

    ``before`` is a result of :func:`current_values`.
    """
    for key, (place, first, _) in innermost().items():
        if place.value() is not before.get(key, first):
            return place.label
    return None


def is_known(owner: Any, name: str) -> bool:
    """Return whether the attribute is an input of the trace or was assigned in it."""
    found = _local.watch
    key = (id(owner), name)
    return found is not None and (key in found.bound or any(key in level for level in found.levels))


def assign(location: Place, value: Any) -> None:
    """Assign ``value`` to ``location``, until the innermost level ends."""
    innermost().note(location)
    location.put(value)


def note_read(location: Place, own: bool = False) -> None:
    """Record that the traced function reads a location that it has not assigned.

    Args:
        location: the location.
        own: whether to read the instance only. Otherwise, the read may run a property of its class.
    """
    watch = _local.watch
    if watch is not None and not is_known(location.holder, location.name):
        watch.reads.setdefault(location.key, (location, location.own() if own else location.value()))


def note_assignable(location: Place) -> None:
    """Record that code that may run later can assign a variable."""
    if _local.watch is not None:
        for level in _local.watch.levels:
            level.note(location, surely=False)
