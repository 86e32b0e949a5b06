"""jax: the functions of the tasks with sparse derivatives, and their dense derivatives."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import sparse_problems
from jax_results import arrays, job, wait
from job import Job, Unavailable


def rosenbrock(x: jax.Array) -> jax.Array:
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def brusselator(y: jax.Array) -> jax.Array:
    u, v = y.reshape(2, sparse_problems.GRID, sparse_problems.GRID)

    def laplacian(u: jax.Array) -> jax.Array:
        return jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4.0 * u

    reaction, a = u * u * v, sparse_problems.FACTOR
    made = (1.0 + reaction - 4.4 * u + a * laplacian(u), 3.4 * u - reaction + a * laplacian(v))
    return jnp.stack(made).reshape(-1)


def hessian(variant: str, n: int = sparse_problems.DENSE) -> Job:
    jax.config.update("jax_enable_x64", True)
    if n > sparse_problems.DENSE:
        raise Unavailable("a dense matrix of 80 GB")
    x = jnp.asarray(sparse_problems.rosenbrock(n))
    (v,) = sparse_problems.directions(n)
    made = job(jax.hessian(rosenbrock), x)
    made.arrays = lambda found: [np.asarray(found) @ v]
    return made


def adjustment(variant: str) -> Job:
    """The residuals; or the Jacobian of each observation, by its own 15 numbers, without a sparse matrix."""
    jax.config.update("jax_enable_x64", True)
    problem = sparse_problems.adjustment()
    cameras, points, weights, seen = map(jnp.asarray, problem[:4])

    def function(cameras: jax.Array, points: jax.Array, weights: jax.Array) -> tuple[jax.Array, jax.Array]:
        return sparse_problems.residuals(jnp, cameras[problem.camera], points[problem.point], weights, seen)

    if variant == "function":
        made = jax.jit(function)
        return Job(lambda: made(cameras, points, weights), wait, None)

    def one(c: jax.Array, x: jax.Array, w: jax.Array, seen: jax.Array) -> tuple[jax.Array, jax.Array]:
        both, rest = sparse_problems.residuals(jnp, c[None], x[None], w[None], seen[None])
        return both[0], rest[0]

    derive: Callable[..., Callable] = {"jacrev": jax.jacrev, "jacfwd": jax.jacfwd}[variant]
    of_each = jax.vmap(derive(one, (0, 1, 2)))
    jacobian = jax.jit(lambda c, x, w: of_each(c[problem.camera], x[problem.point], w, seen))

    def times(result: tuple) -> list[np.ndarray]:
        (by_camera, by_point, by_weight), (_, _, rest) = jax.tree_util.tree_map(np.asarray, result)
        a, b, c = sparse_problems.directions(cameras.size, points.size, weights.size)
        a, b = a.reshape(-1, 11)[problem.camera], b.reshape(-1, 3)[problem.point]
        both = np.einsum("nij,nj->ni", by_camera, a) + np.einsum("nij,nj->ni", by_point, b)
        return [(both + by_weight * c[:, None]).ravel(), rest * c]

    return Job(lambda: jacobian(cameras, points, weights), wait, times)


TASKS = {"sparse-hessian": hessian, "hessian-dense": hessian, "bundle-adjustment": adjustment}

__all__ = ["TASKS", "arrays", "brusselator", "rosenbrock"]
