"""folx: the forward Laplacian for jax, as its authors use it: one sample, mapped over the batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import version

import folx
import jax
from jax_operators import job_of, value
from jax_results import PyTree
from job import Job, Unavailable


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"folx": version("folx")}


def laplacian_of(function: Callable[[jax.Array], jax.Array]) -> Callable[[jax.Array], jax.Array]:
    operator = folx.ForwardLaplacianOperator(0)(function)
    return lambda x: operator(x)[0]


def laplacian(layers: PyTree, x: jax.Array) -> jax.Array:
    return jax.vmap(laplacian_of(partial(value, layers)))(x)


def biharmonic(layers: PyTree, x: jax.Array) -> jax.Array:
    """The Laplacian of the Laplacian."""
    return jax.vmap(laplacian_of(laplacian_of(partial(value, layers))))(x)


def prepare(task: str, variant: str, **options: int) -> Job:
    """The differential operators, which are what it is here for."""
    forms = {"laplacian": laplacian, "laplacian-gradient": laplacian, "biharmonic": biharmonic}
    if task not in forms:
        raise Unavailable(f"no {task} with folx")
    return job_of(task, forms[task])
