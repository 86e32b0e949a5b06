"""Listeners for the nonzero exit status with which a program ends."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["ending_listeners", "tell_end"]

#: functions that are called with the exit status
ending_listeners: list[Callable[[int], None]] = []


def tell_end(code: object) -> None:
    """Call the listeners with the code of a ``SystemExit``; a string is status 1."""
    if code is not None and code != 0:
        for listener in ending_listeners:
            listener(code if isinstance(code, int) else 1)
