"""Decide when eager calls are recorded, compared, and compiled.

    first call       operators run one by one and are recorded
    second call      operators are compared with the recording, and run one by one at the end of the call
    later calls      operators run one by one, until the background compilation has finished
    compiled         operators are compared with the recording, and one compiled function computes the values

The Python code of the function runs in every call. A *kind* of call is one function with arguments of given
types. A kind is compiled if two successive calls applied the same operators, and compiling is likely to save
time. The second condition requires all of the following:

- One call takes at least ``HOST.shortest_seconds``.
- All calls of the kind together have taken ``HOST.compiling_seconds``.
- If JAX is not imported yet, calls of all kinds together have taken ``HOST.importing_seconds``, because the
  import takes about a second.

JAX is imported in the thread of the call, not in the background. SciPy and other libraries search
``sys.modules`` for JAX, and would fail if a background thread had imported only a part of it.

During compilation, calls of the kind run operator by operator. The compiler and the operators compete for the
same processors, so each call first waits for the compiler. It waits for at most ``HOST.waiting_calls`` times
its own duration, which bounds the slowdown of each call.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from mindgrad.core.backend.xla import start_runtime
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir import settings
from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.scope import current_deferral, executing, open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.distributed.partition import current
from mindgrad.eager.background import submit, wait_until_compiled
from mindgrad.eager.deferral import Deferral
from mindgrad.eager.eviction import keep, used
from mindgrad.eager.segments import compile_request, compile_structure
from mindgrad.eager.structure import Structure
from mindgrad.frontend.programs.cache import content_of, register_eager

__all__ = ["EagerCalls", "Tier", "wait_until_compiled"]

#: option: whether eager mode runs every operator as soon as Python calls the operator, without deferral or
#: compilation
settings.define("pynative_synchronize", False)

#: maximum number of kinds of calls (a function with arguments of given types) that are stored for one
#: function, and of functions that are stored for one code object
_KINDS = 64
#: maximum number of recorded calls (structures) for one kind of call
_STRUCTURES = 8

#: ``VARIABLE``: environment variable that controls the compilation of eager calls. ``_AT_ONCE``: its values
#: for tests. With these values, the second call of a kind compiles immediately, in the thread of the call,
#: regardless of the measured times. The value ``numpy`` turns compilation off
VARIABLE, _AT_ONCE = "MINDGRAD_EAGER", ("compiled", "deferred")


class _Thread(threading.local):
    #: whether this thread is inside an eager call. Nested calls belong to the outermost call
    is_busy = False
    #: total duration in seconds of all calls of this thread that ran operator by operator
    seconds = 0.0


_thread = _Thread()


class Tier:
    """One kind of call: its recordings, durations, and compilation state.

    Args:
        title: the function and the types of its arguments, for messages.

    Attributes:
        state: ``"not compiled"``, ``"compiling in the background"`` or ``"compiled"``.
        reason: the reason for the state, for messages.
        is_final: whether all further calls run operator by operator.
        calls: number of calls.
        best, seconds: the shortest and the total duration of calls that ran operator by operator, in seconds.
        divergences: number of calls whose operators differed from the recording.
        diverged_at: file and line of the first operator that differed in the most recent such call.
        structures: the recordings, most recently used first.
    """

    __slots__ = (
        "best", "calls", "diverged_at", "divergences", "is_final", "reason", "seconds", "state", "structures",
        "title",
    )  # fmt: skip

    def __init__(self, title: str) -> None:
        self.title = title
        self.state, self.reason = (
            "not compiled",
            "the total time of its calls is too short to justify compilation",
        )
        self.is_final = False
        self.calls = self.divergences = 0
        self.diverged_at: tuple[str, int] | None = None
        self.best, self.seconds = float("inf"), 0.0
        self.structures: list[Structure] = []

    def __str__(self) -> str:
        line = f"{self.title}: {self.state}: {self.reason}; {self.calls} calls"
        if self.divergences:
            line += f", {self.divergences} applied different operators than the recording"
            if self.diverged_at is not None:
                line += f", last at line {self.diverged_at[1]} of {self.diverged_at[0]}"
        return line

    def moves(self, state: str, reason: str) -> None:
        """Set the state and its reason, and print them if ``MINDGRAD_LOG=eager``."""
        if (state, reason) != (self.state, self.reason):
            self.state, self.reason = state, reason
            if os.environ.get("MINDGRAD_LOG") == "eager":
                sys.stderr.write(f"mindgrad eager: {self.title}: {state}: {reason}\n")

    def stays(self, reason: str) -> None:
        """Decide that all further calls of this kind run operator by operator.

        ``reason`` is the reason for messages.
        """
        self.is_final = True
        self.structures = []
        self.moves("not compiled", reason)

    def took(self, seconds: float) -> None:
        """Add the duration of a call that ran operator by operator."""
        self.best = min(self.best, seconds)
        self.seconds += seconds
        _thread.seconds += seconds


class EagerCalls:
    """The calls of one function in eager mode.

    Args:
        name: the function's name in messages.
        source: the user's function. For a gradient function, it is the differentiated function.
    """

    __slots__ = ("__weakref__", "name", "source", "tiers")
    #: two instances are equal if their functions are equal. Recordings and compiled code are not compared
    compared_by = ("source",)

    def __init__(self, name: str, source: Any) -> None:
        self.name = name
        self.source = source
        self.tiers = _tiers_of(name, source)
        if self.tiers:
            register_eager(self)

    def lines(self) -> list[str]:
        """Return one line of text for each kind of call: its state and the reason."""
        return list(map(str, self.tiers.values()))

    def clear(self) -> None:
        """Delete all recordings and compiled functions."""
        self.tiers.clear()

    def __call__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Return ``function(*args, **kwargs)``, computed by compiled code if available."""
        thread = _thread
        if thread.is_busy or open_scopes() or current_deferral() is not None:
            return function(*args, **kwargs)
        options = settings.options
        switch = options["eager"]
        if switch == "numpy" or options.get("pynative_synchronize"):
            return function(*args, **kwargs)
        # with several devices, only functions with ``jit`` are compiled, and eager calls run operator by
        # operator
        if options["partition"] is not None and current() is not None:
            return function(*args, **kwargs)
        kinds = [(x._type or x.type) if isinstance(x, Tensor) else type(x) for x in args]
        key = (*kinds, options["device_target"], options["debug_nans"])
        tier = self.tiers.get(key)
        if tier is None:
            if len(self.tiers) >= _KINDS:
                self.tiers.pop(next(iter(self.tiers)))
            tier = self.tiers[key] = Tier(f"{self.name}({', '.join(map(str, kinds))})")
            register_eager(self)
        tier.calls += 1
        thread.is_busy = True
        try:
            if tier.is_final:
                return function(*args, **kwargs)
            return _call(tier, switch in _AT_ONCE, function, args, kwargs)
        finally:
            thread.is_busy = False


#: all kinds of calls, in nested dicts. The first key is the code object of the function. The second key is
#: its name and the callables in its closure. The third key is the types of the arguments, the device, and
#: ``debug_nans``
_by_code: weakref.WeakKeyDictionary[types.CodeType, dict[Any, dict[Any, Tier]]] = weakref.WeakKeyDictionary()


def _tiers_of(name: str, source: Any) -> dict[Any, Tier]:
    """Return the kinds of calls of a function, as a dict from argument types to tiers.

    Functions with the same code share this dict, for example lambdas that a loop creates. They do not share
    it if their closures contain different functions or Cells. Numbers and tensors in closures are not
    compared, because each call compares the operators and their operands.
    """
    if not isinstance(source, types.FunctionType):
        return {}
    tiers = _by_code.setdefault(source.__code__, {})
    if len(tiers) > _KINDS:
        tiers.pop(next(iter(tiers)))
    contents = [content_of(cell) for cell in source.__closure__ or ()]
    callables = [getattr(x, "__code__", id(x)) for x in contents if callable(x)]
    return tiers.setdefault((name, *callables), {})


def _call(
    tier: Tier, at_once: bool, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    latest = tier.structures[0] if tier.structures else None
    if latest is not None and latest.is_queued and latest.program is None:
        wait_until_compiled(HOST.waiting_calls * tier.best)
        if tier.is_final:  # an earlier compilation of this kind of call failed
            return function(*args, **kwargs)
    is_known = latest is not None and latest.confirmed and latest.program is None
    start = time.perf_counter()
    if is_known or (latest is None and tier.best < HOST.shortest_seconds and not at_once):
        result = function(*args, **kwargs)
        tier.took(time.perf_counter() - start)
    else:
        result = _compared(tier, function, args, kwargs, start)
    if tier.structures:
        _consider(tier, tier.structures[0], at_once)
    return result


def _compared(
    tier: Tier, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], start: float
) -> Any:
    """Run a call, and compare its operators with the recordings in ``tier``.

    If no recording has the same operators, the call is recorded.
    """
    predicted = tier.structures[0] if tier.structures else None
    is_compiled = predicted is not None and predicted.program is not None
    deferral = Deferral(tier.structures, args)
    try:
        with executing([], deferral):
            result = function(*args, **kwargs)
    except BaseException as error:
        deferral.abandon(error)
        raise
    structure = deferral.ends([x for x in flatten(result)[0] if isinstance(x, Tensor)])
    if not is_compiled:
        tier.took(time.perf_counter() - start)
    if structure is not predicted and predicted is not None:
        tier.divergences += 1
        tier.diverged_at = deferral.diverged_at
    if structure.obstacle:
        tier.stays(structure.obstacle)
    elif structure is not predicted:
        _remember(tier, structure)
    return result


def _remember(tier: Tier, structure: Structure) -> None:
    """Store the recording ``structure`` of a first call, or of a call that diverged.

    If the operators of every call differ, further calls are not compared.
    """
    known = next((s for s in tier.structures if s.is_same(structure)), structure)
    tier.structures = [known, *[s for s in tier.structures if s is not known]][:_STRUCTURES]
    if tier.divergences >= HOST.divergences and not any(s.confirmed for s in tier.structures):
        line = tier.diverged_at
        where = "" if line is None else f", the last time at line {line[1]} of {line[0]}"
        tier.stays(f"each call applies different operators{where}")


def _consider(tier: Tier, structure: Structure, at_once: bool) -> None:
    """Compile a recording if two calls agree and compiling is likely to save time."""
    if structure.program is not None:
        used(structure)
        _consider_requests(structure, at_once)
    elif structure.is_queued:
        pass
    elif at_once:
        if structure.confirmed:
            structure.is_queued = True
            _compile(tier, structure)
    elif tier.best >= HOST.shortest_seconds:
        if "jax" not in sys.modules:
            if _thread.seconds >= HOST.importing_seconds:
                _import_jax()
        elif structure.confirmed and tier.seconds >= HOST.compiling_seconds:
            structure.is_queued = True
            seconds = f"{tier.calls} calls took {tier.seconds:.2g} s"
            tier.moves("compiling in the background", seconds)
            submit(_compile, tier, structure)


def _import_jax() -> None:
    with suppress(Exception):  # the first compilation reports why JAX cannot be imported
        start_runtime()


def _compile(tier: Tier, structure: Structure) -> None:
    version = structure.version
    start = time.perf_counter()
    try:
        program = compile_structure(structure)
    except Exception as error:
        line = next(iter(str(error).splitlines()), "")
        structure.obstacle = f"it cannot be compiled: {type(error).__name__}: {line}"
        tier.stays(structure.obstacle)
        return
    if structure.version == version:
        structure.program = program
        if structure.version != version:  # another thread has invalidated the structure
            structure.changed()
            return
        keep(structure, program)
        seconds = time.perf_counter() - start
        tier.moves("compiled", f"{len(structure)} operators are one program, compiled in {seconds:.2g} s")


def _consider_requests(structure: Structure, at_once: bool) -> None:
    """Compile the computation of values that Python often reads inside recordings."""
    for number, count in list(structure.requests.items()):
        if count == HOST.requested_calls:
            structure.requests[number] = HOST.requested_calls + 1
            if at_once:
                _compile_request(structure, number)
            else:
                submit(_compile_request, structure, number)


def _compile_request(structure: Structure, number: int) -> None:
    version = structure.version
    with suppress(Exception):  # after a failure, the value is computed operator by operator
        segment = compile_request(structure, number)
        if structure.version == version:
            structure.requests[number] = segment


settings.store("eager", os.environ.get(VARIABLE, ""))
