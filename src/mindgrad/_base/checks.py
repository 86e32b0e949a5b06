"""Checks of arguments raise the error that names the argument and its owner."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["of_type"]

T = TypeVar("T")


def of_type(value: T, kind: Any, owner: str, name: str, words: str = "") -> T:
    """``value``, which must be of a type.

    Args:
        value: the value of the argument.
        kind: a type, or a tuple of types.
        owner: the function or class that was called.
        name: the name of the argument.
        words: the type in the error; by default "a" and the name of ``kind``.

    Raises:
        TypeError: it is of another type.

    >>> from mindgrad._base.checks import of_type
    >>> of_type("2", int, "Net", "size", "an int")
    Traceback (most recent call last):
        ...
    TypeError: For 'Net', the 'size' must be an int, but got str.
    """
    if not isinstance(value, kind):
        raise TypeError(
            f"For '{owner}', the '{name}' must be {words or f'a {kind.__name__}'}, but got "
            f"{type(value).__name__}."
        )
    return value
