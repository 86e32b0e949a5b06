"""jax: programs of many equations, and derivatives of large arrays (``size_problems``)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import size_problems
from jax import lax
from job import Job
from size_problems import Library

LIBRARY = Library(
    jnp.sin,
    jnp.tanh,
    jnp.matmul,
    lambda x: lax.cond(x.sum() > 0, jnp.sin, lambda x: x * 0.5, x),
)


def phases(name: str, equations: int) -> dict[str, Callable[[], Any]]:
    f, arguments = size_problems.PROGRAMS[name](equations, LIBRARY)
    gradient = jax.grad(f, 0 if len(arguments) == 1 else tuple(range(len(arguments))))
    traced = jax.jit(gradient).trace(*arguments)
    # new functions each time: jax remembers the traces of those that it knows
    made: dict[str, Callable[[], Any]] = {
        "trace": lambda: jax.make_jaxpr(lambda *a: f(*a))(*arguments),
        "gradient": lambda: jax.make_jaxpr(lambda *a: gradient(*a))(*arguments),
        "lowering of the gradient": lambda: traced.lower(),
    }
    if len(arguments) == 1:
        x = arguments[0]
        slope = lambda x: gradient(x).sum()
        made["second gradient"] = lambda: jax.make_jaxpr(jax.grad(slope))(x)
        made["jvp"] = lambda: jax.make_jaxpr(lambda x: jax.jvp(f, (x,), (x,)))(x)
        made["vmap"] = lambda: jax.make_jaxpr(jax.vmap(f))(np.stack([x, x, x]))
    return made


def equations_of(name: str, variant: str, equations: int) -> Job:
    return size_problems.growing(partial(phases, name), equations)


def train(array: np.ndarray, jit: Callable[..., Any]) -> None:
    """Three steps of plain gradient descent."""
    value_and_grad = jax.value_and_grad(lambda weight: (weight * weight).sum())

    def descent(weight: jax.Array) -> tuple[jax.Array, jax.Array]:
        value, gradient = value_and_grad(weight)
        return value, weight - 0.1 * gradient

    step, weight = jit(descent, donate_argnums=0), jnp.asarray(array)
    for _ in range(3):
        _, weight = step(weight)
        weight.block_until_ready()


FUNCTIONS = {
    "product": lambda x: (jnp.sin(x) * x).sum(),
    "reduce": lambda x: x.sum(),
    "matmul": lambda x: (x @ x).sum(),
    "assign": lambda x: (x.at[0].set(5.0) ** 2).sum(),
}


def as_it_is(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return function


def memory(name: str, variant: str, megabytes: int) -> Job:
    jit = jax.jit if variant == "jit" else as_it_is

    def gradient(array: np.ndarray) -> jax.Array:
        return jit(jax.grad(FUNCTIONS[name]))(jnp.asarray(array)).block_until_ready()

    run = partial(train, jit=jit) if name == "train" else gradient
    return size_problems.memory_peak(run, size_problems.shape_of(name, megabytes))


TASKS = {
    **{f"size-{name}": partial(equations_of, name) for name in size_problems.PROGRAMS},
    **{f"size-memory-{name}": partial(memory, name) for name in size_problems.MEMORY},
}
