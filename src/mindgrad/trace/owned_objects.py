"""Objects that a traced program has created: it may change them without guards."""

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
        #: objects created while tracing the program and the bodies in it, by ``id``, innermost last
        self.owned: list[dict[int, Any]] = []


_local = _Local()


@contextmanager
def open_body(owned: dict[int, Any]) -> Iterator[None]:
    """While a program, or a body in it, is traced that may change ``owned``."""
    _local.owned.append(owned)
    try:
        yield
    finally:
        _local.owned.pop()


def is_tracing() -> bool:
    """Whether a program is being traced on this thread."""
    return bool(_local.owned)


def is_in_body() -> bool:
    """Whether the body of a branch or loop is being traced."""
    return len(_local.owned) > 1


def innermost_owned() -> dict[int, Any]:
    """The objects of the innermost body, by ``id``; an object that is added may be changed by it."""
    return _local.owned[-1] if _local.owned else {}


def made(x: Any) -> Any:
    """Note that ``x`` was created inside the trace, which may therefore change it."""
    innermost_owned()[id(x)] = x
    return x


def made_by(kind: Any, instance: Any) -> Any:
    """Note the result of calling a class, unless the class keeps its instances."""
    roots = [(kind, ""), (type(kind), "")]
    if _makes_new(kind) or all(instance is not held for held, _ in objects_in_reach(roots)):
        made(instance)
    return instance


@functools.lru_cache(maxsize=4096)
def _makes_new(kind: Any) -> bool:
    """Whether calling a class cannot return an object that existed before."""
    if type(kind).__call__ is not type.__call__:
        return False
    return type(kind.__new__) is types.BuiltinFunctionType or in_package(kind.__new__)


def is_own(owner: Any) -> bool:
    """Whether ``owner`` was made in the innermost body itself, so that no other body sees how it changes."""
    return id(owner) in innermost_owned()


def is_of_program(owner: Any) -> bool:
    """Whether ``owner`` was made while the program is traced."""
    return any(id(owner) in owned for owned in _local.owned)
