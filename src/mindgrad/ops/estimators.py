"""Stochastic estimators of differential operators in many dimensions.

    E[v vᵀ] = 1    ⟹    Δf = E[D²f[v, v]],    ∇·f = E[v · (∂f/∂x v)]

The mean over K random directions is an unbiased estimate. It costs K + 2 function evaluations instead of D +
2 (M. F. Hutchinson, *A stochastic estimator of the trace of the influence matrix*, 1989, and for random
coordinates Z. Hu et al., *Stochastic Taylor derivative estimator*, NeurIPS 2024). Each call draws new
directions; ``set_seed`` makes them reproducible.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindgrad._base.checks import one_of
from mindgrad.api.arguments import check_callable, check_positions
from mindgrad.api.callables import differentiates, in_either_mode, name_derivative, remembered
from mindgrad.api.laplacian import divergence_along, second_order
from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import arithmetic
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.matrices import one_hot
from mindgrad.ops.operands import cast
from mindgrad.ops.ordering import argsort
from mindgrad.ops.rng_bits import combined, fractions, normals, seeds_of, with_probability

__all__ = ["estimate_divergence", "estimate_laplacian"]

DISTRIBUTIONS = ("rademacher", "normal", "coordinates")


def estimate_laplacian(
    fn: Callable[..., Any],
    samples: int,
    distribution: str = "rademacher",
    seed: int | None = None,
    grad_position: int = 0,
    per_sample: bool = False,
) -> Callable[..., Any]:
    """Estimate the Laplacian of a function without bias, by random directions.

    Args:
        fn (callable or Cell): function that maps a batch of samples to one value per sample, as for
            :func:`mindgrad.laplacian`.
        samples (int): number K of random directions.
        distribution (str): ``"rademacher"`` draws elements ±1, and ``"normal"`` draws elements with mean 0
            and variance 1. ``"coordinates"`` draws K different axes (at most D), which is exact for K = D.
        seed (int or None): seed of the random directions. ``None`` uses the seed of ``set_seed``.
        grad_position (int): index of the argument of ``fn`` to differentiate, whose samples are the points.
        per_sample (bool): whether to draw new directions for each sample. ``False`` uses the same directions
            for all samples, which costs less.

    Returns:
        Callable with the arguments of ``fn``, which returns the estimated Laplacian. Its shape is documented
        in :func:`mindgrad.laplacian`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``samples`` is less than 1 or above the number of coordinates to choose from, or
            ``distribution`` is not supported.

    >>> import mindgrad as ms
    >>> square = lambda x: (x * x).sum(-1)
    >>> print(ms.ops.estimate_laplacian(square, 4)(ms.ops.ones((3, 100))))
    [200. 200. 200.]
    """
    return _estimator("estimate_laplacian", fn, samples, distribution, seed, grad_position, per_sample)


def estimate_divergence(
    fn: Callable[..., Any],
    samples: int,
    distribution: str = "rademacher",
    seed: int | None = None,
    grad_position: int = 0,
    per_sample: bool = False,
) -> Callable[..., Any]:
    """Estimate the divergence of a vector field without bias, by random directions.

    Args:
        fn (callable or Cell): vector field, as for :func:`mindgrad.divergence`.
        samples (int): number K of random directions.
        distribution (str): ``"rademacher"``, ``"normal"``, or ``"coordinates"``, as for
            :func:`estimate_laplacian`.
        seed (int or None): seed of the random directions. ``None`` uses the seed of ``set_seed``.
        grad_position (int): index of the argument of ``fn`` to differentiate, whose samples are the points.
        per_sample (bool): whether to draw new directions for each sample. ``False`` uses the same directions
            for all samples, which costs less.

    Returns:
        Callable with the arguments of ``fn``, which returns the estimated divergence for each sample.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If ``samples`` is less than 1 or above the number of coordinates to choose from, or
            ``distribution`` is not supported.

    >>> import mindgrad as ms
    >>> print(ms.ops.estimate_divergence(lambda x: 3.0 * x, 1)(ms.ops.ones((2, 10))))
    [30. 30.]
    """
    return _estimator("estimate_divergence", fn, samples, distribution, seed, grad_position, per_sample)


def _estimator(
    owner: str,
    fn: Callable[..., Any],
    samples: int,
    distribution: str,
    seed: int | None,
    position: int,
    per_sample: bool,
) -> Callable[..., Any]:
    check_callable(owner, fn)
    check_positions(owner, position, has_weights=False)
    if isinstance(position, tuple):
        raise TypeError(
            f"For '{owner}', the 'grad_position' must be an int, but got a tuple. Call the estimator once "
            "for each position."
        )
    samples = whole_number(samples, owner, "samples", least=1)
    one_of(distribution, DISTRIBUTIONS, owner, "distribution")
    seeds = seeds_of(owner, seed)

    def made() -> Callable[..., Any]:
        if owner == "estimate_divergence":
            exact = divergence_along(fn, position)
        else:
            exact = second_order(fn, position, factored=True)

        def run(*args: Any, **kwargs: Any) -> Any:
            if len(args) <= position or not isinstance(args[position], Tensor):
                raise TypeError(
                    f"For '{owner}', argument {position} must be a Tensor of samples, passed by position."
                )
            return exact(
                *args, _directions(owner, args[position], samples, distribution, seeds, per_sample), **kwargs
            )

        name_derivative(run, owner, fn, (position,))
        order = 1 if owner == "estimate_divergence" else 2
        return differentiates(in_either_mode(fn, run), fn, order=order)

    return remembered(fn, (owner, samples, distribution, seeds, position, per_sample), made)


def _directions(
    owner: str, x: Tensor, samples: int, distribution: str, seeds: tuple[int, int], per_sample: bool
) -> Tensor:
    """Return random directions v as columns. The expected sum of ``v vᵀ`` is 1."""
    if not x.dtype.is_float or not x.ndim or not x.shape[-1]:
        raise TypeError(
            f"For '{owner}', the input must be a floating-point Tensor whose last axis holds the "
            f"coordinates, but got one of shape {x.shape} and dtype {x.dtype}."
        )
    size = x.shape[-1]
    lead = x.shape[:-1] if per_sample else ()
    shape, scale = (*lead, size, samples), 1 / math.sqrt(samples)
    if distribution == "normal":
        directions = normals(owner, shape, x.dtype, seeds)
    elif distribution == "rademacher":
        signs = cast(with_probability(owner, 0.5, shape, seeds), x.dtype)
        directions = combined(arithmetic.sub, combined(arithmetic.mul, signs, 2.0), 1.0)
    else:
        if samples > size:
            raise ValueError(
                f"For '{owner}', the input has only {size} coordinates to choose from, but 'samples' is "
                f"{samples}. Pass a smaller 'samples'."
            )
        order: Any = argsort(fractions(owner, (*lead, size), float64, seeds))
        axes: Any = cast(one_hot(order[..., :samples], size), x.dtype)
        directions, scale = axes.swapaxes(-1, -2), math.sqrt(size / samples)
    return combined(arithmetic.mul, directions, scale)
