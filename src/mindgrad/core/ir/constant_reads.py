"""Allow functions with custom derivatives to read the values of tensors.

If Python code reads the value of a differentiated tensor, for example with NumPy, the derivative is usually
lost, and mindgrad prints a warning. The body of a function with a custom derivative is not differentiated, so
it can read the values of its inputs without a warning.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mindgrad.core.ir.scope import Scope

__all__ = ["constants_below", "is_constant"]


class _Local(threading.local):
    #: if a scope is nested at most this deep, Python code can read the values of its tensors without a
    #: warning
    level = 0


_local = _Local()


class constants_below:
    """Context manager that turns off warnings about reads of differentiated tensors.

    It applies to tensors of scopes whose nesting depth is at most ``level``.
    """

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before, _local.level = _local.level, self.level

    def __exit__(self, *_: object) -> None:
        _local.level = self.before


def is_constant(scope: Scope) -> bool:
    """Return whether Python code may now read tensors of ``scope`` without a warning."""
    return scope.level <= _local.level
