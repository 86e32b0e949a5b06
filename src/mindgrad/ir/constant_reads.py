"""Reading values of tensors inside functions with custom derivatives.

A function with a custom derivative receives its inputs as constants. Its code may read their values, for
example with NumPy, without losing a derivative.
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
    """Treat values of the scopes up to ``level`` as readable constants in this block."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before, _local.level = _local.level, self.level

    def __exit__(self, *_: Any) -> None:
        _local.level = self.before


def is_constant(scope: Any) -> bool:
    """Whether tensors of ``scope`` may be read as constants in the present block."""
    return scope.level <= _local.level
