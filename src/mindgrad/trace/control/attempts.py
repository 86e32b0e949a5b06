"""Try to compile a loop to one operator, and report whether this was possible.

The runtime calls :func:`attempt` if it can also *unroll* the loop: trace each iteration separately.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad._base.refusal import CompileError

__all__ = ["attempt"]

#: errors that are ignored, because one trace of the loop body may not represent all iterations. If the user's
#: code is wrong, it raises the error again when the loop is unrolled
_FAILURES = (
    CompileError, TypeError, ValueError, IndexError, KeyError, AttributeError, RuntimeError, NameError,
    AssertionError, ArithmeticError, NotImplementedError,
)  # fmt: skip


def attempt(trace: Callable[[], Any]) -> bool:
    """Call ``trace()``, and return whether it succeeded.

    If ``trace`` raises an error, it must leave all state unchanged, because the loop is then unrolled.
    """
    try:
        trace()
    except _FAILURES as error:
        if isinstance(error, CompileError) and error.is_final:
            raise
        return False
    return True
