"""Conversion of numbers and nested lists to tensors, with MindSpore's dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import DType, as_dtype, bool_, float32, float64, int32, int64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.joining import stack
from mindgrad.ops.operands import cast, inexact, operand, promoted

__all__ = ["common", "converted", "count", "element_type", "floating", "tensor", "tensors", "truth"]

#: 64-bit dtype of a Python number or NumPy array -> dtype to which it is converted. Tensors keep their dtype
_NARROW: dict[DType, DType] = {float64: float32, int64: int32}
#: value of the argument ``dtype`` that is a Python type -> dtype with 32 bits, where NumPy would use 64 bits
_PYTHON_TYPES: dict[Any, DType] = {int: int32, "int": int32, float: float32, "float": float32}


def element_type(dtype: Any, name: str = "") -> DType | None:
    """Convert ``dtype`` to a ``DType``; Python's ``int`` and ``float`` have 32 bits."""
    return None if dtype is None else _PYTHON_TYPES.get(dtype) or as_dtype(dtype)


def tensor(x: Any, name: str, dtype: Any = None) -> Tensor:
    """Convert ``x`` to a tensor.

    Args:
        x: a tensor, number, NumPy array, or nested list or tuple of numbers and tensors.
        name: name of the function for error messages.
        dtype: dtype of the result. By default float32 for floats and int32 for integers; tensors keep their
            dtype.

    Raises:
        TypeError: If ``x`` has an unsupported type.
        ValueError: If nested lists differ in length.
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
        np.asarray(x)  # NumPy raises ValueError if nested lists differ in length
        raise
    return Tensor(
        x if not isinstance(x, range) else list(x), element or _NARROW.get(natural.dtype, natural.dtype)
    )


def _holds_tensor(x: Any) -> bool:
    return isinstance(x, Tensor) or (isinstance(x, (list, tuple)) and any(map(_holds_tensor, x)))


def tensors(xs: Any, name: str) -> list[Tensor]:
    """Convert each element of a tuple or list, or each row of a tensor, to a tensor.

    Raises:
        TypeError: If ``xs`` is not a tuple, list, array, or tensor.
    """
    if isinstance(xs, Tensor):
        return list(xs)  # type: ignore[call-overload]
    if not isinstance(xs, (tuple, list, np.ndarray)):
        raise TypeError(f"For '{name}', a tuple or list must be given, but got {type(xs).__name__}.")
    return [tensor(each, name) for each in xs]


def common(xs: Any, name: str) -> list[Tensor]:
    """Convert each element as :func:`tensors` does, and promote all to a common dtype."""
    return promoted(name, *tensors(xs, name), broadcast=False)


def floating(x: Any, name: str, dtype: Any = None) -> Tensor:
    """Convert ``x`` to a floating-point tensor.

    Integers and Booleans become float32. If ``dtype`` is given, convert the result to it.
    """
    return converted(inexact(tensor(x, name)), dtype)


def count(number: int, name: str) -> int:
    """Return a number of elements; replace a negative number by 0."""
    return max(number, 0)


def truth(x: Tensor) -> Tensor:
    """Convert ``x`` to Boolean."""
    return cast(x, bool_)


def converted(x: Tensor, dtype: Any) -> Tensor:
    """Convert ``x`` to ``dtype``, unless that is ``None``."""
    wanted = element_type(dtype)
    return x if wanted is None else cast(x, wanted)


def _to_tensor(*args: Any) -> Any:
    """Convert the arguments to tensors, as in ``mindspore.numpy.utils``.

    Args:
        *args: tensors, which are returned unchanged, numbers, or nested lists and tuples. Floats become
            float32 and integers become int32.

    Returns:
        A tuple of tensors, or the tensor if there is one argument.

    >>> from mindgrad.numpy.coercion import _to_tensor
    >>> _to_tensor([1.0, 2.0]).dtype, len(_to_tensor(1, 2.0))
    (mindspore.float32, 2)
    """
    found = tuple(tensor(each, "_to_tensor") for each in args)
    return found[0] if len(found) == 1 else found
