"""Tensors under MindSpore's name: ``from mindspore.common.tensor import Tensor``."""

from typing import Any

from mindgrad.api.arguments import explains_keywords
from mindgrad.core.ir.tensor import Tensor

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
    """Create a tensor: MindSpore 2.x's function form of :class:`mindgrad.Tensor`.

    Args:
        input_data (number, list, tuple, numpy.ndarray, or Tensor, optional): data of the tensor, which are
            copied. Default: ``None``.
        dtype (DType, optional): dtype of the tensor. ``None``: the dtype of ``input_data``. Default:
            ``None``.
        shape (tuple or list of int, optional): shape of a tensor that is filled with ``init``, instead of
            ``input_data``. Default: ``None``.
        init (Initializer or number, optional): initial values of the tensor, instead of ``input_data``.
            Default: ``None``.
        const_arg (bool, optional): whether compiled functions treat the tensor as a constant. Default:
            ``False``.
        device (str, optional): accepted for compatibility; ``set_context(device_target=...)`` chooses the
            device. Default: ``None``.

    Returns:
        Tensor: the new tensor.

    Raises:
        TypeError: If ``input_data`` is not an array of numbers, or ``dtype`` is not a dtype.

    >>> import mindgrad as ms
    >>> ms.tensor([1, 2], ms.float32)
    Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])

    See Also:
        :class:`mindgrad.Tensor`, :func:`mindgrad.from_numpy`, :class:`mindgrad.Parameter`
    """
    return Tensor(input_data, dtype, shape, init, const_arg)
