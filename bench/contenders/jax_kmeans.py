"""GradBench's k-means with jax: the diagonal of the Hessian is the gradient's derivative along ones."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import kmeans_problems as problems
from jax_results import job
from job import Job


def cost(points: jax.Array, centroids: jax.Array) -> jax.Array:
    of_points = jnp.sum(points**2, 1)
    of_centroids = jnp.sum(centroids**2, 1)
    distances = of_centroids[:, None] + of_points - 2 * centroids @ points.T
    return jnp.sum(jnp.min(distances, 0))


def direction(points: jax.Array, centroids: jax.Array) -> jax.Array:
    gradient = jax.grad(partial(cost, points))
    slope, diagonal = jax.jvp(gradient, (centroids,), (jnp.ones_like(centroids),))
    return slope / diagonal


FUNCTIONS = {"cost": cost, "direction": direction}


def kmeans(what: str, points: int, dimensions: int, variant: str, centroids: int) -> Job:
    jax.config.update("jax_enable_x64", True)
    return job(FUNCTIONS[what], *map(jnp.asarray, problems.kmeans(points, dimensions, centroids)))


TASKS = {
    f"gradbench-kmeans-{what}-{n}x{d}": partial(kmeans, what, n, d)
    for what in FUNCTIONS
    for n in problems.POINTS
    for d in problems.DIMENSIONS
}
