"""GradBench's linear least squares with jax."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import llsq_problems as problems
from jax_results import job
from job import Job


def value(points: int) -> Callable[[jax.Array], jax.Array]:
    """The function of the coefficients at so many points."""

    def function(x: jax.Array) -> jax.Array:
        t = -1.0 + jnp.arange(points) * 2.0 / (points - 1.0)
        powers = jnp.cumprod(jnp.tile(t[:, None], len(x)).at[:, 0].set(1), 1)
        return 0.5 * jnp.sum((jnp.sign(t) - powers @ x) ** 2)

    return function


FUNCTIONS = {"value": value, "gradient": lambda points: jax.grad(value(points))}


def llsq(what: str, variant: str, points: int) -> Job:
    jax.config.update("jax_enable_x64", True)
    return job(FUNCTIONS[what](points), jnp.asarray(problems.llsq()))


TASKS = {f"gradbench-llsq-{what}": partial(llsq, what) for what in FUNCTIONS}
