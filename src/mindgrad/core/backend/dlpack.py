"""DLPack exchange through JAX, for arrays on accelerators and for bfloat16.

All other arrays are exchanged through NumPy, which supports neither accelerators nor bfloat16.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.backend.executable import copy_on_device
from mindgrad.core.backend.jax_import import jax_module

__all__ = ["CPU", "capsule_of", "device_name", "imported"]

#: DLPack's number for the device type CPU
CPU = 1
_DEVICES = {1: "CPU", 2: "CUDA", 3: "CUDA_HOST", 8: "METAL", 10: "ROCM", 11: "ROCM_HOST", 13: "CUDA_MANAGED"}


def device_name(device: tuple[int, int]) -> str:
    """Return the name of a DLPack device, for example ``CUDA:0`` for ``(2, 0)``."""
    kind, index = device
    name = _DEVICES.get(int(kind), f"device type {int(kind)}")
    return name if kind == CPU else f"{name}:{index}"


def capsule_of(array: Any, **options: object) -> Any:
    """Return a DLPack capsule of a copy of a JAX array.

    Because of the copy, a consumer of the capsule cannot overwrite the memory of the tensor. ``options`` are
    arguments of ``__dlpack__``.
    """
    return copy_on_device(array).__dlpack__(**options)


def imported(array: Any) -> Any:
    """Convert an array with ``__dlpack__`` to a JAX array, which may share its memory.

    Raises:
        Exception: If JAX cannot read the device or the element type. JAX does not document the type of the
            error.
    """
    jax = jax_module()
    if isinstance(array, jax.Array):
        return array
    with jax.enable_x64(True):
        return jax_module("jax.dlpack").from_dlpack(array)
