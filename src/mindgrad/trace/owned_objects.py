"""Record the objects that are created during a trace.

Traced code may change these objects, because they are new in every trace. Guards do not compare them. If
traced code changes another object, ``mutation_policy`` raises an error. A *body* is the code of one branch or
of one loop iteration.
"""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindgrad.trace.reach import objects_in_reach
from mindgrad.trace.user_functions import in_package

__all__ = [
    "innermost_owned", "is_in_body", "is_of_program", "is_own", "is_tracing", "made", "made_by", "open_body",
]  # fmt: skip


class _Local(threading.local):
    def __init__(self) -> None:
        #: for the traced function and each body that is being traced, innermost last: the objects that it
        #: created, by ``id``
        self.owned: list[dict[int, Any]] = []


_local = _Local()


@contextmanager
def open_body(owned: dict[int, Any]) -> Iterator[None]:
    """A context for the trace of a function, or of the body of a branch or loop.

    Args:
        owned: the objects that it may change, by ``id``. New objects are added.
    """
    _local.owned.append(owned)
    try:
        yield
    finally:
        _local.owned.pop()


def is_tracing() -> bool:
    """Return whether a function is being traced on this thread."""
    return bool(_local.owned)


def is_in_body() -> bool:
    """Return whether the body of a branch or loop is being traced."""
    return len(_local.owned) > 1


def innermost_owned() -> dict[int, Any]:
    """Return the objects that the innermost branch or iteration may change, by ``id``.

    The caller may add objects to this dictionary.
    """
    return _local.owned[-1] if _local.owned else {}


def made(x: Any) -> Any:
    """Record that the trace created ``x``, so that it may change ``x``. Return ``x``."""
    innermost_owned()[id(x)] = x
    return x


def made_by(kind: Any, instance: Any) -> Any:
    """Record that the trace created ``instance`` by calling the class ``kind``.

    Nothing is recorded if the class returned an existing object, as a class with a cache of instances does.
    """
    roots = [(kind, ""), (type(kind), "")]
    if _makes_new(kind) or all(instance is not held for held, _ in objects_in_reach(roots)):
        made(instance)
    return instance


@functools.lru_cache(maxsize=4096)
def _makes_new(kind: Any) -> bool:
    """Return whether calling a class always creates a new object."""
    if type(kind).__call__ is not type.__call__:
        return False
    return type(kind.__new__) is types.BuiltinFunctionType or in_package(kind.__new__)


def is_own(owner: Any) -> bool:
    """Return whether the traced branch, iteration, or function has created ``owner``."""
    return id(owner) in innermost_owned()


def is_of_program(owner: Any) -> bool:
    """Return whether ``owner`` was created during the trace."""
    return any(id(owner) in owned for owned in _local.owned)
