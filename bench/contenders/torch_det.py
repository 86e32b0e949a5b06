"""GradBench's determinant by minors in PyTorch."""

from __future__ import annotations

from functools import partial

import det_problems as problems
import torch
from job import Job
from torch_results import gradient, job


def minor(matrix: torch.Tensor, row: int, columns: tuple[int, ...]) -> torch.Tensor:
    if len(columns) == 1:
        return matrix[row, columns[0]]
    total = torch.zeros((), dtype=matrix.dtype)
    for j, column in enumerate(columns):
        product = matrix[row, column] * minor(matrix, row + 1, columns[:j] + columns[j + 1 :])
        total = total + product if j % 2 == 0 else total - product
    return total


def determinant(matrix: torch.Tensor) -> torch.Tensor:
    return minor(matrix, 0, tuple(range(len(matrix))))


FUNCTIONS = {"value": determinant, "gradient": gradient(determinant)}


def det(what: str, variant: str, rows: int) -> Job:
    return job(FUNCTIONS[what], torch.tensor(problems.det(rows), requires_grad=what == "gradient"))


TASKS = {f"gradbench-det-{what}": partial(det, what) for what in FUNCTIONS}
