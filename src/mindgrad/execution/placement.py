"""Placement of the NumPy arrays that compiled programs receive in eager mode.

For a small array that is used once, an explicit copy to the device takes longer than passing the NumPy array
to the program. Therefore the first call receives the NumPy array itself. If a second call receives the same
array, the array is copied to the device, and later calls use the copy
(``docs/decisions/0014-eager-tiers.md``).
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from mindgrad.backend.executable import array_type
from mindgrad.backend.xla import is_elsewhere, to_device
from mindgrad.ir import settings
from mindgrad.ir.cost_model import HOST
from mindgrad.ir.graph import is_finite
from mindgrad.ir.types import TensorType

__all__ = ["SMALL", "is_infinite", "on_device", "program_operand"]

#: largest number of elements of an array that is not copied to the device for its first call
SMALL = HOST.handed_elements
#: for an array of at most this many elements, no :class:`_HostArray` is stored, because computing
#: ``is_infinite`` in each call is faster
_FEW = HOST.forgotten_elements


class _HostArray:
    """Cached properties of a NumPy array, stored as long as the array lives.

    They are valid only if nothing writes to the array.

    Attributes:
        reference: weak reference to the array.
        is_infinite: whether any element is infinite or NaN.
        moved: pair (copy of the array on a device, device); ``None`` if the array was never copied.
        has_come: whether a compiled program has already received the array.
    """

    __slots__ = ("has_come", "is_infinite", "moved", "reference")

    def __init__(self, array: np.ndarray, key: int) -> None:
        self.reference = weakref.ref(array, lambda _: _known.pop(key, None))
        self.is_infinite = not is_finite(array)
        self.moved: tuple[Any, Any] | None = None
        self.has_come = False


_known: dict[int, _HostArray] = {}


def _facts(array: np.ndarray) -> _HostArray:
    key = id(array)
    facts = _known.get(key)
    if facts is None or facts.reference() is not array:
        facts = _known[key] = _HostArray(array, key)
    return facts


def is_infinite(array: Any) -> bool:
    """Whether a NumPy array has infinite or NaN elements.

    Returns ``False`` for an array on a device, which is not checked.
    """
    if type(array) is np.ndarray and array.size > _FEW:
        return _facts(array).is_infinite
    return isinstance(array, (np.ndarray, np.generic)) and not is_finite(array)


def on_device(array: Any, type_: TensorType) -> Any:
    """Return ``array`` on the device. A NumPy array is copied to it only once."""
    usual: Any = array_type()
    if type(array) is usual and array.shape == type_.shape:
        return to_device(array) if is_elsewhere(array) else array
    whole = np.asarray(array)
    if type(array) is not np.ndarray or array.size <= _FEW or whole.shape != type_.shape:
        return to_device(np.broadcast_to(whole, type_.shape))
    facts = _facts(array)
    device = (settings.options["device_target"], settings.options["device_id"])
    if facts.moved is None or facts.moved[1] != device:
        facts.moved = (to_device(array), device)
    return facts.moved[0]


def program_operand(array: Any, type_: TensorType) -> Any:
    """Return ``array`` as an operand of a compiled program.

    A small NumPy array stays on the host in the first call that uses it.
    """
    if not isinstance(array, (np.ndarray, np.generic)):
        return on_device(array, type_)
    if array.size <= SMALL and array.shape == type_.shape and array.itemsize <= 4:
        if array.size <= _FEW or type(array) is not np.ndarray:
            return array
        facts = _facts(array)
        if not facts.has_come:
            facts.has_come = True
            return array
    return on_device(array, type_)
