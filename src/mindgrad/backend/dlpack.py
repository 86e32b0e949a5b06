"""DLPack beyond NumPy: arrays on accelerators, and bfloat16, go through jax."""

from __future__ import annotations

from typing import Any

from mindgrad.backend.executable import copy_on_device
from mindgrad.backend.jax_import import jax_module

__all__ = ["CPU", "capsule_of", "device_name", "imported"]

#: the number of the CPU among DLPack's devices
CPU = 1
_DEVICES = {1: "CPU", 2: "CUDA", 3: "CUDA_HOST", 8: "METAL", 10: "ROCM", 11: "ROCM_HOST", 13: "CUDA_MANAGED"}


def device_name(device: tuple[int, int]) -> str:
    """The name of a device of DLPack, ``(2, 0)`` for example: ``CUDA:0``."""
    kind, index = device
    name = _DEVICES.get(int(kind), f"device type {int(kind)}")
    return name if kind == CPU else f"{name}:{index}"


def capsule_of(array: Any, **options: Any) -> Any:
    """The DLPack capsule of a copy of a jax array, so that nobody writes into the memory of a tensor.

    ``options`` are those of ``__dlpack__``.
    """
    return copy_on_device(array).__dlpack__(**options)


def imported(array: Any) -> Any:
    """A jax array with the elements of ``array``, which has ``__dlpack__``; it may share its memory.

    Raises:
        Exception: whatever jax raises if it cannot read the device or the element type.
    """
    jax = jax_module()
    if isinstance(array, jax.Array):
        return array
    with jax.enable_x64(True):
        return jax_module("jax.dlpack").from_dlpack(array)
