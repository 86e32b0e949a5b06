"""``profile`` measures the size of a function's program, and the time to trace, lower and compile it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from mindgrad.api.arguments import check_callable
from mindgrad.backend.device_mesh import Placement
from mindgrad.backend.options import compiled_with, options_of
from mindgrad.backend.xla import compile_ahead, lower_ahead
from mindgrad.execution.compiled import trace
from mindgrad.ir.graph import Graph, communicates
from mindgrad.tools.collectives import totals

__all__ = ["Compilation", "Profile", "compilation", "measure"]


@dataclass(frozen=True)
class Profile:
    """The result of :func:`measure`.

    Attributes:
        equations: the number of equations of the program, after simplification.
        counts: how often each operator occurs.
        build_seconds: from Python to the finished graph, derivatives included.
        lower_seconds: from the graph to XLA's language; ``None`` if it was not asked for.
        compile_seconds: from there to machine code; ``None`` if it was not asked for.
        temporary_bytes: the memory that a call needs besides its arguments and results, as XLA plans it;
            ``None`` if it was not asked for.
    """

    equations: int
    counts: dict[str, int]
    build_seconds: float
    lower_seconds: float | None = None
    compile_seconds: float | None = None
    temporary_bytes: int | None = None


class Compilation(NamedTuple):
    """The compilation of a program by XLA, with what XLA says of it.

    Attributes:
        seconds: from the graph to machine code.
        temporary_bytes: the memory that a call needs besides its arguments and results.
        flops, bytes: arithmetic operations, and bytes read and written; ``None`` where XLA does not count.
        collectives: for each kind of collective how often one run has it, and the bytes on each device
            (``tools.collectives``).
    """

    seconds: float
    temporary_bytes: int
    flops: float | None
    bytes: float | None
    collectives: dict[str, tuple[int, int]]


def compilation(graph: Graph, placement: Placement | None = None) -> Compilation:
    """The compilation of ``graph``, for types like those of its inputs; nothing is run.

    Args:
        graph (Graph): the program.
        placement (Placement, optional): the devices that it is divided among; ``None``: one device, of each
            process. Default: ``None``.
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
    """Build the program of ``function`` at the types of ``args`` and say how large it is.

    Args:
        function (Callable): a function, Cell, or gradient function of tensors.
        *args (Any): what it would be called with.
        lower (bool, optional): whether to hand the program to XLA too, to measure it. Default: ``False``.
        compile (bool, optional): whether XLA is to compile it, likewise. Nothing is kept or run.
            Default: ``False``.

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
