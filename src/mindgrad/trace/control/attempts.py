"""Attempts to trace a body as one loop end without a trace where that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad._base.refusal import CompileError

__all__ = ["attempt"]

#: errors of a body that cannot be traced for all items at once; it is unrolled then, and raises them again
_FAILURES = (
    CompileError, TypeError, ValueError, IndexError, KeyError, AttributeError, RuntimeError, NameError,
    AssertionError, ArithmeticError, NotImplementedError,
)  # fmt: skip


def attempt(trace: Callable[[], Any]) -> bool:
    """Whether ``trace()`` came through; its state is as before if it did not."""
    try:
        trace()
    except _FAILURES as error:
        if isinstance(error, CompileError) and error.is_final:
            raise
        return False
    return True
