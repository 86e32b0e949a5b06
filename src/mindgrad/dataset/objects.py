"""Columns of Python dicts, which a pipeline stores in 0-D object arrays.

Functions of ``map`` and ``per_batch_map`` receive and return the dict itself. Iterators return the dict with
its numbers converted to Tensors or arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.core.ir.tensor import Tensor

__all__ = ["boxed", "converted", "is_boxed", "unboxed"]


def boxed(value: dict[Any, Any]) -> np.ndarray:
    """Store a dict in a 0-D object array."""
    array = np.empty((), object)
    array[()] = value
    return array


def is_boxed(array: Any) -> bool:
    """Return whether the array contains a dict."""
    return isinstance(array, np.ndarray) and array.dtype.hasobject


def unboxed(array: np.ndarray) -> Any:
    """Return the dict in an object array. Return other arrays unchanged."""
    return array.item() if is_boxed(array) else array


def converted(value: Any, leaf: Callable[[np.ndarray], Any]) -> Any:
    """Apply ``leaf`` to all numbers, strings, and arrays in a dict.

    >>> from mindgrad.dataset.objects import converted
    >>> converted({"x": 1, "y": [2.0, {"z": 3}]}, float)
    {'x': 1.0, 'y': [2.0, {'z': 3.0}]}
    """
    if isinstance(value, dict):
        return {name: converted(element, leaf) for name, element in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(converted(element, leaf) for element in value)
    array = value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)
    return value if array.dtype.hasobject else leaf(array)
