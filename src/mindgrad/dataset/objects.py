"""Dictionaries of Python in columns travel through a pipeline as arrays of no axes that hold one object.

Functions of ``map`` and ``per_batch_map`` take and give the dictionary itself; iterators give it with its
numbers as Tensors or arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.ir.tensor import Tensor

__all__ = ["boxed", "converted", "is_boxed", "unboxed"]


def boxed(value: dict[Any, Any]) -> np.ndarray:
    """The dictionary as an array of no axes."""
    array = np.empty((), object)
    array[()] = value
    return array


def is_boxed(array: Any) -> bool:
    """Whether the array holds a dictionary."""
    return isinstance(array, np.ndarray) and array.dtype.hasobject


def unboxed(array: np.ndarray) -> Any:
    """The dictionary that an array holds; every other array itself."""
    return array.item() if is_boxed(array) else array


def converted(value: Any, leaf: Callable[[np.ndarray], Any]) -> Any:
    """A dictionary whose numbers, texts and arrays, also those in nested containers, became ``leaf`` of them.

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
