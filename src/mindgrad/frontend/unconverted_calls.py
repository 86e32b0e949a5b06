"""Call unconverted functions in a trace: record their reads, reject side effects.

In converted code, the runtime records every read. Generator functions, functions without source, and
functions of Python's library run unconverted. Therefore, this module records a read of all attributes of
their arguments, and of all attributes of Cells inside the arguments.

After most calls, only the arguments and the object of a bound method are checked for changes, not the objects
inside them. At the end of the body or trace, ``snapshots`` and ``outside_effects`` detect changes of other
objects.
"""

from __future__ import annotations

import copy
import functools
import operator
import os
import types
from collections.abc import Callable
from typing import Any

from mindgrad.core.base.location import user_frame
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend import outside_effects, owned_objects, state
from mindgrad.frontend.control import snapshots
from mindgrad.frontend.python import convert
from mindgrad.frontend.reach import objects_in_reach
from mindgrad.frontend.user_functions import in_package, is_of_library, is_users_class

__all__ = ["callee_for", "constructor_for"]

#: modules whose functions are called without recording reads, because they inspect the frame of their caller,
#: or read no attributes of their arguments
_LEFT_ALONE = convert.NUMERIC | {
    "mindgrad",
    "builtins",
    "logging",
    "warnings",
    "_warnings",
    "inspect",
    "sys",
    "traceback",
    "math",
}
#: modules whose functions change their arguments
_CHANGING = frozenset(["numpy", "heapq", "_heapq", "bisect", "_bisect", "operator", "_operator", "random"])
#: methods whose effect on their object cannot be undone
_NEVER = frozenset(["__next__", "send", "throw", "close", "write", "writelines", "truncate"])
#: methods of a Cell that record their reads
_CALLS = ("__call__", "_run")
_NO_OBJECTS: Any = (Tensor, type, types.ModuleType, types.FunctionType, types.MethodType)
#: types of callables that may call user functions
_RUNNING: Any = (types.FunctionType, types.MethodType, functools.partial, type(functools.lru_cache(len)))


def _note_reach(function: Any) -> None:
    """Record the contents of all objects that an unconverted function can access.

    It can access objects through its variables, its defaults, and, if it is a bound method, its object.
    """
    record = state.noted()
    if record is None:
        return
    reached: list[tuple[Any, str]] = []
    plain = getattr(function, "__func__", function)
    if function is os.getenv:
        record.contents(os.environ, "the environment")
    elif function is globals or function is eval or function is exec:
        record.namespace(user_frame().f_globals)
        reached = [] if function is globals else record.roots[:1]
    elif isinstance(function, _RUNNING) and not in_package(plain):
        is_of_object = isinstance(function, types.MethodType) and is_of_library(plain)
        # skip methods that a library defines, because they read only the internal state of their object
        reached = [] if is_of_object else [(function, "the function")]
    for owner, label in objects_in_reach(reached) if reached else ():
        if type(owner) is not types.FunctionType or not is_of_library(owner):
            record.contents(owner, label)


def _note_read(owner: Any, is_deep: bool) -> None:
    """Record a read of all attributes of ``owner``.

    Args:
        owner: the object. If it is a container, the attributes of the Cells in it are recorded.
        is_deep: whether to record the attributes of all objects inside ``owner``, too, as for
            ``copy.deepcopy``.
    """
    waiting: list[Any] = [owner]
    met: dict[int, Any] = {}
    while waiting:
        owner = waiting.pop()
        kind: Any = type(owner)
        if isinstance(owner, _NO_OBJECTS) or id(owner) in met:
            continue
        met[id(owner)] = owner
        attributes = getattr(owner, "__dict__", {})
        if hasattr(kind, "parameters_and_names"):
            state.note_all(owner)
        elif is_users_class(kind) and hasattr(owner, "__dict__"):
            state.read_attribute(owner, "__dict__")
        elif isinstance(owner, (list, tuple, dict)):
            items = list(dict.values(owner) if isinstance(owner, dict) else owner)
            waiting += items if is_deep else [x for x in items if hasattr(type(x), "parameters_and_names")]
        waiting += dict.values(attributes) if is_deep else ()


def callee_for(function: Any) -> Any:
    """Return a callable that a trace calls in place of an unconverted function.

    The callable calls ``function``, and records a read of its arguments. If ``function`` may change the
    arguments, the callable also checks that they are unchanged.
    """
    _note_reach(function)
    owner = getattr(function, "__self__", None)
    is_watched = owner is not None and bool(snapshots.entries_of(owner))
    if owner is not None and getattr(function, "__name__", "") in _NEVER:
        snapshots.refuse_advance(owner)
    module = str(getattr(function, "__module__", None) or type(function).__module__).partition(".")[0]
    is_sort = isinstance(owner, list) and function.__name__ == "sort"
    is_known = module in _LEFT_ALONE or in_package(getattr(function, "__func__", function))
    # whether ``function`` reads no attributes of the user's objects. ``sort`` and ``iter`` may read
    # attributes, because they call methods of the user's classes
    is_silent = is_known and not is_sort and function is not iter
    is_deep = function is copy.deepcopy or isinstance(function, operator.attrgetter)
    may_change = is_watched or module in _CHANGING or state.is_from_outside(owner)
    if hasattr(type(owner), "parameters_and_names") and function.__name__ not in _CALLS:
        state.note_all(owner)
    if is_silent and not may_change:
        return function

    def run(*args: Any, **kwargs: Any) -> Any:
        objects = (owner, *args, *kwargs.values())
        if not is_silent:
            for operand in objects:
                _note_read(operand, is_deep)
                if operand is not owner:
                    _note_reach(operand)
        result = function(*args, **kwargs)
        if may_change:
            snapshots.check(*objects)
            outside_effects.check(*objects)
        return result

    return run


def constructor_for(kind: type) -> Callable[..., Any]:
    """Return a callable that a trace calls in place of the class ``kind``.

    The callable creates an instance, and records what the constructor may read.
    """
    record = state.noted()

    def create(*args: Any, **kwargs: Any) -> Any:
        operands = (*args, *kwargs.values())
        for operand in operands:
            _note_reach(operand)
        if record is not None:
            for base in operands[1] if issubclass(kind, type) and len(operands) == 3 else ():
                record.unconverted(base, is_created=True)
            record.unconverted(kind, operands, is_created=True)
            record.unconverted(type(kind), (kind, *operands), is_created=True)
        return owned_objects.made_by(kind, kind(*args, **kwargs))

    return create
