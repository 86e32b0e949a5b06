"""Checks of axes: convert them to nonnegative numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.tensor import Tensor

__all__ = ["is_plain", "normalize_axes", "normalize_axis"]

_INTS = {int}


def is_plain(value: Any) -> bool:
    """Return whether ``value`` is a tuple of Python ints, a valid key of a cache.

    A tuple with Booleans or NumPy integers is not a valid key, because such elements equal ints.
    """
    return type(value) is tuple and {*map(type, value)} <= _INTS


def normalize_axis(axis: Any, rank: int, operator: str) -> int:
    """Convert ``axis`` to a nonnegative number; a scalar has the axes 0 and -1.

    Raises:
        TypeError: If ``axis`` is not an int.
        ValueError: If ``axis`` is outside ``[-rank, rank)``, or outside ``[-1, 1)`` for a scalar.
    """
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise TypeError(f"For '{operator}', the 'axis' must be an int, but got {type(axis).__name__}.")
    bound = max(rank, 1)
    if not -bound <= axis < bound:
        raise ValueError(
            f"For '{operator}', the 'axis' must be in range [{-bound}, {bound}), but got {axis}."
        )
    return int(axis) % bound


def normalize_axes(axis: Any, rank: int, operator: str) -> tuple[int, ...]:
    """Convert axes to ascending nonnegative numbers.

    ``None`` and ``()`` mean all axes.
    For a scalar, ``axis`` may be 0 or -1, and the result is ``()``.
    """
    if isinstance(axis, Tensor) and axis.dtype.kind in ("int", "uint"):
        if axis._array is None:
            raise TypeError(
                f"For '{operator}', the 'axis' is a tensor whose values are not known at compile time. Pass "
                "ints, or a constant Tensor(..., const_arg=True)."
            )
        axis = tuple(axis.host_array().reshape(-1).tolist())
    if axis is None or (isinstance(axis, (tuple, list)) and not axis):
        return tuple(range(rank))
    listed: Sequence[Any] = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(sorted(normalize_axis(each, rank, operator) for each in listed))
    if len(set(axes)) != len(axes):
        raise ValueError(f"For '{operator}', the axes {axis} contain an axis twice.")
    return axes if rank else ()
