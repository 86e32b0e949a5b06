"""GradBench's log-sum-exp with jax."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import lse_problems as problems
from jax_results import job
from job import Job


def value(x: jax.Array) -> jax.Array:
    greatest = jnp.max(x)
    return greatest + jnp.log(jnp.sum(jnp.exp(x - greatest)))


FUNCTIONS = {"value": value, "gradient": jax.grad(value)}


def lse(what: str, variant: str, numbers: int) -> Job:
    jax.config.update("jax_enable_x64", True)
    return job(FUNCTIONS[what], jnp.asarray(problems.lse(numbers)))


TASKS = {f"gradbench-lse-{what}": partial(lse, what) for what in FUNCTIONS}
