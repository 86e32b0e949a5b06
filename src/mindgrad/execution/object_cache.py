"""Derived objects (gradient functions, compiled programs) are remembered on the object they derive from.

They live exactly as long as that object, so that ``grad(net)(x)`` in a loop makes and compiles the
gradient once, and nothing outlives a net that is deleted.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Hashable
from typing import Any

__all__ = ["Memory", "memory", "remembered"]

_ATTRIBUTE = "_derivatives"


class Memory:
    """Derived objects of one owner, stored in its ``__dict__``.

    Dictionaries of functions are copied around (``functools.wraps``, copies of Cells): the memory
    knows its owner, and in another one's dictionary it counts as absent.

    Attributes:
        made: the values of :func:`remembered`, by key.
        source, extra, order: for a function that a transform has made of another, that one, how many
            arguments it takes beyond, and how often it differentiates: never for ``vmap``, twice for
            ``hessian``.
        programs: compiled programs of functions that may be made anew, kept alive with the object.
    """

    __slots__ = ("__weakref__", "extra", "made", "order", "owner", "programs", "source")

    def __init__(self, owner: Any = None) -> None:
        self.owner = None if owner is None else weakref.ref(owner)
        self.made: dict[Hashable, Any] = {}
        self.source: Any = None
        self.extra = self.order = 0
        self.programs: list[Any] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return (Memory, ())

    def __deepcopy__(self, _: Any) -> Memory:
        return Memory()


def memory(owner: Any, make: bool) -> Memory | None:
    """The memory of ``owner``, or ``None``: not there, or an object that can hold none."""
    attributes = getattr(owner, "__dict__", None)
    if type(attributes) is not dict:
        return None
    existing = attributes.get(_ATTRIBUTE)
    if existing is not None and existing.owner is not None and existing.owner() is owner:
        return existing
    if not make:
        return None
    try:
        created = attributes[_ATTRIBUTE] = Memory(owner)
    except TypeError:  # no weak references to it
        return None
    return created


def remembered(fn: Any, key: Hashable, make: Callable[[], Any]) -> Any:
    """The value of ``make()``, computed once for ``fn`` and ``key``; a bound method counts by its owner.

    The key may hold identities (``id``) only of objects that the value keeps alive.
    """
    owner = fn
    if type(fn) is types.MethodType:
        owner, key = fn.__self__, (fn.__func__, key)
    facts = memory(owner, make=True)
    if facts is None:
        return make()
    value = facts.made.get(key)
    if value is None:
        value = facts.made[key] = make()
    return value
