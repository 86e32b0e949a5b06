"""Record the objects that traced code creates.

Traced code may change these objects, because every trace creates them again. Guards do not compare them. If
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

from mindgrad.frontend.reach import objects_in_reach
from mindgrad.frontend.user_functions import in_package

__all__ = [
    "innermost_owned", "is_in_body", "is_of_program", "is_own", "is_tracing", "made", "made_by", "open_body",
]  # fmt: skip


class _Local(threading.local):
    def __init__(self) -> None:
        #: one dict for the traced function and for each body that is being traced, innermost last. It maps
        #: the ``id`` of each object that the code has created to the object
        self.owned: list[dict[int, Any]] = []


_local = _Local()


@contextmanager
def open_body(owned: dict[int, Any]) -> Iterator[None]:
    """A context for the trace of a function, or of the body of a branch or loop.

    Args:
        owned: objects that the traced code may change, by ``id``. The objects that it creates are added.
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
    """Return the objects that the innermost traced branch or iteration may change.

    The keys are the ``id`` of the objects. The caller may add objects.
    """
    return _local.owned[-1] if _local.owned else {}


def made(x: Any) -> Any:
    """Record that traced code created ``x`` and may change it. Return ``x``."""
    innermost_owned()[id(x)] = x
    return x


def made_by(kind: Any, instance: Any) -> Any:
    """Record that the trace created ``instance`` by calling the class ``kind``.

    Nothing is recorded if the call returned an existing object, for example because the class caches its
    instances.

    Returns:
        ``instance``.
    """
    roots = [(kind, ""), (type(kind), "")]
    if _makes_new(kind) or all(instance is not held for held, _ in objects_in_reach(roots)):
        made(instance)
    return instance


@functools.lru_cache(maxsize=4096)
def _makes_new(kind: Any) -> bool:
    """Return whether every call of the class ``kind`` creates a new object."""
    if type(kind).__call__ is not type.__call__:
        return False
    return type(kind.__new__) is types.BuiltinFunctionType or in_package(kind.__new__)


def is_own(owner: Any) -> bool:
    """Return whether the innermost traced body or function has created ``owner``."""
    return id(owner) in innermost_owned()


def is_of_program(owner: Any) -> bool:
    """Return whether traced code has created ``owner``."""
    return any(id(owner) in owned for owned in _local.owned)
