"""Conversion of data: the arrays of tensors that are made of numbers, lists and NumPy's arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.ir.dtype import DType, as_dtype, bfloat16, float32, int64

__all__ = ["array_of", "initialised", "of_type"]

# what Python's numbers become in a list; complex ones stay Complex128
_DEFAULTS: dict[str, DType] = {"d": float32, "b": int64, "h": int64, "i": int64}


def array_of(data: Any, dtype: DType | None, element: Callable[[Any], Any]) -> np.ndarray:
    """A new array of ``data``.

    Args:
        data: a number, a list or tuple nested to any depth, or an array of NumPy.
        dtype: the element type; ``None``: that of the data, as MindSpore has it.
        element: gives the number or array that an element of a list stands for.

    Raises:
        TypeError: the data is nothing of these, is ragged, or has a type that no tensor can hold.
    """
    if isinstance(data, (np.ndarray, np.generic)):
        try:
            target = as_dtype(data.dtype) if dtype is None else dtype
            as_dtype(data.dtype)
        except TypeError:
            raise TypeError(
                f"For 'Tensor', the input_data is a NumPy array of type {data.dtype}, "
                f"which no Tensor can hold; use numbers or truth values."
            ) from None
        return of_type(data, target)
    if not isinstance(data, (bool, int, float, complex, list, tuple)):
        raise TypeError(
            f"For 'Tensor', the type of 'input_data' should be one of Tensor, ndarray, list, tuple, float, "
            f"int, bool or complex, but got {data!r} of type {type(data).__name__}."
        )
    try:
        array = np.array(_with_elements(data, element) if isinstance(data, (list, tuple)) else data)
    except ValueError:  # ragged
        array = np.array(None)
    if array.dtype.kind not in "biufc" and array.dtype != bfloat16.numpy:
        raise TypeError(f"For Tensor, the input_data is {data} that contain unsupported element.")
    if dtype is None:
        dtype = _DEFAULTS.get(array.dtype.char) or as_dtype(array.dtype)
    return of_type(array, dtype)


def of_type(array: np.ndarray | np.generic, dtype: DType) -> np.ndarray:
    """A copy of ``array`` with another element type; real numbers from complex ones: the real part."""
    if array.dtype.kind == "c" and dtype.kind != "complex":
        array = array.real
    with np.errstate(all="ignore"):
        return np.asarray(array).astype(dtype.numpy)


def _with_elements(data: Any, element: Callable[[Any], Any]) -> Any:
    """Nested Python data with every element replaced."""
    if isinstance(data, (list, tuple)):
        return [_with_elements(each, element) for each in data]
    return element(data)


def initialised(init: Any, shape: Any, dtype: Any) -> np.ndarray:
    """An array that a number or an initialiser fills.

    Raises:
        ValueError: one of the three is missing.
        TypeError: ``init`` is neither.
    """
    if shape is None or init is None or dtype is None:
        raise ValueError(
            f"init, dtype and shape must have values at the same time, but got init: {init!r}, dtype: "
            f"{dtype}, shape: {shape}."
        )
    sizes = (int(shape),) if isinstance(shape, int) else tuple(int(n) for n in shape)
    array = np.zeros(sizes, as_dtype(dtype).numpy)
    if isinstance(init, (int, float)):
        array[...] = init
    elif callable(init):
        init(array)
    else:
        raise TypeError(f"For 'Tensor', 'init' must be a number or an initialiser, but got {init!r}.")
    return array
