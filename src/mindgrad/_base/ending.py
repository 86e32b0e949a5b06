"""Functions that are called with the exit status if the user's program fails.

For example, a distributed job reports the failure to its other processes.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["ending_listeners", "tell_end"]

#: functions that are called with the exit status if the program ends with a nonzero status
ending_listeners: list[Callable[[int], None]] = []


def tell_end(code: object) -> None:
    """Call the functions in ``ending_listeners`` if the exit status is nonzero.

    ``code`` is the argument of ``SystemExit``. A string means status 1.
    """
    if code is not None and code != 0:
        for listener in ending_listeners:
            listener(code if isinstance(code, int) else 1)
