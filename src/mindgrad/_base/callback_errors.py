"""Errors of callbacks wait until the compiled program that called back has ended, and are raised then.

An exception that passes through XLA would come out as another one, with a text of XLA's own.
"""

from __future__ import annotations

from collections import deque

__all__ = ["note", "raise_noted"]

_noted: deque[BaseException] = deque()


def note(error: BaseException) -> None:
    """Keep the error of a callback for the end of its program."""
    _noted.append(error)


def raise_noted() -> None:
    """Raise the first error that callbacks left, if there is one, and forget the others."""
    if _noted:
        error = _noted.popleft()
        _noted.clear()
        raise error.with_traceback(None)
