"""Size of a traced program, and the time to trace, lower and compile it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from mindgrad.api.arguments import check_callable
from mindgrad.core.backend.options import compiled_with, options_of
from mindgrad.core.backend.xla import compile_ahead, lower_ahead
from mindgrad.core.ir.graph import Graph, communicates
from mindgrad.distributed.device_mesh import Placement
from mindgrad.frontend.programs.compiled import trace
from mindgrad.inspect.collectives import totals

__all__ = ["Compilation", "Profile", "compilation", "measure"]


@dataclass(frozen=True)
class Profile:
    """The result of :func:`measure`.

    Attributes:
        equations: number of equations of the program after simplification.
        counts: maps names of operators to their numbers of equations.
        build_seconds: time to trace the function, including its derivatives.
        lower_seconds: time to lower the graph to XLA's input language; ``None`` if not measured.
        compile_seconds: time that XLA needs to compile the lowered program; ``None`` if not measured.
        temporary_bytes: memory that XLA plans for a call besides arguments and results; ``None`` if not
            measured.
    """

    equations: int
    counts: dict[str, int]
    build_seconds: float
    lower_seconds: float | None = None
    compile_seconds: float | None = None
    temporary_bytes: int | None = None


class Compilation(NamedTuple):
    """The compilation of a program by XLA, and XLA's analysis of it.

    Attributes:
        seconds: time to lower and compile the graph.
        temporary_bytes: bytes of memory that a call needs besides its arguments and results.
        flops, bytes: arithmetic operations, and bytes read and written; ``None`` if XLA does not count them.
        collectives: for each kind of collective, its number in one run and its bytes on each device, counted
            by ``inspect.collectives``.
    """

    seconds: float
    temporary_bytes: int
    flops: float | None
    bytes: float | None
    collectives: dict[str, tuple[int, int]]


def compilation(graph: Graph, placement: Placement | None = None) -> Compilation:
    """Compile ``graph`` without running it, and measure the compilation.

    Args:
        graph (Graph): program to compile.
        placement (Placement, optional): the devices among which the program is divided. ``None``: one device
            of each process. Default: ``None``.
    """
    start = time.perf_counter()
    is_joint = placement is not None or communicates(graph)
    compiled: Any
    if is_joint:
        compiled = compile_ahead(graph, placement=placement).compiled
    else:
        compiled = compiled_with(lower_ahead(graph), options_of(graph, None))
    seconds = time.perf_counter() - start
    analysis = compiled.cost_analysis() or {}
    return Compilation(
        seconds,
        int(compiled.memory_analysis().temp_size_in_bytes),
        analysis.get("flops"),
        analysis.get("bytes accessed"),
        totals(compiled.as_text()) if is_joint else {},
    )


def measure(function: Callable[..., Any], *args: Any, lower: bool = False, compile: bool = False) -> Profile:
    """Trace ``function``, and measure the size of its program.

    Args:
        function (Callable): function to measure: a function, Cell, or gradient function of tensors.
        *args (Any): arguments of ``function``. The program depends on their types only.
        lower (bool, optional): whether to also lower the program for XLA, and measure the time.
            Default: ``False``.
        compile (bool, optional): whether to also lower and compile the program, and measure the times. The
            compiled program is neither stored nor run. Default: ``False``.

    Returns:
        Profile: sizes of the program, and the measured times.

    Raises:
        TypeError: If ``function`` is not a function or Cell.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> from mindgrad.tools import profile
    >>> found = profile.measure(ops.grad(lambda x: ops.sin(x)), ms.Tensor([1.0]))
    >>> found.equations, found.counts
    (1, {'cos': 1})
    """
    check_callable("measure", function)
    start = time.perf_counter()
    graph = trace(function, *args)
    built = time.perf_counter() - start
    profile = Profile(len(graph), graph.count(), built)
    if lower or compile:
        start = time.perf_counter()
        lowered = lower_ahead(graph)
        profile = replace(profile, lower_seconds=time.perf_counter() - start)
    if compile:
        start = time.perf_counter()
        compiled = compiled_with(lowered, options_of(graph, None))
        profile = replace(profile, compile_seconds=time.perf_counter() - start)
        profile = replace(profile, temporary_bytes=int(compiled.memory_analysis().temp_size_in_bytes))
    return profile
