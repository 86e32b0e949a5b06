"""Hyperparameters are checked once, and become Python numbers and flags."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindgrad._base.checks import of_type

__all__ = ["boolean", "fraction", "non_negative", "positive", "positive_int", "real"]


def real(owner: str, name: str, value: Any) -> float:
    """``value`` as a float: an int or a float, finite.

    Raises:
        TypeError: it is no number (a bool is none).
        ValueError: it is not finite.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"For '{owner}', the '{name}' must be a float, but got {type(value).__name__}.")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"For '{owner}', the '{name}' must be finite, but got {number}.")
    return number


def non_negative(owner: str, name: str, value: Any) -> float:
    """``value`` as a float of at least 0; raises ``ValueError`` for a negative one, else as :func:`real`."""
    number = real(owner, name, value)
    if number < 0:
        raise ValueError(f"For '{owner}', the '{name}' must be at least 0, but got {number}.")
    return number


def positive(owner: str, name: str, value: Any) -> float:
    """``value`` as a float above 0; raises ``ValueError`` for any other, else as :func:`real`."""
    number = real(owner, name, value)
    if number <= 0:
        raise ValueError(f"For '{owner}', the '{name}' must be greater than 0, but got {number}.")
    return number


def fraction(owner: str, name: str, value: Any) -> float:
    """``value`` as a float between 0 and 1, both excluded; errors as for :func:`positive`."""
    number = real(owner, name, value)
    if not 0 < number < 1:
        raise ValueError(f"For '{owner}', the '{name}' must be between 0 and 1, but got {number}.")
    return number


def positive_int(owner: str, name: str, value: Any, least: int = 1) -> int:
    """``value`` as an int of at least ``least``.

    Raises:
        TypeError: it is no int.
        ValueError: it is smaller.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"For '{owner}', the '{name}' must be an int, but got {type(value).__name__}.")
    if value < least:
        raise ValueError(f"For '{owner}', the '{name}' must be at least {least}, but got {value}.")
    return int(value)


def boolean(owner: str, name: str, value: Any) -> bool:
    """``value``, which must be a bool; raises ``TypeError`` if it is not."""
    return of_type(value, bool, owner, name, "bool")
