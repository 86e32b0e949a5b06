"""GradBench's bundle adjustment with jax: the Jacobian as the numbers of its blocks, no sparse matrix.

jit            the Jacobian of one observation by its own 15 numbers, for all of them by ``vmap``
jit, columns   arranged by hand: each number is an array over the observations, and three pullbacks do for all
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ba_problems as problems
import jax
import jax.numpy as jnp
import numpy as np
from jax_results import job
from job import Job
from sparse_problems import Adjustment, residual_columns, residuals

Function = Callable[[jax.Array, jax.Array, jax.Array], tuple]


def value(problem: Adjustment) -> Function:
    seen = jnp.asarray(problem.seen)
    return lambda c, x, w: residuals(jnp, c[problem.camera], x[problem.point], w, seen)


def of_each(problem: Adjustment) -> Function:
    def one(c: jax.Array, x: jax.Array, w: jax.Array, seen: jax.Array) -> tuple[jax.Array, jax.Array]:
        both, rest = residuals(jnp, c[None], x[None], w[None], seen[None])
        return both[0], rest[0]

    seen = jnp.asarray(problem.seen)
    derive = jax.vmap(jax.jacrev(one, (0, 1, 2)))
    return lambda c, x, w: derive(c[problem.camera], x[problem.point], w, seen)


def by_columns(problem: Adjustment) -> Function:
    seen = jnp.asarray(problem.seen.T)

    def derive(c: jax.Array, x: jax.Array, w: jax.Array) -> tuple:
        columns = c[problem.camera].T, x[problem.point].T, w
        _, pull = jax.vjp(lambda c, x, w: residual_columns(jnp, c, x, w, seen), *columns)
        zero, one = jnp.zeros_like(w), jnp.ones_like(w)
        return pull((one, zero, zero)), pull((zero, one, zero)), pull((zero, zero, one))[2]

    return derive


def times(problem: Adjustment, result: tuple) -> list[np.ndarray]:
    a, b, c = problems.blocks(problem)
    (by_camera, by_point, by_weight), (_, _, rest) = result
    both = np.einsum("nij,nj->ni", by_camera, a) + np.einsum("nij,nj->ni", by_point, b)
    return [(both + np.asarray(by_weight) * c[:, None]).ravel(), np.asarray(rest) * c]


def columns_times(problem: Adjustment, result: tuple) -> list[np.ndarray]:
    a, b, c = problems.blocks(problem)
    rows = [(a.T * row[0]).sum(0) + (b.T * row[1]).sum(0) + c * row[2] for row in result[:2]]
    return [np.stack(rows, 1).ravel(), np.asarray(result[2]) * c]


JACOBIANS = {"jit": (of_each, times), "jit, columns": (by_columns, columns_times)}


def ba(what: str, variant: str, observations: int) -> Job:
    jax.config.update("jax_enable_x64", True)
    problem = problems.ba(observations)
    arguments = map(jnp.asarray, problem[:3])
    if what == "value":
        return job(value(problem), *arguments)
    make, read = JACOBIANS[variant]
    made = job(make(problem), *arguments)
    made.arrays = partial(read, problem)
    return made


TASKS = {f"gradbench-ba-{what}": partial(ba, what) for what in ("value", "jacobian")}
