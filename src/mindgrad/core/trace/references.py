"""References: tensors with stored state, which a function reads and assigns.

A :class:`~mindgrad.core.ir.tensor.Tensor` with ``is_parameter`` set is a *reference*: its stored value may
change. A *scope* is the context in which operators are recorded (``ir.scope``). Outside every scope, a
reference represents its stored value. Inside a scope, it represents the value that the innermost scope has
bound or assigned to it. If no scope has done so and a function is being compiled, the reference becomes an
input of the outermost graph.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator

from mindgrad.core.ir.rules import Stored
from mindgrad.core.ir.scope import GraphScope, Scope, as_it_is, innermost, open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.thread_state import state

__all__ = ["Journal", "advance", "compilation", "is_compiling", "is_stored", "journal", "read", "write"]


def read(reference: Tensor) -> Tensor:
    """Return the current value of a reference; return other tensors unchanged.

    If a function is being compiled, the first read makes the reference an input of its graph.
    """
    if not reference.is_parameter:
        return reference
    scopes = open_scopes()
    if not scopes:
        return reference
    key = id(reference)
    for scope in reversed(scopes):
        bound = scope.bindings.get(key)
        if bound is not None:
            return bound
    root = scopes[0]
    if isinstance(root, GraphScope):
        symbol = root.symbol(reference.type)
        root.bindings[key] = symbol
        root.parameters[symbol._atom] = reference
        return symbol
    return reference


def write(reference: Stored, value: Tensor) -> None:
    """Assign ``value`` to ``reference``.

    Outside every scope, the stored value changes immediately. Inside a scope, it changes when the outermost
    scope ends.
    """
    scope = innermost()
    _note(reference, scope)
    if scope is None:
        reference.store(value)
        return
    scope.bindings[id(reference)] = value
    scope.written[id(reference)] = reference


def advance(generator: Stored, value: Tensor) -> None:
    """Store the new state of a random number generator immediately, even in a scope.

    If the state were stored only when the scope ends, another thread could draw the same random numbers
    before then. The caller must check that :func:`is_stored` is true for the generator.
    """
    _note(generator, innermost())
    generator.store(value)


def is_stored(reference: Stored) -> bool:
    """Return whether a read of ``reference`` returns its stored value.

    The result is false if a function is being compiled, or an open scope has bound or assigned the reference.
    """
    key = id(reference)
    return not any(isinstance(scope, GraphScope) or key in scope.bindings for scope in open_scopes())


def _note(reference: Stored, scope: Scope | None) -> None:
    for journal in state.journals:
        if journal.scope is scope and id(reference) not in journal.before:
            journal.before[id(reference)] = (reference, as_it_is(read(reference)))


class Journal:
    """The previous values of the references that are assigned in a scope.

    Attributes:
        scope: the innermost scope when the journal is opened. Assignments in other scopes are not recorded.
        before: maps the ``id`` of a reference to the reference and its value before the first assignment.
    """

    __slots__ = ("before", "scope")

    def __init__(self) -> None:
        self.scope = innermost()
        self.before: dict[int, tuple[Stored, Tensor]] = {}


@contextlib.contextmanager
def journal() -> Iterator[Journal]:
    """Context manager that records the previous value of each assigned reference."""
    opened = Journal()
    state.journals.append(opened)
    try:
        yield opened
    finally:
        state.journals.pop()


def compilation() -> weakref.ref[GraphScope] | None:
    """Return a weak reference to the scope of the outermost trace, or ``None``."""
    for scope in open_scopes():
        if isinstance(scope, GraphScope):
            return weakref.ref(scope)
    return None


def is_compiling() -> bool:
    """Return whether a function is being compiled on this thread."""
    return isinstance(innermost(), GraphScope)
