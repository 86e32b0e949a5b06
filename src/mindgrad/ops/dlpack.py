"""DLPack exchanges arrays with other libraries: ``__dlpack__`` of a tensor, and ``from_dlpack``.

A tensor's memory is never written by others: who speaks DLPack 1.0 gets a read-only view, who speaks an
older version, which has no word for read-only, a copy. What comes in is copied, as the data of
:class:`mindgrad.Tensor` is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._base.shared_docs import with_sections
from mindgrad.backend.dlpack import CPU, capsule_of, device_name, imported
from mindgrad.backend.executable import array_type, copy_on_device
from mindgrad.backend.xla import to_device
from mindgrad.execution.donation import settled
from mindgrad.ir.dtype import bfloat16
from mindgrad.ir.pending import PendingArray
from mindgrad.ir.tensor import Tensor, make_tensor

__all__ = ["dlpack", "dlpack_device", "from_dlpack"]

#: the first version of DLPack that can say that an array is read-only
_READ_ONLY_KNOWN = (1, 0)
_WHAT = "DLPack, by which another library takes a tensor's values,"


def dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """The values as a DLPack capsule, for ``from_dlpack`` of NumPy, jax, PyTorch and others.

    On the CPU a reader of DLPack 1.0 gets a view that is marked read-only, another one a copy. Arrays on
    accelerators and those of type BFloat16 are copies.

    Args:
        stream: the stream of the reader, on accelerators.
        max_version: the highest version of DLPack that the reader knows.
        dl_device: the device that it wants the array on.
        copy: whether it must be a copy, ``False``: must not be.

    Raises:
        TypeError: the tensor is being differentiated or compiled, so that its derivative would be lost.
        BufferError: the array is not on ``dl_device``, or ``copy=False`` cannot be had.

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
            f"{device_name(dl_device)}; take it to the device after it was read."
        )
    to_host = dl_device is not None and dl_device[0] == CPU
    if (device_array is not None and not to_host) or self.dtype is bfloat16:
        if copy is False:
            raise BufferError(
                "For 'Tensor.__dlpack__', copy=False is not possible for an array on an accelerator or of "
                "dtype BFloat16: leave it out."
            )
        array = to_device(self.host_array()) if device_array is None else device_array
        return capsule_of(array, stream=stream, max_version=max_version)
    knows_read_only = max_version is not None and tuple(max_version) >= _READ_ONLY_KNOWN
    if copy or self.is_parameter or not knows_read_only:
        if copy is False:
            raise BufferError(
                "For 'Tensor.__dlpack__', copy=False is not possible for a Parameter, or with a library "
                "that does not support read-only arrays (DLPack before 1.0): leave it out."
            )
        return np.array(self.host_array()).__dlpack__(max_version=max_version)
    return self.read_only_array().__dlpack__(max_version=max_version)


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """The device of the values as DLPack counts them: ``(1, 0)`` is the CPU, ``(2, 0)`` the first CUDA one.

    Raises:
        TypeError: the tensor is being differentiated or compiled.

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
        Tensor of the shape and dtype of the array, on its device if compiled functions run on it.

    Raises:
        TypeError: If the object does not have ``__dlpack__``, or its dtype is not supported.
        BufferError: If its device or layout cannot be read.

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
            "give the array itself, not its capsule" if kind.__name__ == "PyCapsule" else "use Tensor(data)"
        )
        raise TypeError(
            f"For 'from_dlpack', the input must be an array with '__dlpack__' and '__dlpack_device__', but "
            f"got {kind.__name__}; {hint}."
        )
    device = tuple(array.__dlpack_device__())
    if device[0] == CPU:
        try:
            return Tensor(np.from_dlpack(array))
        except (BufferError, RuntimeError):  # NumPy knows no bfloat16, and jax no strides
            pass
    try:
        device_array = imported(array)
    except Exception as error:
        raise BufferError(
            f"For 'from_dlpack', the array of type {kind.__name__} on {device_name(device)} cannot be read "
            f"here: {str(error).rstrip('.')}. Give a plain copy in host memory: in PyTorch "
            f"x.detach().cpu().contiguous(), elsewhere numpy.asarray(x)."
        ) from error
    if device[0] == CPU:
        return Tensor(np.asarray(device_array))
    return make_tensor(copy_on_device(device_array))


def _on_device(tensor: Tensor) -> Any:
    """The tensor's array on an accelerator; ``None`` if it is in host memory."""
    array: Any = tensor._array
    if isinstance(array, (np.ndarray, np.generic)):
        return None
    array = settled(array.get() if type(array) is PendingArray else array)
    kind: Any = type(array)
    if kind is not array_type():
        return None
    if array.__dlpack_device__()[0] == CPU:
        return None
    return array if array.shape == tensor.shape else to_device(tensor.host_array())


def _device_of(device_array: Any) -> tuple[int, int]:
    if device_array is None:
        return (CPU, 0)
    kind, index = device_array.__dlpack_device__()
    return (int(kind), int(index))
