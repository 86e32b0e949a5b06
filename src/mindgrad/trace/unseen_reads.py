"""Reads by unconverted code count for all attributes of the objects that it is given.

Converted code says which attribute it reads; generator functions, functions without source and those of
Python's library do not. Of Cells every read is seen (``cell_guards``). Limit: only the arguments themselves
are looked at, and what a bound method is bound to, not the objects inside of them.
"""

from __future__ import annotations

import types
from typing import Any

from mindgrad._base.location import user_frame
from mindgrad.ir.tensor import Tensor
from mindgrad.trace import state
from mindgrad.trace.python import convert
from mindgrad.trace.reach import is_the_users, objects_in_reach
from mindgrad.trace.user_functions import in_package

__all__ = ["note_unseen", "noting_reads"]

#: modules whose functions look at the frame that calls them, or read no attributes of arguments
_LEFT_ALONE = convert.NUMERIC | {
    "mindgrad",
    "builtins",
    "logging",
    "warnings",
    "inspect",
    "sys",
    "traceback",
    "math",
}
_NO_OBJECTS: Any = (Tensor, type, types.ModuleType, types.FunctionType, types.MethodType)


def note_unseen(function: Any) -> None:
    """Note everything in reach of a function of the user's that is called unconverted."""
    if function is globals:
        state.read_namespace(user_frame().f_globals)
    plain = getattr(function, "__func__", function)
    if type(plain) is types.FunctionType and convert.is_unconverted(plain):
        for owner, label in objects_in_reach([(function, "the function")]):
            state.read_contents(owner, label)


def noting_reads(function: Any) -> Any:
    """Wrapper of ``function``, which is not converted, that notes reads while a program is compiled."""
    module = str(getattr(function, "__module__", None) or type(function).__module__).partition(".")[0]
    if module in _LEFT_ALONE or in_package(getattr(function, "__func__", function)):
        return function

    def run(*args: Any, **kwargs: Any) -> Any:
        for owner in (getattr(function, "__self__", None), *args, *kwargs.values()):
            kind: Any = type(owner)
            if isinstance(owner, _NO_OBJECTS):
                continue
            if hasattr(kind, "parameters_and_names"):
                state.depends_on(owner)
            elif is_the_users(kind) and hasattr(owner, "__dict__"):
                state.read_attribute(owner, "__dict__")
        return function(*args, **kwargs)

    return run
