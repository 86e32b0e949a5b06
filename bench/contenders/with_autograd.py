"""autograd: a tape over NumPy, the smallest of the eager systems."""

from __future__ import annotations

from importlib.metadata import version

import autograd
import autograd.numpy as anp
import problems
from job import Job, Unavailable


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"autograd": version("autograd")}


def wait(result: object) -> None:
    """Nothing to wait for."""


def prepare(task: str, variant: str) -> Job:
    """T1, the only task that is about the cost of one operator."""
    if task != "t1":
        raise Unavailable(f"no {task} with autograd")
    gradient = autograd.grad(lambda x: anp.sum(anp.sin(x) * x**2))
    x = problems.t1()
    return Job(lambda: gradient(x), wait, lambda result: [result])
