"""Objects that the program being traced has created: it may change them, and no guard compares them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["innermost_owned", "is_in_body", "is_of_program", "is_own", "is_tracing", "made", "open_body"]


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


def is_own(owner: Any) -> bool:
    """Whether ``owner`` was made in the innermost body itself, so that no other body sees how it changes."""
    return id(owner) in innermost_owned()


def is_of_program(owner: Any) -> bool:
    """Whether ``owner`` was made while the program is traced."""
    return any(id(owner) in owned for owned in _local.owned)
