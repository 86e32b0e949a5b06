"""Recursion limits are raised for a trace, so that calls may be as deep as in plain Python.

One call of the user's function is several Python calls while it is traced: the function, and the runtime's
for the ``if`` around the next call. So Python's limit is raised meanwhile. The limit is global to all
threads, so nested raises are counted.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deep_calls"]

#: how many of Python's frames one of the user's takes
_FRAMES = 4
#: the depth that the stack of a thread holds in any case
_MOST = 20_000

_lock = threading.Lock()
_traces = 0
_limits = (0, 0)


@contextmanager
def deep_calls() -> Iterator[None]:
    """While a program is traced, Python's limit of recursion counts the calls of the user only."""
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
            if not _traces and sys.getrecursionlimit() == _limits[1]:  # the program may have set its own
                sys.setrecursionlimit(_limits[0])
