"""Call user functions in converted form, and explain errors of the trace.

Some errors do not occur in eager mode. An example is ``NameError`` for a variable that only one branch of an
``if`` on a tensor assigns. Such errors are replaced by a ``CompileError`` that gives the reason.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from mindgrad.core.base._cpython import variables_of
from mindgrad.core.base.location import PACKAGE
from mindgrad.core.base.refusal import CompileError, refuse
from mindgrad.core.ir.scope import GraphScope, innermost
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace.frontend import Frontend, register
from mindgrad.frontend import effect_log, mutation_policy, owned_objects
from mindgrad.frontend.control.results import with_items
from mindgrad.frontend.control.runtime import call
from mindgrad.frontend.control.traced import Traced
from mindgrad.frontend.depth import deep_calls, explain_depth
from mindgrad.frontend.frozen import watched_generators
from mindgrad.frontend.python import convert
from mindgrad.frontend.side_effects import Assigned, assigned_in

__all__ = ["run"]

#: if more branches and loops on tensors than this are nested in an endless recursion, the error message names
#: the tensor condition as the cause
_MANY = 30


def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call ``function``; while a function is being compiled, call its converted form."""
    if not isinstance(innermost(), GraphScope):  # no function is being compiled
        return function(*args, **kwargs)
    if owned_objects.is_tracing():
        return call(function)(*args, **kwargs)
    with mutation_policy.tracing():
        convert.refuse_unconvertible(function)
        try:
            with deep_calls(), watched_generators(function):
                return with_items(call(function)(*args, **kwargs))
        except NameError as error:
            _explain_undefined(error)
            raise
        except CompileError as error:
            _explain_untraced(error)
            raise
        except RecursionError as error:
            if not mutation_policy.tail_calls_are_loops():
                raise
            location = _recursive_call(error)
            if location is None:
                explain_depth(error)
                raise
            is_by_tensors = _bodies(error) > _MANY
        if not is_by_tensors:
            refuse(
                f"The function calls itself without end, or more than {sys.getrecursionlimit()} levels deep, "
                f"which is Python's recursion limit",
                "Write a loop, or raise the limit: sys.setrecursionlimit(…).",
                at=location,
            )
        # raise this error outside the ``except`` block, so that Python does not print the traceback of
        # ``RecursionError`` with its thousands of frames
        refuse(
            "The function calls itself without end at compile time. The condition that ends the "
            "recursion is a tensor, so both branches are compiled",
            "Write a loop: while condition: …. A recursive call directly after 'return' is compiled as "
            "a loop.",
            at=location,
        )


def _bodies(error: BaseException) -> int:
    """Count the nested branches and loops whose trace raised ``error``."""
    count, trace = 0, error.__traceback__
    while trace is not None:
        count += trace.tb_frame.f_code is Traced.__init__.__code__
        trace = trace.tb_next
    return count


def _recursive_call(error: BaseException) -> Any:
    """Find the first recursive call of a user's function in a traceback.

    Returns:
        The location of the call, or ``None`` if there is no recursive call.
    """
    calls: list[tuple[Any, int, Any]] = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            # a method that calls itself on another object, such as a nested Cell, is not recursive
            owner = variables_of(trace.tb_frame).get("self")
            if any(code is c and trace.tb_lineno == n and owner is o for c, n, o in calls):
                last, line, _ = calls[-1]
                return (last.co_filename, line, None, None, last.co_name)
            calls.append((code, trace.tb_lineno, owner))
        trace = trace.tb_next
    return None


def _explain_untraced(error: CompileError) -> None:
    """Raise ``CompileError`` if a function without source has a tensor condition.

    Without source, the function cannot be converted, so its branches on tensors cannot be traced.

    Args:
        error: the error that was raised when the function used the tensor as a condition.
    """
    trace, frames = error.__traceback__, []
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    asking = [each for each in frames if each.f_code is Tensor.__bool__.__code__]
    users = [each for each in frames if not each.f_code.co_filename.startswith(PACKAGE)]
    if not asking or not users:
        return
    code = users[-1].f_code
    reason = convert.reason_without_source(users[-1])
    if reason:
        refuse(
            f"A tensor is a condition in '{code.co_name}', whose control flow cannot be compiled: {reason}",
            "Define the function in a file, or in an ordinary cell of a notebook.",
            frame=users[-1],
        )


def _explain_undefined(error: NameError) -> None:
    """Raise ``CompileError`` if a compiled branch or loop has caused a ``NameError``."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or (error.name is None and not isinstance(error, UnboundLocalError)):
        return
    code = trace.tb_frame.f_code
    name = error.name or next(iter(re.findall(r"'(\w+)'", str(error))), "")
    found = mutation_policy.why_dropped(code, name)
    if found is not None:
        line, reason = found
        refuse(
            f"The variable '{name}' has no value here: {reason} (line {line})",
            f"Assign '{name}' before line {line}, with its final type and shape.",
            frame=trace.tb_frame,
        )


class _Converting(Frontend):
    """The frontend that converts Python control flow and records assignments."""

    def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return run(function, *args, **kwargs)

    def isolated(self) -> AbstractContextManager[Any]:
        return effect_log.isolated()

    def assigned_in(self, scope: Any) -> list[Assigned]:
        return assigned_in(scope)


register(_Converting())
