"""Allow functions with custom derivatives to read the values of tensors.

If Python code reads the value of a differentiated tensor, for example with NumPy, the derivative is usually
lost, and mindgrad prints a warning. The body of a function with a custom derivative is not differentiated, so
it can read the values of its inputs without a warning.
"""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["constants_below", "is_constant"]


class _Local(threading.local):
    #: there is no warning if code reads a tensor of a scope with at most this level (nesting depth)
    level = 0


_local = _Local()


class constants_below:
    """Context manager without warnings about values of scopes up to ``level``."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before, _local.level = _local.level, self.level

    def __exit__(self, *_: Any) -> None:
        _local.level = self.before


def is_constant(scope: Any) -> bool:
    """Return whether code can read tensors of ``scope`` without a warning at present."""
    return scope.level <= _local.level
