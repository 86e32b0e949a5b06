"""Tensors under MindSpore's name: ``from mindspore.common.tensor import Tensor``."""

from typing import Any

from mindgrad.api.arguments import explains_keywords
from mindgrad.ir.tensor import Tensor

__all__ = ["Tensor", "tensor"]


@explains_keywords
def tensor(
    input_data: Any = None,
    dtype: Any = None,
    shape: Any = None,
    init: Any = None,
    const_arg: bool = False,
    device: str | None = None,
) -> Tensor:
    """A new tensor, as :class:`mindgrad.Tensor` makes it: MindSpore 2.x's spelling.

    Args:
        input_data: a number, (nested) list or tuple of numbers, NumPy array, or Tensor; it is copied.
        dtype: the element type; by default that of the data.
        shape, init: instead of data, as for :class:`mindgrad.Tensor`.
        const_arg: whether compiled functions take it as a constant, as for :class:`mindgrad.Tensor`.
        device: accepted for compatibility; ``set_context(device_target=...)`` says where programs run.

    Raises:
        TypeError: the data is no array of numbers, or ``dtype`` no element type.

    >>> import mindgrad as ms
    >>> ms.tensor([1, 2], ms.float32)
    Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])
    """
    return Tensor(input_data, dtype, shape, init, const_arg)
