"""Conversion of Python numbers, lists, and arrays to the arrays that tensors hold."""

from __future__ import annotations

import array as buffers
import math
import reprlib
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from mindgrad.core.base.refusal import hints
from mindgrad.core.ir.dtype import DType, as_dtype, bfloat16, float32, int64
from mindgrad.core.ir.rules import Array, Element, NumpyType, Stored

__all__ = [
    "array_of", "array_of_object", "initialized", "is_other_array", "is_shareable", "of_type",
    "tensor_element",
]  # fmt: skip

# maps the NumPy type code of an array of Python numbers to the element type of the tensor. Complex numbers
# have no entry, so they keep the type complex128
_DEFAULTS: Mapping[str, DType] = {"d": float32, "b": int64, "h": int64, "i": int64}

#: an array with at least this many bytes is allocated at an aligned address, so that tensors may share it
#: instead of copying it
_LARGE = 1 << 20
#: alignment in bytes. XLA copies an array whose address is not a multiple of this number
_ALIGNMENT = 64

#: formats data for error messages, shortened to about one line
_shortened = reprlib.Repr()
_shortened.maxlist = _shortened.maxtuple = 8
_shortened.maxstring = _shortened.maxother = 60


def array_of(data: object, dtype: DType | None, element: Callable[[object], object]) -> Array:
    """Create a new array from ``data``.

    Args:
        data: a number, a list or tuple nested to any depth, an array of NumPy or of another library (with
            ``__array__`` or ``__dlpack__``), a ``range``, or a buffer of numbers.
        dtype: element type of the new array. ``None``: choose it from the data, as MindSpore does.
        element: function that converts each innermost element of a list to a number or array.

    Raises:
        TypeError: If the type of ``data`` or of an element is not supported, or ``data`` is ragged.
    """
    kind = ""
    if not isinstance(data, (np.ndarray, np.generic, bool, int, float, complex, list, tuple)):
        kind = type(data).__name__
        data = array_of_object(data)
    if isinstance(data, (np.ndarray, np.generic)):
        if type(data) is not np.ndarray and np.any(getattr(data, "mask", False)):
            raise TypeError(
                "For 'Tensor', the input_data is a masked array, but a Tensor has no mask. Fill it: "
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
    except ValueError:  # NumPy rejects nested lists of different lengths
        array = np.array(None)
        reason = "its rows differ in length; pad them to one length, or create a Tensor from each"
    if array.dtype.kind not in "biufc" and array.dtype != bfloat16.numpy:
        text = _shortened.repr(data)
        raise TypeError(f"For Tensor, the input_data is {text} that contain unsupported element: {reason}.")
    if dtype is None:
        dtype = _DEFAULTS.get(array.dtype.char) or as_dtype(array.dtype)
    return of_type(array, dtype)


def array_of_object(data: object) -> Array:
    """Convert an array of another library, a ``range``, or a buffer to a NumPy array.

    Raises:
        TypeError: If the object is of an unsupported type, or its elements cannot be read.
    """
    kind = type(data)
    try:
        if isinstance(data, (range, buffers.array, memoryview)) or hasattr(kind, "__array__"):
            return np.asarray(data)
        if hasattr(kind, "__dlpack__"):
            return np.from_dlpack(data)  # type: ignore[arg-type]  # its class has __dlpack__
    except Exception as error:
        raise TypeError(
            f"For 'Tensor', the elements of the input_data of type {kind.__name__} cannot be read: "
            f"{str(error).rstrip('.')}. If the array is on another device, use x.cpu(). If it has a "
            f"gradient, use x.detach().{hints['DLPack']}"
        ) from error
    raise TypeError(
        f"For 'Tensor', the type of 'input_data' should be one of Tensor, ndarray, list, tuple, float, "
        f"int, bool or complex, or another array, but got {_shortened.repr(data)} of type {kind.__name__}."
    )


def is_other_array(data: object) -> bool:
    """Return whether ``data`` is an array of a library, such as JAX or PyTorch.

    Its class has the method ``__array__`` or ``__dlpack__``.
    """
    kind = type(data)
    return hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")


def of_type(array: Array | Element, dtype: DType) -> Array:
    """Copy ``array`` to the element type ``dtype``.

    If ``array`` is complex and ``dtype`` is real, the imaginary part is dropped.
    """
    if array.dtype.kind == "c" and dtype.kind != "complex":
        array = array.real
    with np.errstate(all="ignore"):
        if array.size * dtype.numpy.itemsize < _LARGE:
            return np.asarray(array).astype(dtype.numpy)
        copy = _aligned(array.shape, dtype.numpy)
        np.copyto(copy, array, casting="unsafe")
    copy.flags.writeable = False  # tensors can share a read-only array (`is_shareable`)
    return copy


def _aligned(shape: tuple[int, ...], dtype: NumpyType) -> Array:
    """Create an uninitialized array at an aligned address (``_ALIGNMENT``)."""
    memory = np.empty(math.prod(shape) * dtype.itemsize + _ALIGNMENT, np.uint8)
    first = -memory.__array_interface__["data"][0] % _ALIGNMENT
    return memory[first : first + memory.size - _ALIGNMENT].view(dtype).reshape(shape)


def is_shareable(array: object, dtype: DType) -> bool:
    """Return whether tensors can share ``array`` instead of copying it.

    The array must be large, and must own its memory or be the result of :func:`_aligned`.
    """
    if type(array) is not np.ndarray or array.nbytes < _LARGE or array.dtype != dtype.numpy:
        return False
    memory = array.base
    if memory is None:
        return True
    return type(memory) is np.ndarray and memory.base is None and memory.nbytes == array.nbytes + _ALIGNMENT


def _with_elements(data: object, element: Callable[[object], object]) -> object:
    """Apply ``element`` to every element of nested lists or tuples."""
    if isinstance(data, (list, tuple)):
        return [_with_elements(each, element) for each in data]
    return element(data)


def initialized(init: object, shape: int | Iterable[int] | None, dtype: object) -> Array:
    """Create an array filled by a number or an initializer; ``None`` means zeros.

    In MindSpore, the elements of ``Tensor(shape=..., dtype=...)`` are uninitialized.

    Raises:
        ValueError: If ``shape`` or ``dtype`` is missing.
        TypeError: If ``init`` is neither a number nor an initializer.
    """
    if init is None and shape is not None and dtype is not None:
        init = 0
    if shape is None or init is None or dtype is None:
        raise ValueError(
            f"For 'Tensor', 'init', 'dtype', and 'shape' must be passed together, but got init={init!r}, "
            f"dtype={dtype}, shape={shape}."
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


def tensor_element(data: Stored) -> object:
    """Return the array of ``data`` if it is a tensor; return other elements unchanged.

    Raises:
        TypeError: If the tensor is being differentiated or compiled.
    """
    if not hasattr(data, "host_array"):
        return data
    current = data.value() if data.is_parameter else data
    if current.is_traced:
        raise TypeError(
            "For 'Tensor', the input_data is a list that contains a tensor that is being differentiated or "
            "compiled; its derivative would be lost. Join tensors with stack instead."
        )
    return current.host_array()
