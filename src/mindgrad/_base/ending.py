"""Listeners that are called with the exit status when the user's program fails.

For example, a distributed job reports the failure to its other processes.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["ending_listeners", "tell_end"]

#: functions that are called with the nonzero exit status of the program
ending_listeners: list[Callable[[int], None]] = []


def tell_end(code: object) -> None:
    """Call the listeners with the exit status, unless it is zero.

    ``code`` is the argument of ``SystemExit``. A string means status 1.
    """
    if code is not None and code != 0:
        for listener in ending_listeners:
            listener(code if isinstance(code, int) else 1)
