"""Values of tensors that are being differentiated may be read where a derivative is custom.

A function with a custom derivative sees its inputs as constants. Code in it may read their values, for NumPy,
without losing a derivative.
"""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["constants_below", "is_constant"]


class _Local(threading.local):
    #: tensors of scopes up to this level are constants
    level = 0


_local = _Local()


class constants_below:
    """A block in which values of the scopes up to ``level`` are constants that may be read."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before, _local.level = _local.level, self.level

    def __exit__(self, *_: Any) -> None:
        _local.level = self.before


def is_constant(scope: Any) -> bool:
    """Whether tensors of ``scope`` may be read as constants here."""
    return scope.level <= _local.level
