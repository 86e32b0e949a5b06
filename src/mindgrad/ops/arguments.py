"""Argument checks of shape operators read sizes, axes, counts and sequences of tensors.

Each is read once, into plain Python values, and refused with the operator's and the argument's name.
"""

from __future__ import annotations

import math
import operator as python_operator
from typing import Any

import numpy as np

from mindgrad._base.refusal import CompileError, refuse
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.types import TensorType
from mindgrad.ops.operands import operand, promoted

__all__ = [
    "axes_in_order", "filled_shape", "listed_tensors", "of_two_axes", "one_or_more", "refuse_unknown",
    "sizes", "varargs", "whole_number",
]  # fmt: skip


def whole_number(value: Any, operator: str, name: str, least: int | None = None) -> int:
    """``value`` as an int: an int, a NumPy integer, or an integer tensor of one element.

    Raises:
        TypeError: it is none of these.
        ValueError: it is below ``least``.
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


def refuse_unknown(value: Any, operator: str, name: str) -> None:
    """Refuse a size or other number that a tensor of the program being compiled decides on."""
    if isinstance(value, Tensor) and value._array is None:
        refuse(
            f"For '{operator}', '{name}' is a tensor whose value is not known at compile time. Sizes, "
            "axes, and bounds must be known then",
            "Pass it to the function as a Python int. Each new value is compiled once.",
        )


def one_or_more(value: Any) -> tuple[Any, ...]:
    """A tuple or list as a tuple, a one-dimensional array or tensor of its numbers, or one value."""
    if isinstance(value, (tuple, list)):
        return tuple(value)
    if isinstance(value, (Tensor, np.ndarray)) and value.ndim == 1:
        array = value.host_array() if isinstance(value, Tensor) else value
        return tuple(array.tolist())
    return (value,)


def sizes(value: Any, operator: str, name: str, least: int | None = None) -> tuple[int, ...]:
    """``value`` as a tuple of ints: a tuple or list of ints, a tensor of them, or one int.

    Raises:
        TypeError: an element is no int.
        ValueError: an element is below ``least``.
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
    """``f((2, 3))`` and ``f(2, 3)`` alike: what was given, one argument taken as it is."""
    return values[0] if len(values) == 1 else values


def axes_in_order(axes: Any, rank: int, operator: str, name: str = "axis") -> tuple[int, ...]:
    """One axis or several, counted from the front, in the order given.

    Raises:
        TypeError: one is no int.
        ValueError: one is outside of ``[-rank, rank)``, or named twice.
    """
    ordered = tuple(axis_in_range(each, rank, operator, name) for each in one_or_more(axes))
    if len(set(ordered)) != len(ordered):
        raise ValueError(f"For '{operator}', the '{name}' names one axis twice: {axes}.")
    return ordered


def axis_in_range(axis: Any, rank: int, operator: str, name: str = "axis") -> int:
    """One axis, counted from the front; errors as for :func:`axes_in_order`."""
    number = whole_number(axis, operator, name)
    if not -rank <= number < rank:
        bounds = f"in range [{-rank}, {rank})" if rank else "left out: the input has no axes"
        raise ValueError(f"For '{operator}', the '{name}' must be {bounds}, but got {number}.")
    return number % rank


def filled_shape(x: TensorType, shape: tuple[int, ...], operator: str) -> tuple[int, ...]:
    """``shape`` with −1 replaced by the size that uses up all elements of ``x``.

    Raises:
        ValueError: there is no such size, or ``shape`` does not hold the elements of ``x``.
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
    """A tuple or list of tensors and numbers as tensors of one element type; their shapes stay.

    Raises:
        TypeError: it is no tuple or list, or one of them is no tensor or number.
        ValueError: it is empty.
    """
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"For '{operator}', the '{name}' must be a tuple or list of tensors, but got "
            f"{type(tensors).__name__}."
        )
    if not tensors:
        raise ValueError(f"For '{operator}', the '{name}' must hold at least one tensor.")
    return promoted(operator, *tensors, broadcast=False)


def of_two_axes(x: Any, operator: str) -> Tensor:
    """``x`` as a tensor of at least two axes: matrices, with batches in front.

    Raises:
        TypeError: ``x`` is no tensor.
        ValueError: it has fewer axes.
    """
    matrix = operand(x, operator)
    if matrix.ndim < 2:
        raise ValueError(
            f"For '{operator}', the input must have two axes at least, but its shape is {matrix.shape}."
        )
    return matrix
