"""mindgrad: the programs of a MindSpore user unchanged, and two figures MindSpore has not."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import problems
from job import Job

import mindgrad
from mindgrad import ops
from mindgrad.tools import profile

mindgrad.install()

import mindgrad_operators  # noqa: E402
import mindgrad_sparse  # noqa: E402
import mindspore_control  # noqa: E402  (their `import mindspore` must mean mindgrad)
import mindspore_programs  # noqa: E402
from mindspore_results import wait_for_all  # noqa: E402

COMPILATIONS = 3


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    found = {"mindgrad": mindgrad.__version__, "numpy": np.__version__}
    for name in ("jax", "jaxlib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def profiled(function: Callable[..., object], *arguments: object, lower: bool = False) -> profile.Profile:
    """Equations and seconds of making a program, before XLA sees it.

    The one place that knows how mindgrad reports this.
    """
    return profile.measure(function, *arguments, lower=lower)


def temporary(function: Callable[..., object], *arguments: object) -> float:
    """Bytes that a compiled call needs besides its arguments and results, as XLA plans it."""
    return float(profile.measure(function, *arguments, compile=True).temporary_bytes)


def t3_build(variant: str) -> Job:
    style = variant.split()[-1]
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)

    def build() -> dict[str, float]:
        found = profiled(*mindspore_programs.burgers(style), lower=True)
        return {"trace and transform": found.build_seconds, "lower": found.lower_seconds}

    def facts() -> dict[str, float]:
        return {"equations": profiled(*mindspore_programs.burgers(style)).equations}

    return Job(build, wait_for_all, None, timed_by_itself=True, facts=facts)


def first_result(variant: str, order: int) -> Job:
    """A derivative of high order from its source to its value: how long that takes is a fact."""
    job = mindspore_programs.prepare("nested", variant, order=order)
    again, seconds = job.call, []

    def call() -> object:
        begin = time.perf_counter()
        result = again()
        job.finish(result)
        seconds.append(time.perf_counter() - begin)
        return result

    job.call, job.facts = call, lambda: {"first": seconds[0]}
    return job


def nested(variant: str, order: int) -> Job:
    job = mindspore_programs.prepare("nested", variant, order=order)
    program = mindspore_programs.nested_derivative(order)
    job.facts = lambda: {"equations": profiled(*program).equations}
    return job


def loop(task: str, variant: str, trips: int) -> Job:
    job = mindspore_programs.prepare(task, variant, trips=trips)
    function, arguments = mindspore_control.loop_program(task, variant.split()[-1], trips)
    job.facts = lambda: {"temporary": temporary(function, *arguments)}
    return job


class ImplicitKepler(mindspore_control.Kepler):
    """The same anomaly, found by the same steps, as the root that it is: no step is differentiated."""

    def construct(self, mean, eccentricity, damping):
        def residual(anomaly):
            return anomaly - eccentricity * ops.sin(anomaly) - mean

        def solve(f, anomaly):
            rest = f(anomaly)
            while ops.abs(rest).max() > problems.NEWTON_TOLERANCE:
                anomaly = anomaly - damping * rest / (1.0 - eccentricity * ops.cos(anomaly))
                rest = f(anomaly)
            return anomaly

        return ops.square(mindgrad.custom_root(residual, mean, solve)).mean()


def newton(variant: str, trips: int | None = None) -> Job:
    function, arguments = mindspore_control.newton_program(trips)
    if variant == "implicit":
        mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
        function = mindgrad.value_and_grad(ImplicitKepler(), (0, 1))
        job = mindspore_control.job((function, arguments), variant="graph")
    else:
        job = mindspore_programs.prepare("newton", variant, trips=trips)
    job.facts = lambda: {"temporary": temporary(function, *arguments)}
    return job


def rnn(variant: str, steps: int) -> Job:
    job = mindspore_programs.prepare("rnn", variant, steps=steps)

    def compile_seconds() -> float:
        # new Cells each time, so that nothing that was made for others is used again
        function, arguments = mindspore_control.rnn_program(steps)
        found = profile.measure(function, *arguments, compile=True)
        return found.build_seconds + found.lower_seconds + found.compile_seconds

    def facts() -> dict[str, float]:
        function, arguments = mindspore_control.rnn_program(steps)
        return {
            "temporary": temporary(function, *arguments),
            "compile": min(compile_seconds() for _ in range(COMPILATIONS)),
        }

    job.facts = facts
    return job


def trace_of_a_thousand(variant: str) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    lower = variant.endswith("lower")

    def build() -> dict[str, float]:
        function, arguments = mindspore_control.thousand_program()
        found = profiled(function, *arguments, lower=lower)
        return {"trace": found.build_seconds} | ({"lower": found.lower_seconds} if lower else {})

    def facts() -> dict[str, float]:
        function, arguments = mindspore_control.thousand_program()
        return {"equations": profiled(function, *arguments).equations}

    return Job(build, wait_for_all, None, timed_by_itself=True, facts=facts)


TASKS = {
    **mindgrad_sparse.TASKS,
    **mindgrad_operators.TASKS,
    "t3-build": t3_build,
    "nested": nested,
    "first-result": first_result,
    **{task: partial(loop, task) for task in mindspore_control.FLOWS},
    "newton": newton,
    "newton-memory": newton,
    "rnn": rnn,
    "trace": trace_of_a_thousand,
}


def prepare(task: str, variant: str, **options: int) -> Job:
    """The job of one task, or Unavailable."""
    if task in TASKS:
        return TASKS[task](variant, **options)
    return mindspore_programs.prepare(task, variant, **options)


__all__ = ["prepare", "versions"]
