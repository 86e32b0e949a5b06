"""GradBench's linear least squares with mindgrad."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import llsq_problems as problems
from job import Job
from mindspore_results import job

import mindgrad
from mindgrad import Tensor, ops


def value(points: int) -> Callable[[Tensor], Tensor]:
    """The function of the coefficients at so many points."""

    def function(x: Tensor) -> Tensor:
        t = -1.0 + ops.arange(points).astype(mindgrad.float64) * 2.0 / (points - 1.0)
        factors = ops.tile(t[:, None], (1, len(x)))
        factors[:, 0] = 1.0
        powers = ops.cumprod(factors, 1)
        return 0.5 * ((ops.sign(t) - ops.matmul(powers, x)) ** 2).sum()

    return function


FUNCTIONS = {"value": value, "gradient": lambda points: mindgrad.grad(value(points))}


def llsq(what: str, variant: str, points: int) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    return job(variant, mindgrad.jit(FUNCTIONS[what](points)), Tensor(problems.llsq()))


TASKS = {f"gradbench-llsq-{what}": partial(llsq, what) for what in FUNCTIONS}
