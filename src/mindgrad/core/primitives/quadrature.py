"""Quadrature rules: sums Σ w · f(t) over nodes t that approximate integrals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mindgrad.core.ir.rules import Array, Module

__all__ = ["gauss_legendre", "weighted_sum"]


def gauss_legendre(count: int) -> tuple[Array, Array]:
    """Compute the nodes and weights of the Gauss-Legendre rule on (−1, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights


def weighted_sum(
    like: Array, term: Callable[[Array], Array], rule: tuple[Array, Array], jax: Module | None
) -> Array:
    """Return Σ w · term(t) over the pairs (t, w) of the quadrature ``rule``.

    ``like`` is an array with the shape and dtype of the result. ``jax`` is ``None`` for NumPy.
    """
    if jax is None:
        return sum(w * term(t) for t, w in zip(*rule, strict=True))
    # loop over the nodes, because XLA would fuse a vectorized sum with each equation that uses it, and
    # recompute it there
    pairs = tuple(jax.numpy.asarray(array, like.dtype) for array in rule)
    step = lambda total, pair: (total + pair[1] * term(pair[0]), None)
    return jax.lax.scan(step, jax.numpy.zeros_like(like), pairs)[0]
