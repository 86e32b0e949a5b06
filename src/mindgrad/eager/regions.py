"""Regions of plain functions: one deferred call from a gradient that is another in each call to the return.

    region(F) = the operators of F(x) behind its first changing gradient call    (``deferral``)

Gradient functions and Cells have calls that begin and end in this package. A plain function has not; where
it makes gradients in a loop, ``grad(lambda x: f(x)[k])`` for each ``k``, each of those calls has a structure
of its own, and none becomes hot. The function as a whole has the same in each call. So what such calls
record does not end with them but with the function: an object in the trace slot of its frame is freed when
it returns. The values are computed when somebody asks for one, or at the next call of a changing gradient.

Cost: some microseconds for each gradient call that changes. Limits: functions that return within half a
minute; no generators; tensors that share memory with arrays of NumPy are not deferred.
"""

from __future__ import annotations

import _thread
import inspect
import sys
import threading
import time
import types
import weakref
from collections.abc import Sequence
from typing import Any

from mindgrad._base.location import PACKAGE, user_frame
from mindgrad.eager.deferral import Deferral
from mindgrad.eager.speculation import is_shared
from mindgrad.eager.structure import Structure
from mindgrad.eager.tier import Tier
from mindgrad.eager.warming import consider, ended, has_taken
from mindgrad.execution.cache import register_eager
from mindgrad.execution.donation import window
from mindgrad.ir import settings
from mindgrad.ir.cost_model import HOST
from mindgrad.ir.primitive import Primitive
from mindgrad.ir.scope import apply, defer_to, open_scopes
from mindgrad.ir.tensor import Tensor

__all__ = ["begin"]

#: functions around a gradient call, the first of which that repeats itself has a region
_LEVELS = 4

#: why a function that is checked for NaN has no region: an error cannot be raised where it returns
_WRITES = "it writes Parameters, whose values are checked as they are computed"

#: code that goes on in the frame of another
_INSIDE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class _Thread(threading.local):
    #: the region whose function has returned, and whose values nobody has asked for
    returned: Region | None = None


_local = _Thread()


class _Function:
    """The calls of one plain function.

    Args:
        code: its code.
    """

    __slots__ = ("__weakref__", "_code", "_name", "_tiers")

    def __init__(self, code: types.CodeType) -> None:
        self._code = weakref.ref(code)
        self._name = code.co_qualname
        self._tiers: dict[bool, Tier] = {}
        register_eager(self)

    @property
    def tier(self) -> Tier:
        """That of calls whose values are checked for NaN, or that of others."""
        is_checked = settings.options["debug_nans"]
        tier = self._tiers.get(is_checked)
        if tier is None:
            tier = self._tiers[is_checked] = Tier(self._name)
        return tier

    @property
    def __code__(self) -> types.CodeType | None:
        return self._code()

    @property
    def source(self) -> _Function:
        """The object that has the code."""
        return self

    def lines(self) -> list[str]:
        """A line about the tier."""
        return [f"{self._name}: {tier}" for tier in self._tiers.values()]

    def clear(self) -> None:
        """Forget what was recorded and compiled."""
        self._tiers.clear()


_functions: weakref.WeakKeyDictionary[types.CodeType, _Function] = weakref.WeakKeyDictionary()


class _Return:
    """An object that a frame holds in its trace slot, and frees when it returns."""

    __slots__ = ("region", "start", "tier")

    def __init__(self, tier: Tier, region: Region | None) -> None:
        self.tier = tier
        self.region = region
        self.start = time.perf_counter()

    def __call__(self, *_: Any) -> None:
        """Trace nothing, should a debugger begin to trace the frame."""

    def __del__(self) -> None:
        if self.region is not None:
            self.region.returns_now()
            return
        seconds = time.perf_counter() - self.start
        self.tier.calls += 1
        has_taken(self.tier, seconds)
        if seconds > HOST.region_seconds:
            self.tier.moves("cold", f"it ran for {seconds:.0f} s before it returned", is_final=True)


def begin(at_once: bool, arguments: Sequence[Any]) -> None:
    """Begin a region in a function that the gradient call about to run is part of, if one pays.

    Args:
        at_once: whether programs are compiled as soon as their structure is known.
        arguments: those of the gradient call.
    """
    if _local.returned is not None:
        _local.returned.end()
    frame = user_frame()
    for _ in range(_LEVELS):
        while frame is not None and (
            frame.f_code.co_name in _INSIDE
            or frame.f_code.co_flags & _RESUMED
            or frame.f_code.co_filename.startswith(PACKAGE)
        ):
            frame = frame.f_back
        if frame is None or frame.f_code.co_name == "<module>":
            return
        function = _functions.get(frame.f_code)
        if function is None:
            function = _functions[frame.f_code] = _Function(frame.f_code)
        tier = function.tier
        if not tier.is_final:
            if frame.f_trace is None:  # else this call has been looked at
                frame.f_trace = _Return(tier, _begun(tier, at_once, arguments))
            return
        if not tier.varies:
            return
        frame = frame.f_back


def _begun(tier: Tier, at_once: bool, arguments: Sequence[Any]) -> Region | None:
    """A region for a call of ``tier`` that is deferred or recorded; ``None`` for one that is not."""
    structures = tier.structures
    if not structures:
        if not at_once and (tier.calls < HOST.recorded_calls or tier.best < HOST.shortest_seconds):
            return None
    elif structures[0].program is None and structures[0].confirmed:
        if not structures[0].is_queued:
            consider(tier, structures[0], at_once)
        if structures[0].program is None:
            return None
    region = Region(tier, at_once, arguments)
    defer_to(region)
    return region


class Region(Deferral):
    """The deferred part of one call of a plain function.

    Args:
        tier: the function's.
        at_once: whether a program is compiled as soon as the structure is known.
        arguments: those of its first gradient call.
    """

    __slots__ = ("_at_once", "_bytes", "_counted", "_has_returned", "_is_over", "_predicted", "_tier")

    def __init__(self, tier: Tier, at_once: bool, arguments: Sequence[Any]) -> None:
        super().__init__(tier.structures, arguments)
        self._tier = tier
        self._at_once = at_once
        self._predicted: Structure | None = self.structure
        self._bytes = self._counted = 0
        self._has_returned = self._is_over = False

    def is_left(self) -> bool:
        """Whether the function has returned or raised, so that operators of the thread are not its own, or
        has recorded too much."""
        if open_scopes():
            return False
        return self._is_over or self._has_returned or not self._is_running() or self._is_too_long()

    def _is_running(self) -> bool:
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None:
            trace = frame.f_trace
            if type(trace) is _Return and trace.region is self:
                return True
            frame = frame.f_back
        return False

    def returns_now(self) -> None:
        """Note that the function returns; its values stay pending, for its own variables still live."""
        self._has_returned = True
        if self._is_over:
            return
        _local.returned = self
        if not open_scopes():  # a debugger may have taken the slot, in the middle of a gradient
            defer_to(None, before=self)
        if self._values.stored:  # Parameters are settled: whoever reads them is not the function's business
            try:
                self.end()
            except KeyboardInterrupt:  # nothing can be raised out of a destructor
                _thread.interrupt_main()

    def end(self) -> None:
        """End the region: what lives of its values is computed, and what it did is remembered."""
        with window:
            if self._is_over:
                return
            try:
                structure = self.ends(())
            finally:
                self._is_over = True
                if _local.returned is self:
                    _local.returned = None
        if not self._tier.is_final:
            self._tier.calls += 1
            ended(self._tier, structure, self._predicted, self.diverged_at, self._at_once)

    def stores(self, parameter: Any) -> None:
        """Note that a Parameter is written; a function whose values are checked ends before it does."""
        if self._lines is not None:
            self._tier.moves("cold", _WRITES, is_final=True)
            self.leave()
        else:
            super().stores(parameter)

    def requested(self, pending: Any) -> Any:
        """The array of a value that somebody asks for."""
        if pending.shadow is None and self._has_returned:
            self.end()
            if pending.value is not None:
                return pending.value
        return super().requested(pending)

    def _switched(self) -> bool:
        return not self.is_left() and super()._switched()

    def _is_leaf(self, tensor: Tensor, array: Any, index: int) -> bool:
        return not is_shared(array) and super()._is_leaf(tensor, array, index)

    def _number(self, tensor: Tensor, is_variable: bool) -> int:
        if is_shared(tensor._array):
            self._obstacle = self._obstacle or "a tensor shares its memory with an array of NumPy"
        return super()._number(tensor, is_variable)

    def _run_now(self, kind: Any, tensors: Sequence[Tensor], parameters: Any) -> list[Tensor]:
        if type(kind) is not str and self.is_left():
            self.leave()
            return _applied(kind, tensors, parameters)
        return super()._run_now(kind, tensors, parameters)

    def _is_too_long(self) -> bool:
        for array in self._values.leaves[self._counted :]:
            self._bytes += getattr(array, "nbytes", 0)
        self._counted = len(self._values.leaves)
        if len(self._events) < HOST.region_events and self._bytes < HOST.region_bytes:
            return False
        reason = f"{len(self._events)} operators and {self._bytes / 2**20:.0f} MiB before it returned"
        self._tier.moves("cold", reason, is_final=True)
        return True

    def leave(self) -> None:
        """End the region: operators of the thread do not belong to it any more."""
        defer_to(None, before=self)
        self.end()


def _applied(primitive: Primitive, tensors: Sequence[Tensor], parameters: Any) -> list[Tensor]:
    results = apply(primitive, *tensors, **parameters)
    return list(results) if primitive.multiple else [results]
