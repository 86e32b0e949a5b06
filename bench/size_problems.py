"""Programs of a size: straight-line ones of so many equations, and derivatives of arrays of so many bytes.

size-chain       One elementwise operator behind the other.
size-sum         A sum of many different terms.
size-fan-out     One value that many terms use.
size-elements    x[0] * x[1] + x[1] * x[2] + …, element by element.
size-layers      A perceptron of many layers, each with weights of its own.
size-parameters  A sum over many small arrays, the gradient in all of them.
size-branches    Many small branches that the data decide.

``Library`` is what they are written with. Their loops run over lists, so that both sides unroll them. Seconds
are those of the processor, in which other programs on the machine count little.

size-memory-…    The peak of the resident memory from an array of NumPy to the derivative, per size of it.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from job import Job, Unavailable

#: phases that take fewer are measured twice
REPEATED_SECONDS = 60.0
MEMORY = ("product", "reduce", "matmul", "assign", "train")


class Library(NamedTuple):
    """The operators of a program, by library."""

    sin: Callable[..., Any]
    tanh: Callable[..., Any]
    matmul: Callable[..., Any]
    branch: Callable[..., Any]


def chain(n: int, to: Library) -> tuple[Callable[..., Any], list[Any]]:
    def f(x: Any) -> Any:
        for _ in [None] * (n // 2):
            x = to.sin(x) * 1.01
        return x.sum()

    return f, [np.linspace(-1, 1, 4, dtype=np.float32)]


def wide_sum(n: int, to: Library) -> tuple[Callable[..., Any], list[Any]]:
    def f(x: Any) -> Any:
        total = x * 0.5
        for k in list(range(n // 3)):
            total = total + to.sin(x * (1.0 + k / n))
        return total.sum()

    return f, [np.linspace(-1, 1, 4, dtype=np.float32)]


def fan_out(n: int, to: Library) -> tuple[Callable[..., Any], list[Any]]:
    def f(x: Any) -> Any:
        y = to.sin(x)
        total = y
        for k in list(range(n // 2)):
            total = total * y + k / n
        return total.sum()

    return f, [np.linspace(-1, 1, 4, dtype=np.float32)]


def elements(n: int, to: Library) -> tuple[Callable[..., Any], list[Any]]:
    count = n // 4

    def f(x: Any) -> Any:
        total = x[0]
        for i in list(range(1, count)):
            total = total + x[i] * x[i - 1]
        return total

    return f, [np.linspace(-1, 1, count, dtype=np.float32)]


def layers(n: int, to: Library) -> tuple[Callable[..., Any], list[Any]]:
    generator = np.random.default_rng(0)
    weights = [generator.normal(0, 0.5, (4, 4)).astype(np.float32) for _ in range(n // 4)]
    biases = [generator.normal(0, 0.1, 4).astype(np.float32) for _ in range(n // 4)]

    def f(x: Any, weights: list[Any], biases: list[Any]) -> Any:
        for weight, bias in zip(weights, biases, strict=True):
            x = to.tanh(to.matmul(x, weight) + bias)
        return x.sum()

    return f, [generator.normal(0, 1, (2, 4)).astype(np.float32), weights, biases]


def parameters(n: int, to: Library) -> tuple[Callable[..., Any], list[Any]]:
    def f(x: Any, arrays: list[Any]) -> Any:
        total = x.sum()
        for array in arrays:
            total = total + to.sin(array).sum()
        return total

    return f, [np.ones(3, np.float32), [np.full(3, k / n, np.float32) for k in range(n // 3)]]


def branches(n: int, to: Library) -> tuple[Callable[..., Any], list[Any]]:
    def f(x: Any) -> Any:
        for _ in [None] * (n // 5):
            x = to.branch(x)
        return x.sum()

    return f, [np.linspace(-1, 1, 4, dtype=np.float32)]


PROGRAMS = {
    "chain": chain,
    "sum": wide_sum,
    "fan-out": fan_out,
    "elements": elements,
    "layers": layers,
    "parameters": parameters,
    "branches": branches,
}


def growing(phases_of: Callable[[int], dict[str, Callable[[], Any]]], equations: int) -> Job:
    """A job that makes programs and does not run them: the seconds of each phase, and how they grow.

    Args:
        phases_of: the phases for a number of equations, each on its own.
        equations: that number. Half of it is done before; the slope is that between both, of logarithms.
            Where both take less than a minute they are done once more, and the fewest seconds count.
    """
    seconds: list[dict[str, float]] = []

    def measured(count: int) -> dict[str, float]:
        taken = {}
        for name, phase in phases_of(count).items():
            gc.collect()
            begin = time.process_time()
            phase()
            taken[name] = time.process_time() - begin
        return taken

    def call() -> dict[str, float]:
        if not seconds:
            measured(100)  # what happens once in a process
            seconds.extend([measured(equations // 2), measured(equations)])
            if sum(taken for phases in seconds for taken in phases.values()) < REPEATED_SECONDS:
                for phases, count in zip(seconds, (equations // 2, equations), strict=True):
                    again = measured(count)
                    phases.update({name: min(taken, again[name]) for name, taken in phases.items()})
        return seconds[1]

    def facts() -> dict[str, float]:
        half, whole = seconds
        slopes = {name: math.log2(whole[name] / half[name]) for name in whole}
        return {"slope": max(slopes.values()), "equation": sum(whole.values()) / equations}

    return Job(call, lambda result: None, None, timed_by_itself=True, facts=facts)


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) << 10
    raise Unavailable("this system does not tell the memory of a process")


def memory_peak(run: Callable[[np.ndarray], Any], shape: Sequence[int]) -> Job:
    """A job that runs once on an array of ones: how far the resident memory rises meanwhile.

    Args:
        run: takes the array of NumPy to the result, and waits for it.
        shape: the shape of the array.
    """
    peaks: list[float] = []
    seconds: list[float] = []

    def call() -> dict[str, float]:
        if not peaks:
            run(np.ones([min(n, 8) for n in shape], np.float32))
            array = np.ones(shape, np.float32)
            gc.collect()
            Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
            before = _status("VmRSS")
            begin = time.perf_counter()
            run(array)
            peaks.append((_status("VmHWM") - before) / array.nbytes)
            seconds.append(time.perf_counter() - begin)
        return {"first call": seconds[0]}

    return Job(call, lambda result: None, None, timed_by_itself=True, facts=lambda: {"arrays": peaks[0]})


def shape_of(name: str, megabytes: int) -> tuple[int, ...]:
    """The shape of an array of float32 of so many bytes, square for a product of matrices."""
    size = megabytes << 18
    return (math.isqrt(size),) * 2 if name == "matmul" else (size,)
