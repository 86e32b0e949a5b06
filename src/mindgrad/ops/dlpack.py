"""DLPack: exchange arrays with other libraries.

Other libraries cannot write to the memory of a tensor. A library that supports DLPack 1.0 gets a read-only
view. An earlier version cannot express that an array is read-only, so the library gets a copy.
``from_dlpack`` copies its input, as :class:`mindgrad.Tensor` does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._base.shared_docs import with_sections
from mindgrad.core.backend.dlpack import CPU, capsule_of, device_name, imported
from mindgrad.core.backend.executable import copy_on_device
from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.backend.xla import to_device
from mindgrad.core.ir.dtype import bfloat16
from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.frontend.programs.donation import settled

__all__ = ["dlpack", "dlpack_device", "from_dlpack"]

#: first version of the DLPack protocol in which an exported array can be marked as read-only
_READ_ONLY_KNOWN = (1, 0)
_WHAT = "DLPack, through which other libraries read a tensor's values,"


def dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Export the values as a DLPack capsule, for ``from_dlpack`` of other libraries.

    On the CPU, a library with DLPack 1.0 gets a read-only view, and other libraries get a copy. Arrays on
    accelerators and bfloat16 arrays are copied.

    Args:
        stream (int, optional): stream of the library that reads the array, on accelerators. Default:
            ``None``.
        max_version (tuple of int, optional): latest version of DLPack that the reading library supports.
            Default: ``None``.
        dl_device (tuple of int, optional): device that the reading library requests. Default: ``None``.
        copy (bool, optional): ``True`` requires a copy, ``False`` forbids it. Default: ``None``.

    Raises:
        TypeError: If the tensor is being differentiated or compiled, because its derivative would be lost.
        BufferError: If the array is not on ``dl_device``, or cannot be exported without a copy despite
            ``copy=False``.
    >>> import numpy as np
    >>> from mindgrad import Tensor
    >>> np.from_dlpack(Tensor([1.0, 2.0]))
    array([1., 2.], dtype=float32)
    """
    self.refuse_numpy(_WHAT)
    device_array = _on_device(self)
    device = _device_of(device_array)
    if dl_device is not None and tuple(dl_device) not in (device, (CPU, 0)):
        raise BufferError(
            f"For 'Tensor.__dlpack__', the tensor is on {device_name(device)}, not on "
            f"{device_name(dl_device)}. Move it to the device after reading it."
        )
    to_host = dl_device is not None and dl_device[0] == CPU
    if (device_array is not None and not to_host) or self.dtype is bfloat16:
        if copy is False:
            raise BufferError(
                "For 'Tensor.__dlpack__', copy=False is not possible for an array on an accelerator or of "
                "dtype BFloat16. Omit 'copy'."
            )
        array = to_device(self.host_array()) if device_array is None else device_array
        return capsule_of(array, stream=stream, max_version=max_version)
    knows_read_only = max_version is not None and tuple(max_version) >= _READ_ONLY_KNOWN
    if copy or self.is_parameter or not knows_read_only:
        if copy is False:
            raise BufferError(
                "For 'Tensor.__dlpack__', copy=False is not possible for a Parameter, or with a library "
                "that does not support read-only arrays (DLPack before 1.0). Omit 'copy'."
            )
        return np.array(self.host_array()).__dlpack__(max_version=max_version)
    return self.read_only_array().__dlpack__(max_version=max_version)


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """Return the device as in DLPack: ``(1, 0)`` is the CPU, ``(2, 0)`` a GPU.

    Raises:
        TypeError: If the tensor is being differentiated or compiled.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).__dlpack_device__()
    (1, 0)
    """
    self.refuse_numpy(_WHAT)
    return _device_of(_on_device(self))


@with_sections
def from_dlpack(array: Any) -> Tensor:
    """Copy an array of another library into a tensor, through DLPack.

    Args:
        array (object with __dlpack__): an array of NumPy, JAX, PyTorch, CuPy, or any library with
            ``__dlpack__`` and ``__dlpack_device__``.

    Returns:
        Tensor with the shape and dtype of ``array``. It is on the device of ``array`` if compiled functions
        run on this device.

    Raises:
        TypeError: If ``array`` does not have ``__dlpack__``, or its dtype is not supported.
        BufferError: If the device or memory layout of ``array`` cannot be read.

    >>> import numpy as np
    >>> import mindgrad
    >>> print(mindgrad.from_dlpack(np.arange(3)))
    [0 1 2]
    """
    if isinstance(array, (Tensor, np.ndarray)):
        return Tensor(array)
    kind = type(array)
    if not (hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__")):
        hint = (
            "Pass the array itself, not its capsule" if kind.__name__ == "PyCapsule" else "Use Tensor(data)"
        )
        raise TypeError(
            f"For 'from_dlpack', the input must be an array with '__dlpack__' and '__dlpack_device__', but "
            f"got {kind.__name__}. {hint}."
        )
    device = tuple(array.__dlpack_device__())
    if device[0] == CPU:
        try:
            return Tensor(np.from_dlpack(array))
        except (BufferError, RuntimeError):  # NumPy rejects bfloat16, JAX rejects strided arrays
            pass
    try:
        device_array = imported(array)
    except Exception as error:
        raise BufferError(
            f"For 'from_dlpack', the array of type {kind.__name__} on {device_name(device)} cannot be read "
            f"by mindgrad: {str(error).rstrip('.')}. Pass a plain copy in host memory: in PyTorch "
            f"x.detach().cpu().contiguous(), elsewhere numpy.asarray(x)."
        ) from error
    if device[0] == CPU:
        return Tensor(np.asarray(device_array))
    return make_tensor(copy_on_device(device_array))


def _on_device(tensor: Tensor) -> Any:
    """Return the tensor's array on an accelerator; ``None`` if it is in host memory."""
    array: Any = tensor._array
    if isinstance(array, (np.ndarray, np.generic)):
        return None
    array = settled(array.get() if type(array) is PendingArray else array)
    if not isinstance(array, jax_module().Array):
        return None
    if array.__dlpack_device__()[0] == CPU:
        return None
    return array if array.shape == tensor.shape else to_device(tensor.host_array())


def _device_of(device_array: Any) -> tuple[int, int]:
    if device_array is None:
        return (CPU, 0)
    kind, index = device_array.__dlpack_device__()
    return (int(kind), int(index))
