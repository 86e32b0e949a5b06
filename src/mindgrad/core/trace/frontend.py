"""Frontend protocol: convert Python code before it is traced.

The core traces a function by calling it. A frontend may replace the call, for example to compile branches and
loops on tensors, and it may follow Python state that the function assigns. Without a frontend, functions run
as they are, and assignments remain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

__all__ = ["Assigned", "Frontend", "assigned_in", "call", "isolated", "register"]


class Assigned(Protocol):
    """A location of Python state, such as an attribute, with tensors of a recording."""

    #: leaves of the value that is stored at the location
    leaves: list[Any]

    def store(self, leaves: Sequence[Any]) -> None:
        """Replace the leaves of the value at this location."""


class Frontend:
    """A frontend that does nothing, and the interface of all frontends."""

    def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a user's function while it is traced or recorded."""
        return function(*args, **kwargs)

    def isolated(self) -> AbstractContextManager[Any]:
        """Return a context manager that undoes assignments to Python state at its end."""
        return nullcontext()

    def assigned_in(self, scope: Any) -> Sequence[Assigned]:
        """Return the locations that hold tensors of the closed recording ``scope``."""
        return ()


_frontend = Frontend()


def register(frontend: Frontend) -> Frontend:
    """Use ``frontend`` for all later calls, and return the previous frontend."""
    global _frontend
    before, _frontend = _frontend, frontend
    return before


def call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a user's function through the registered frontend."""
    return _frontend.call(function, *args, **kwargs)


def isolated() -> AbstractContextManager[Any]:
    """Return a context manager that undoes assignments to Python state at its end."""
    return _frontend.isolated()


def assigned_in(scope: Any) -> Sequence[Assigned]:
    """Return the locations that hold tensors of the closed recording ``scope``."""
    return _frontend.assigned_in(scope)
