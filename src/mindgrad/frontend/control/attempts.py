"""Try to trace a body as one loop, and report whether that was possible.

The runtime calls :func:`attempt` if it can also *unroll* the loop, which means to trace each iteration
separately.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.base.refusal import CompileError

__all__ = ["attempt"]

#: errors that may mean that one trace of the body cannot represent all iterations. If the user's code raised
#: the error, it does so again when the loop is unrolled
_FAILURES = (
    CompileError, TypeError, ValueError, IndexError, KeyError, AttributeError, RuntimeError, NameError,
    AssertionError, ArithmeticError, NotImplementedError,
)  # fmt: skip


def attempt(trace: Callable[[], Any]) -> bool:
    """Call ``trace()``, and return whether it raised no error.

    If ``trace`` raises an error, it must leave the state unchanged.
    """
    try:
        trace()
    except _FAILURES as error:
        if isinstance(error, CompileError) and error.is_final:
            raise
        return False
    return True
