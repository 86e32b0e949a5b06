"""Checks of arguments of shape operators: sizes, axes, and lists of tensors.

The functions convert arguments to Python values, and raise errors that name the operator and the argument.
"""

from __future__ import annotations

import math
import operator as python_operator
from typing import Any

import numpy as np

from mindgrad._base.checks import of_type
from mindgrad.core.base.refusal import CompileError, refuse
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.ops.operands import operand, promoted

__all__ = [
    "axes_in_order", "check_axes", "filled_shape", "listed_tensors", "number", "of_two_axes", "one_or_more",
    "refuse_unknown", "share", "sizes", "varargs", "whole_number",
]  # fmt: skip


def whole_number(value: Any, operator: str, name: str, least: int | None = None) -> int:
    """Convert an int, a NumPy integer, or an integer tensor of size 1 to an int.

    Raises:
        TypeError: If ``value`` has a different type.
        ValueError: If ``value`` is below ``least``.
    """
    refuse_unknown(value, operator, name)
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = python_operator.index(value)
    except TypeError:
        raise TypeError(
            f"For '{operator}', the '{name}' must be an int, but got {type(value).__name__}."
        ) from None
    if least is not None and number < least:
        raise ValueError(f"For '{operator}', the '{name}' must be at least {least}, but got {number}.")
    return number


def number(value: Any, operator: str, name: str) -> float:
    """Convert an int or float to a float.

    Raises:
        TypeError: If ``value`` has a different type.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"For '{operator}', the '{name}' must be a float, but got {type(value).__name__}.")
    return float(value)


def share(value: Any, operator: str, name: str) -> float:
    """Convert a number from 0 to 1 to a float.

    Raises:
        TypeError: If ``value`` is not a number.
        ValueError: If ``value`` is below 0 or above 1.
    """
    fraction = number(value, operator, name)
    if not 0 <= fraction <= 1:
        raise ValueError(f"For '{operator}', the '{name}' must be from 0 to 1, but got {value}.")
    return fraction


def refuse_unknown(value: Any, operator: str, name: str) -> None:
    """Raise ``CompileError`` if a size is unknown at compile time."""
    if isinstance(value, Tensor) and value._array is None:
        refuse(
            f"For '{operator}', '{name}' is a tensor whose value is not known at compile time. Sizes, "
            "axes, and bounds must be known when the function is compiled",
            "Pass it to the function as a Python int. The function is then compiled once for each value.",
        )


def one_or_more(value: Any) -> tuple[Any, ...]:
    """Convert a tuple, list, 1-D array, 1-D tensor, or a single value to a tuple."""
    if isinstance(value, (tuple, list)):
        return tuple(value)
    if isinstance(value, (Tensor, np.ndarray)) and value.ndim == 1:
        array = value.host_array() if isinstance(value, Tensor) else value
        return tuple(array.tolist())
    return (value,)


def sizes(value: Any, operator: str, name: str, least: int | None = None) -> tuple[int, ...]:
    """Convert a tuple or list of ints, a tensor, or one int to a tuple of ints.

    Raises:
        TypeError: If an element is not an int.
        ValueError: If an element is below ``least``.
    """
    plain = type(value) is tuple and all(type(n) is int for n in value)
    if plain and (least is None or all(n >= least for n in value)):
        return value
    refuse_unknown(value, operator, name)
    try:
        return tuple(whole_number(each, operator, name, least) for each in one_or_more(value))
    except CompileError:
        raise
    except TypeError:
        raise TypeError(
            f"For '{operator}', the '{name}' must be an int or a tuple or list of ints, but got {value!r}."
        ) from None


def varargs(values: tuple[Any, ...]) -> Any:
    """Unpack a single argument: ``f((2, 3))`` and ``f(2, 3)`` are equivalent."""
    return values[0] if len(values) == 1 else values


def axes_in_order(axes: Any, rank: int, operator: str, name: str = "axis") -> tuple[int, ...]:
    """Convert one or several axes to nonnegative numbers, in the given order.

    Raises:
        TypeError: If an axis is not an int.
        ValueError: If an axis is outside ``[-rank, rank)``, or is repeated.
    """
    ordered = tuple(axis_in_range(each, rank, operator, name) for each in one_or_more(axes))
    if len(set(ordered)) != len(ordered):
        raise ValueError(f"For '{operator}', the '{name}' lists an axis twice: {axes}.")
    return ordered


def axis_in_range(axis: Any, rank: int, operator: str, name: str = "axis") -> int:
    """Convert one axis to a nonnegative number, as :func:`axes_in_order` does."""
    number = whole_number(axis, operator, name)
    if not -rank <= number < rank:
        bounds = f"in range [{-rank}, {rank})" if rank else "omitted, because the input has no axes"
        raise ValueError(f"For '{operator}', the '{name}' must be {bounds}, but got {number}.")
    return number % rank


def filled_shape(x: TensorType, shape: tuple[int, ...], operator: str) -> tuple[int, ...]:
    """Replace −1 in ``shape`` with the size that matches the elements of ``x``.

    Raises:
        ValueError: If there is no such size, or ``shape`` does not match the number of elements.
    """
    size = x.size
    if -1 in shape:
        if shape.count(-1) > 1:
            raise ValueError(f"For '{operator}', only one size may be -1, but got {shape}.")
        rest = -math.prod(shape)
        shape = tuple((size // rest if rest > 0 else 0) if n == -1 else n for n in shape)
    if any(n < 0 for n in shape) or math.prod(shape) != size:
        raise ValueError(
            f"For '{operator}', the shape {shape} does not hold the {size} elements of the input of "
            f"shape {x.shape}."
        )
    return shape


def listed_tensors(tensors: Any, operator: str, name: str) -> list[Tensor]:
    """Convert tensors and numbers to tensors of a common dtype; do not broadcast them.

    Raises:
        TypeError: If ``tensors`` is not a tuple or list of tensors and numbers.
        ValueError: If ``tensors`` is empty.
    """
    of_type(tensors, (tuple, list), operator, name, "a tuple or list of tensors")
    if not tensors:
        raise ValueError(f"For '{operator}', the '{name}' must contain at least one tensor.")
    return promoted(operator, *tensors, broadcast=False)


def check_axes(x: Tensor, axes: str, operator: str, subject: str = "input") -> None:
    """Raise ``ValueError`` unless ``x`` has the axes, such as ``"(n, c, h, w)"``."""
    if x.ndim != axes.count(",") + 1:
        raise ValueError(
            f"For '{operator}', the {subject} must have the shape {axes}, but its shape is {x.shape}."
        )


def of_two_axes(x: Any, operator: str) -> Tensor:
    """Convert ``x`` to a tensor with at least two axes: a batch of matrices.

    Raises:
        TypeError: If ``x`` is not a tensor.
        ValueError: If ``x`` has fewer than two axes.
    """
    matrix = operand(x, operator)
    if matrix.ndim < 2:
        raise ValueError(
            f"For '{operator}', the input must have at least two axes, but its shape is {matrix.shape}."
        )
    return matrix
