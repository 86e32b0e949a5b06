"""Raise Python's recursion limit during a trace, so that user functions may nest.

During a trace, each call of a user's function takes several Python calls: the function itself, and the
runtime's calls for the ``if`` around the next call. The recursion limit is raised accordingly. The limit is
global to all threads. Therefore nested traces are counted, and the outermost trace restores it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deep_calls"]

#: number of Python frames that one call of a user's function takes during a trace
_FRAMES = 4
#: largest recursion limit that mindgrad sets; the stack of every thread has enough space for it
_MOST = 20_000

_lock = threading.Lock()
_traces = 0
_limits = (0, 0)


@contextmanager
def deep_calls() -> Iterator[None]:
    """Raise the recursion limit during a trace by the number of frames per call."""
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
            if not _traces and sys.getrecursionlimit() == _limits[1]:  # unchanged by the user's code
                sys.setrecursionlimit(_limits[0])
