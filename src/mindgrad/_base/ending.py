"""Listeners to the end of a program learn with which exit status it asks to end, when that is not 0."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["ending_listeners", "tell_end"]

#: called with the status
ending_listeners: list[Callable[[int], None]] = []


def tell_end(code: object) -> None:
    """Tell the code of a ``SystemExit`` to the listeners; a text is the status 1."""
    if code is not None and code != 0:
        for listener in ending_listeners:
            listener(code if isinstance(code, int) else 1)
