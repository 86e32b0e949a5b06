"""GradBench's Runge-Kutta steps with mindgrad."""

from __future__ import annotations

from functools import partial

import ode_problems as problems
from job import Job
from mindspore_results import job

import mindgrad
from mindgrad import Tensor, ops


def chain(x: Tensor, y: Tensor) -> Tensor:
    return ops.concat([x[:1], x[1:] * y[:-1]])


def runge_kutta(x: Tensor, steps: int) -> Tensor:
    h = problems.END / steps
    y = ops.zeros_like(x)
    for _ in range(steps):
        k1 = chain(x, y)
        k2 = chain(x, y + h / 2 * k1)
        k3 = chain(x, y + h / 2 * k2)
        k4 = chain(x, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


FUNCTIONS = {
    "value": lambda steps: mindgrad.jit(lambda x: runge_kutta(x, steps)),
    "gradient": lambda steps: mindgrad.grad(lambda x: runge_kutta(x, steps)[-1]),
}


def ode(what: str, steps: int, variant: str, numbers: int) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    return job(variant, FUNCTIONS[what](steps), Tensor(problems.ode(numbers)))


TASKS = {
    f"gradbench-ode-{what}-{steps}": partial(ode, what, steps)
    for what in FUNCTIONS
    for steps in problems.STEPS
}
