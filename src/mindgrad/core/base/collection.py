"""Restrict Python's garbage collector during tracing and importing.

The graph of a large function consists of millions of objects that live until it is compiled. Whenever the
number of objects grows by a quarter, Python's collector examines all of them and finds no garbage. For a
gradient with 20,000 equations, this would take most of the tracing time. Therefore only young objects are
collected during tracing.

The objects that a module defines live as long as the process. Therefore no garbage is collected during an
import. At the end of the import, all objects are moved to the oldest generation.
"""

from __future__ import annotations

import os
import sys
import threading

from mindgrad.core.base._cpython import move_to_oldest_generation, set_thresholds, thresholds

__all__ = ["no_garbage", "only_young_garbage"]

_NEVER = sys.maxsize >> 32


class _Collector:
    """The garbage collector of Python, which ``with`` blocks can restrict.

    If several threads or nested blocks restrict it at the same time, the strictest restriction applies. The
    end of the last block restores the user's setting, unless the user has changed the thresholds in a block.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = {"young": 0, "none": 0}
        self._before = self._during = thresholds()

    def restrict(self, generations: str) -> None:
        """Start collecting only ``"young"`` objects, or no objects (``"none"``)."""
        with self._lock:
            if not any(self._blocks.values()):
                self._before = self._during = thresholds()
            self._blocks[generations] += 1
            self._set()

    def release(self, generations: str) -> None:
        """End a restriction that :meth:`restrict` started."""
        with self._lock:  # if the process was forked inside the block, the count is already 0
            self._blocks[generations] = max(0, self._blocks[generations] - 1)
            self._set()

    def _set(self) -> None:
        if thresholds() == self._during:
            youngest, middle, oldest = self._before
            if self._blocks["none"]:
                self._during = (0, middle, oldest)
            else:
                self._during = (youngest, middle, _NEVER if self._blocks["young"] else oldest)
            set_thresholds(*self._during)

    def restored_in_child(self) -> None:
        """Restore the user's setting in a forked process, in which no block is running."""
        self._lock = threading.Lock()
        self._blocks = dict.fromkeys(self._blocks, 0)
        self._set()


_collector = _Collector()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_collector.restored_in_child)


class _OnlyYoungGarbage:
    """Context manager for tracing, in which the oldest generation is not collected."""

    def __enter__(self) -> None:
        _collector.restrict("young")

    def __exit__(self, *_: object) -> None:
        _collector.release("young")


class _NoGarbage:
    """Context manager for imports, during which no garbage is collected.

    At the end, all objects are moved to the oldest generation.
    """

    def __enter__(self) -> None:
        _collector.restrict("none")

    def __exit__(self, *_: object) -> None:
        move_to_oldest_generation()
        _collector.release("none")


only_young_garbage = _OnlyYoungGarbage()
no_garbage = _NoGarbage()
