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
            place = _recursive_call(error)
        # not while the error is handled: its traceback has a thousand frames
        refuse(
            "the function calls itself without end while it is traced: what ends the recursion is a tensor, "
            "whose value is not known while compiling, so both ways are traced",
            "Write a loop: while condition: …. A call of the function itself in 'return f(…)' becomes one.",
            at=place,
        )


def _recursive_call(error: BaseException) -> Any:
    """Where a function of the user is called by itself for the first time."""
    passed: list[tuple[str, int, None, None, str]] = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            place = (code.co_filename, trace.tb_lineno, None, None, code.co_name)
            if place in passed:
                return passed[-1]
            passed.append(place)
        trace = trace.tb_next
    return None


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
