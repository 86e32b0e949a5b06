"""Coercion turns numbers and nested lists into tensors, with the element types of MindSpore."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.dtype import DType, as_dtype, bool_, float32, float64, int32, int64
from mindgrad.ir.tensor import Tensor
from mindgrad.ops.joining import stack
from mindgrad.ops.operands import cast, inexact, operand, promoted

__all__ = ["common", "converted", "count", "element_type", "floating", "tensor", "tensors", "truth"]

#: what the wide types of Python's and NumPy's numbers become; tensors keep theirs
_NARROW: dict[DType, DType] = {float64: float32, int64: int32}
#: Python's numbers as element types of this package; elsewhere they have 64 bits
_PYTHON_TYPES: dict[Any, DType] = {int: int32, "int": int32, float: float32, "float": float32}


def element_type(dtype: Any, name: str = "") -> DType | None:
    """``dtype`` as an element type, Python's ``int`` and ``float`` of 32 bits; ``None`` stays."""
    return None if dtype is None else _PYTHON_TYPES.get(dtype) or as_dtype(dtype)


def tensor(x: Any, name: str, dtype: Any = None) -> Tensor:
    """``x`` as a tensor: a tensor as it is; numbers, lists and arrays with floats as Float32, ints as Int32.

    Args:
        x: a tensor, number, NumPy array, or nested list or tuple of numbers and tensors.
        name: the function's name for errors.
        dtype: the element type; by default as said above.

    Raises:
        TypeError: it is none of these.
        ValueError: it holds lists that differ in length.
    """
    element = element_type(dtype)
    if isinstance(x, Tensor):
        found = operand(x, name)
        return found if element is None else cast(found, element)
    if isinstance(x, (list, tuple)) and _holds_tensor(x):
        parts = promoted(name, *[tensor(each, name) for each in x])
        return stack([each if element is None else cast(each, element) for each in parts], 0)
    if not isinstance(x, (bool, int, float, complex, np.ndarray, np.generic, list, tuple, range)):
        raise TypeError(
            f"For '{name}', the input must be a Tensor, number, NumPy array, list or tuple, but got "
            f"{type(x).__name__}."
        )
    try:
        natural = Tensor(list(x) if isinstance(x, range) else x)
    except TypeError:
        np.asarray(x)  # which raises ValueError where lists differ in length, as NumPy's functions do
        raise
    return Tensor(
        x if not isinstance(x, range) else list(x), element or _NARROW.get(natural.dtype, natural.dtype)
    )


def _holds_tensor(x: Any) -> bool:
    return isinstance(x, Tensor) or (isinstance(x, (list, tuple)) and any(map(_holds_tensor, x)))


def tensors(xs: Any, name: str) -> list[Tensor]:
    """Each of a tuple or list as a tensor; of a tensor or array the parts along its first axis.

    Raises:
        TypeError: ``xs`` is neither.
    """
    if isinstance(xs, Tensor):
        return list(xs)  # type: ignore[call-overload]
    if not isinstance(xs, (tuple, list, np.ndarray)):
        raise TypeError(f"For '{name}', a tuple or list must be given, but got {type(xs).__name__}.")
    return [tensor(each, name) for each in xs]


def common(xs: Any, name: str) -> list[Tensor]:
    """:func:`tensors`, of their common element type."""
    return promoted(name, *tensors(xs, name), broadcast=False)


def floating(x: Any, name: str, dtype: Any = None) -> Tensor:
    """:func:`tensor`, with integers and truth values as Float32, of the type ``dtype`` if it is given."""
    return converted(inexact(tensor(x, name)), dtype)


def count(number: int, name: str) -> int:
    """A number of elements of the function ``name``: below 0 there are none."""
    return max(number, 0)


def truth(x: Tensor) -> Tensor:
    """``x`` as truth values: whether each element is not 0."""
    return cast(x, bool_)


def converted(x: Tensor, dtype: Any) -> Tensor:
    """``x``, with the element type ``dtype`` unless that is ``None``."""
    wanted = element_type(dtype)
    return x if wanted is None else cast(x, wanted)


def _to_tensor(*args: Any) -> Any:
    """The arguments as tensors, which MindSpore programs import from ``mindspore.numpy.utils``.

    Args:
        *args: tensors, which stay, and numbers, lists and tuples of them, with floats as Float32 and ints as
            Int32.

    Returns:
        a tuple of tensors, or the tensor if there is one argument.

    >>> from mindgrad.numpy.coercion import _to_tensor
    >>> _to_tensor([1.0, 2.0]).dtype, len(_to_tensor(1, 2.0))
    (mindspore.float32, 2)
    """
    found = tuple(tensor(each, "_to_tensor") for each in args)
    return found[0] if len(found) == 1 else found
