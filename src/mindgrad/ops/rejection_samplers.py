"""Rejection sampling of gamma and Poisson distributed numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindgrad.core.base.location import warn_user
from mindgrad.core.ir.dtype import as_dtype, float32, float64, promote
from mindgrad.core.ir.scope import apply, open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import arithmetic, comparisons, elementwise, special
from mindgrad.core.primitives.unstacking import unstack
from mindgrad.ops import cumulative
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.operands import broadcast_shapes, broadcast_to, cast, inexact, operand
from mindgrad.ops.registry import public
from mindgrad.ops.rng_bits import (
    combined,
    exponentials,
    fractions,
    normals,
    parameters,
    require,
    seeds_of,
    shape_of,
)

__all__ = ["gamma", "poisson", "random_gamma", "random_poisson"]


def _constant(operator: str, alpha: Tensor) -> Tensor:
    """Remove the derivative of ``alpha``; warn if it is being differentiated."""
    scopes = open_scopes()
    if alpha.is_traced and (alpha._array is not None or alpha._scope is not scopes[0]):
        warn_user(
            f"For '{operator}', the random numbers have no derivative with respect to 'alpha': it is "
            "treated as a constant. If this is intended, pass stop_gradient(alpha)."
        )
    return stop_gradient(alpha)


@public(
    "Gamma(seed=0, seed2=0)(shape, alpha, beta)(seed=(self.seed, self.seed2)) >>> ops.Gamma(seed=2)((2, 3), "
    "Tensor(1.0), Tensor(2.0)).shape => (2, 3)",
)
def gamma(shape: Any, alpha: Any, beta: Any, seed: int | None = None) -> Tensor:
    """Draw gamma random numbers with density βᵅ xᵅ⁻¹ exp(−β x) / Γ(α).

    The derivative with respect to ``beta`` is exact. The derivative with respect to ``alpha`` is 0, with a
    warning, because rejection sampling is not a smooth function of ``alpha``.

    Args:
        shape (int or tuple of int): shape of the result before it is broadcast with ``alpha`` and ``beta``.
        alpha (Tensor or number): positive shape parameter α of the distribution.
        beta (Tensor or number): positive rate β of the distribution.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        Tensor with the broadcast shape.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not broadcast, or ``alpha`` or ``beta`` is not positive.

    >>> import mindgrad as ms
    >>> ms.set_seed(1)
    >>> found = ms.ops.gamma((1000,), 3.0, 2.0)
    >>> print(f"{found.mean().item():.1f}", (found > 0).all())
    1.5 True
    """
    *_, (order, rate) = parameters("Gamma", shape, {"alpha": alpha, "beta": beta})
    require("Gamma", "alpha", order, lambda v: v > 0, "above 0")
    require("Gamma", "beta", rate, lambda v: v > 0, "above 0")
    found = _standard_gamma("Gamma", _constant("Gamma", order), seeds_of("Gamma", seed))
    return apply(arithmetic.div, found, rate)


def random_gamma(shape: Any, alpha: Any, seed: int | None = None) -> Tensor:
    """Draw a block of gamma random numbers with rate 1 for each element of ``alpha``.

    Args:
        shape (int or tuple of int): shape of the samples for each element of ``alpha``.
        alpha (Tensor or number): positive shape parameter of the gamma distribution.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        Tensor of shape ``shape + alpha.shape`` and the dtype of ``alpha``.

    >>> from mindgrad import Tensor, ops
    >>> ops.random_gamma((7, 5), Tensor([0.5, 1.5])).shape
    (7, 5, 2)
    """
    order = inexact(operand(alpha, "RandomGamma"))
    require("RandomGamma", "alpha", order, lambda v: v > 0, "above 0")
    full_shape = (*shape_of("RandomGamma", shape), *order.shape)
    wide = promote(float32, order.dtype)
    samples = _standard_gamma(
        "RandomGamma",
        broadcast_to(cast(_constant("RandomGamma", order), wide), full_shape),
        seeds_of("RandomGamma", seed),
    )
    return cast(samples, order.dtype)


#: number of candidates for each gamma variate. Each candidate is accepted with a probability above 0.95
_ATTEMPTS = 8


def _first(is_accepted: Tensor, candidates: Tensor) -> Tensor:
    """Return the first accepted candidate along axis 0, or else the last one."""
    pairs = list(zip(apply(unstack, is_accepted), apply(unstack, candidates), strict=True))
    sample = pairs.pop()[1]
    for accepted, candidate in reversed(pairs):
        sample = apply(arithmetic.select, accepted, candidate, sample)
    return sample


def _standard_gamma(operator: str, alpha: Tensor, seeds: tuple[int, int]) -> Tensor:
    """Draw gamma numbers with rate 1.

    G. Marsaglia, W. W. Tsang, *A simple method for generating gamma variables* (2000). The first accepted one
    of eight candidates is used; if none is accepted (about once in 10¹⁰ draws), the last one is used. For
    α < 1, a number for α + 1 is multiplied by u^(1/α).
    """
    shape, dtype = alpha.shape, alpha.dtype
    is_small = combined(comparisons.less, alpha, 1.0)
    raised = apply(arithmetic.select, is_small, combined(arithmetic.add, alpha, 1.0), alpha)
    d: Any = combined(arithmetic.sub, raised, 1 / 3)
    c: Any = apply(elementwise.rsqrt, combined(arithmetic.mul, d, 9.0))
    noise: Any = normals(operator, (_ATTEMPTS, *shape), dtype, seeds)
    limit: Any = exponentials(operator, (_ATTEMPTS, *shape), dtype, seeds)
    root = c * noise + 1.0
    v = apply(arithmetic.select, root > 0.0, root, root * 0.0) ** 3
    # acceptance condition of Marsaglia and Tsang: log u < x²/2 + d − d v + d log v, where −log u is
    # exponentially distributed
    is_accepted = d * (1.0 - v + v.log()) + 0.5 * noise * noise > -limit
    sample = _first(is_accepted, d * v)
    exponent = apply(arithmetic.div, exponentials(operator, shape, dtype, seeds), alpha)
    shrunk = apply(arithmetic.mul, sample, apply(elementwise.exp, apply(arithmetic.neg, exponent)))
    return stop_gradient(apply(arithmetic.select, is_small, shrunk, sample))


@public(
    "Poisson(seed=0, seed2=0)(shape, mean)(seed=(self.seed, self.seed2)) -> cast(_, "
    "int32) >>> ops.Poisson(seed=2)((2, 3), Tensor(0.0)) => [[0 0 0]\n [0 0 0]]",
)
def poisson(shape: Any, mean: Any, seed: int | None = None) -> Tensor:
    """Draw Poisson random numbers k with probability λᵏ exp(−λ) / k!.

    Poisson random numbers have no derivative with respect to ``mean``.

    Args:
        shape (int or tuple of int): shape of the result before it is broadcast with ``mean``.
        mean (Tensor or number): nonnegative mean λ of the distribution.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.

    Returns:
        float32 tensor with the broadcast shape.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not broadcast, or ``mean`` is negative or not finite.

    >>> import mindgrad as ms
    >>> ms.set_seed(1)
    >>> found = ms.ops.poisson((1000,), 3.0)
    >>> print(f"{found.mean().item():.0f}", (found == ms.ops.floor(found)).all())
    3 True
    """
    rate = operand(mean, "Poisson")
    whole = broadcast_shapes("Poisson", shape_of("Poisson", shape), rate.shape)
    return cast(_poisson("Poisson", whole, rate, "mean", seeds_of("Poisson", seed)), float32)


@public(
    "RandomPoisson(seed=0, seed2=0, dtype=int64)(shape, rate)(seed=(self.seed, "
    "self.seed2)) >>> ops.RandomPoisson(seed=2)((2,), Tensor([0.0])) => [[0]\n [0]]",
)
def random_poisson(shape: Any, rate: Any, seed: int | None = None, dtype: Any = float32) -> Tensor:
    """Draw a block of Poisson random numbers for each element of ``rate``.

    Args:
        shape (int or tuple of int): shape of the samples for each element of ``rate``.
        rate (Tensor or number): nonnegative mean of the distribution.
        seed (int or None): random seed of this call. ``None`` uses the global seed of ``mindgrad.set_seed``.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of shape ``shape + rate.shape``.

    {Raises as poisson}

    >>> from mindgrad import Tensor, int32, ops
    >>> print(ops.random_poisson((2, 3), Tensor([0.0]), dtype=int32).shape)
    (2, 3, 1)
    """
    name = "RandomPoisson"
    each = operand(rate, name)
    found = _poisson(name, (*shape_of(name, shape), *each.shape), each, "rate", seeds_of(name, seed))
    return cast(found, as_dtype(dtype))


#: If the mean λ is below ``_SMALL_MEAN``, invert the cumulative distribution function, a sum of ``_TERMS``
#: terms. The probability of a larger variate is below 2⁻⁴⁶.
_SMALL_MEAN, _TERMS = 10.0, 43
#: number of candidates for each Poisson variate. Each candidate is accepted with a probability of at least
#: 3/4, so all are rejected about once in 10⁹ draws
_CANDIDATES = 16


def _poisson(
    operator: str, shape: tuple[int, ...], rate: Tensor, name: str, seeds: tuple[int, int]
) -> Tensor:
    if rate.dtype.kind not in ("float", "int", "uint"):
        raise TypeError(f"For '{operator}', the '{name}' must be real, but its dtype is {rate.dtype}.")
    require(operator, name, rate, lambda v: (v >= 0) & np.isfinite(v), "finite and not negative")
    mean: Any = broadcast_to(cast(rate, float64), shape)
    is_small = mean < _SMALL_MEAN
    few = _by_inversion(operator, apply(arithmetic.select, is_small, mean, mean * 0.0), seeds)
    many = _by_rejection(operator, apply(arithmetic.select, is_small, mean * 0.0 + _SMALL_MEAN, mean), seeds)
    return apply(arithmetic.select, is_small, few, many)


def _by_inversion(operator: str, mean: Any, seeds: tuple[int, int]) -> Tensor:
    """Count the values of the distribution function that are at most a uniform number."""
    drawn: Any = fractions(operator, mean.shape, float64, seeds)
    counted = np.arange(_TERMS)
    factorials = np.array([math.lgamma(k + 1.0) for k in counted])
    column = mean.expand_dims(-1)
    # for mean 0, the terms are NaN. Then every comparison is false, and the count is 0
    logarithm = column.log() * Tensor(counted, float64) - column - Tensor(factorials, float64)
    below: Any = cumulative.cumsum(logarithm.exp(), -1) <= drawn.expand_dims(-1)
    return below.astype(float64).sum(-1)


def _by_rejection(operator: str, mean: Any, seeds: tuple[int, int]) -> Tensor:
    """Draw Poisson numbers by the algorithm PTRS.

    W. Hörmann, *The transformed rejection method for generating Poisson random variables* (1993).
    """
    b = mean.sqrt() * 2.53 + 0.931
    a = b * 0.02483 - 0.059
    scale = 1.1328 / (b - 3.4) + 1.1239
    quickly = 0.9277 - 3.6224 / (b - 2.0)
    shape = (_CANDIDATES, *mean.shape)
    u: Any = combined(arithmetic.sub, fractions(operator, shape, float64, seeds), 0.5)
    v = 1.0 - fractions(operator, shape, float64, seeds)  # type: ignore[operator]
    package = 0.5 - abs(u) + 2.0**-54
    candidate = ((a * 2.0 / package + b) * u + mean + 0.43).floor()
    positive = candidate.clip(0.0, None)
    density = positive * mean.log() - mean - apply(special.lgamma, positive + 1.0)
    fits = (v * scale / (a / (package * package) + b)).log() <= density
    fits = fits & (candidate >= 0.0) & ((package >= 0.013) | (v <= package))
    return _first(((package >= 0.07) & (v <= quickly)) | fits, positive)
