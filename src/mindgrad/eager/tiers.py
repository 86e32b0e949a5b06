"""Tiers of eager mode decide which calls run operator by operator, and which as a program.

    cold    NumPy, operator by operator                  every call at first; small calls for good
    warm    recorded, and compiled in the background     after a few calls that took long enough to pay
    hot     run as one program                           once it is compiled; no call waits for the compiler
              whole      without its Python, if nobody can see whether it runs (``purity``)
              short      likewise, as NumPy kernels if too short for XLA (``kernel_programs``)
              deferred   its Python runs, its operators are compared with a prediction (``deferral``)

The whole policy is in this file. Recording and the call of a program cost more than XLA saves on short calls,
and compiling costs more than it saves on calls that have taken little time in all (measured in decision 14).
"""

from __future__ import annotations

import os
import threading
import time
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from mindgrad._base.location import unheard
from mindgrad._base.tree import flatten
from mindgrad.eager.deferral import Deferral
from mindgrad.eager.kernel_programs import KernelPrograms
from mindgrad.eager.purity import is_watched
from mindgrad.eager.regions import begin
from mindgrad.eager.tier import Tier
from mindgrad.eager.warming import compare, consider, ended, error_line, has_taken, pays
from mindgrad.execution.background import submit, wait_until_compiled
from mindgrad.execution.cache import content_of, register_eager
from mindgrad.execution.compiled import Compiled
from mindgrad.execution.placement import is_infinite
from mindgrad.ir import settings
from mindgrad.ir.cost_model import HOST
from mindgrad.ir.partition import current
from mindgrad.ir.scope import current_deferral, executing, open_scopes
from mindgrad.ir.tensor import Tensor
from mindgrad.trace.tensor_hooks import are_registered

__all__ = ["EagerCalls", "Tier", "wait_until_compiled"]

#: the most programs of a whole function that are compiled and not run twice before its Python runs at each
#: call; the most functions of one code, each called a few times, before it does too
_UNUSED, _STRANGERS = 3, 8
#: kinds of calls for one function
_KINDS = 64

#: arguments of which a program knows all that the function could see, and containers that it could change
_ARGUMENTS = (Tensor, bool, int, float, complex, str, type(None))
_CHANGEABLE = (list, dict, set)
_ANEW = "the function is made anew again and again"
_HOOKED = "a tensor or Parameter has a hook"
_INFINITE = "an argument has infinite elements or NaN, which absorb in derivatives"

#: the environment variable: ``numpy`` turns tiers off, ``compiled`` compiles at once, and so does
#: ``deferred``, with which the Python of functions runs at each call even if nobody can see it
VARIABLE, _AT_ONCE = "MINDGRAD_EAGER", ("compiled", "deferred")


class _Local(threading.local):
    #: whether a call is running in this thread, of which inner calls are part
    is_busy = False


_local = _Local()


class EagerCalls:
    """The calls of one function in eager mode.

    Args:
        name: the function's name in messages.
        source: the function, or the one that it was made from.
        program: the function compiled as a whole, which runs if nobody can see whether its Python does.
        impurity: gives the reason why somebody can see it; empty if nobody can.
    """

    __slots__ = ("__weakref__", "calls", "impurity", "is_pure", "kernels", "name", "source", "tiers", "whole")

    def __init__(self, name: str, source: Any, program: Compiled, impurity: Callable[[], str]) -> None:
        self.name = name
        self.source = source
        self.whole = program
        self.kernels: KernelPrograms | None = None
        self.impurity = impurity
        self.is_pure = False
        self.calls = 0
        self.tiers = _tiers_of(name, source)
        if self.tiers:
            register_eager(self)

    def lines(self) -> list[str]:
        """For each kind of call a line about its tier."""
        return [f"{self.name}({', '.join(map(str, kind[:-2]))}): {tier}" for kind, tier in self.tiers.items()]

    def clear(self) -> None:
        """Forget what was recorded and compiled."""
        self.tiers.clear()
        self.is_pure = False

    def __call__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """``function(*args, **kwargs)``, in the tier that it is in."""
        local = _local
        if local.is_busy or open_scopes() or current_deferral() is not None:
            return function(*args, **kwargs)
        options = settings.options
        switch = options["eager"]
        if switch == "numpy" or options.get("pynative_synchronize"):
            return function(*args, **kwargs)
        if (
            options["partition"] is not None and current() is not None
        ):  # what is divided among devices is compiled where the user says so
            return function(*args, **kwargs)
        kinds = [(x._type or x.type) if isinstance(x, Tensor) else type(x) for x in args]
        key = (*kinds, options["device_target"], options["debug_nans"])
        tier = self.tiers.get(key)
        if tier is None:
            if len(self.tiers) >= _KINDS:
                self.tiers.pop(next(iter(self.tiers)))
            tier = self.tiers[key] = Tier(self.name)
            register_eager(self)
        tier.calls += 1
        self.calls += 1
        local.is_busy = True
        try:
            if tier.is_final:
                if tier.varies and not is_watched():
                    begin(switch in _AT_ONCE, args)
                return function(*args, **kwargs)
            if is_watched():
                return function(*args, **kwargs)
            if tier.is_whole and self.is_pure:
                programs: Any = self.kernels if tier.is_short else self.whole
                if are_registered():
                    tier.divides(_HOOKED)
                elif any(map(_is_infinite, args)):
                    tier.divides(_INFINITE)
                elif programs is not None and (call := programs.ready(*args, **kwargs)) is not None:
                    tier.unused = 0
                    return call()
            return _called(self, tier, switch, function, args, kwargs)
        finally:
            local.is_busy = False


#: the tiers of functions by code object, then by name and by the callables that they close over
_by_code: weakref.WeakKeyDictionary[types.CodeType, dict[Any, dict[Any, Tier]]] = weakref.WeakKeyDictionary()


def _tiers_of(name: str, source: Any) -> dict[Any, Tier]:
    """The tiers of the calls of a function, shared by functions of one code, as of a lambda in a loop.

    Functions of one code that close over different functions or Cells have different tiers; numbers and
    tensors that they close over are compared in each call.
    """
    if not isinstance(source, types.FunctionType):
        return {}
    tiers = _by_code.setdefault(source.__code__, {})
    if len(tiers) > _KINDS:
        tiers.pop(next(iter(tiers)))
    contents = [content_of(cell) for cell in source.__closure__ or ()]
    callables = [getattr(x, "__code__", id(x)) for x in contents if callable(x)]
    return tiers.setdefault((name, *callables), {})


def _called(
    calls: EagerCalls,
    tier: Tier,
    switch: Any,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> Any:
    at_once = switch in _AT_ONCE
    structures = tier.structures
    is_due = at_once or (tier.calls > HOST.recorded_calls and tier.best >= HOST.shortest_seconds)
    if is_due and tier.is_whole is not False and not structures and switch != "deferred":
        _consider_whole(calls, tier, args, kwargs, at_once)
        if at_once and tier.is_whole:
            return calls.whole(*args, **kwargs)
    if tier.is_whole:
        pass
    elif not structures:
        if is_due:
            return _deferred(tier, at_once, function, args, kwargs)
    elif structures[0].program is not None or not structures[0].confirmed:
        return _deferred(tier, at_once, function, args, kwargs)
    elif not structures[0].is_queued:
        consider(tier, structures[0], at_once)
    start = time.perf_counter()
    result = function(*args, **kwargs)
    has_taken(tier, time.perf_counter() - start)
    is_short = tier.calls >= 8 * HOST.recorded_calls and tier.best < HOST.shortest_seconds
    if is_short and not (structures or at_once):
        _consider_short(calls, tier, args, kwargs)
    return result


def _deferred(
    tier: Tier, at_once: bool, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    structures = tier.structures
    predicted = structures[0] if structures else None
    is_hot = predicted is not None and predicted.program is not None
    start = time.perf_counter()
    deferral = Deferral(structures, args)
    try:
        with executing([], deferral):
            result = function(*args, **kwargs)
    except BaseException as error:
        deferral.abandon(error)
        raise
    tensors = [result] if type(result) is Tensor else [x for x in flatten(result)[0] if isinstance(x, Tensor)]
    structure = deferral.ends(tensors)
    if is_hot and structure is predicted and not at_once:
        compare(tier, tensors, start)
    ended(tier, structure, predicted, deferral.diverged_at, at_once)
    return result


def _is_infinite(x: Any) -> bool:
    return isinstance(x, Tensor) and is_infinite(x._array)


def _visible(calls: EagerCalls, tier: Tier, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """The reason why the Python of the function has to run at each call; empty if there is none."""
    leaves = flatten((args, kwargs))[0]
    if any(type(x) in _CHANGEABLE for x in args) or not all(isinstance(x, _ARGUMENTS) for x in leaves):
        return "an argument is no tensor, number or tuple"
    if are_registered():
        return _HOOKED
    if any(map(_is_infinite, leaves)):
        return _INFINITE
    if tier.unused >= _UNUSED:
        return "what it reads of Python changes between calls"
    return calls.impurity()


def _consider_whole(
    calls: EagerCalls, tier: Tier, args: Sequence[Any], kwargs: dict[str, Any], at_once: bool
) -> None:
    """Decide whether the function is compiled as a whole, and have that done if it pays."""
    is_new = calls.calls <= HOST.recorded_calls
    if tier.is_queued or (tier.is_whole and not calls.is_pure and not at_once and is_new):
        tier.strangers += not tier.is_queued
        if tier.strangers > _STRANGERS:
            tier.divides(_ANEW)
        return
    if tier.is_whole and calls.is_pure and not at_once and not pays(tier):
        return
    if reason := _visible(calls, tier, args, kwargs):
        tier.divides(reason)
    elif at_once:
        calls.is_pure = tier.is_whole = True
        _compile_whole(calls, tier, args, kwargs)
    elif tier.is_whole and calls.is_pure:
        tier.is_queued = True
        submit(_compile_whole, calls, tier, args, kwargs)
    else:
        calls.is_pure = tier.is_whole = True


def _consider_short(calls: EagerCalls, tier: Tier, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Decide whether a call that is too short for XLA runs as kernels without its Python, if tracing pays."""
    if tier.seconds < HOST.tracing_seconds or tier.is_queued:
        return
    tier.seconds = 0.0
    is_anew = tier.is_whole is False or calls.calls <= HOST.recorded_calls
    reason = _ANEW if is_anew else _visible(calls, tier, args, kwargs)
    if not reason:
        try:
            reason = _prepare_kernels(calls, args, kwargs)
        except Exception as error:
            reason = f"it cannot be traced: {error_line(error)}"
    micro = f"a call takes {tier.best * 1e6:.0f} µs"
    if reason:
        tier.visible = tier.visible or reason
        tier.moves("cold", micro, is_final=True)
        return
    tier.unused += 1
    tier.is_short = tier.is_whole = calls.is_pure = True
    tier.moves("hot", f"{micro}: kernels of NumPy without its Python")


def _prepare_kernels(calls: EagerCalls, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """Trace the function into a program of kernels; the reason if that is impossible, else empty."""
    if calls.kernels is None:
        calls.kernels = KernelPrograms(calls.whole.function)
    with unheard() as warnings:
        is_made = calls.kernels.prepare(*args, **kwargs)
    if warnings:
        return f"it warns: {warnings[0]}"
    return "" if is_made else "it has loops, or not all that it gives back is new"


def _compile_whole(calls: EagerCalls, tier: Tier, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    start = time.perf_counter()
    try:
        if reason := calls.impurity():  # something has changed while it was queued
            tier.divides(reason)
            return
        with unheard() as warnings:
            is_plain = calls.whole.prepare(*args, **kwargs)
        if warnings:
            tier.divides(f"it warns: {warnings[0]}")
        elif is_plain:
            tier.unused += 1
            tier.moves("hot", f"it is one program, compiled in {time.perf_counter() - start:.2g} s")
        else:
            tier.divides("it computes in half precision, or what it gives back is not all new")
    except Exception as error:
        tier.divides(f"it cannot be compiled whole: {error_line(error)}")
    finally:
        tier.is_queued = False


settings.store("eager", os.environ.get(VARIABLE, ""))
