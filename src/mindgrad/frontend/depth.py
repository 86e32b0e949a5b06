"""Raise Python's recursion limit during a trace.

A traced call of a user's function needs more Python frames than an eager call, because each ``if`` or loop
adds frames of the runtime. With a higher limit, a recursion that works in eager mode also works in a trace.
All threads share the limit. Therefore, mindgrad counts the running traces, and the last one restores the
limit.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deep_calls", "explain_depth"]

#: factor for the recursion limit: one call of a user's function needs up to this many Python frames during a
#: trace
_FRAMES = 4
#: maximum recursion limit that mindgrad sets. The stack of every thread is large enough for this number of
#: frames
_MOST = 20_000

_lock = threading.Lock()
_traces = 0
_limits = (0, 0)


@contextmanager
def deep_calls() -> Iterator[None]:
    """A context for a trace, in which Python's recursion limit is higher."""
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


def explain_depth(error: RecursionError) -> None:
    """Replace the message of ``error`` by an explanation and possible fixes."""
    error.args = (
        f"the calls are nested more deeply than Python's limit of {sys.getrecursionlimit()} frames. Each "
        f"nested Cell needs six frames. If the recursion is finite, increase the limit with "
        f"sys.setrecursionlimit(...), or call the Cells one after another in a SequentialCell.",
    )
