"""GradBench's determinant by minors with jax."""

from __future__ import annotations

from functools import partial

import det_problems as problems
import jax
import jax.numpy as jnp
from jax_results import job
from job import Job, Unavailable


def minor(matrix: jax.Array, row: int, columns: tuple[int, ...]) -> jax.Array:
    if len(columns) == 1:
        return matrix[row, columns[0]]
    total = 0.0
    for j, column in enumerate(columns):
        product = matrix[row, column] * minor(matrix, row + 1, columns[:j] + columns[j + 1 :])
        total = total + product if j % 2 == 0 else total - product
    return total


def determinant(matrix: jax.Array) -> jax.Array:
    return minor(matrix, 0, tuple(range(len(matrix))))


FUNCTIONS = {"value": determinant, "gradient": jax.grad(determinant)}
MOST_ROWS = {"value": 7, "gradient": 6}


def det(what: str, variant: str, rows: int) -> Job:
    if rows > MOST_ROWS[what]:
        raise Unavailable("compiles for minutes")
    jax.config.update("jax_enable_x64", True)
    return job(FUNCTIONS[what], jnp.asarray(problems.det(rows)))


TASKS = {f"gradbench-det-{what}": partial(det, what) for what in FUNCTIONS}
