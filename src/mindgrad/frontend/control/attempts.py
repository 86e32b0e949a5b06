"""Try to compile a loop to one operator, and report whether this succeeded.

The runtime calls :func:`attempt` if it can also *unroll* the loop, that is, trace each iteration separately.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.base.refusal import CompileError

__all__ = ["attempt"]

#: errors that end the attempt. The trace of a general iteration may fail although all real iterations
#: succeed. If the user's code is wrong, the unrolled loop raises the error again
_FAILURES = (
    CompileError, TypeError, ValueError, IndexError, KeyError, AttributeError, RuntimeError, NameError,
    AssertionError, ArithmeticError, NotImplementedError,
)  # fmt: skip


def attempt(trace: Callable[[], Any]) -> bool:
    """Call ``trace()``, and return whether it succeeded.

    If ``trace`` raises an error, it must leave all state unchanged, because the caller then unrolls the loop.
    """
    try:
        trace()
    except _FAILURES as error:
        if isinstance(error, CompileError) and error.is_final:
            raise
        return False
    return True
