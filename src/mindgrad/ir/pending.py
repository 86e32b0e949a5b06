"""Pending arrays: what tensors hold while the operators that compute them are deferred.

    tensor._array is PendingArray  ⟺  the value is known on request, and has not been computed

To those who ask for its numbers a pending array is like an array of a device: NumPy converts it, which
computes it. Who runs what, and when, is the business of the deferred call that it belongs to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.types import TensorType

__all__ = ["PendingArray", "host_copy", "resolved"]


class PendingArray:
    """The array of a tensor whose operator has been recorded and has not run.

    Attributes:
        deferral: the deferred call that it belongs to; ``None`` once that has ended.
        number: its number among the values of that call.
        type: element type and shape.
        value: the array, once it is known.
        shadow: the tensor that operator-by-operator execution computed in its place, if it has.
    """

    __slots__ = ("__weakref__", "deferral", "number", "shadow", "type", "value")

    def __init__(self, deferral: Any, number: int, type: TensorType) -> None:
        self.deferral = deferral
        self.number = number
        self.type = type
        self.value: Any = None
        self.shadow: Any = None

    def get(self) -> Any:
        """The array, computed now if need be."""
        return self.deferral.requested(self) if self.value is None else self.value

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.type.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.type.rank

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.type.size

    @property
    def dtype(self) -> np.dtype:
        """The element type, as NumPy's."""
        return self.type.dtype.numpy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(np.broadcast_to(np.asarray(self.get()), self.type.shape), dtype, copy=copy)

    def __jax_array__(self) -> Any:
        return self.get()


def resolved(array: Any) -> Any:
    """``array`` itself, or the one that a :class:`PendingArray` stands for."""
    return array.get() if type(array) is PendingArray else array


def host_copy(array: Any) -> np.ndarray:
    """A device's array on the host.

    Raises:
        RuntimeError: it is divided among processes.
    """
    try:
        return np.asarray(array)
    except RuntimeError:
        if getattr(array, "is_fully_addressable", True):
            raise
        raise RuntimeError(
            "the program reads the value of a tensor that is divided among several processes. Each process "
            "holds only a part. Reduce the tensor in a compiled function, which returns complete results, "
            "or save it: "
            "save_checkpoint(..., integrated_save=False)."
        ) from None
