"""Conversion of data: the arrays of tensors that are made of numbers, lists and NumPy's arrays."""

from __future__ import annotations

import array as buffers
import math
import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.ir.dtype import DType, as_dtype, bfloat16, float32, int64

__all__ = [
    "array_of", "array_of_object", "initialised", "is_other_array", "is_shareable", "of_type",
    "tensor_element",
]  # fmt: skip

# what Python's numbers become in a list; complex ones stay Complex128
_DEFAULTS: dict[str, DType] = {"d": float32, "b": int64, "h": int64, "i": int64}

#: bytes of an array from which on a second copy of it matters
_LARGE = 1 << 20
#: bytes to a multiple of which XLA wants arrays aligned
_ALIGNMENT = 64

#: of data in messages, of which a line is enough
_shortened = reprlib.Repr()
_shortened.maxlist = _shortened.maxtuple = 8
_shortened.maxstring = _shortened.maxother = 60


def array_of(data: Any, dtype: DType | None, element: Callable[[Any], Any]) -> np.ndarray:
    """A new array of ``data``.

    Args:
        data: a number, a list or tuple nested to any depth, an array of NumPy or of another library (with
            ``__array__`` or ``__dlpack__``), a ``range``, or a buffer of numbers.
        dtype: the element type; ``None``: that of the data, as MindSpore has it.
        element: gives the number or array that an element of a list stands for.

    Raises:
        TypeError: the data is nothing of these, is ragged, or has a type that no tensor can hold.
    """
    kind = ""
    if not isinstance(data, (np.ndarray, np.generic, bool, int, float, complex, list, tuple)):
        kind = type(data).__name__
        data = array_of_object(data)
    if isinstance(data, (np.ndarray, np.generic)):
        if type(data) is not np.ndarray and np.any(getattr(data, "mask", False)):
            raise TypeError(
                "For 'Tensor', the input_data is a masked array, whose mask a Tensor cannot hold; fill it: "
                "x.filled(0)."
            )
        try:
            target = as_dtype(data.dtype) if dtype is None else dtype
            as_dtype(data.dtype)
        except TypeError:
            raise TypeError(
                f"For 'Tensor', the input_data is a {kind or 'NumPy array'} of type {data.dtype}, "
                f"which a Tensor cannot hold; use numbers or Booleans."
            ) from None
        return of_type(data, target)
    reason = "a Tensor holds only numbers and Booleans"
    try:
        array = np.array(_with_elements(data, element) if isinstance(data, (list, tuple)) else data)
    except ValueError:  # ragged
        array = np.array(None)
        reason = "its rows differ in length; pad them to one length, or make a Tensor of each"
    if array.dtype.kind not in "biufc" and array.dtype != bfloat16.numpy:
        text = _shortened.repr(data)
        raise TypeError(f"For Tensor, the input_data is {text} that contain unsupported element: {reason}.")
    if dtype is None:
        dtype = _DEFAULTS.get(array.dtype.char) or as_dtype(array.dtype)
    return of_type(array, dtype)


def array_of_object(data: Any) -> np.ndarray:
    """A NumPy array of another library's array, or of a ``range`` or buffer of numbers.

    Raises:
        TypeError: the object is none of these, or does not give its elements.
    """
    kind = type(data)
    try:
        if isinstance(data, (range, buffers.array, memoryview)) or hasattr(kind, "__array__"):
            return np.asarray(data)
        if hasattr(kind, "__dlpack__"):
            return np.from_dlpack(data)
    except Exception as error:
        raise TypeError(
            f"For 'Tensor', the input_data of type {kind.__name__} does not give its elements: "
            f"{str(error).rstrip('.')}. An array on another device is taken by mindgrad.from_dlpack(x), or "
            f"from host memory, x.cpu(); one with a gradient after x.detach()."
        ) from error
    raise TypeError(
        f"For 'Tensor', the type of 'input_data' should be one of Tensor, ndarray, list, tuple, float, "
        f"int, bool or complex, or another array, but got {_shortened.repr(data)} of type {kind.__name__}."
    )


def is_other_array(data: Any) -> bool:
    """Whether ``data``, no array of NumPy, is one of another library."""
    kind = type(data)
    return hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")


def of_type(array: np.ndarray | np.generic, dtype: DType) -> np.ndarray:
    """A copy of ``array`` with another element type; real numbers from complex ones: the real part."""
    if array.dtype.kind == "c" and dtype.kind != "complex":
        array = array.real
    with np.errstate(all="ignore"):
        if array.size * dtype.numpy.itemsize < _LARGE:
            return np.asarray(array).astype(dtype.numpy)
        copy = _aligned(array.shape, dtype.numpy)
        np.copyto(copy, array, casting="unsafe")
    copy.flags.writeable = False  # the tensor's own, though a view of the memory around it
    return copy


def _aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A new array that XLA takes as it is; those of NumPy begin where it has to copy them."""
    memory = np.empty(math.prod(shape) * dtype.itemsize + _ALIGNMENT, np.uint8)
    first = -memory.__array_interface__["data"][0] % _ALIGNMENT
    return memory[first : first + memory.size - _ALIGNMENT].view(dtype).reshape(shape)


def is_shareable(array: Any, dtype: DType) -> bool:
    """Whether another tensor may hold this array of a tensor: a large one whose memory nobody writes into."""
    if type(array) is not np.ndarray or array.nbytes < _LARGE or array.dtype != dtype.numpy:
        return False
    memory: Any = array.base
    if memory is None:
        return True
    return type(memory) is np.ndarray and memory.base is None and memory.nbytes == array.nbytes + _ALIGNMENT


def _with_elements(data: Any, element: Callable[[Any], Any]) -> Any:
    """Nested Python data with every element replaced."""
    if isinstance(data, (list, tuple)):
        return [_with_elements(each, element) for each in data]
    return element(data)


def initialised(init: Any, shape: Any, dtype: Any) -> np.ndarray:
    """An array that a number or an initialiser fills; without ``init``, zeros.

    MindSpore leaves the elements of ``Tensor(shape=..., dtype=...)`` uninitialized.

    Raises:
        ValueError: ``shape`` or ``dtype`` is missing.
        TypeError: ``init`` is neither.
    """
    if init is None and shape is not None and dtype is not None:
        init = 0
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
        raise TypeError(f"For 'Tensor', 'init' must be a number or an initializer, but got {init!r}.")
    return array


def tensor_element(data: Any) -> Any:
    """The array of a tensor in a list; anything else as it is.

    Raises:
        TypeError: the tensor is being differentiated or compiled.
    """
    if not hasattr(data, "host_array"):
        return data
    current = data.value() if data.is_parameter else data
    if current.is_traced:
        raise TypeError(
            "For 'Tensor', the input_data is a list that holds a tensor which is being differentiated or "
            "compiled; its derivative would be lost. Join tensors with ops.stack instead."
        )
    return current.host_array()
