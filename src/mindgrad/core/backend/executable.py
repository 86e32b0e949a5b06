"""Ahead-of-time compilation of a graph to an executable.

    executable.run(arrays, given, extra) = results on the device

- ``arrays`` are the ordinary operands.
- ``given`` are the donated operands. Results may reuse their memory, so they cannot be used after the call.
- ``extra`` are the hoisted constants: large constants that are passed as operands.

Calls do not depend on JAX settings, because the element types and the device are part of the executable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from mindgrad.core.backend.jax_import import jax_module, stopped_by_forks
from mindgrad.core.backend.options import compiled_with
from mindgrad.core.base.callback_errors import raise_noted
from mindgrad.core.base.collection import only_young_garbage
from mindgrad.core.base.waiting import computed, interruptible, note_long
from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.graph import Constant, Graph
from mindgrad.core.placement import Layout

__all__ = [
    "Executable", "GraphProgram", "ahead", "array_type", "copy_on_device", "noting", "to_end",
]  # fmt: skip


class Executable:
    """A compiled graph.

    Attributes:
        run: function ``run(arrays, given, extra)`` from JAX arrays to a list of JAX arrays.
        extra: hoisted constants of the graph, on the device.
        may_take_long: whether the graph has loops that may run very often.
        layouts: the JAX sharding of each input if the graph runs on several devices; ``None`` for one device.
        compiled: the compiled JAX function.
        takes_parts: whether operands may be pending parts of arrays that are distributed over processes
            (``process_mesh.PartOnRequest``).
    """

    __slots__ = ("__weakref__", "compiled", "extra", "layouts", "may_take_long", "run", "takes_parts")

    def __init__(
        self,
        run: Callable,
        extra: Sequence,
        calls_back: bool = False,
        may_take_long: bool = False,
        layouts: Sequence[object] | None = None,
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
        """Return whether a call may run so long that a user wants to interrupt it."""
        return type(self.run) is _LongRun and self.run.seconds > HOST.interrupted_seconds

    def run_uninterrupted(self, *operands: object) -> Any:
        """Call ``run`` without handling Ctrl-C.

        Callers that defer signals themselves use this method.
        """
        run = self.run
        return run.uninterrupted(*operands) if type(run) is _LongRun else run(*operands)


#: note that is added to the exception when Ctrl-C interrupts a compiled function
_STILL_RUNS = (
    "The compiled function continues in a background thread until it ends, because XLA cannot cancel it. If "
    "its loop never ends, it keeps a core busy until this process exits: limit the number of iterations in "
    "the condition of the loop."
)


class _LongRun:
    """Wrapper of a compiled function with loops, whose calls Ctrl-C can interrupt.

    XLA may run loop iterations in the calling thread, which then cannot handle Ctrl-C. Calls therefore run in
    a separate thread, unless the last few calls were short.

    In JAX, the next call of a compiled function waits until the previous call has returned. An interrupted
    call may never return. The call after an interrupted call therefore uses a copy of the function, which
    shares the machine code.

    Attributes:
        seconds: duration of the last call, as an estimate for the next call; infinite before the first call
            and after an interrupted call.
    """

    __slots__ = ("_finished", "_quick_calls", "_run", "_uncalled", "seconds")

    def __init__(self, run: Callable, finished: Callable[[Callable], Callable]) -> None:
        self._uncalled, self._finished = run, finished
        self._run = finished(copy(run))
        self._quick_calls = 0
        self.seconds = math.inf

    def __call__(self, *operands: object) -> Any:
        if self._quick_calls >= HOST.quick_calls:
            return self._timed(self._run, *operands)
        return self._timed(partial(interruptible, note=_STILL_RUNS), self._to_end, *operands)

    def uninterrupted(self, *operands: object) -> Any:
        """Call the compiled function in this thread. Signals are handled after the call."""
        return self._timed(self._to_end, *operands)

    def _timed(self, run: Callable, *operands: object) -> Any:
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

    def _to_end(self, *operands: object) -> Any:
        results = self._run(*operands)
        for each in results:
            each.block_until_ready()
        return results


def noting(run: Callable) -> Callable[..., Any]:
    """Wrap ``run`` so that Ctrl-C can interrupt a later wait for its results."""

    def call(*operands: object) -> Any:
        results = run(*operands)
        note_long(results)
        return results

    return call


def _as_it_is(run: Callable) -> Callable[..., Any]:
    return run


def to_end(run: Callable) -> Callable[..., Any]:
    """Wrap ``run`` so that a call returns only after all its callbacks have finished."""
    jax = jax_module()

    def wait(*operands: object) -> Any:
        try:
            results = run(*operands)
            for each in results:
                computed(each)
            jax.effects_barrier()
        except Exception:  # here, XLA reports errors of callbacks
            raise_noted()
            raise
        raise_noted()
        return results

    return wait


class GraphProgram(NamedTuple):
    """A graph, its hoisted constants, and its donated inputs.

    From these fields, the compile cache computes the key of the compiled function without lowering the graph.

    Attributes:
        graph: the graph.
        hoisted: constants that are operands of the compiled function.
        donated: positions of donated inputs.
    """

    graph: Graph
    hoisted: Sequence[Constant]
    donated: Sequence[int]


def ahead(
    function: Callable[..., object],
    shapes: Sequence[Sequence[object]],
    wide: bool,
    device: object,
    program: GraphProgram | None,
    options: Mapping[str, str],
    placement: Layout | None = None,
) -> Callable[..., Any]:
    """Compile ``function(arrays, given, extra)`` for operands of the given ``shapes``.

    Args:
        function: function of the three groups of operands (see the module docstring) that returns a list of
            arrays.
        shapes: ``jax.ShapeDtypeStruct`` of each operand, in the groups ``(arrays, given, extra)``.
        wide: whether the graph has 64-bit values, so that JAX needs ``enable_x64``.
        device: the JAX device; ``None`` for the default device of JAX.
        program: the graph of the same computation if the executable may be stored on disk; otherwise
            ``None``.
        options: options for the compiler of XLA (``backend.options``).
        placement: devices and layouts of results of a sharded computation; ``None`` for one device.
    """
    from mindgrad.core.backend import disk  # imported late, because it would slow down `import mindgrad`

    jax = jax_module()

    def lower() -> Any:
        results = {} if placement is None else {"out_shardings": placement.output_shardings()}
        with only_young_garbage:
            return jax.jit(function, donate_argnums=(1,), **results).lower(*shapes)

    with jax.enable_x64(wide), jax.default_device(device or jax.config.jax_default_device):
        if program is not None:
            return disk.compiled(lower, program, options, device, placement)
        lowered = lower()
        return compiled_with(lowered, options)


def array_type() -> type:
    """Return the type of the JAX arrays that compiled functions return."""
    jax = jax_module()
    return type(jax.device_put(0.0))


def copy_on_device(array: Any) -> Any:
    """Return a copy of a JAX array with the same element type, for all JAX settings."""
    jax = jax_module()
    with jax.enable_x64(True):
        return array.copy()
