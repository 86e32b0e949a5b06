"""Collection of garbage while programs are made: young objects only; while modules are loaded: none.

A program of n equations is millions of objects that live until it is compiled. Python's collector looks at
all of them again whenever they have grown by a quarter, which is most of the time of a gradient of 20,000
equations, and finds nothing. What modules define lives as long as the process: the collector need not look at
it even once, so that after their import all objects count as old.
"""

from __future__ import annotations

import gc
import os
import sys
import threading

__all__ = ["no_garbage", "only_young_garbage"]

_NEVER = sys.maxsize >> 32


class _Collector:
    """Python's collector of garbage, and how many blocks restrict it.

    Threads and nested blocks share one setting, the strictest; the last to leave restores the user's, unless
    the user has set another meanwhile.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = {"young": 0, "none": 0}
        self._before = self._during = gc.get_threshold()

    def restrict(self, generations: str) -> None:
        """Collect only these ``generations`` from now on."""
        with self._lock:
            if not any(self._blocks.values()):
                self._before = self._during = gc.get_threshold()
            self._blocks[generations] += 1
            self._set()

    def release(self, generations: str) -> None:
        """End of a block that :meth:`restrict` began."""
        with self._lock:  # there is no block where the process was forked inside of it
            self._blocks[generations] = max(0, self._blocks[generations] - 1)
            self._set()

    def _set(self) -> None:
        if gc.get_threshold() == self._during:
            youngest, middle, oldest = self._before
            if self._blocks["none"]:
                self._during = (0, middle, oldest)
            else:
                self._during = (youngest, middle, _NEVER if self._blocks["young"] else oldest)
            gc.set_threshold(*self._during)

    def restored_in_child(self) -> None:
        """Give a forked process the user's setting: the threads that would leave were not forked."""
        self._lock = threading.Lock()
        self._blocks = dict.fromkeys(self._blocks, 0)
        self._set()


_collector = _Collector()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_collector.restored_in_child)


class _OnlyYoungGarbage:
    """Open while a program is made: the collector leaves the oldest generation alone."""

    def __enter__(self) -> None:
        _collector.restrict("young")

    def __exit__(self, *_: object) -> None:
        _collector.release("young")


class _NoGarbage:
    """Open while modules are loaded: nothing is collected, and what there is counts as old afterwards.

    An object that is frozen and released again is in the oldest generation without having been looked at.
    Where the user keeps objects frozen, or the collector off, that is left as it is.
    """

    def __enter__(self) -> None:
        _collector.restrict("none")

    def __exit__(self, *_: object) -> None:
        if gc.isenabled() and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        _collector.release("none")


only_young_garbage = _OnlyYoungGarbage()
no_garbage = _NoGarbage()
