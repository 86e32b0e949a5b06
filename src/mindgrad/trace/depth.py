"""Raise Python's recursion limit during a trace.

A traced call of a user's function needs more Python frames than an eager call, because the runtime's frames
for each ``if`` or loop are added. With a higher limit, a recursion that works in eager mode also works in a
trace. The limit is global to all threads, so running traces are counted, and the last one restores it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deep_calls"]

#: factor for the recursion limit: number of Python frames per call of a user's function in a trace
_FRAMES = 4
#: maximum recursion limit that mindgrad sets; the stack of each thread is large enough for it
_MOST = 20_000

_lock = threading.Lock()
_traces = 0
_limits = (0, 0)


@contextmanager
def deep_calls() -> Iterator[None]:
    """A context for a trace, in which the recursion limit is higher."""
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
            if not _traces and sys.getrecursionlimit() == _limits[1]:  # user code has not changed the limit
                sys.setrecursionlimit(_limits[0])
