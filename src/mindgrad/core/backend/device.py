"""Select the device of computations: the CPU, or a GPU that JAX finds.

If the requested device is missing, mindgrad prints one message and uses the CPU, so that programs for
another machine still run. With ``MINDGRAD_STRICT_DEVICE=1``, a missing device is an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from mindgrad.core.backend.jax_import import is_jax_loaded, jax_module
from mindgrad.core.backend.xla import compile_kernel, is_elsewhere, to_device, use_device, use_device_later
from mindgrad.core.base.waiting import interruptible, note_long
from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.graph import Graph, calls_back, communicates
from mindgrad.core.ir.kernels import numpy_kernel, set_kernel_runner
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Array, Statics
from mindgrad.core.placement import has_joined, must_join

__all__ = [
    "STRICT_VARIABLE", "TARGETS", "device_count", "device_kind", "memory_statistics", "select_device",
    "synchronize",
]  # fmt: skip

TARGETS = ("CPU", "GPU", "Ascend", "Davinci")
STRICT_VARIABLE = "MINDGRAD_STRICT_DEVICE"

_announced: set[str] = set()


def select_device(target: str, device_id: int = 0) -> str:
    """Run later computations on the device ``target``.

    Args:
        target: one of ``TARGETS``.
        device_id: index of the GPU.

    Returns:
        The kind of device that later computations use: ``"CPU"`` or ``"GPU"``.

    Raises:
        ValueError: If ``target`` is not one of ``TARGETS``, or there is no GPU with this ``device_id``.
        RuntimeError: If the device is missing and ``MINDGRAD_STRICT_DEVICE=1`` is set.
    """
    if target not in TARGETS:
        raise ValueError(f"The 'device_target' must be one of {', '.join(TARGETS)}, but got {target!r}.")
    if target == "GPU" and must_join():
        # programs choose the device before they call communication.init(), but JAX can join a job only before
        # it starts. Therefore start JAX later
        use_device_later(partial(_select, target, device_id))
        set_kernel_runner(run_on_device)
        return "GPU"
    return _select(target, device_id)


def _select(target: str, device_id: int) -> str:
    devices = _gpus() if target == "GPU" else []
    if target == "CPU":
        use_device(None)
        set_kernel_runner(None)
        return "CPU"
    if devices:
        if has_joined() and len(devices) == 1:
            device_id = 0  # this process has one GPU, whatever its index on the machine
        if not 0 <= device_id < len(devices):
            raise ValueError(f"The 'device_id' must be in range [0, {len(devices)}), but got {device_id}.")
        use_device(devices[device_id])
        set_kernel_runner(run_on_device)
        return "GPU"
    _report_missing(target)
    use_device(None)
    set_kernel_runner(None)
    return "CPU"


def _gpus() -> list[Any]:
    try:
        return list(jax_module().local_devices(backend="gpu"))
    except RuntimeError:
        return []


def _report_missing(target: str) -> None:
    reason = (
        "JAX finds no GPU; on a machine with a GPU, install mindgrad with the extra 'gpu'"
        if target == "GPU"
        else "only CPU and GPU are supported"
    )
    if os.environ.get(STRICT_VARIABLE, "") not in ("", "0"):
        raise RuntimeError(
            f"device_target={target!r} was requested, but {reason}, and {STRICT_VARIABLE} is set."
        )
    if target not in _announced:
        _announced.add(target)
        sys.stderr.write(
            f"mindgrad: device_target={target!r} is not available ({reason}); running on the CPU. "
            f"Set {STRICT_VARIABLE}=1 to make this an error.\n"
        )


#: maps a signature (operator, parameters, operand types) to the number of calls on the host so far. After
#: ``kernel_calls`` calls, the operator is compiled for the device
_host_calls: dict[Any, int] = {}
#: largest number of entries of ``_host_calls``
_SIGNATURES = 4096


def run_on_device(primitive: Primitive, arrays: Sequence[Array], parameters: Statics) -> Any:
    """Run one eager operator on the selected device, or on the host.

    A signature is an operator with its parameters and operand types. XLA compiles an operator once per
    signature, which takes about 0.1 s on a GPU. A training step has hundreds of signatures, so operators with
    small operands run on the host in their first calls. The function counts calls and does not measure time,
    so that every run of a program computes the same results.

    Operators with only small integer or Boolean arrays on the host stay on the host. Such arrays are often
    labels or indices, whose values mindgrad checks before it uses them. On the device, such a check would
    wait for all pending computations.
    """
    if primitive.communicates or primitive.effects.calls_back:
        return primitive.numpy(*arrays, **parameters)
    graphs = [x for x in parameters.values() if isinstance(x, Graph)]
    if any(communicates(graph) or calls_back(graph) for graph in graphs):
        return numpy_kernel(primitive, list(map(np.asarray, arrays)), parameters)
    if all(map(_is_small_and_whole, arrays)):
        return numpy_kernel(primitive, arrays, parameters)
    if primitive.kind != "control" and sum(map(np.size, arrays)) <= HOST.kernel_elements:
        signature = (primitive, *parameters.items(), *[(a.dtype, a.shape) for a in arrays])
        calls = _host_calls.get(signature, 0)
        if calls < HOST.kernel_calls:
            if len(_host_calls) >= _SIGNATURES:
                _host_calls.clear()
            _host_calls[signature] = calls + 1
            return numpy_kernel(primitive, list(map(np.asarray, arrays)), parameters)
    kernel = compile_kernel(primitive, tuple(parameters.items()))
    arrays = [
        a if isinstance(a, (np.ndarray, np.generic)) or not is_elsewhere(a) else to_device(a) for a in arrays
    ]
    rank = max((np.ndim(a) for a in arrays), default=0)
    if primitive.pointwise and rank:
        shape = next(a.shape for a in arrays if np.ndim(a) == rank)
        arrays = [np.broadcast_to(a, shape) if np.ndim(a) == 0 else a for a in arrays]
    result = kernel(*arrays)
    # register the result, so that Ctrl-C can interrupt a later wait for it
    note_long(result if primitive.multiple else [result])
    return result


def _is_small_and_whole(array: Array) -> bool:
    is_on_host = isinstance(array, (np.ndarray, np.generic))
    return is_on_host and array.size <= HOST.handed_elements and array.dtype.kind in "iub"


def synchronize() -> None:
    """Wait until all pending computations of compiled functions have finished.

    Returns:
        Nothing.

    >>> import mindgrad as ms
    >>> y = ms.jit(lambda x: x * x)(ms.Tensor([3.0]))
    >>> ms.synchronize()
    >>> print(y)
    [9.]

    See Also:
        :class:`mindgrad.hal.Event`, :class:`mindgrad.hal.Stream`
    """
    if is_jax_loaded():
        jax = jax_module()
        interruptible(jax.block_until_ready, jax.live_arrays())


def device_count(target: str) -> int:
    """Return the number of devices of the kind ``"CPU"`` or ``"GPU"``."""
    return {"CPU": 1, "GPU": len(_gpus())}.get(target, 0)


def device_kind(target: str, device_id: int = 0) -> str:
    """Return the product name of a device.

    Raises:
        ValueError: If there is no such device.
    """
    devices = (
        _gpus()
        if target == "GPU"
        else list(jax_module().local_devices(backend="cpu"))
        if target == "CPU"
        else []
    )
    if not 0 <= device_id < len(devices):
        raise ValueError(
            f"device {device_id} of the kind {target!r} does not exist: JAX finds {len(devices)} devices."
        )
    return str(devices[device_id].device_kind)


def memory_statistics(target: str, device_id: int = 0) -> dict[str, int]:
    """Return the memory statistics of a device by their XLA names, in bytes.

    The result is empty if XLA does not provide statistics.
    """
    devices = _gpus() if target == "GPU" else []
    return dict(devices[device_id].memory_stats() or {}) if device_id < len(devices) else {}
