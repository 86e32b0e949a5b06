"""Trace ``raise``, ``assert``, and ``try``.

A compiled function cannot raise or catch exceptions. Exceptions are raised and caught during the trace. If a
``raise`` or ``assert`` depends on a tensor, it raises ``CompileError``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mindgrad._base.refusal import CompileError, refuse
from mindgrad.ir.scope import innermost
from mindgrad.ir.tensor import Tensor
from mindgrad.trace import owned_objects
from mindgrad.trace.control.predicates import equations, plain_truth

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
        """Return the scope and its number of equations at the start of a ``try``."""
        return (innermost(), equations())

    def try_end(self, token: Any) -> None:
        """Raise ``CompileError`` if a ``try`` contains operators on tensors.

        Args:
            token: result of :meth:`try_begin`.
        """
        scope, before = token
        if innermost() is scope and equations() > before:
            refuse(
                "This 'try' contains operators on tensors. A compiled function cannot catch errors "
                "that occur when it runs",
                "Move the operators out of the 'try', or run in PYNATIVE_MODE.",
            )

    def caught(self) -> None:
        """Raise the caught exception again if it is a ``CompileError``.

        Rewritten code calls this at the start of each ``except`` block. User code must not handle this error,
        because it does not occur in eager mode.
        """
        error = sys.exception()
        if isinstance(error, CompileError):
            raise error
