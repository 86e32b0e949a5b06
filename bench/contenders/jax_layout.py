"""jax: a narrow perceptron at many points, with the points first, as it is written, and last, by hand."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import problems
from jax_results import PyTree, job
from job import Job


def points_first(layers: PyTree, x: jax.Array) -> jax.Array:
    for weight, bias in layers:
        x = jnp.tanh(x @ weight + bias)
    return jnp.mean(jnp.square(x))


def points_last(layers: PyTree, x: jax.Array) -> jax.Array:
    x = x.T
    for weight, bias in layers:
        x = jnp.tanh(weight.T @ x + bias[:, None])
    return jnp.mean(jnp.square(x))


def layout(variant: str, layers: int) -> Job:
    points, weights = problems.layout(layers)
    function = {"jit": points_first, "points last by hand": points_last}[variant]
    given = [(jnp.asarray(weight), jnp.asarray(bias)) for weight, bias in weights]
    return job(jax.value_and_grad(function), given, jnp.asarray(points))
