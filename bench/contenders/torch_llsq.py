"""GradBench's linear least squares in PyTorch."""

from __future__ import annotations

from functools import partial

import llsq_problems as problems
import torch
from job import Job
from torch_results import gradient, job


def value(x: torch.Tensor, points: int) -> torch.Tensor:
    t = -1.0 + torch.arange(points, dtype=torch.float64) * 2.0 / (points - 1.0)
    factors = t[:, None].repeat(1, len(x))
    factors[:, 0] = 1.0
    powers = torch.cumprod(factors, 1)
    return 0.5 * ((torch.sign(t) - powers @ x) ** 2).sum()


FUNCTIONS = {"value": value, "gradient": gradient(value)}


def llsq(what: str, variant: str, points: int) -> Job:
    x = torch.tensor(problems.llsq(), requires_grad=what == "gradient")
    return job(FUNCTIONS[what], x, points)


TASKS = {f"gradbench-llsq-{what}": partial(llsq, what) for what in FUNCTIONS}
