"""Casts change the element type of a tensor."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import as_dtype, float64
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import operands
from mindgrad.ops.registry import public

__all__ = ["cast"]


@public("Cast Tensor")
def cast(input: Any, dtype: Any) -> Tensor:
    """``input`` with the element type ``dtype``.

    Floats become integers by rounding towards zero, numbers truth values by asking whether they are
    not zero, complex numbers real ones by their real part. A derivative passes through a cast, in the
    element type of the input; only truth values have none.

    Args:
        input: a tensor, or a number.
        dtype: an element type, or a name or type of Python or NumPy for it; Python's ``float`` is
            Float64.

    Raises:
        TypeError: ``dtype`` is no element type.

    >>> from mindgrad import Tensor, int32, ops
    >>> print(ops.cast(Tensor([1.7, -1.7]), int32))
    [ 1 -1]
    """
    wanted = float64 if dtype is float else as_dtype(dtype)
    return operands.cast(operands.operand(input, "Cast"), wanted)
