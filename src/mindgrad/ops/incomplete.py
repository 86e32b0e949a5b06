"""Incomplete gamma and beta functions, differentiable with respect to bounds and shapes, in every order."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor
from mindgrad.ops.operands import accepted, inexact, promoted
from mindgrad.ops.registry import public
from mindgrad.rows import incomplete

__all__ = ["betainc", "igamma", "igammac"]


@public("Igamma Tensor")
def igamma(input: Any, other: Any) -> Tensor:
    """The regularised lower incomplete gamma function P(a, x) = 1/Γ(a) ∫₀ˣ tᵃ⁻¹ exp(−t) dt.

    Args:
        input: a, a real tensor or number above 0.
        other: x, a real tensor or number from 0 on, of a shape that broadcasts with it.

    Returns:
        Tensor of floating-point numbers; NaN where a or x lies outside.

    Raises:
        TypeError: an argument is neither a tensor nor a number, or complex.
        ValueError: the shapes do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.round(ops.igamma(Tensor([1.0, 2.0]), 1.0), decimals=4))
    [0.6321 0.2642]
    """
    return _gamma("Igamma", input, other, upper=False)


@public("Igammac Tensor")
def igammac(input: Any, other: Any) -> Tensor:
    """The regularised upper incomplete gamma function Q(a, x) = 1 − P(a, x), exact for large ``x``.

    Arguments and errors as for :func:`igamma`.

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
    """The regularised incomplete beta function Iₓ(a, b) = 1/B(a, b) ∫₀ˣ tᵃ⁻¹ (1 − t)ᵇ⁻¹ dt.

    Args:
        a: a real tensor or number above 0.
        b: the same.
        x: a real tensor or number between 0 and 1; the three shapes broadcast.

    Returns:
        Tensor of floating-point numbers; NaN where an argument lies outside.

    {Raises as igamma}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.betainc(Tensor(2.0), 2.0, 0.25):.4f}")
    0.1562
    """
    operands = [inexact(tensor) for tensor in promoted("Betainc", a, b, x)]
    accepted(incomplete.incomplete_beta, "Betainc", *operands, m=0, n=0)
    return apply(incomplete.incomplete_beta, *operands, m=0, n=0)  # type: ignore[no-any-return]
