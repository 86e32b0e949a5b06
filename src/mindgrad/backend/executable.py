"""Ahead-of-time compilation makes one executable per program, or loads it from the compile cache.

    executable.run(arrays, given, extra) = the program's results, on the device

``given`` are donated: their memory becomes that of results, and they cannot be used any more. A call
needs no setting of jax: the element types and the device are part of the executable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from time import perf_counter
from typing import Any, NamedTuple

from mindgrad._base.callback_errors import raise_noted
from mindgrad._base.collection import only_young_garbage
from mindgrad._base.waiting import computed, interruptible, note_long
from mindgrad.backend.device_mesh import Placement
from mindgrad.backend.jax_import import jax_module, stopped_by_forks
from mindgrad.backend.options import compiled_with
from mindgrad.ir.cost_model import HOST
from mindgrad.ir.graph import Constant, Graph

__all__ = [
    "Executable", "GraphProgram", "ahead", "array_type", "copy_on_device", "noting", "to_end",
]  # fmt: skip


class Executable:
    """A compiled program.

    Attributes:
        run: ``run(arrays, given, extra)`` on jax arrays; a list of jax arrays.
        extra: the large constants of the program, on the device.
        may_take_long: whether it has loops that may run very often.
        layouts: of a program for several devices jax's sharding of each input; else ``None``.
        compiled: jax's compiled program.
        takes_parts: whether operands may be parts of arrays over the mesh of processes.
    """

    __slots__ = ("__weakref__", "compiled", "extra", "layouts", "may_take_long", "run", "takes_parts")

    def __init__(
        self,
        run: Callable[..., Any],
        extra: Sequence[Any],
        calls_back: bool = False,
        may_take_long: bool = False,
        layouts: Sequence[Any] | None = None,
    ) -> None:
        self.extra = extra
        self.layouts = layouts
        self.compiled: Any = run
        self.takes_parts = False
        self.may_take_long = may_take_long
        finished = to_end if calls_back else _as_it_is
        self.run = _LongRun(run, finished) if may_take_long else finished(run)
        stopped_by_forks.add(self)

    def takes_long(self) -> bool:
        """Whether a call may run so long that the user interrupts it."""
        return type(self.run) is _LongRun and self.run.seconds > HOST.interrupted_seconds

    def run_uninterrupted(self, *operands: Any) -> Any:
        """:meth:`run` where signals are deferred, so that interruptible waiting would be in vain."""
        run = self.run
        return run.uninterrupted(*operands) if type(run) is _LongRun else run(*operands)


#: a note of the exception that ends the wait for a program
_STILL_RUNS = (
    "The compiled program continues in a background thread until it ends, because XLA cannot cancel it. If "
    "its loop never ends, it keeps a core busy until this process exits: limit the number of iterations in "
    "the condition of the loop."
)


class _LongRun:
    """Runs a program with loops to its end, for XLA may take their trips in the thread that calls it.

    jax lets further calls of a compiled program wait until the first one has returned. If that was
    interrupted, it may never return, so the next call goes to another copy, which shares its machine code.

    Attributes:
        seconds: how long the last call took, which says what to expect; infinite if it was interrupted.
    """

    __slots__ = ("_finished", "_quick_calls", "_run", "_uncalled", "seconds")

    def __init__(self, run: Callable[..., Any], finished: Callable[[Callable[..., Any]], Any]) -> None:
        self._uncalled, self._finished = run, finished
        self._run = finished(copy(run))
        self._quick_calls = 0
        self.seconds = math.inf

    def __call__(self, *operands: Any) -> Any:
        if self._quick_calls >= HOST.quick_calls:
            return self._timed(self._run, *operands)
        return self._timed(partial(interruptible, note=_STILL_RUNS), self._to_end, *operands)

    def uninterrupted(self, *operands: Any) -> Any:
        """A run in this thread, while which no signal is to be handled."""
        return self._timed(self._to_end, *operands)

    def _timed(self, run: Callable[..., Any], *operands: Any) -> Any:
        start = perf_counter()
        self.seconds = math.inf
        try:
            results = run(*operands)
        except BaseException:
            self._run, self._quick_calls = self._finished(copy(self._uncalled)), 0
            raise
        self.seconds = seconds = perf_counter() - start
        self._quick_calls = self._quick_calls + 1 if seconds < HOST.quick_seconds else 0
        return results

    def _to_end(self, *operands: Any) -> Any:
        results = self._run(*operands)
        for each in results:
            each.block_until_ready()
        return results


def noting(run: Callable[..., Any]) -> Callable[..., Any]:
    """``run``, of a program that may take long: its results are noted, and waits for them interruptible."""

    def call(*operands: Any) -> Any:
        results = run(*operands)
        note_long(results)
        return results

    return call


def _as_it_is(run: Callable[..., Any]) -> Callable[..., Any]:
    return run


def to_end(run: Callable[..., Any]) -> Callable[..., Any]:
    """``run``, followed by a wait for the program's printing and checks."""
    jax = jax_module()

    def wait(*operands: Any) -> Any:
        try:
            results = run(*operands)
            for each in results:
                computed(each)
            jax.effects_barrier()
        except Exception:  # of XLA, which a callback has ended
            raise_noted()
            raise
        raise_noted()
        return results

    return wait


class GraphProgram(NamedTuple):
    """A program of a graph, by which the compile cache knows it before it is lowered.

    Attributes:
        graph: its graph.
        hoisted: the constants that are operands.
        donated: the positions of inputs whose arrays it takes over.
    """

    graph: Graph
    hoisted: Sequence[Constant]
    donated: Sequence[int]


def ahead(
    function: Callable[..., Any],
    shapes: Sequence[Sequence[Any]],
    wide: bool,
    device: Any,
    program: GraphProgram | None,
    options: Mapping[str, str],
    placement: Placement | None = None,
) -> Callable[..., Any]:
    """Compile ``function(arrays, given, extra)`` for operands of these shapes.

    Args:
        function: gives a list of arrays.
        shapes: ``jax.ShapeDtypeStruct`` of the three groups of operands.
        wide: whether it holds 64-bit types.
        device: the jax device that it runs on; ``None``: jax's default.
        program: the same as a graph, if it may be kept on disk: not if it calls back into this process.
        options: what XLA's compiler is told (``backend.options``).
        placement: the devices that it is divided among, and the layouts of its results.
    """
    from mindgrad.backend import disk  # with it come modules that importing mindgrad need not wait for

    jax = jax_module()

    def lower() -> Any:
        results = (
            {} if placement is None else {"out_shardings": list(map(placement.sharding, placement.outputs))}
        )
        with only_young_garbage:
            return jax.jit(function, donate_argnums=(1,), **results).lower(*shapes)

    with jax.enable_x64(wide), jax.default_device(device or jax.config.jax_default_device):
        if program is not None:
            return disk.compiled(lower, program, options, device, placement)
        lowered = lower()
        return compiled_with(lowered, options)


@lru_cache(maxsize=1)
def array_type() -> type:
    """The type of jax's arrays, as programs give them."""
    jax = jax_module()
    return type(jax.device_put(0.0))


def copy_on_device(array: Any) -> Any:
    """A copy of a jax array, in its own element type whatever jax's settings."""
    jax = jax_module()
    with jax.enable_x64(True):
        return array.copy()
