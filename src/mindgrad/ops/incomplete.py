"""Incomplete gamma and beta functions, differentiable in all arguments."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import incomplete
from mindgrad.ops.operands import accepted, inexact, promoted
from mindgrad.ops.registry import public

__all__ = ["betainc", "igamma", "igammac"]


@public("Igamma Tensor")
def igamma(input: Any, other: Any) -> Tensor:
    """Compute the regularized lower incomplete gamma function P(a, x).

    P(a, x) = 1/Γ(a) ∫₀ˣ tᵃ⁻¹ exp(−t) dt.

    Args:
        input (Tensor or number): argument a, real and positive.
        other (Tensor or number): argument x, real and nonnegative. The shapes of a and x broadcast.

    Returns:
        Floating-point tensor with the broadcast shape of the operands; NaN if a or x is out of its range.

    Raises:
        TypeError: If an argument is neither a tensor nor a number, or is complex.
        ValueError: If the shapes of the operands do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.round(ops.igamma(Tensor([1.0, 2.0]), 1.0), decimals=4))
    [0.6321 0.2642]
    """
    return _gamma("Igamma", input, other, upper=False)


@public("Igammac Tensor")
def igammac(input: Any, other: Any) -> Tensor:
    """Compute the regularized upper incomplete gamma function Q(a, x) = 1 − P(a, x).

    The result is accurate for large x, for which P(a, x) rounds to 1.

    {as igamma}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.igammac(Tensor(1.0), 50.0):.4g}")
    1.929e-22
    """
    return _gamma("Igammac", input, other, upper=True)


def _gamma(operator: str, a: Any, x: Any, upper: bool) -> Tensor:
    operands = [inexact(tensor) for tensor in promoted(operator, a, x)]
    accepted(incomplete.incomplete_gamma, operator, *operands, n=0, upper=upper)
    return apply(incomplete.incomplete_gamma, *operands, n=0, upper=upper)  # type: ignore[no-any-return]


@public("Betainc")
def betainc(a: Any, b: Any, x: Any) -> Tensor:
    """Compute the regularized incomplete beta function Iₓ(a, b).

    Iₓ(a, b) = 1/B(a, b) ∫₀ˣ tᵃ⁻¹ (1 − t)ᵇ⁻¹ dt.

    Args:
        a, b (Tensor or number): real and positive parameters.
        x (Tensor or number): real values between 0 and 1. The shapes of ``a``, ``b``, and ``x`` broadcast.

    Returns:
        Floating-point tensor with the broadcast shape of the operands; NaN if an argument is out of its
        range.

    {Raises as igamma}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.betainc(Tensor(2.0), 2.0, 0.25):.4f}")
    0.1562
    """
    operands = [inexact(tensor) for tensor in promoted("Betainc", a, b, x)]
    accepted(incomplete.incomplete_beta, "Betainc", *operands, m=0, n=0)
    return apply(incomplete.incomplete_beta, *operands, m=0, n=0)  # type: ignore[no-any-return]
