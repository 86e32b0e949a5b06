"""Errors of callbacks wait until the compiled program that called back has ended, and are raised then.

An exception that passes through XLA would come out as another one, with a text of XLA's own.
"""

from __future__ import annotations

from collections import deque
from typing import Any

__all__ = ["CallbackError", "is_noted", "note", "raise_noted"]

_noted: deque[BaseException] = deque()


class CallbackError(Exception):
    """Ends a compiled program whose callback failed; the error of the callback is noted."""


def is_noted(exc_info: Any) -> bool:
    """Whether a record of a log, with this ``exc_info``, is about an error that is noted."""
    return exc_info is not None and exc_info[0] is CallbackError


def note(error: BaseException) -> None:
    """Keep the error of a callback for the end of its program."""
    _noted.append(error)


def raise_noted() -> None:
    """Raise the first error that callbacks left, if there is one, and forget the others."""
    if _noted:
        error = _noted.popleft()
        _noted.clear()
        raise error
