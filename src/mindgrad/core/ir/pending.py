"""Pending arrays: arrays of tensors whose operators are deferred.

In eager mode, a call of a function can be *deferred*: its operators are recorded, and one compiled function
computes their values later (``eager.deferral``). Until then, ``tensor._array`` of each result is a
:class:`PendingArray`. If NumPy code reads a result, the deferred call computes its value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.ir.rules import Array, NumpyType, Stored
from mindgrad.core.ir.types import TensorType

if TYPE_CHECKING:
    from mindgrad.core.ir.tensor import Tensor

__all__ = ["PendingArray", "host_copy", "resolved"]


class PendingArray:
    """The array of a tensor whose operator has been recorded but has not run.

    Attributes:
        deferral: the deferred call that computes the array; ``None`` after the call has ended.
        number: index of the array among the values of the deferred call.
        type: element type and shape of the array.
        value: the computed array; ``None`` before it has been computed.
        shadow: the tensor with the same value, if the operators of the call were executed one by one instead
            of deferred; otherwise ``None``.
    """

    __slots__ = ("__weakref__", "deferral", "number", "shadow", "type", "value")

    def __init__(self, deferral: Stored, number: int, type: TensorType) -> None:
        self.deferral = deferral
        self.number = number
        self.type = type
        self.value: Stored = None
        self.shadow: Tensor | None = None

    def get(self) -> Stored:
        """Return the array. If it has no value yet, compute the value first."""
        return self.deferral.requested(self) if self.value is None else self.value

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
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
    def dtype(self) -> NumpyType:
        """The element type as a NumPy dtype."""
        return self.type.dtype.numpy

    def __array__(self, dtype: NumpyType | None = None, copy: bool | None = None) -> Array:
        return np.array(np.broadcast_to(np.asarray(self.get()), self.type.shape), dtype, copy=copy)

    def __jax_array__(self) -> Stored:
        return self.get()


def resolved(array: Stored) -> Stored:
    """Return the computed value of a pending array; return other arrays unchanged."""
    return array.get() if type(array) is PendingArray else array


def host_copy(array: Stored) -> Array:
    """Copy a device array to the host, as a NumPy array.

    Raises:
        RuntimeError: If the array is divided among processes.
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
