"""GradBench's Runge-Kutta steps with jax."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import ode_problems as problems
from jax import lax
from jax_results import job
from job import Job


def chain(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.concatenate([x[:1], x[1:] * y[:-1]])


def chain_by_roll(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.where(jnp.arange(x.size) == 0, x, x * jnp.roll(y, 1))


CHAINS = {"jit": chain, "jit, roll": chain_by_roll}


def runge_kutta(slope: Callable[[jax.Array, jax.Array], jax.Array], x: jax.Array, steps: int) -> jax.Array:
    h = problems.END / steps

    def step(y: jax.Array, _: None) -> tuple[jax.Array, None]:
        k1 = slope(x, y)
        k2 = slope(x, y + h / 2 * k1)
        k3 = slope(x, y + h / 2 * k2)
        k4 = slope(x, y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

    return lax.scan(step, jnp.zeros_like(x), length=steps)[0]


FUNCTIONS = {
    "value": lambda slope, steps: lambda x: runge_kutta(slope, x, steps),
    "gradient": lambda slope, steps: jax.grad(lambda x: runge_kutta(slope, x, steps)[-1]),
}


def ode(what: str, steps: int, variant: str, numbers: int) -> Job:
    jax.config.update("jax_enable_x64", True)
    return job(FUNCTIONS[what](CHAINS[variant], steps), jnp.asarray(problems.ode(numbers)))


TASKS = {
    f"gradbench-ode-{what}-{steps}": partial(ode, what, steps)
    for what in FUNCTIONS
    for steps in problems.STEPS
}
