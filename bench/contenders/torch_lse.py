"""GradBench's log-sum-exp in PyTorch."""

from __future__ import annotations

from functools import partial

import lse_problems as problems
import torch
from job import Job
from torch_results import gradient, job


def value(x: torch.Tensor) -> torch.Tensor:
    greatest = x.max()
    return greatest + torch.log(torch.exp(x - greatest).sum())


FUNCTIONS = {"value": value, "gradient": gradient(value)}


def lse(what: str, variant: str, numbers: int) -> Job:
    x = torch.tensor(problems.lse(numbers), requires_grad=what == "gradient")
    return job(FUNCTIONS[what], x)


TASKS = {f"gradbench-lse-{what}": partial(lse, what) for what in FUNCTIONS}
