"""Arrays on their way to a program: moved to its device once, or handed over as they are where they are
small.

Measured on two cores with jax 0.10.2: to move a small array alone takes 30 to 50 µs, with the call 4.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from mindgrad.backend.executable import array_type
from mindgrad.backend.xla import to_device
from mindgrad.core import settings
from mindgrad.core.types import TensorType

__all__ = ["SMALL", "on_device", "program_operand"]

#: arrays of at most so many elements are handed to a program as they are
SMALL = 16384
#: arrays below this are not remembered
_FEW = 16

#: arrays of the host that are on the device too, by their identity
_copies: dict[tuple[int, Any], tuple[weakref.ref[Any], Any]] = {}


def on_device(array: Any, type_: TensorType) -> Any:
    """``array`` on the device; one of the host is moved once, as long as it lives: nobody writes into it."""
    usual: Any = array_type()
    if type(array) is usual and array.shape == type_.shape:
        return array
    key = (id(array), (settings.get("device_target"), settings.get("device_id")))
    known = _copies.get(key)
    if known is not None and known[0]() is array:
        return known[1]
    whole = np.asarray(array)
    if whole.shape != type_.shape or not whole.size:
        return to_device(np.broadcast_to(whole, type_.shape))
    moved = to_device(whole)
    if type(array) is np.ndarray and array.size > _FEW:
        _copies[key] = (weakref.ref(array, lambda _: _copies.pop(key, None)), moved)
    return moved


def program_operand(array: Any, type_: TensorType) -> Any:
    """``array`` as a program takes it: what is small goes there with the call, not alone."""
    if (
        isinstance(array, (np.ndarray, np.generic))
        and array.size <= SMALL
        and array.shape == type_.shape
        and array.itemsize <= 4
    ):
        return array
    return on_device(array, type_)
