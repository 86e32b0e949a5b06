"""References: leaves of Python state that a program reads at its start and writes at its end.

A :class:`~mindgrad.core.ir.tensor.Tensor` with ``is_parameter`` set is a reference: its stored value may
change. A *scope* is the context in which operators are recorded to a graph (``ir.scope``). Outside every
scope, a reference represents its stored value. Inside, it represents the value in the innermost scope that
bound or wrote the reference. If no scope did, the reference becomes an input of the outermost graph.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from mindgrad.core.ir.scope import GraphScope, as_it_is, innermost, open_scopes
from mindgrad.core.ir.tensor import Tensor

__all__ = ["Journal", "advance", "compilation", "is_compiling", "is_stored", "journal", "read", "write"]


def read(parameter: Tensor) -> Tensor:
    """Return the tensor that a Parameter represents now, or another tensor unchanged."""
    if not parameter.is_parameter:
        return parameter
    scopes = open_scopes()
    if not scopes:
        return parameter
    key = id(parameter)
    for scope in reversed(scopes):
        bound = scope.bindings.get(key)
        if bound is not None:
            return bound
    root = scopes[0]
    if isinstance(root, GraphScope):
        symbol = root.symbol(parameter.type)
        root.bindings[key] = symbol
        root.parameters.append(parameter)
        return symbol
    return parameter


def write(parameter: Any, value: Tensor) -> None:
    """Assign ``value`` to ``parameter``.

    Outside every scope, the stored value changes immediately. Inside, it changes when the outermost scope
    ends.
    """
    scope = innermost()
    _note(parameter, scope)
    if scope is None:
        parameter.store(value)
        return
    scope.bindings[id(parameter)] = value
    scope.written[id(parameter)] = parameter


def advance(generator: Any, value: Tensor) -> None:
    """Store the new state of a generator immediately, even while a scope is open.

    A draw is not part of a recording. If its new state were stored only at the end of the recording, another
    thread could draw the same numbers before that. The generator must represent its stored value
    (:func:`is_stored`).
    """
    _note(generator, innermost())
    generator.store(value)


def is_stored(parameter: Any) -> bool:
    """Return whether the Parameter represents its stored value.

    It does if no function is being compiled, and no open scope has bound the Parameter.
    """
    key = id(parameter)
    return not any(isinstance(scope, GraphScope) or key in scope.bindings for scope in open_scopes())


def _note(parameter: Any, scope: Any) -> None:
    for journal in _local.journals:
        if journal.scope is scope and id(parameter) not in journal.before:
            journal.before[id(parameter)] = (parameter, as_it_is(read(parameter)))


class Journal:
    """The values that Parameters had before they were written in the innermost scope.

    Attributes:
        scope: the innermost scope.
        before: ``(Parameter, value)`` by the ``id`` of the Parameter.
    """

    __slots__ = ("before", "scope")

    def __init__(self) -> None:
        self.scope = innermost()
        self.before: dict[int, tuple[Any, Tensor]] = {}


class _Local(threading.local):
    def __init__(self) -> None:
        self.journals: list[Journal] = []


_local = _Local()


@contextlib.contextmanager
def journal() -> Iterator[Journal]:
    """Open a journal, which records the old value of each Parameter that is written."""
    opened = Journal()
    _local.journals.append(opened)
    try:
        yield opened
    finally:
        _local.journals.pop()


def compilation() -> weakref.ref[GraphScope] | None:
    """Return a reference to the scope of the function being compiled, or ``None``."""
    for scope in open_scopes():
        if isinstance(scope, GraphScope):
            return weakref.ref(scope)
    return None


def is_compiling() -> bool:
    """Return whether a function is being compiled on this thread."""
    return isinstance(innermost(), GraphScope)
