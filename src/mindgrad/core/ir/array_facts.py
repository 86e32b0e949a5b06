"""Cached properties of NumPy arrays, valid while nothing writes to the arrays."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.graph import is_finite

__all__ = ["FEW", "HostArray", "facts_of", "is_infinite"]

#: for an array of at most this many elements, no :class:`HostArray` is stored, because checking the elements
#: in each call is faster than looking up the stored property
FEW = HOST.forgotten_elements


class HostArray:
    """Cached properties of a NumPy array, stored as long as the array exists.

    They are valid only if nothing writes to the array.

    Attributes:
        reference: weak reference to the array.
        is_infinite: whether any element is infinite or NaN.
        moved: pair (copy of the array on a device, device); ``None`` if the array was never copied.
        has_come: whether a compiled function has already received the array.
    """

    __slots__ = ("has_come", "is_infinite", "moved", "reference")

    def __init__(self, array: np.ndarray, key: int) -> None:
        self.reference = weakref.ref(array, lambda _: _known.pop(key, None))
        self.is_infinite = not is_finite(array)
        self.moved: tuple[Any, Any] | None = None
        self.has_come = False


_known: dict[int, HostArray] = {}


def facts_of(array: np.ndarray) -> HostArray:
    """Return the cached properties of ``array``."""
    key = id(array)
    facts = _known.get(key)
    if facts is None or facts.reference() is not array:
        facts = _known[key] = HostArray(array, key)
    return facts


def is_infinite(array: Any) -> bool:
    """Whether a NumPy array has infinite or NaN elements.

    Returns ``False`` for an array on a device, which is not checked.
    """
    if type(array) is np.ndarray and array.size > FEW:
        return facts_of(array).is_infinite
    return isinstance(array, (np.ndarray, np.generic)) and not is_finite(array)  # type: ignore[arg-type]  # it is a scalar of NumPy
