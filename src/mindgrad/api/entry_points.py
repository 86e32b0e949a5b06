"""Trim the errors that leave mindgrad through an entry point.

The call of a Cell, of a gradient function, and of a compiled function are entry points. Each of them
catches ``Exception`` and calls :func:`leave`, which removes mindgrad's internal frames. The command
``mindgrad`` trims the errors of the scripts that it runs (``cli``). Errors that leave mindgrad in other ways,
for example from an operator, keep all frames.
"""

from __future__ import annotations

import sys
from types import CodeType

from mindgrad.core.base.refusal import trim
from mindgrad.core.ir.scope import open_scopes

__all__ = ["ENTRY_POINTS", "leave"]

#: code objects of the functions that call :func:`leave`
ENTRY_POINTS: set[CodeType] = set()


def leave() -> None:
    """Trim the current error, unless its handler runs inside another entry point.

    mindgrad itself reads the traceback while a function is traced, and the outermost entry point names the
    path of the failing Cell. Therefore only the outermost entry point trims. The handler does not bind the
    error to a variable. Otherwise, the frame of the handler would refer to the error, and the error to the
    frame.
    """
    error = sys.exception()
    trace = None if error is None else error.__traceback__
    if not isinstance(error, Exception) or trace is None or open_scopes():
        return
    frame = trace.tb_frame.f_back  # the first entry of a traceback is the function that handles the exception
    while frame is not None:
        if frame.f_code in ENTRY_POINTS:
            return
        frame = frame.f_back
    trim(error)
