"""``cast``: convert tensors to another dtype."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.dtype import as_dtype, float64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import operands
from mindgrad.ops.registry import public

__all__ = ["cast"]


@public("Cast Tensor")
def cast(input: Any, dtype: Any) -> Tensor:
    """Convert a tensor to another dtype.

    A conversion to integers rounds towards zero, a conversion to Booleans returns whether an element is
    nonzero, and a conversion from complex to real returns the real part. The gradient has the dtype of
    ``input``. Conversions to or from Booleans have no derivative.

    Args:
        input (Tensor or number): values to convert.
        dtype (mindgrad.dtype, type, or str): dtype of the result: a mindgrad dtype, a Python or NumPy type,
            or the name of a dtype. Python's ``float`` means float64.

    Returns:
        Tensor with the shape of ``input`` and the dtype ``dtype``.

    Raises:
        TypeError: If ``dtype`` does not denote a dtype.

    >>> from mindgrad import Tensor, int32, ops
    >>> print(ops.cast(Tensor([1.7, -1.7]), int32))
    [ 1 -1]
    """
    wanted = float64 if dtype is float else as_dtype(dtype)
    return operands.cast(operands.operand(input, "Cast"), wanted)
