"""Where a program is entered: the user's function runs, and what goes wrong is said in the user's terms."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mindgrad._base.location import PACKAGE
from mindgrad._base.refusal import refuse
from mindgrad.frontend import convert, ownership, state
from mindgrad.frontend.flow import call

__all__ = ["run"]


def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``; while a program is compiled, with its control flow traced."""
    if not state.is_compiling():
        return function(*args, **kwargs)
    if ownership.is_tracing():
        return call(function)(*args, **kwargs)
    with ownership.tracing():
        convert.refuse_unconvertible(function)
        try:
            return call(function)(*args, **kwargs)
        except NameError as error:
            _explain_undefined(error)
            raise
        except RecursionError as error:
            if not ownership.tail_calls_are_loops():
                raise
            frame = _last_user_frame(error)
        # not while the error is handled: its traceback has a thousand frames
        refuse(
            "the function calls itself without end while it is traced: what ends the recursion is a tensor, "
            "whose value is not known while compiling, so both ways are traced",
            "Write a loop: while condition: …. A call of the function itself in 'return f(…)' becomes one.",
            frame=frame,
        )


def _last_user_frame(error: BaseException) -> Any:
    """The innermost frame of the traceback that is the user's."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
            found = trace.tb_frame
        trace = trace.tb_next
    return found


def _explain_undefined(error: NameError) -> None:
    """Refuse a variable that a traced branch or loop has left without a value, naming the place."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or (error.name is None and not isinstance(error, UnboundLocalError)):
        return
    code = trace.tb_frame.f_code
    name = error.name or next(iter(re.findall(r"'(\w+)'", str(error))), "")
    found = ownership.why_dropped(code, name)
    if found is not None:
        line, reason = found
        refuse(
            f"the variable '{name}' has no value here: {reason} (line {line})",
            f"Give '{name}' a value before it, of the type and shape that it has afterwards.",
            frame=trace.tb_frame,
        )
