"""Checks of arguments."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

__all__ = ["of_type", "one_of"]

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


def one_of(value: Any, choices: Collection[Any], owner: str, name: str) -> None:
    """Check that an argument is one of several strings.

    Args:
        value: value of the argument.
        choices: the accepted strings.
        owner: name of the public function or class, for the error message.
        name: name of the argument.

    Raises:
        ValueError: If ``value`` is not in ``choices``.

    >>> from mindgrad._base.checks import one_of
    >>> one_of("K", ("C", "F"), "Flatten", "order")
    Traceback (most recent call last):
        ...
    ValueError: For 'Flatten', the 'order' must be 'C' or 'F', but got 'K'.
    """
    if value not in choices:
        listed = list(choices)
        words = " or ".join(map(repr, listed)) if len(listed) == 2 else f"one of {', '.join(listed)}"
        raise ValueError(f"For '{owner}', the '{name}' must be {words}, but got {value!r}.")
