"""Trace ``raise``, ``assert``, and ``try``.

A compiled function cannot raise or catch exceptions when it runs. Exceptions are raised and caught only
during the trace. If a ``raise`` or ``assert`` depends on the value of a tensor, the trace raises
``CompileError``.
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
    """Methods of the runtime that compile ``raise``, ``assert``, and ``try``."""

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
        """Return a token for :meth:`try_end`: the innermost scope and its equation count."""
        return (innermost(), equations())

    def try_end(self, token: Any) -> None:
        """Raise ``CompileError`` if a ``try`` block contains operators on tensors.

        Args:
            token: the result of :meth:`try_begin` at the start of the block.
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

        Rewritten code calls this method at the start of each ``except`` block. User code must not handle a
        ``CompileError``, because the error does not occur in eager mode.
        """
        error = sys.exception()
        if isinstance(error, CompileError):
            raise error
