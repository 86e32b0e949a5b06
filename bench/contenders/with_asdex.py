"""asdex: sparse Jacobians and Hessians for jax."""

from __future__ import annotations

import time
from importlib.metadata import version

import asdex
import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse
import sparse_problems
from jax_results import wait
from jax_sparse import brusselator, rosenbrock
from job import Job, Unavailable


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"asdex": version("asdex"), "jax": jax.__version__}


def problem(task: str, n: int) -> tuple:
    """The function, where, and how its matrix is found."""
    jax.config.update("jax_enable_x64", True)
    if task == "hessian":
        return (
            rosenbrock,
            jnp.asarray(sparse_problems.rosenbrock(n)),
            (
                asdex.hessian_coloring,
                asdex.hessian_from_coloring,
            ),
        )
    return (
        brusselator,
        jnp.asarray(sparse_problems.brusselator()),
        (
            asdex.jacobian_coloring,
            asdex.jacobian_from_coloring,
        ),
    )


def times(result: jax.Array) -> list[np.ndarray]:
    """The matrix times a vector."""
    index = np.asarray(result.indices).T
    matrix = scipy.sparse.coo_array((np.asarray(result.data), (index[0], index[1])), result.shape)
    (v,) = sparse_problems.directions(result.shape[1])
    return [matrix @ v]


def prepare(task: str, variant: str, n: int = 0) -> Job:
    """The sparse matrices, or what they take before the first value is there."""
    _, _, kind = task.partition("-")
    kind, _, build = kind.partition("-")
    if not task.startswith("sparse-"):
        raise Unavailable(f"no {task} with asdex")
    function, x, (color, derive) = problem(kind, n)
    if not build:
        made = jax.jit(derive(function, color(function, x)))
        return Job(lambda: made(x), wait, times)

    def first() -> dict[str, float]:
        def another(x: jax.Array) -> jax.Array:
            return function(x)

        begin = time.perf_counter()
        colors = color(another, x)
        there = time.perf_counter()
        jax.block_until_ready(jax.jit(derive(another, colors))(x))
        return {"pattern and colors": there - begin, "program and value": time.perf_counter() - there}

    return Job(first, wait, None, timed_by_itself=True)
