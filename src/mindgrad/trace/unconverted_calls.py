"""Call unconverted functions in a trace: record their reads, reject side effects.

Generator functions, functions without source, and functions of Python's standard library run *unconverted*:
their source is not rewritten, so the runtime cannot record their reads one by one. Instead, all attributes of
their arguments are recorded as read. Reads of Cell attributes are always recorded (``cell_guards``).

For most functions, only the arguments and the object of a bound method are checked for changes, not the
objects inside them. ``snapshots`` and ``outside_effects`` detect changes of other objects at the end of the
body or trace.
"""

from __future__ import annotations

import copy
import functools
import operator
import os
import types
from collections.abc import Callable
from typing import Any

from mindgrad._base.location import user_frame
from mindgrad.ir.tensor import Tensor
from mindgrad.trace import outside_effects, owned_objects, state
from mindgrad.trace.control import snapshots
from mindgrad.trace.python import convert
from mindgrad.trace.reach import objects_in_reach
from mindgrad.trace.user_functions import in_package, is_of_library, is_users_class

__all__ = ["callee_for", "constructor_for"]

#: modules whose functions are called without recording reads, because they inspect the frame of their caller
#: or do not read attributes of their arguments
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
#: names of modules whose functions change their arguments
_CHANGING = frozenset(["numpy", "heapq", "_heapq", "bisect", "_bisect", "operator", "_operator", "random"])
#: names of methods that change their object in a way that cannot be undone
_NEVER = frozenset(["__next__", "send", "throw", "close", "write", "writelines", "truncate"])
_NO_OBJECTS: Any = (Tensor, type, types.ModuleType, types.FunctionType, types.MethodType)
#: types of callables that may call user functions
_RUNNING: Any = (types.FunctionType, types.MethodType, functools.partial, type(functools.lru_cache(len)))


def _note_reach(function: Any) -> None:
    """Record the contents of all objects that an unconverted function can access.

    It can access objects through its variables, its defaults, and the object of a bound method.
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
        # skip methods that a library defines: they read the internal state of their object
        reached = [] if is_of_object else [(function, "the function")]
    for owner, label in objects_in_reach(reached) if reached else ():
        if type(owner) is not types.FunctionType or not is_of_library(owner):
            record.contents(owner, label)


def _note_read(owner: Any, is_deep: bool) -> None:
    """Record that all attributes of an object are read.

    Args:
        owner: the object.
        is_deep: whether attributes of objects inside it are read, too, as by ``copy.deepcopy``.
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
            state.depends_on(owner)
        elif is_users_class(kind) and hasattr(owner, "__dict__"):
            state.read_attribute(owner, "__dict__")
        elif is_deep and isinstance(owner, (list, tuple, dict)):
            attributes = owner if isinstance(owner, dict) else dict(enumerate(owner))
        waiting += dict.values(attributes) if is_deep else ()


def callee_for(function: Any) -> Any:
    """Return the callable to run instead of an unconverted function in a trace.

    It calls ``function``, records the reads of its arguments, and checks that it has not changed them.
    """
    _note_reach(function)
    owner = getattr(function, "__self__", None)
    is_watched = owner is not None and bool(snapshots.entries_of(owner))
    if owner is not None and getattr(function, "__name__", "") in _NEVER:
        snapshots.refuse_advance(owner)
    module = str(getattr(function, "__module__", None) or type(function).__module__).partition(".")[0]
    is_sort = isinstance(owner, list) and function.__name__ == "sort"
    is_known = module in _LEFT_ALONE or in_package(getattr(function, "__func__", function))
    # whether the call reads no attributes of user objects: ``sort`` and ``iter`` call their methods
    is_silent = is_known and not is_sort and function is not iter
    is_deep = function is copy.deepcopy or isinstance(function, operator.attrgetter)
    may_change = is_watched or module in _CHANGING or state.is_from_outside(owner)
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
    """Return the callable to run instead of the class ``kind`` in a trace.

    It creates an instance, and records the reads of the constructor.
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
