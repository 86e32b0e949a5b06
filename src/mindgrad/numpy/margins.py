"""Padding as in NumPy: constants, ramps, statistics, or repeated elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.core.ir.tensor import Tensor
from mindgrad.numpy.coercion import floating, tensor
from mindgrad.ops import creation, extremes, indexing, joining, padding, quantiles, reduction, rounding
from mindgrad.ops.operands import broadcast_to, cast

__all__ = ["pad"]

_AGAIN = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS: dict[str, Callable[[Tensor, int], Any]] = {
    "maximum": lambda x, axis: extremes.amax(x, axis, True),
    "mean": lambda x, axis: reduction.mean(floating(x, "pad"), axis, True),
    "median": lambda x, axis: quantiles.quantile(floating(x, "pad"), 0.5, axis, True),
    "minimum": lambda x, axis: extremes.amin(x, axis, True),
}
_MODES = ("constant", *_AGAIN, "linear_ramp", *_STATISTICS)


def _pairs(value: Any, name: str, ndim: int) -> list[tuple[Any, Any]]:
    """Convert a number, a pair, or a list of pairs to a pair for each axis."""
    try:
        return [(before, behind) for before, behind in np.broadcast_to(np.asarray(value), (ndim, 2)).tolist()]
    except ValueError:
        raise ValueError(
            f"For 'pad', the '{name}' {value} does not match the {ndim} axes of the array. Pass a number, "
            "a pair, or one pair for each axis."
        ) from None


def pad(
    arr: Any, pad_width: Any, mode: str = "constant", stat_length: Any = None, constant_values: Any = 0,
    end_values: Any = 0, reflect_type: str = "even", **kwargs: Any,
) -> Tensor:  # fmt: skip
    """Pad a tensor along its axes.

    Args:
        arr (Tensor or array_like): tensor to pad.
        pad_width (int, tuple, or list): numbers of elements to add before and after each axis: one number for
            all, one pair (before, after) for all axes, or one pair for each axis.
        mode (str): how to compute the new elements. ``"constant"`` uses ``constant_values``, and
            ``"linear_ramp"`` interpolates from the edge to ``end_values``. ``"edge"``, ``"reflect"``,
            ``"symmetric"``, and ``"wrap"`` repeat elements of the tensor. ``"maximum"``, ``"mean"``,
            ``"median"``, and ``"minimum"`` use a statistic of the elements next to the edge.
        stat_length (int, tuple, or None): number of elements at the edge from which ``"maximum"``,
            ``"mean"``, ``"median"``, and ``"minimum"`` are computed, in the form of ``pad_width``. ``None``
            means all elements.
        constant_values (number or tuple): fill values for the mode ``"constant"``, in the form of
            ``pad_width``.
        end_values (number or tuple): outermost values of the ramps of ``"linear_ramp"``, in the form of
            ``pad_width``.
        reflect_type (str): kind of reflection; only ``"even"`` is supported.
        **kwargs (object): arguments of a mode that is a function, which is not supported.

    Returns:
        Tensor of the padded shape.

    Raises:
        ValueError: If ``mode`` is unknown, or ``pad_width`` does not match the number of axes.
        NotImplementedError: If ``mode`` is a function, or ``reflect_type`` is ``"odd"``.

    >>> import mindgrad.numpy as np
    >>> print(np.pad([1, 2], 1), np.pad([1, 2, 3], (2, 0), "reflect"))
    [0 1 2 0] [3 2 1 2 3]
    >>> print(np.pad([1.0, 3.0], (1, 2), "linear_ramp"), np.pad([1.0, 3.0], (1, 0), "mean"))
    [0.  1.  3.  1.5 0. ] [2. 1. 3.]
    """
    x = tensor(arr, "pad")
    widths = _pairs(pad_width, "pad_width", x.ndim)
    if callable(mode) or reflect_type != "even":
        raise NotImplementedError(
            "For 'pad', neither a function as 'mode' nor the 'reflect_type' 'odd' is supported. Concatenate "
            "the margins with np.concatenate."
        )
    one_of(mode, _MODES, "pad", "mode")
    if kwargs:
        raise TypeError(f"For 'pad', got the unexpected arguments {', '.join(kwargs)}.")
    if mode in _AGAIN:
        for axis, pair in enumerate(widths):
            places = np.pad(np.arange(x.shape[axis]), pair, mode)  # type: ignore[call-overload]
            x = indexing.gather(x, Tensor(places.astype(np.int32)), axis)
        return x
    if mode == "constant" and np.ndim(constant_values) == 0:
        return padding.padded(x, widths, mode, constant_values)
    options = {"constant": constant_values, "linear_ramp": end_values}.get(mode, stat_length)
    values = [(None, None)] * x.ndim if options is None else _pairs(options, "values", x.ndim)
    for axis, (pair, numbers) in enumerate(zip(widths, values, strict=True)):
        before = _margin(x, axis, pair[0], mode, numbers[0], at_end=False)
        behind = _margin(x, axis, pair[1], mode, numbers[1], at_end=True)
        x = joining.concat((before, x, behind), axis)
    return x


def _margin(x: Tensor, axis: int, width: int, mode: str, number: Any, at_end: bool) -> Tensor:
    """Return the margin before or after an axis."""
    shape = tuple(width if k == axis else size for k, size in enumerate(x.shape))
    if mode == "constant":
        return cast(creation.full(shape, number), x.dtype)
    size = x.shape[axis]
    length = 1 if mode == "linear_ramp" else size if number is None else min(number, size)
    start = size - length if at_end else 0
    part = x[(*(slice(None) for _ in range(axis)), slice(start, start + length))]  # type: ignore[index]
    if mode == "linear_ramp":
        steps = np.arange(width, 0, -1) if at_end else np.arange(1, width + 1)
        share = Tensor(((steps - 1) / max(width, 1)).reshape([-1 if k == axis else 1 for k in range(x.ndim)]))
        return cast(
            number + (floating(part, "pad") - number) * cast(share, floating(part, "pad").dtype), x.dtype
        )
    value = _STATISTICS[mode](part, axis)
    if not x.dtype.is_float and value.dtype.is_float:
        value = rounding.round(value)
    return cast(broadcast_to(value, shape), x.dtype)
