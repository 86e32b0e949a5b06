"""jax: the Gaussian mixture of ADBench, as its formula is written, and with a gradient by hand."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import problems
from jax_results import job
from job import Job

Numbers = tuple[jax.Array, ...]


def lower_triangles(q: jax.Array, lower: jax.Array) -> jax.Array:
    """Q_k: exp(q) on the diagonal, the rest column by column."""
    d = q.shape[1]
    columns, rows = np.triu_indices(d, 1)
    diagonal = jnp.zeros((*q.shape, d), q.dtype).at[:, np.arange(d), np.arange(d)].set(jnp.exp(q))
    return diagonal.at[:, rows, columns].set(lower)


def prior(alpha: jax.Array, triangles: jax.Array, points: int) -> jax.Array:
    """What does not depend on the points, without its constants."""
    d = triangles.shape[-1]
    normal = d / 2 * math.log(2 * math.pi) + jax.nn.logsumexp(alpha)
    return -points * normal - 0.5 * jnp.sum(jnp.square(triangles))


def log_likelihood(
    alpha: jax.Array, mu: jax.Array, q: jax.Array, lower: jax.Array, x: jax.Array
) -> jax.Array:
    """As it is written down."""
    triangles = lower_triangles(q, lower)
    scaled = jnp.einsum("kij,nkj->nki", triangles, x[:, None] - mu)
    exponents = alpha + jnp.sum(q, 1) - 0.5 * jnp.sum(jnp.square(scaled), -1)
    return jnp.sum(jax.nn.logsumexp(exponents, axis=1)) + prior(alpha, triangles, len(x))


def by_hand(
    alpha: jax.Array, mu: jax.Array, q: jax.Array, lower: jax.Array, x: jax.Array
) -> tuple[jax.Array, Numbers]:
    """Value and gradient as a patient author writes them: one product forward, one back, points last."""
    (n, d), k = x.shape, len(alpha)
    triangles = lower_triangles(q, lower)
    scaled = (triangles.reshape(k * d, d) @ x.T).reshape(k, d, n)
    scaled -= jnp.einsum("kij,kj->ki", triangles, mu)[:, :, None]
    exponents = (alpha + jnp.sum(q, 1))[:, None] - 0.5 * jnp.sum(jnp.square(scaled), 1)
    total = jax.nn.logsumexp(exponents, axis=0)
    weights = jnp.exp(exponents - total)
    value = jnp.sum(total) + prior(alpha, triangles, n)
    weighted = weights[:, None, :] * scaled
    sums = jnp.sum(weighted, -1)
    products = (weighted.reshape(k * d, n) @ x).reshape(k, d, d)
    of_triangles = sums[:, :, None] * mu[:, None, :] - products - triangles
    shares = jnp.sum(weights, 1)
    columns, rows = np.triu_indices(d, 1)
    of_q = shares[:, None] + jnp.exp(q) * jnp.diagonal(of_triangles, axis1=1, axis2=2)
    of_mu = jnp.einsum("kij,ki->kj", triangles, sums)
    return value, (shares - n * jax.nn.softmax(alpha), of_mu, of_q, of_triangles[:, rows, columns])


def gmm(variant: str, centers: int, dimensions: int) -> Job:
    jax.config.update("jax_enable_x64", True)
    problem = problems.gmm(dimensions, centers)
    function = {
        "value": log_likelihood,
        "grad": jax.value_and_grad(log_likelihood, argnums=(0, 1, 2, 3)),
        "grad by hand": by_hand,
    }[variant]
    return job(function, *[jnp.asarray(each) for each in (*problem.parameters, problem.points)])
