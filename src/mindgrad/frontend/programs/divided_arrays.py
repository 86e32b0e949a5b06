"""Arrays that are divided among devices: join, lay out, and gather them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mindgrad.core.backend.xla import is_elsewhere, mesh_devices, to_device
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.constant_arguments import is_constant
from mindgrad.core.ir.scope import LEFT_BEHIND
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.distributed.device_mesh import is_divided, is_joint, joint_samples, on_one_device, spread
from mindgrad.distributed.partition import current
from mindgrad.frontend.programs.array_arguments import leaves_as_tensors
from mindgrad.frontend.programs.donation import settled, window

__all__ = ["gathered", "joint_args", "lay_out", "moved"]


def moved(tensor: Tensor) -> Any:
    """Move the array of a tensor to the device, and return the moved array.

    The tensor then stores the moved array.
    """
    array = settled(tensor._array)
    if array is None:
        raise RuntimeError(LEFT_BEHIND)
    if isinstance(array, (np.ndarray, np.generic)) or array.shape != tensor.shape:
        array = tensor._array = to_device(np.broadcast_to(np.asarray(array), tensor.shape))
    return array


def joint_args(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Join the arguments of a call with the arguments of all other processes.

    Arguments are joined if programs are divided among the devices of several processes, and each process
    passes different samples. Tensors and arrays are joined along their first axis. An argument that is a
    result of such a program is joined already, so it is unchanged.

    Raises:
        ValueError: If the number of samples is not divisible by the number of devices of this process.
    """
    partition = current()
    if partition is None or partition.data != "rows" or not is_joint(mesh_devices(partition.devices)):
        return args, kwargs
    devices = mesh_devices(partition.devices)
    leaves, structure = flatten((args, kwargs))
    joined = [_joint(x, devices) for x in leaves_as_tensors(leaves)]
    args, kwargs = unflatten(structure, joined)
    return args, kwargs


def _joint(leaf: Any, devices: tuple[Any, ...]) -> Any:
    if not isinstance(leaf, Tensor) or leaf.is_parameter or is_constant(leaf) or not leaf.shape:
        return leaf
    if is_divided(settled(leaf._array)):
        return leaf
    return make_tensor(joint_samples(leaf.host_array(), devices))


def lay_out(tensors: Iterable[Any], shardings: Iterable[Any]) -> None:
    """Move the arrays of tensors to the device layouts that a compiled function needs."""
    for tensor, sharding in zip(tensors, shardings, strict=True):
        array = tensor._array
        if sharding is None or (getattr(array, "sharding", None) is sharding and array.shape == tensor.shape):
            continue  # the program does not read the tensor, or the array already has this layout
        with window:
            array = settled(tensor._array)
            if array is None:
                raise RuntimeError(LEFT_BEHIND)
            if array.shape != tensor.shape:
                array = np.broadcast_to(np.asarray(array), tensor.shape)
            tensor._array = spread(array, sharding)


def gathered(tensors: Iterable[Any]) -> bool:
    """Move the arrays of tensors to the selected device; return whether any was moved.

    Arrays that are divided among devices are gathered on this device.
    """
    has_moved = False
    for tensor in tensors:
        with window:
            array = settled(tensor._array)
            if is_divided(array):
                tensor._array = on_one_device(array, to_device)
                has_moved = True
            elif not isinstance(array, (np.ndarray, np.generic)) and is_elsewhere(array):
                tensor._array = to_device(array)
                has_moved = True
    return has_moved
