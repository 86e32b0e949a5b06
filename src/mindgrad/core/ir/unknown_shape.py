"""Tensors without values: ``Tensor(shape=[None, 3], dtype=float32)``.

They describe arguments. ``net.set_inputs(…)`` and ``jit(input_signature=…)`` accept such tensors. If the size
of an axis is ``None``, one compiled function accepts many sizes of this axis
(``frontend.programs.open_sizes``). Computing with a tensor without values raises an error.
"""

from __future__ import annotations

from typing import Any, NoReturn

from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.types import TensorType, tensor_type

__all__ = ["WithoutValues", "described"]


def described(dtype: Any, shape: Any, init: Any) -> TensorType | None:
    """Return the type of ``Tensor(dtype=…, shape=…, init=…)`` if it has no values.

    In the shape of the type, −1 means an unknown size, and the shape (−2,) means an unknown number of axes.
    Returns ``None`` if the arguments define a tensor with values.
    """
    if init is not None or dtype is None:
        return None
    if shape is None:
        return tensor_type(dtype, (-2,))
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    if not any(size is None or size == -1 for size in sizes):
        return None
    return tensor_type(as_dtype(dtype), tuple(-1 if size is None else size for size in sizes))


class WithoutValues:
    """Base class of tensors that only describe a dtype and a shape."""

    __slots__ = ()

    type: TensorType

    @property
    def _array(self) -> NoReturn:
        raise ValueError(
            f"a tensor of shape {self.type.shape}, in which sizes are unknown, has no values: it only "
            "describes an input for set_inputs. Give a shape without None, or data."
        )

    def __repr__(self) -> str:
        return f"Tensor(shape={list(self.type.shape)}, dtype={self.type.dtype}, value=<unknown>)"

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self
