"""How large the program of a function is, and how long each step to it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mindgrad.backend.xla import compile_ahead
from mindgrad.functional.compiled import trace

__all__ = ["Profile", "measure"]


@dataclass(frozen=True)
class Profile:
    """What :func:`measure` found.

    Attributes:
        equations: the number of equations of the program, after simplification.
        counts: how often each operator occurs.
        build_seconds: from Python to the finished graph, derivatives included.
        compile_seconds: from the graph to machine code; ``None`` if it was not asked for.
    """

    equations: int
    counts: dict[str, int]
    build_seconds: float
    compile_seconds: float | None = None


def measure(function: Callable[..., Any], *args: Any, compile: bool = False) -> Profile:
    """Build the program of ``function`` at the types of ``args`` and say how large it is.

    Args:
        function: a function, Cell, or gradient function of tensors.
        *args: what it would be called with.
        compile: whether XLA compiles the program too, to measure it. Nothing is kept or run.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> from mindgrad.tools import profile
    >>> found = profile.measure(ops.grad(lambda x: ops.sin(x)), ms.Tensor([1.0]))
    >>> found.equations, found.counts
    (1, {'cos': 1})
    """
    start = time.perf_counter()
    graph = trace(function, *args)
    built = time.perf_counter() - start
    seconds = None
    if compile:
        start = time.perf_counter()
        compile_ahead(graph)
        seconds = time.perf_counter() - start
    return Profile(len(graph), graph.count(), built, seconds)
