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


class _Restriction:
    """Context manager that restricts Python's garbage collector.

    If several threads or nested blocks restrict it at the same time, the strictest restriction applies. The
    end of the last block restores the user's setting, unless the user has changed the thresholds in a block.
    All restrictions share one state.
    """

    _lock = threading.Lock()
    _before = _during = thresholds()

    def __init__(self) -> None:
        self._blocks = 0

    def __enter__(self) -> None:
        with _Restriction._lock:
            if not only_young_garbage._blocks and not no_garbage._blocks:
                _Restriction._before = _Restriction._during = thresholds()
            self._blocks += 1
            self._set()

    def __exit__(self, *_: object) -> None:
        if self is no_garbage:
            move_to_oldest_generation()
        with _Restriction._lock:  # if the process was forked inside the block, the count is already 0
            self._blocks = max(0, self._blocks - 1)
            self._set()

    @staticmethod
    def _set() -> None:
        if thresholds() == _Restriction._during:
            youngest, middle, oldest = _Restriction._before
            if only_young_garbage._blocks:
                oldest = _NEVER
            _Restriction._during = (0 if no_garbage._blocks else youngest, middle, oldest)
            set_thresholds(*_Restriction._during)

    @staticmethod
    def restored_in_child() -> None:
        """Restore the user's setting in a forked process, in which no block is running."""
        _Restriction._lock = threading.Lock()
        only_young_garbage._blocks = no_garbage._blocks = 0
        _Restriction._set()


#: context manager for tracing, in which the oldest generation is not collected
only_young_garbage = _Restriction()
#: context manager for imports, during which no garbage is collected. At the end, all objects are moved to the
#: oldest generation
no_garbage = _Restriction()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Restriction.restored_in_child)
