"""mindgrad: the programs of a MindSpore user unchanged, and two figures MindSpore has not."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from job import Job

import mindgrad
from mindgrad.tools import profile

mindgrad.install()

import mindspore_programs  # noqa: E402  (its `import mindspore` must mean mindgrad)


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


def t3_build(variant: str) -> Job:
    style = variant.split()[-1]
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)

    def build() -> dict[str, float]:
        found = profiled(*mindspore_programs.burgers(style), lower=True)
        return {"trace and transform": found.build_seconds, "lower": found.lower_seconds}

    def facts() -> dict[str, float]:
        return {"equations": profiled(*mindspore_programs.burgers(style)).equations}

    return Job(build, mindspore_programs.wait_for_all, None, timed_by_itself=True, facts=facts)


def nested(variant: str, order: int) -> Job:
    job = mindspore_programs.prepare("nested", variant, order=order)
    program = mindspore_programs.nested_derivative(order)
    job.facts = lambda: {"equations": profiled(*program).equations}
    return job


TASKS = {"t3-build": t3_build, "nested": nested}


def prepare(task: str, variant: str, **options: int) -> Job:
    """The job of one task, or Unavailable."""
    if task in TASKS:
        return TASKS[task](variant, **options)
    return mindspore_programs.prepare(task, variant, **options)


__all__ = ["prepare", "versions"]
