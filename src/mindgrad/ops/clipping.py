"""Clipping of elements to bounds, and maximum and minimum that ignore NaN."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import arithmetic as primitives
from mindgrad.core.primitives import comparisons, piecewise
from mindgrad.core.primitives.logic import isnan
from mindgrad.ops.define import binary_function
from mindgrad.ops.operands import accepted, choose, pointwise, promoted
from mindgrad.ops.registry import public

__all__ = ["clamp", "clip", "clip_by_value", "fmax", "fmin", "maximum", "minimum"]

maximum = binary_function(
    __name__, "maximum", piecewise.maximum,
    "Return the elementwise maximum, or NaN; equal elements share the derivative.",
    "Tensor([1.0, 5.0]), 3.0", "[3. 5.]", "Maximum Tensor mint numpy",
)  # fmt: skip
minimum = binary_function(
    __name__, "minimum", piecewise.minimum,
    "Return the elementwise minimum, or NaN; equal elements share the derivative.",
    "Tensor([1.0, 5.0]), 3.0", "[1. 3.]", "Minimum Tensor mint numpy",
)  # fmt: skip


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Clip values to the interval from a lower to an upper bound.

    If a bound is ``None``, the interval has no limit on this side. For elements inside the interval and at
    its bounds, the derivative with respect to ``x`` is 1. For elements outside, the derivative with respect
    to the bound is 1.

    Args:
        x (Tensor, number, or tuple or list of these): values to clip.
        clip_value_min (Tensor, number, or None): lower bound, which broadcasts with ``x``.
        clip_value_max (Tensor, number, or None): upper bound. If the lower bound is larger, the result is the
            upper bound.

    Returns:
        Tensor with the broadcast shape and the promoted dtype, or a tuple or list of such tensors.

    Raises:
        TypeError: If an operand is neither a tensor nor a number, or is complex.
        ValueError: If both bounds are ``None``, or the shapes of ``x`` and the bounds do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.clip_by_value(Tensor([-2.0, 0.5, 3.0]), 0.0, 1.0))
    [0.  0.5 1. ]
    """
    return _clipped("ClipByValue", x, clip_value_min, clip_value_max)


@public("Tensor Tensor.clip mint mint.clip")
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Clip values to an interval; another name of :func:`clip_by_value`.

    {as clip_by_value}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.clamp(Tensor([-2.0, 0.5, 3.0]), max=1.0))
    [-2.   0.5  1. ]
    """
    return _clipped("Clamp", input, min, max)


def _clipped(operator: str, x: Any, low: Any, high: Any) -> Any:
    if low is None and high is None:
        raise ValueError(f"For '{operator}', at least one of the bounds must be given.")
    if isinstance(x, (tuple, list)):
        return type(x)(_clipped(operator, each, low, high) for each in x)
    if low is not None and high is not None:
        return pointwise(piecewise.clip, operator, x, low, high)
    # Select instead of taking a maximum or minimum: at the bound, the derivative with respect to x is then 1,
    # as for ``piecewise.clip``.
    row, bound = (comparisons.less, low) if high is None else (comparisons.greater, high)
    x, bound = promoted(operator, x, bound)
    accepted(piecewise.clip, operator, x, x, x)
    return apply(primitives.select, apply(row, x, bound), bound, x)


@public("Fmax Tensor")
def fmax(input: Any, other: Any) -> Tensor:
    """Return the elementwise maximum, which is NaN only if both elements are NaN.

    Args:
        input, other (Tensor or number): real operands whose shapes broadcast.

    {real two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.fmax(Tensor([1.0, float("nan")]), 0.5))
    [1.  0.5]
    """
    return _without_nan(piecewise.maximum, "Fmax", input, other)


@public("Fmin Tensor")
def fmin(input: Any, other: Any) -> Tensor:
    """Return the elementwise minimum, which is NaN only if both elements are NaN.

    Args:
        input, other (Tensor or number): real operands whose shapes broadcast.

    {real two}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.fmin(Tensor([1.0, float("nan")]), 0.5))
    [0.5 0.5]
    """
    return _without_nan(piecewise.minimum, "Fmin", input, other)


def _without_nan(primitive: Primitive, operator: str, x: Any, y: Any) -> Tensor:
    x, y = promoted(operator, x, y)
    accepted(primitive, operator, x, y)
    x, y = choose(apply(isnan, x), y, x), choose(apply(isnan, y), x, y)
    return apply(primitive, x, y)


# alternative name, as in MindSpore
clip = clamp
