"""Placement, on host or device, of NumPy arrays passed to programs in eager mode.

For a small array that is used once, an explicit copy to the device takes longer than passing the NumPy array
to the program. Therefore the first program that uses a small array receives the NumPy array itself. If the
array is used a second time, it is copied to the device, and later calls use the copy
(``docs/decisions/0014-eager-tiers.md``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.backend.xla import is_elsewhere, to_device
from mindgrad.core.ir import settings
from mindgrad.core.ir.array_facts import FEW, facts_of
from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.types import TensorType

__all__ = ["SMALL", "on_device", "program_operand"]

#: A NumPy array with at most this many elements is passed to its first compiled function without an explicit
#: copy to the device
SMALL = HOST.handed_elements


def on_device(array: Any, type_: TensorType) -> Any:
    """Return ``array`` on the device. Each NumPy array is copied to the device once."""
    if isinstance(array, jax_module().Array) and array.shape == type_.shape:
        return to_device(array) if is_elsewhere(array) else array
    whole = np.asarray(array)
    if type(array) is not np.ndarray or array.size <= FEW or whole.shape != type_.shape:
        return to_device(np.broadcast_to(whole, type_.shape))
    facts = facts_of(array)
    device = (settings.options["device_target"], settings.options["device_id"])
    if facts.moved is None or facts.moved[1] != device:
        facts.moved = (to_device(array), device)
    return facts.moved[0]


def program_operand(array: Any, type_: TensorType) -> Any:
    """Return ``array`` as an operand of a compiled program.

    A small NumPy array is passed from the host in the first call that uses it.
    """
    if not isinstance(array, (np.ndarray, np.generic)):
        return on_device(array, type_)
    if array.size <= SMALL and array.shape == type_.shape and array.itemsize <= 4:
        if array.size <= FEW or type(array) is not np.ndarray:
            return array
        facts = facts_of(array)
        if not facts.has_come:
            facts.has_come = True
            return array
    return on_device(array, type_)
