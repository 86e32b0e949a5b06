"""GradBench's determinant by minors with mindgrad."""

from __future__ import annotations

from functools import partial

import det_problems as problems
from job import Job
from mindspore_results import job

import mindgrad
from mindgrad import Tensor


def minor(matrix: Tensor, row: int, columns: tuple[int, ...]) -> Tensor:
    if len(columns) == 1:
        return matrix[row, columns[0]]
    total = 0.0
    for j, column in enumerate(columns):
        product = matrix[row, column] * minor(matrix, row + 1, columns[:j] + columns[j + 1 :])
        total = total + product if j % 2 == 0 else total - product
    return total


def determinant(matrix: Tensor) -> Tensor:
    return minor(matrix, 0, tuple(range(len(matrix))))


FUNCTIONS = {"value": mindgrad.jit(determinant), "gradient": mindgrad.grad(determinant)}


def det(what: str, variant: str, rows: int) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    return job(variant, FUNCTIONS[what], Tensor(problems.det(rows)))


TASKS = {f"gradbench-det-{what}": partial(det, what) for what in FUNCTIONS}
