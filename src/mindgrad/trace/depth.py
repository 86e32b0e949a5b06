"""Raise Python's recursion limit for a trace, so that calls may nest deeply.

During a trace, each call of a user's function takes several Python calls: the function itself, and the calls
of the runtime for the ``if`` around the next call. The recursion limit is raised accordingly. It is global to
all threads, so nested raises are counted.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deep_calls"]

#: number of Python frames for each call of a user's function
_FRAMES = 4
#: depth that the stack of any thread can hold
_MOST = 20_000

_lock = threading.Lock()
_traces = 0
_limits = (0, 0)


@contextmanager
def deep_calls() -> Iterator[None]:
    """Let the recursion limit count only the user's calls during a trace."""
    global _traces, _limits
    with _lock:
        if not _traces:
            limit = sys.getrecursionlimit()
            _limits = (limit, max(limit, min(_FRAMES * limit, _MOST)))
            sys.setrecursionlimit(_limits[1])
        _traces += 1
    try:
        yield
    finally:
        with _lock:
            _traces -= 1
            if not _traces and sys.getrecursionlimit() == _limits[1]:  # else the user's code has changed it
                sys.setrecursionlimit(_limits[0])
