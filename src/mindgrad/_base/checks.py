"""Type checks of arguments."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["of_type"]

T = TypeVar("T")


def of_type(value: T, kind: Any, owner: str, name: str, words: str = "") -> T:
    """Check the type of an argument, and return the argument.

    Args:
        value: value of the argument.
        kind: the expected type, or a tuple of types.
        owner: name of the public function or class, for the error message.
        name: name of the argument.
        words: description of the expected type in the error message. Default: "a" and the name of ``kind``.

    Raises:
        TypeError: If ``value`` is not an instance of ``kind``.

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
