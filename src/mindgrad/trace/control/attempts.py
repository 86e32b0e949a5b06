"""Try to trace a body as one loop, and report whether that was possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad._base.refusal import CompileError

__all__ = ["attempt"]

#: errors that mean that a body cannot be traced for all items at once; unrolling it raises the user's errors
#: again
_FAILURES = (
    CompileError, TypeError, ValueError, IndexError, KeyError, AttributeError, RuntimeError, NameError,
    AssertionError, ArithmeticError, NotImplementedError,
)  # fmt: skip


def attempt(trace: Callable[[], Any]) -> bool:
    """Return whether ``trace()`` succeeded; a failure must leave the state unchanged."""
    try:
        trace()
    except _FAILURES as error:
        if isinstance(error, CompileError) and error.is_final:
            raise
        return False
    return True
