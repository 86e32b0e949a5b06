"""Sorting, searching, and order statistics such as the median."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import int64
from mindgrad.core.numpy.creation import astype
from mindgrad.core.numpy.elementwise import add, greater, greater_equal, multiply
from mindgrad.core.numpy.movement import take, take_along_axis
from mindgrad.core.numpy.reductions import along, axis_of, sum
from mindgrad.core.numpy.shapes import expand_dims, ravel
from mindgrad.core.primitives import sorting
from mindgrad.core.trace.operands import inexact, operand, promoted

__all__ = ["argsort", "median", "percentile", "quantile", "searchsorted", "sort"]


def argsort(a: object, axis: int | None = -1) -> Any:
    """Compute the indices that sort the elements along ``axis`` in ascending order."""
    return along("argsort", sorting.argsort, a, axis, descending=False)


def sort(a: object, axis: int | None = -1) -> Any:
    """Sort the elements along ``axis`` in ascending order."""
    x = operand(a, "sort")
    if axis is None:
        x, axis = ravel(x), 0
    return take_along_axis(x, argsort(x, axis), axis)


def quantile(a: object, q: float, axis: int | None = None, keepdims: bool = False) -> Any:
    """Compute quantile ``q``, a float from 0 to 1, by linear interpolation."""
    x = inexact(operand(a, "quantile"))
    if not 0 <= q <= 1:
        raise ValueError(f"For 'quantile', q must be from 0 to 1, but got {q}.")
    flat = ravel(x) if axis is None else x
    at = 0 if axis is None else axis_of("quantile", axis, x.ndim)
    position = q * (flat.shape[at] - 1)
    below, above = math.floor(position), math.ceil(position)
    ordered, share = sort(flat, at), position - below
    value = add(
        multiply(take(ordered, np.asarray(below), at), 1 - share),
        multiply(take(ordered, np.asarray(above), at), share),
    )
    if not keepdims:
        return value
    return expand_dims(value, range(x.ndim) if axis is None else at)


def percentile(a: object, q: float, axis: int | None = None, keepdims: bool = False) -> Any:
    """Compute percentile ``q``, a float from 0 to 100, by linear interpolation."""
    return quantile(a, q / 100, axis, keepdims)


def median(a: object, axis: int | None = None, keepdims: bool = False) -> Any:
    """Compute the median along ``axis``."""
    return quantile(a, 0.5, axis, keepdims)


def searchsorted(a: object, v: object, side: str = "left") -> Any:
    """Compute the indices at which to insert ``v`` into the sorted 1-D tensor ``a``."""
    a, v = promoted("searchsorted", a, v)
    is_before = greater(expand_dims(v, -1), a) if side == "left" else greater_equal(expand_dims(v, -1), a)
    return sum(astype(is_before, int64), -1)
