"""The effect log records which Python state a program assigns: attributes, closure variables and globals.

While a program is traced an assignment is really made, so that all code sees the new value, and it is
noted at the innermost of the open levels: that of the program, or that of the body of a branch or loop. When
a level ends, its assignments are undone. Locations that a body has assigned become variables of its
branch or loop; those that the program has assigned become its outputs (``side_effects``).
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
    """The content of a variable that is not bound."""

    def __repr__(self) -> str:
        return "<not defined>"


UNDEFINED = _Undefined()

# -- places --------------------------------------------------------------------------------------


class Place:
    """A location of Python state that a program can assign.

    Attributes:
        holder: the object, closure cell or namespace that holds it.
        name: its name there.
    """

    __slots__ = ("holder", "label", "name")

    def __init__(self, holder: Any, name: str, label: str) -> None:
        self.holder = holder
        self.name = name
        self.label = label

    @property
    def key(self) -> tuple[int, str]:
        """The identity of a location: equal for two objects that stand for one."""
        return (id(self.holder), self.name)

    def value(self) -> Any:
        """The current content, ``UNDEFINED`` for nothing."""
        return self.own()

    def own(self) -> Any:
        """The content of the instance itself, whatever a class would give."""
        raise RuntimeError("a place is an attribute or a variable")

    def put(self, value: Any) -> None:
        """Hold ``value`` without telling anyone; ``UNDEFINED`` deletes."""
        raise RuntimeError("a place is an attribute or a variable")

    def store(self, value: Any) -> None:
        """Assign ``value`` as the user's program does it."""
        self.put(value)


def name_of(owner: Any) -> str:
    """The name of an object in messages: its own if it is a class, function or module, or of its class."""
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
        """Whether the object can have such an attribute: it has a ``__dict__``, or a slot of this name."""
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
    """A variable of a function that runs in the program itself, which lambdas or functions in it assign."""

    __slots__ = ()


class Global(Place):
    """A variable of a module: an item of its namespace."""

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


#: how objects are assigned to whose classes say nothing of it
_PLAIN: tuple[Any, ...] = (object, type, types.ModuleType, types.SimpleNamespace)


def may_assign(owner: Any, name: str) -> bool:
    """Whether assigning the attribute does no more than to hold the value, so that it can be undone."""
    kind: Any = type(owner)
    if kind.__setattr__ not in [each.__setattr__ for each in _PLAIN]:
        return hasattr(kind, "construct") and hasattr(owner, "parameters_and_names")
    if kind.__delattr__ not in [each.__delattr__ for each in _PLAIN]:
        return False
    if isinstance(owner, type):
        return not owner.__module__.startswith(("mindgrad.", "builtins"))
    found = _static(kind, name)
    return (hasattr(owner, "__dict__") and not hasattr(type(found), "__set__")) or _is_slot(owner, name)


# -- what is assigned while tracing -----------------------------------------------------------------


class Level(dict):
    """The assignments made while a program or body is traced: ``key -> [place, value before, surely]``.

    Not surely assigned are variables of an enclosing function that something which ran can assign.
    """

    def note(self, place: Place, surely: bool = True) -> None:
        """Remember the value of ``place`` before it is assigned."""
        entry = self.setdefault(place.key, [place, place.own(), surely])
        entry[2] = entry[2] or surely

    def places(self) -> list[Place]:
        """The places that were assigned."""
        return [place for place, _, surely in self.values() if surely]

    def undo(self) -> None:
        """Restore the values of all places."""
        for place, before, _ in reversed(self.values()):
            place.put(before)


class Watch:
    """The reads and assignments of a program while it is traced.

    Attributes:
        levels: that of the program, then those of the open bodies.
        reads: attributes that were read before they were assigned: ``key -> (place, value)``.
        bound: places that hold inputs of the program while it is traced, and what they held.
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
    """The effect log of the program being traced on this thread; ``None``: none is."""
    return _local.watch


@contextmanager
def watched() -> Iterator[Watch]:
    """While a program is traced."""
    outer, _local.watch = _local.watch, Watch()
    try:
        with body():
            yield _local.watch
    finally:
        _local.watch.bound.undo()
        _local.watch = outer


@contextmanager
def body() -> Iterator[Level]:
    """A context for tracing a program, or the body of a branch or loop; undoes its assignments."""
    level, watch = Level(), _local.watch
    if watch is None:
        yield level
        return
    if watch.levels:  # a function that can assign a variable may be called again, by whatever code
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
    """A context for tracing a function that may assign nothing outside: its assignments are undone."""
    return watched() if _local.watch is None else body()


def innermost() -> Level:
    """The assignments of the innermost body."""
    found = _local.watch
    return Level() if found is None else found.levels[-1]


def current_values() -> dict[tuple[int, str], Any]:
    """Values of the places that were, or may have been, assigned in the innermost body."""
    return {key: place.value() for key, (place, _, _) in innermost().items()}


def changed_since(before: dict[tuple[int, str], Any]) -> str | None:
    """A place, in words, that was assigned since then; ``None``: none was."""
    for key, (place, first, _) in innermost().items():
        if place.value() is not before.get(key, first):
            return place.label
    return None


def is_known(owner: Any, name: str) -> bool:
    """Whether the value of an attribute was assigned by the program itself."""
    found = _local.watch
    key = (id(owner), name)
    return found is not None and (key in found.bound or any(key in level for level in found.levels))


def assign(location: Place, value: Any) -> None:
    """Let ``location`` hold ``value`` from here on, until the innermost level ends."""
    innermost().note(location)
    location.put(value)


def note_read(location: Place, own: bool = False) -> None:
    """Note that the program depends on the value of ``location``, unless it has assigned it itself.

    Args:
        location: the place.
        own: whether to read the instance only, so that no property is computed.
    """
    watch = _local.watch
    if watch is not None and not is_known(location.holder, location.name):
        watch.reads.setdefault(location.key, (location, location.own() if own else location.value()))


def note_assignable(location: Place) -> None:
    """Note that the code run from here on may assign a variable."""
    if _local.watch is not None:
        for level in _local.watch.levels:
            level.note(location, surely=False)
