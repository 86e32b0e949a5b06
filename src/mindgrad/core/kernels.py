"""NumPy kernels run without floating-point warnings: what is infinite or NaN shows in the values.

To run in a context (of ``contextvars``) that gives none costs a tenth of ``np.errstate``, which costs as much
as three kernels on ten numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any

import numpy as np

from mindgrad.core.primitive import Primitive

__all__ = ["numpy_kernel", "runs_functions", "silently"]

# the contexts without warnings in which nothing runs now
_FREE: list[Context] = []


def _silent_context() -> Context:
    context = Context()
    context.run(np.seterr, all="ignore")
    return context


def silently(function: Callable[..., Any], arguments: Sequence[Any], parameters: dict[str, Any]) -> Any:
    """``function(*arguments, **parameters)``, without warnings; it must not run functions of the user."""
    try:
        context = _FREE.pop()
    except IndexError:  # the first call, or one in another thread, a signal's handler or a finalizer
        context = _silent_context()
    try:
        return context.run(function, *arguments, **parameters)
    finally:
        _FREE.append(context)


def numpy_kernel(primitive: Primitive, arrays: Sequence[Any], parameters: dict[str, Any]) -> Any:
    """The result of the NumPy kernel of ``primitive`` on ``arrays``: an array, or a tuple of them."""
    if primitive.kind == "control":  # as ``runs_functions`` says, without a call
        with np.errstate(all="ignore"):
            return primitive.numpy(*arrays, **parameters)
    return silently(primitive.numpy, arrays, parameters)


def runs_functions(primitive: Primitive) -> bool:
    """Whether the kernel may run functions of the user, which see their own context variables."""
    return primitive.kind == "control"
