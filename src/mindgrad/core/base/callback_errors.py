"""Errors of Python callbacks in compiled functions.

XLA would replace an exception of a callback by another exception with a different message. Therefore the
callback stores the original exception, and the caller of the compiled function raises it at the end.
"""

from __future__ import annotations

from collections import deque
from typing import Any

__all__ = ["CallbackError", "is_noted", "note", "raise_noted"]

_noted: deque[BaseException] = deque()


class CallbackError(Exception):
    """The exception that ends a compiled function after an error in a callback.

    :func:`note` stores the error of the callback.
    """


def is_noted(exc_info: Any) -> bool:
    """Check whether a log record's ``exc_info`` contains a stored callback error."""
    return exc_info is not None and exc_info[0] is CallbackError


def note(error: BaseException) -> None:
    """Store the error of a Python callback until the compiled function has ended."""
    _noted.append(error)


def raise_noted() -> None:
    """Raise the first stored callback error, if any, and discard the others."""
    if _noted:
        error = _noted.popleft()
        _noted.clear()
        raise error
