"""Frontend protocol: how a user's function is called while it is traced.

The core traces a function by calling it. A frontend may convert the Python code of the function first, for
example to compile branches and loops on tensors. It may also undo assignments of the function to Python
state. Without a frontend, functions run as they are, and their assignments remain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from mindgrad.core.ir.rules import Results, Tree
from mindgrad.core.ir.scope import Scope

__all__ = ["Assigned", "Frontend", "active", "register"]


class Assigned(Protocol):
    """A location of Python state, such as an attribute, that holds traced tensors."""

    #: the flattened value at this location
    leaves: list[Tree]

    def store(self, leaves: Sequence[Tree]) -> None:
        """Store a value with the same nesting but these ``leaves`` at the location."""


class Frontend:
    """Interface of frontends. This base class calls functions unchanged."""

    def call(self, function: Callable, /, *args: Tree, **kwargs: Tree) -> Results:
        """Call a user's function while it is traced or recorded."""
        return function(*args, **kwargs)

    def isolated(self) -> AbstractContextManager[object]:
        """Return a context manager that undoes assignments to Python state when it exits."""
        return nullcontext()

    def assigned_in(self, scope: Scope) -> Sequence[Assigned]:
        """Return the locations of Python state that hold tensors of ``scope``.

        ``scope`` is closed. ``trace.record`` replaces its tensors by tensors of the enclosing scope.
        """
        return ()


#: the registered frontend
active = Frontend()


def register(frontend: Frontend) -> Frontend:
    """Use ``frontend`` for all later calls, and return the previous frontend."""
    global active
    before, active = active, frontend
    return before
