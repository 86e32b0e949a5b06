"""Collection of garbage while programs are made: young objects only.

A program of n equations is millions of objects that live until it is compiled. Python's collector looks at
all of them again whenever they have grown by a quarter, which is most of the time of a gradient of 20,000
equations, and finds nothing.
"""

from __future__ import annotations

import gc
import os
import sys
import threading

__all__ = ["only_young_garbage"]


class _OnlyYoungGarbage:
    """Open while a program is made: the collector leaves the oldest generation alone.

    Threads and nested blocks share one setting; the last to leave restores the user's, unless the user has
    set another meanwhile.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._before = self._during = gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            if not self._depth:
                self._before = gc.get_threshold()
                self._during = (*self._before[:2], sys.maxsize >> 32)
                gc.set_threshold(*self._during)
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth = max(0, self._depth - 1)  # none is left where the process was forked inside
            if not self._depth and gc.get_threshold() == self._during:
                gc.set_threshold(*self._before)

    def restored_in_child(self) -> None:
        """Give a forked process the user's setting: the threads that would leave were not forked."""
        self._lock = threading.Lock()
        if self._depth and gc.get_threshold() == self._during:
            gc.set_threshold(*self._before)
        self._depth = 0


only_young_garbage = _OnlyYoungGarbage()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=only_young_garbage.restored_in_child)
