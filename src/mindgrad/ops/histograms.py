"""Histograms with intervals of equal width."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.dtype import float32, float64, int32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, comparison, creation, extremes, indexing, layout, reduction, rounding
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.registry import public

__all__ = ["histc"]


@public("Tensor mint")
def histc(input: Any, bins: int = 100, min: Any = 0.0, max: Any = 0.0) -> Tensor:
    """Count elements in ``bins`` intervals of equal width from ``min`` to ``max``.

    An element x is counted in interval floor((x − min) · bins / (max − min)), and x = max in the last one.
    Elements outside [``min``, ``max``] and NaN are not counted. The derivative of the counts is 0.

    Args:
        input (Tensor): real tensor of any shape.
        bins (int): number of intervals, positive.
        min, max (int or float): bounds of the histogram. If they are equal, the smallest and the largest
            element of ``input`` are used. If these are equal too, ``min`` is lowered by 1 and ``max`` raised
            by 1.

    Returns:
        Tensor of shape (bins,) with the number of elements in each interval, and with the dtype of ``input``.

    Raises:
        TypeError: If ``input`` is complex, or not a tensor.
        ValueError: If ``bins`` is less than 1, or ``min`` is greater than ``max``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.histc(Tensor([1.0, 2.0, 1.0]), bins=4, min=0.0, max=3.0))
    [0. 2. 1. 0.]
    """
    tensor = operand(input, "Histc")
    if tensor.dtype.kind not in ("float", "int", "uint"):
        raise TypeError(f"For 'Histc', the elements must be real numbers, but got {tensor.dtype}.")
    count = whole_number(bins, "Histc", "bins", 1)
    if min > max:
        raise ValueError(f"For 'Histc', 'min' must be at most 'max', but got {min} and {max}.")
    x = layout.reshape(tensor, (-1,))
    x = cast(x, float64 if tensor.dtype is float64 else float32)
    low: Any = float(min)
    high: Any = float(max)
    if low == high and x.size:
        low, high = extremes.amin(x), extremes.amax(x)
        is_point = comparison.equal(low, high)
        low, high = (
            indexing.where(is_point, arithmetic.add(bound, step), bound)
            for bound, step in ((low, -1.0), (high, 1.0))
        )
    width = arithmetic.sub(high, low)
    bins_ = rounding.floor(arithmetic.div(arithmetic.mul(arithmetic.sub(x, low), float(count)), width))
    bins_ = indexing.where(comparison.equal(x, high), float(count - 1), bins_)
    numbers = creation.arange(count, dtype=x.dtype)
    hits = comparison.equal(layout.expand_dims(bins_, 1), layout.expand_dims(numbers, 0))
    return cast(reduction.sum(cast(hits, int32), 0), tensor.dtype)
