"""Functions that are called with the exit status when a program fails."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["ending_listeners", "tell_end"]

#: functions that are called with the nonzero exit status of the program
ending_listeners: list[Callable[[int], None]] = []


def tell_end(code: object) -> None:
    """Call the listeners with the exit status of a ``SystemExit``, unless it is zero.

    A string as ``code`` means status 1.
    """
    if code is not None and code != 0:
        for listener in ending_listeners:
            listener(code if isinstance(code, int) else 1)
