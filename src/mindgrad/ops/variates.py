"""Random numbers that are drawn by rejection: gamma distributed ones."""

from __future__ import annotations

from typing import Any

from mindgrad._base.location import warn_user
from mindgrad.core.dtype import float32, promote
from mindgrad.core.scope import apply, open_scopes
from mindgrad.core.tensor import Tensor
from mindgrad.ops.drawing import combined, exponentials, normals, parameters, require, seeds_of, shape_of
from mindgrad.ops.flow import stop_gradient
from mindgrad.ops.operands import broadcast_to, cast, inexact, operand
from mindgrad.primitives import arithmetic, elementwise
from mindgrad.primitives.unstacking import unstack

__all__ = ["gamma", "random_gamma"]


def _constant(operator: str, alpha: Tensor) -> Tensor:
    """``alpha`` without a derivative; a warning where it may be meant to have one."""
    scopes = open_scopes()
    if alpha.is_traced and (alpha._array is not None or alpha._scope is not scopes[0]):
        warn_user(
            f"For '{operator}', the numbers have no derivative with respect to 'alpha': it is taken as a "
            f"constant. Write stop_gradient(alpha) if that is meant."
        )
    return stop_gradient(alpha)


def gamma(shape: Any, alpha: Any, beta: Any, seed: int | None = None) -> Tensor:
    """Gamma distributed numbers, of density βᵅ xᵅ⁻¹ exp(−β x) / Γ(α).

    The derivative with respect to ``beta`` is that of x = y / β. With respect to ``alpha`` it is zero, with
    a warning: numbers that are drawn by rejection are no smooth function of it.

    Args:
        shape: the shape; it broadcasts with those of the parameters.
        alpha: the shape parameter α, a positive number or tensor.
        beta: the rate β, a positive number or tensor.
        seed: a seed of this call's own.

    Raises:
        TypeError: an argument has another type.
        ValueError: the shapes do not broadcast, or a parameter is not positive.

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
    """Gamma distributed numbers of rate 1, ``shape`` of them for each element of ``alpha``.

    Returns:
        Tensor of the shape ``shape`` followed by that of ``alpha``, and of its element type.

    >>> from mindgrad import Tensor, ops
    >>> ops.random_gamma((7, 5), Tensor([0.5, 1.5])).shape
    (7, 5, 2)
    """
    order = inexact(operand(alpha, "RandomGamma"))
    require("RandomGamma", "alpha", order, lambda v: v > 0, "above 0")
    whole = (*shape_of("RandomGamma", shape), *order.shape)
    wide = promote(float32, order.dtype)
    found = _standard_gamma(
        "RandomGamma",
        broadcast_to(cast(_constant("RandomGamma", order), wide), whole),
        seeds_of("RandomGamma", seed),
    )
    return cast(found, order.dtype)


#: each of which is accepted with a probability above 0.95
_ATTEMPTS = 8


def _standard_gamma(operator: str, alpha: Tensor, seeds: tuple[int, int]) -> Tensor:
    """G. Marsaglia, W. W. Tsang, *A simple method for generating gamma variables* (2000).

    Of eight candidates the first that is accepted; all are refused once in 10¹⁰ draws, then it is the last.
    Below 1, a draw for α + 1 is multiplied by u^(1/α).
    """
    shape, dtype = alpha.shape, alpha.dtype
    is_small = combined(arithmetic.less, alpha, 1.0)
    raised = apply(arithmetic.select, is_small, combined(arithmetic.add, alpha, 1.0), alpha)
    d = combined(arithmetic.sub, raised, 1 / 3)
    c = apply(elementwise.rsqrt, combined(arithmetic.mul, d, 9.0))
    noises = apply(unstack, normals(operator, (_ATTEMPTS, *shape), dtype, seeds))
    limits = apply(unstack, exponentials(operator, (_ATTEMPTS, *shape), dtype, seeds))
    found: Tensor | None = None
    for noise, limit in zip(noises[::-1], limits[::-1], strict=True):
        root = combined(arithmetic.add, apply(arithmetic.mul, c, noise), 1.0)
        is_positive = combined(arithmetic.greater, root, 0.0)
        safe = apply(arithmetic.select, is_positive, root, combined(arithmetic.mul, root, 0.0))
        v = apply(arithmetic.mul, safe, apply(arithmetic.mul, safe, safe))
        # log u < x²/2 + d − d v + d log v, where −log u is exponentially distributed
        logarithm = apply(elementwise.log, v)
        bound = apply(arithmetic.mul, d, 1.0 - v + logarithm) + 0.5 * noise * noise  # type: ignore[operator]
        is_accepted = apply(arithmetic.greater, bound, apply(arithmetic.neg, limit))
        candidate = apply(arithmetic.mul, d, v)
        found = candidate if found is None else apply(arithmetic.select, is_accepted, candidate, found)
    assert found is not None
    exponent = apply(arithmetic.div, exponentials(operator, shape, dtype, seeds), alpha)
    shrunk = apply(arithmetic.mul, found, apply(elementwise.exp, apply(arithmetic.neg, exponent)))
    return stop_gradient(apply(arithmetic.select, is_small, shrunk, found))
