"""mindgrad: the programs of a MindSpore user unchanged, and two figures MindSpore has not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import problems
import start
from job import Job

import mindgrad
from mindgrad import ops
from mindgrad.tools import profile

mindgrad.install()
if os.environ.get("BENCH_DEVICE") == "gpu":
    mindgrad.set_context(device_target="GPU")

import mindgrad_ba  # noqa: E402
import mindgrad_descent  # noqa: E402
import mindgrad_det  # noqa: E402
import mindgrad_first  # noqa: E402
import mindgrad_ht  # noqa: E402
import mindgrad_kmeans  # noqa: E402
import mindgrad_llsq  # noqa: E402
import mindgrad_lse  # noqa: E402
import mindgrad_lstm  # noqa: E402
import mindgrad_ode  # noqa: E402
import mindgrad_operators  # noqa: E402
import mindgrad_rows  # noqa: E402
import mindgrad_scale  # noqa: E402
import mindgrad_size  # noqa: E402
import mindgrad_sparse  # noqa: E402
import mindspore_control  # noqa: E402  (their `import mindspore` must mean mindgrad)
import mindspore_programs  # noqa: E402
import mindspore_results  # noqa: E402

COMPILATIONS = 3


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    installed = {"numpy": np.__version__}
    for name in ("mindgrad", "jax", "jaxlib"):  # mindgrad.__version__ may be that of MindSpore: see cli.py
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed


def profiled(function: Callable[..., object], *arguments: object, lower: bool = False) -> profile.Profile:
    """Equations and seconds of making a program, before XLA sees it.

    The one place that knows how mindgrad reports this.
    """
    return profile.measure(function, *arguments, lower=lower)


def temporary(function: Callable[..., object], *arguments: object) -> float:
    """Bytes that a compiled call needs besides its arguments and results, as XLA plans it."""
    return float(profile.measure(function, *arguments, compile=True).temporary_bytes)


def build(program: Callable[[], tuple], lower: bool = True) -> Job:
    """Making a program before XLA, of a new function each time."""

    def make() -> dict[str, float]:
        found = profiled(*program(), lower=lower)
        phases = {"trace and transform": found.build_seconds}
        return phases | ({"lower": found.lower_seconds} if lower else {})

    def facts() -> dict[str, float]:
        return {"equations": profiled(*program()).equations}

    return Job(make, mindspore_results.wait_for_all, None, timed_by_itself=True, facts=facts)


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
    job.facts = lambda: {"equations": profiled(*job.program).equations}
    return job


def loop(task: str, variant: str, iterations: int) -> Job:
    job = mindspore_programs.prepare(task, variant, iterations=iterations)
    job.facts = lambda: {"temporary": temporary(*job.program)}
    return job


class ImplicitKepler(mindspore_control.Kepler):
    """The same anomaly, found by the same steps, as the root that it is: no step is differentiated."""

    def construct(self, mean, eccentricity, damping):
        def residual(anomaly):
            return anomaly - eccentricity * ops.sin(anomaly) - mean

        def solve(f, anomaly):
            residual = f(anomaly)
            while ops.abs(residual).max() > problems.NEWTON_TOLERANCE:
                anomaly = anomaly - damping * residual / (1.0 - eccentricity * ops.cos(anomaly))
                residual = f(anomaly)
            return anomaly

        return ops.square(mindgrad.custom_root(residual, mean, solve)).mean()


def newton(variant: str, iterations: int | None = None) -> Job:
    if variant == "implicit":
        mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
        _, *arguments = mindspore_control.newton_program(iterations)
        task = mindspore_results.job("graph", mindgrad.value_and_grad(ImplicitKepler(), (0, 1)), *arguments)
    else:
        task = mindspore_programs.prepare("newton", variant, iterations=iterations)
    task.facts = lambda: {"temporary": temporary(*task.program)}
    return task


def rnn(variant: str, steps: int) -> Job:
    job = mindspore_programs.prepare("rnn", variant, steps=steps)

    def compile_seconds() -> float:
        # new Cells each time, so that nothing that was made for others is used again
        found = profile.measure(*mindspore_control.rnn_program(steps), compile=True)
        return found.build_seconds + found.lower_seconds + found.compile_seconds

    def facts() -> dict[str, float]:
        return {
            "temporary": temporary(*mindspore_control.rnn_program(steps)),
            "compile": min(compile_seconds() for _ in range(COMPILATIONS)),
        }

    job.facts = facts
    return job


def trace_of_a_thousand(variant: str) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    return build(mindspore_control.thousand_program, lower=variant.endswith("lower"))


TASKS = {
    **mindgrad_sparse.TASKS,
    **mindgrad_operators.TASKS,
    **mindgrad_rows.TASKS,
    **mindgrad_descent.TASKS,
    **mindgrad_kmeans.TASKS,
    **mindgrad_llsq.TASKS,
    **mindgrad_lse.TASKS,
    **mindgrad_ba.TASKS,
    **mindgrad_det.TASKS,
    **mindgrad_ht.TASKS,
    **mindgrad_lstm.TASKS,
    **mindgrad_ode.TASKS,
    **mindgrad_first.TASKS,
    **mindgrad_scale.TASKS,
    **start.tasks("mindgrad"),
    **mindgrad_size.TASKS,
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
    if task.endswith("-build"):
        mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
        return build(lambda: prepare(task.removesuffix("-build"), variant, **options).program)
    return mindspore_programs.prepare(task, variant, **options)


__all__ = ["prepare", "versions"]
