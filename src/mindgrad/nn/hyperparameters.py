"""Check hyperparameters and convert them to Python numbers and Booleans."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindgrad._base.checks import of_type

__all__ = ["boolean", "fraction", "non_negative", "positive", "positive_int", "real"]


def real(owner: str, name: str, value: Any) -> float:
    """Convert a finite int or float to a float.

    Raises:
        TypeError: If ``value`` is not a number, or is a bool.
        ValueError: If ``value`` is not finite.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"For '{owner}', the '{name}' must be a float, but got {type(value).__name__}.")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"For '{owner}', the '{name}' must be finite, but got {number}.")
    return number


def non_negative(owner: str, name: str, value: Any) -> float:
    """Convert a number that is at least 0 to a float; errors as for :func:`real`."""
    number = real(owner, name, value)
    if number < 0:
        raise ValueError(f"For '{owner}', the '{name}' must be at least 0, but got {number}.")
    return number


def positive(owner: str, name: str, value: Any) -> float:
    """Convert a number above 0 to a float; errors as for :func:`real`."""
    number = real(owner, name, value)
    if number <= 0:
        raise ValueError(f"For '{owner}', the '{name}' must be greater than 0, but got {number}.")
    return number


def fraction(owner: str, name: str, value: Any) -> float:
    """Convert a number in the open interval (0, 1) to a float; see :func:`real`."""
    number = real(owner, name, value)
    if not 0 < number < 1:
        raise ValueError(f"For '{owner}', the '{name}' must be between 0 and 1, but got {number}.")
    return number


def positive_int(owner: str, name: str, value: Any, least: int = 1) -> int:
    """Convert an int that is at least ``least``.

    Raises:
        TypeError: If ``value`` is not an int.
        ValueError: If ``value`` is less than ``least``.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"For '{owner}', the '{name}' must be an int, but got {type(value).__name__}.")
    if value < least:
        raise ValueError(f"For '{owner}', the '{name}' must be at least {least}, but got {value}.")
    return int(value)


def boolean(owner: str, name: str, value: Any) -> bool:
    """Check that ``value`` is a bool and return it; otherwise raise ``TypeError``."""
    return of_type(value, bool, owner, name, "bool")
