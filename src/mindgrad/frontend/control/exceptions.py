"""Trace ``raise``, ``assert``, and ``try``.

A compiled function cannot raise or catch exceptions. Therefore all exceptions occur during the trace, and a
``raise`` or ``assert`` that depends on a tensor raises ``CompileError``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mindgrad.core.base.refusal import CompileError, refuse
from mindgrad.core.ir.scope import innermost
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend import owned_objects
from mindgrad.frontend.control.predicates import equations, plain_truth

__all__ = ["Exceptions"]


class Exceptions:
    """Methods of the runtime for ``raise``, ``assert``, and ``try`` in rewritten code."""

    def raise_(self, make: Callable[[], Any], cause: Any = None) -> None:
        """Run ``raise make() from cause()``, or ``raise make()`` without ``cause``."""
        if owned_objects.is_in_body():
            error = make()
            named = error if isinstance(error, type) else type(error)
            refuse(
                f"{getattr(named, '__name__', named)} is raised under a condition that is a tensor. A "
                "compiled function cannot raise exceptions that depend on values",
                "Check values before the call, or run in PYNATIVE_MODE. To mark bad values, return "
                "NaN: ops.where(condition, value, float('nan')).",
            )
        if cause is not None:
            raise make() from cause()
        raise make()

    def assert_(self, test: Any, message: Callable[[], Any] | None = None) -> None:
        """Run ``assert test, message()``."""
        truth = plain_truth(test)
        if isinstance(truth, Tensor):
            refuse(
                "'assert' tests the value of a tensor, which is not known at compile time",
                "Assert on shapes and Python values only, or check the result of the call.",
            )
        if not truth:
            raise AssertionError(*([] if message is None else [message()]))

    def try_begin(self) -> Any:
        """Record the number of equations in the graph before a ``try``."""
        return (innermost(), equations())

    def try_end(self, token: Any) -> None:
        """Raise ``CompileError`` if the body of a ``try`` computed tensors."""
        scope, before = token
        if innermost() is scope and equations() > before:
            refuse(
                "This 'try' contains operators on tensors. A compiled function cannot catch errors "
                "that occur when it runs",
                "Move the operators out of the 'try', or run in PYNATIVE_MODE.",
            )

    def caught(self) -> None:
        """Raise a ``CompileError`` again at the start of an exception handler.

        The user's handler must not handle it, because the error does not occur in eager mode.
        """
        error = sys.exception()
        if isinstance(error, CompileError):
            raise error
