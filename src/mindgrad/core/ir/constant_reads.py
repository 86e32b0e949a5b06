"""Allow functions with custom derivatives to read values of tensors.

If code reads the value of a differentiated tensor, for example with NumPy, the derivative is usually lost,
and mindgrad prints a warning. A function with a custom derivative is not differentiated, so it may read the
values of its inputs.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mindgrad.core.ir.scope import Scope

__all__ = ["constants_below", "is_constant"]


class _Local(threading.local):
    #: Python code may read the values of tensors whose scope has at most this level, without a warning
    level = 0


_local = _Local()


class constants_below:
    """Allow reading values of the scopes up to ``level`` inside the ``with`` block."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before, _local.level = _local.level, self.level

    def __exit__(self, *_: object) -> None:
        _local.level = self.before


def is_constant(scope: Scope) -> bool:
    """Whether code in the current block may read the values of tensors of ``scope``."""
    return scope.level <= _local.level
