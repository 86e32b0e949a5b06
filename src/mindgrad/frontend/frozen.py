"""Warn if a traced function calls clocks, random generators, or loggers.

In eager mode, each call of the user's function draws new random numbers and reads the clock again. In
contrast, a compiled function always uses the value that was read during the trace. Therefore, such reads
cause a warning. There is no warning for a generator that the function creates from a seed, because it returns
the same numbers in every eager call, too.

Calls that log, or that write to the terminal without ``print``, run only once, during the trace. They also
cause a warning.
"""

from __future__ import annotations

import datetime
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from mindgrad.core.base.location import FrozenValueWarning, warn_user
from mindgrad.core.base.waiting import WORKER
from mindgrad.frontend import owned_objects

__all__ = ["note_call", "watched_generators"]

_GENERATORS = (random.Random, np.random.RandomState, np.random.Generator)
#: methods of random number generators that do not draw random numbers
_SETTINGS = {"seed", "getstate", "setstate", "get_state", "set_state", "bit_generator", "spawn"}
#: maps modules to names of functions that return a different value in each call
_FUNCTIONS = {
    "time": {
        "time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time",
        "process_time_ns", "thread_time", "thread_time_ns",
    },
    "posix": {"urandom", "getrandom"},
    "nt": {"urandom"},
    "uuid": {"uuid1", "uuid4", "uuid6", "uuid7"},
    "secrets": {"randbelow", "token_bytes", "token_hex", "token_urlsafe"},
}  # fmt: skip
_CLOCKS = {"now", "utcnow", "today"}
#: functions of ``time`` that read the clock only if they are called without argument
_OF_TIMES = {"localtime", "gmtime", "ctime", "asctime"}
_PACKAGE = __name__.partition(".")[0]
_LOG = f"{_PACKAGE}.log"
#: severity levels of logging functions and methods. ``log`` receives its level as an argument, so the highest
#: level is assumed
_LEVELS = {
    "debug": 10, "info": 20, "warning": 30, "warn": 30, "error": 40, "exception": 40, "critical": 50,
    "fatal": 50, "log": 50,
}  # fmt: skip


def note_call(function: Any) -> Any:
    """Warn if ``function`` reads a clock, draws random numbers, or writes output.

    Returns:
        The function to call instead of ``function``, or ``None`` if ``function`` itself should be called.
    """
    name = getattr(function, "__name__", "")
    if function is np.random.default_rng:
        return _made_generator
    owner = getattr(function, "__self__", None)
    if isinstance(owner, _GENERATORS):
        if name not in _SETTINGS and not owned_objects.is_of_program(owner):
            _warn(f"{_of_generator(owner)}.{name}()", random_numbers=True)
    elif isinstance(owner, type) and issubclass(owner, datetime.date):
        if name in _CLOCKS:
            _warn(f"{owner.__name__}.{name}()")
    elif getattr(function, "__module__", None) == "time" and name in _OF_TIMES:
        return partial(_of_time, function)
    elif name in _FUNCTIONS.get(getattr(function, "__module__", None) or "", ()):
        module = function.__module__.replace("posix", "os").replace("nt", "os")
        _warn(f"{module}.{name}()", random_numbers=module in ("os", "secrets"))
    elif writer := _writer_of(function):
        _warn_of_output(writer)
    return None


def _writer_of(function: Any) -> str:
    """Return a description of ``function`` if it logs or writes to the terminal.

    Compiled functions support ``print``, so it is excluded. For other functions, the result is ``""``.
    """
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    module = getattr(function, "__module__", None)
    if name in ("write", "writelines") and owner is not None:
        stream = next((each for each in ("stdout", "stderr") if owner is getattr(sys, each)), "")
        return f"sys.{stream}.{name}()" if stream else ""
    if name in ("pprint", "pp") and module == "pprint" and owner is None:
        return f"pprint.{name}()"
    level, logging = _LEVELS.get(name), sys.modules.get("logging")
    if level is None or logging is None:
        return ""
    logger = getattr(owner, "logger", owner)  # a ``LoggerAdapter`` contains a logger
    if module == _LOG:
        logger = logging.getLogger(_PACKAGE)
    elif owner is None and module == "logging":
        logger = logging.root
    if not isinstance(logger, logging.Logger) or not logger.isEnabledFor(level):
        return ""
    return f"{'logging' if owner is None else type(owner).__name__}.{name}()"


def _of_generator(owner: Any) -> str:
    if getattr(random.random, "__self__", None) is owner:
        return "random"
    if getattr(np.random.rand, "__self__", None) is owner:
        return "np.random"
    return type(owner).__name__


def _of_time(function: Callable[..., Any], *times: Any) -> Any:
    if not times:
        _warn(f"time.{function.__name__}()")
    return function(*times)


def _made_generator(seed: Any = None) -> Any:
    if seed is None:
        _warn("np.random.default_rng()", random_numbers=True)
    return owned_objects.made(np.random.default_rng(seed))


class _Local(threading.local):
    def __init__(self) -> None:
        #: whether this trace has warned that a value becomes a constant
        self.has_warned = False


_local = _Local()


def _warn(call: str, random_numbers: bool = False) -> None:
    instead = "draw with mindgrad.ops (ops.rand, ops.randn, ops.randint), or " if random_numbers else ""
    _local.has_warned = True
    warn_user(
        f"{call} is called while a function is compiled. The compiled function stores its value and uses it "
        f"in every call. Instead, {instead}pass it as a Tensor argument.",
        FrozenValueWarning,
    )


def _warn_of_output(call: str) -> None:
    warn_user(
        f"{call} is called while a function is compiled. It writes once, without the values of tensors, and "
        "not when the compiled function runs. Use print(...), which prints in every call, or log the result.",
        FrozenValueWarning,
    )


@contextmanager
def watched_generators(function: Callable[..., Any]) -> Iterator[None]:
    """Warn if the trace of ``function`` changes the global random number generators.

    The check detects random numbers that library functions draw. It is skipped if other threads are running,
    because they could draw at the same time.
    """
    before = _states() if _is_alone() else None
    outer, _local.has_warned = _local.has_warned, False
    try:
        yield
        if before is not None and not _local.has_warned and _states() != before:
            whose = getattr(function, "__qualname__", None) or type(function).__qualname__
            _warn(
                f"the global generator of 'random' or 'np.random' (in a library that '{whose}' calls)", True
            )
    finally:
        _local.has_warned = outer


def _is_alone() -> bool:
    return all(each is threading.current_thread() or each.name == WORKER for each in threading.enumerate())


def _states() -> tuple[Any, ...]:
    state: Any = np.random.get_state()  # noqa: NPY002 - library functions use the global generator
    _, words, position, *rest = state
    return random.getstate(), words.tobytes(), position, *rest
