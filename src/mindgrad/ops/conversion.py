"""``cast``: convert tensors to another dtype."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import as_dtype, float64
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import operands
from mindgrad.ops.registry import public

__all__ = ["cast"]


@public("Cast Tensor")
def cast(input: Any, dtype: Any) -> Tensor:
    """Convert a tensor to another dtype.

    Floats become integers by rounding towards zero, nonzero numbers become true, and complex numbers become
    real by their real part. A derivative passes through the conversion in the dtype of the input; Boolean
    tensors have none.

    Args:
        input (Tensor or number): the values.
        dtype (mindgrad.dtype, type, or str): a dtype, or a Python or NumPy type or name for it;
            Python's ``float`` is float64.

    Returns:
        Tensor of the shape of ``input`` and of dtype ``dtype``.

    Raises:
        TypeError: If ``dtype`` is not a dtype.

    >>> from mindgrad import Tensor, int32, ops
    >>> print(ops.cast(Tensor([1.7, -1.7]), int32))
    [ 1 -1]
    """
    wanted = float64 if dtype is float else as_dtype(dtype)
    return operands.cast(operands.operand(input, "Cast"), wanted)
