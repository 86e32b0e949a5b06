"""GradBench's log-sum-exp with mindgrad."""

from __future__ import annotations

from functools import partial

import lse_problems as problems
from job import Job
from mindspore_results import job

import mindgrad
from mindgrad import Tensor, ops


def value(x: Tensor) -> Tensor:
    greatest = x.max()
    return greatest + ops.log(ops.exp(x - greatest).sum())


FUNCTIONS = {"value": value, "gradient": mindgrad.grad(value)}


def lse(what: str, variant: str, numbers: int) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    return job(variant, mindgrad.jit(FUNCTIONS[what]), Tensor(problems.lse(numbers)))


TASKS = {f"gradbench-lse-{what}": partial(lse, what) for what in FUNCTIONS}
