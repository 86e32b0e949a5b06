"""Cache of derived objects, such as gradient functions, on their source object.

A derived object lives as long as its source object. Therefore, ``grad(net)(x)`` in a loop creates and
compiles the gradient function only once. When the net is deleted, its gradient functions are deleted, too.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Hashable
from typing import Any

__all__ = ["Memory", "memory", "remembered"]

_ATTRIBUTE = "_derivatives"


class Memory:
    """Cache of the objects derived from one owner, stored in the owner's ``__dict__``.

    ``functools.wraps`` and copies of Cells copy the ``__dict__`` of an object, and with it the memory.
    Therefore, a memory refers to its owner, and :func:`memory` ignores a memory whose owner is a different
    object.

    Attributes:
        made: dict of the derived objects that :func:`remembered` has created, by key.
        source: the function to which a transform was applied, if the owner is the result of this transform.
        extra: number of arguments that the owner accepts in addition to the arguments of ``source``.
        order: order of the derivative that the transform computes: 0 for ``vmap``, 2 for ``hessian``.
        programs: compiled programs that live as long as the owner (``frontend.programs.cache``).
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
    """Return the memory of ``owner``; create it if it is missing and ``make`` is true.

    The result is ``None`` if ``owner`` has no memory, or cannot have one because it has no ``__dict__`` or
    does not support weak references.
    """
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
    except TypeError:  # ``owner`` does not support weak references
        return None
    return created


def remembered(fn: Any, key: Hashable, make: Callable[[], Any]) -> Any:
    """Return the object stored for ``fn`` and ``key``; call ``make()`` to create it.

    If ``fn`` is a bound method, the object is stored on the instance. ``key`` may contain the ``id`` of a
    Python object only if the stored object keeps that Python object alive.
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
