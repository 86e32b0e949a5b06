"""Check the arguments of image transforms: sizes, intervals, colors, and choices."""

from __future__ import annotations

import numbers
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from mindgrad.ops.arguments import whole_number

__all__ = [
    "choice", "color", "factor", "interval", "margins", "number", "pair", "probability", "size_of",
    "transform_list", "whole_number",
]  # fmt: skip

_LARGEST = 2**24
_Choice = TypeVar("_Choice", bound=Enum)


def number(
    value: Any, name: str, argument: str, least: float | None = None, most: float | None = None
) -> float:
    """Return a real number in a closed interval.

    Raises:
        TypeError: If ``value`` is not a real number.
        ValueError: If ``value`` is outside of the closed interval.
    """
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, np.number)):
        raise TypeError(f"For '{name}', '{argument}' must be a number, but got {value!r}.")
    value = float(value)
    if (least is not None and value < least) or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"For '{name}', '{argument}' must be {limits}, but got {value!r}.")
    return value


def factor(value: Any, name: str, argument: str) -> float:
    """Return ``value`` as a nonnegative number."""
    return number(value, name, argument, 0)


def probability(value: Any, name: str, argument: str = "prob") -> float:
    """Return a number between 0 and 1."""
    return number(value, name, argument, 0, 1)


def pair(value: Any, name: str, argument: str) -> tuple[float, float]:
    """Return two numbers in ascending order.

    Raises:
        TypeError: If ``value`` is not a list or tuple of numbers.
        ValueError: If ``value`` does not contain two numbers, or they are not in ascending order.
    """
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"For '{name}', '{argument}' must be a tuple of two numbers, but got {value!r}.")
    if len(value) != 2:
        raise ValueError(f"For '{name}', '{argument}' must be two numbers, but got {value!r}.")
    low, high = (number(end, name, argument) for end in value)
    if low > high:
        raise ValueError(f"For '{name}', '{argument}' must be in order, (min, max), but got {value!r}.")
    return low, high


def interval(
    value: Any, name: str, argument: str, center: float = 0.0, least: float | None = None
) -> tuple[float, float]:
    """Return an interval, given as a pair or as one number r.

    The number r means the interval from ``center`` − r to ``center`` + r, with a minimum of ``least``.
    """
    if isinstance(value, (list, tuple)):
        low, high = pair(value, name, argument)
        if least is not None and low < least:
            raise ValueError(f"For '{name}', '{argument}' must be at least {least}, but got {value!r}.")
        return low, high
    radius = factor(value, name, argument)
    low = center - radius
    return (low if least is None else max(low, least)), center + radius


def size_of(value: Any, name: str, argument: str = "size") -> tuple[int, int]:
    """Return height and width, given as a pair or as one number for both.

    Raises:
        TypeError: If ``value`` is neither an int nor two ints.
        ValueError: If a height or width is less than 1.
    """
    both = value if isinstance(value, (list, tuple)) else (value, value)
    if len(both) != 2 or any(
        isinstance(side, bool) or not isinstance(side, (int, np.integer)) for side in both
    ):
        raise TypeError(
            f"For '{name}', '{argument}' must be an int, or a list or tuple (height, width), but got "
            f"{value!r}."
        )
    for side in both:
        if not 1 <= side <= _LARGEST:
            raise ValueError(f"For '{name}', '{argument}' must be from 1 to {_LARGEST}, but got {value!r}.")
    return int(both[0]), int(both[1])


def margins(value: Any, name: str, argument: str = "padding") -> tuple[int, int, int, int]:
    """Return margins (left, top, right, bottom).

    They are given as one number, as (left and right, top and bottom), or as all four numbers.
    """
    if not isinstance(value, (list, tuple)):
        value = (value,)
    if len(value) not in (1, 2, 4):
        raise ValueError(f"For '{name}', '{argument}' must be 1, 2 or 4 numbers, but got {value!r}.")
    left, top, right, bottom = (
        whole_number(margin, name, argument, 0) for margin in tuple(value) * (4 // len(value))
    )
    return left, top, right, bottom


def color(value: Any, name: str, argument: str = "fill_value") -> tuple[int, ...]:
    """Return a gray level, or (red, green, blue), as a tuple of ints from 0 to 255."""
    levels = value if isinstance(value, (list, tuple)) else (value,)
    if len(levels) not in (1, 3):
        raise TypeError(f"For '{name}', '{argument}' must be an int or three ints, but got {value!r}.")
    for level in levels:
        if whole_number(level, name, argument, 0) > 255:
            raise ValueError(f"For '{name}', '{argument}' must be from 0 to 255, but got {value!r}.")
    return tuple(int(level) for level in levels)


def choice(value: Any, kind: type[_Choice], name: str, argument: str) -> _Choice:
    """Check that ``value`` is a member of an enumeration.

    Raises:
        TypeError: If ``value`` has a different type.
    """
    if not isinstance(value, kind):
        raise TypeError(f"For '{name}', '{argument}' must be a {kind.__name__}, but got {value!r}.")
    return value


def transform_list(value: Any, name: str, argument: str = "transforms") -> list[Any]:
    """Return a nonempty list of functions.

    Raises:
        TypeError: If ``value`` is not a list of functions.
        ValueError: If ``value`` is empty.
    """
    if not isinstance(value, (list, tuple)) or not all(map(callable, value)):
        raise TypeError(f"For '{name}', '{argument}' must be a list of functions, but got {value!r}.")
    if not value:
        raise ValueError(f"For '{name}', '{argument}' must not be empty.")
    return list(value)
