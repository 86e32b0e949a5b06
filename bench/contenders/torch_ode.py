"""GradBench's Runge-Kutta steps in PyTorch."""

from __future__ import annotations

from functools import partial

import ode_problems as problems
import torch
from job import Job
from torch_results import gradient, job


def chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.cat([x[:1], x[1:] * y[:-1]])


def runge_kutta(x: torch.Tensor, steps: int) -> torch.Tensor:
    h = problems.END / steps
    y = torch.zeros_like(x)
    for _ in range(steps):
        k1 = chain(x, y)
        k2 = chain(x, y + h / 2 * k1)
        k3 = chain(x, y + h / 2 * k2)
        k4 = chain(x, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


FUNCTIONS = {"value": runge_kutta, "gradient": gradient(lambda x, steps: runge_kutta(x, steps)[-1])}


def ode(what: str, steps: int, variant: str, numbers: int) -> Job:
    x = torch.tensor(problems.ode(numbers), requires_grad=what == "gradient")
    return job(FUNCTIONS[what], x, steps)


TASKS = {
    f"gradbench-ode-{what}-{steps}": partial(ode, what, steps)
    for what in FUNCTIONS
    for steps in problems.STEPS
}
