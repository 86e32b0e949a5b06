"""Special functions: error functions, gamma functions, logit, Bessel functions."""

from __future__ import annotations

import math as _math
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import bessel, bessel_second, piecewise, special
from mindgrad.ops import arithmetic
from mindgrad.ops.arguments import number, whole_number
from mindgrad.ops.define import also_named, unary_function
from mindgrad.ops.math import exp, log, log1p
from mindgrad.ops.operands import inexact, operand, pointwise, unary
from mindgrad.ops.registry import public

__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e",
    "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "digamma", "erf", "erfc", "erfinv", "i0", "lgamma",
    "logit", "mvlgamma", "polygamma",
]  # fmt: skip


erf = unary_function(
    __name__, "erf", special.erf,
    "Compute the error function 2/√π ∫₀ˣ exp(−t²) dt.\n\n    Its derivative is 2/√π exp(−x²).",
    "1.0", "0.8427", "Erf Tensor mint", float_only=True,
)  # fmt: skip
erfc = unary_function(
    __name__, "erfc", special.erfc,
    "Compute 1 − erf(x), accurate for large x.\n\n    Its derivative is −2/√π exp(−x²).",
    "1.0", "0.1573", "Erfc Tensor mint", float_only=True,
)  # fmt: skip
erfinv = unary_function(
    __name__, "erfinv", special.erfinv,
    "Compute the inverse error function.\n\n"
    "    It is ±inf at ±1 and NaN outside [−1, 1]. Its derivative is √π/2 exp(y²).",
    "0.5", "0.4769", "Erfinv Tensor mint", float_only=True,
)  # fmt: skip
lgamma = unary_function(
    __name__, "lgamma", special.lgamma,
    "Compute log |Γ(x)|, the logarithm of the gamma function.\n\n    Its derivative is ``digamma``.",
    "0.5", "0.5724", "Lgamma Tensor", float_only=True,
)  # fmt: skip
digamma = unary_function(
    __name__, "digamma", special.digamma,
    "Compute the digamma function Γ'(x) / Γ(x), the derivative of ``lgamma``.\n\n"
    "    Its own derivative is ``polygamma(1, x)``.",
    "0.5", "-1.9635", "Digamma Tensor", float_only=True,
)  # fmt: skip


@public("Polygamma")
@also_named(input="x")
def polygamma(n: Any, x: Any) -> Tensor:
    """Compute the ``n``-th derivative of the digamma function.

    Args:
        n (int or Tensor): nonnegative order of the derivative, an int or a 0-D tensor whose value is known at
            compile time.
        x (Tensor or number): values of any shape; integers are converted to float32.

    Returns:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If ``n`` is not an int, or ``x`` is neither a tensor nor a number.
        ValueError: If ``n`` is negative, or is a tensor that is not 0-D.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.polygamma(1, Tensor(1.0)):.4f}")
    1.6449
    """
    if isinstance(n, Tensor) and n.ndim:
        raise ValueError(f"For 'Polygamma', the 'n' must be one number, but its shape is {n.shape}.")
    n = whole_number(n, "Polygamma", "n", least=0)
    if n == 0:
        return digamma(x)
    return unary(special.polygamma, "Polygamma", x, float_only=True, n=n)


@public("Tensor", "Mvlgamma(p: integer)(x)")
@also_named(input="x")
def mvlgamma(x: Any, p: int) -> Tensor:
    """Compute the logarithm of the multivariate gamma function.

    The result is p (p − 1)/4 log π + Σᵢ lgamma(x − i/2), summed over 0 ≤ i < p.

    Args:
        x (Tensor or number): values above (p − 1)/2; integers are converted to float32.
        p (int): dimension of the multivariate gamma function, at least 1.

    Returns:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If ``p`` is not an int, or ``x`` is neither a tensor nor a number.
        ValueError: If ``p`` is below 1.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.mvlgamma(Tensor(3.0), 2):.4f}")
    1.5502
    """
    total = lgamma(x)
    for i in range(1, whole_number(p, "Mvlgamma", "p", least=1)):
        total = arithmetic.add(total, lgamma(arithmetic.sub(x, i / 2)))
    return arithmetic.add(total, p * (p - 1) / 4 * _math.log(_math.pi))


@public(
    "Tensor",
    "Logit(eps=-1.0)(x)(eps=None if self.eps < 0 else self.eps)"
    ' >>> f"{ops.Logit(eps=0.1)(Tensor(0.0)):.4f}" => -2.1972',
)
def logit(input: Any, eps: float | None = None) -> Tensor:
    """Compute log(x / (1 − x)), the inverse of the sigmoid.

    The derivative of logit is 1 / (x (1 − x)).

    Args:
        input (Tensor or number): values of any shape; integers are converted to float32.
        eps (float or None): if given, ``input`` is first clipped to [eps, 1 − eps]. ``None`` does not clip.

    Returns:
        Tensor with the shape of ``input``.

    Raises:
        TypeError: If ``eps`` is not a number, or ``input`` is neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.logit(Tensor(0.9)):.4f}")
    2.1972
    """
    x = operand(input, "Logit")
    if eps is not None:
        low = number(eps, "Logit", "eps")
        x = pointwise(piecewise.clip, "Logit", x, low, 1.0 - low, float_only=True)
    return arithmetic.sub(log(x), log1p(arithmetic.neg(inexact(x))))


# --- Bessel functions ------------------------------------------------------------------------------------


bessel_j0 = unary_function(
    __name__, "bessel_j0", bessel.bessel_j,
    "Compute the Bessel function of the first kind J₀(x).\n\n    Its derivative is −J₁(x).",
    "1.0", "0.7652", "BesselJ0", float_only=True, n=0,
)  # fmt: skip
bessel_j1 = unary_function(
    __name__, "bessel_j1", bessel.bessel_j,
    "Compute the Bessel function of the first kind J₁(x).\n\n    Its derivative is (J₀(x) − J₂(x)) / 2.",
    "1.0", "0.4401", "BesselJ1", float_only=True, n=1,
)  # fmt: skip
bessel_i0e = unary_function(
    __name__, "bessel_i0e", bessel.bessel_ie,
    "Compute the scaled modified Bessel function exp(−|x|) I₀(x).\n\n"
    "    It does not overflow. Its derivative at 0 is 0 by convention.",
    "1.0", "0.4658", "BesselI0e", float_only=True, n=0,
)  # fmt: skip
bessel_i1e = unary_function(
    __name__, "bessel_i1e", bessel.bessel_ie,
    "Compute the scaled modified Bessel function exp(−|x|) I₁(x).",
    "1.0", "0.2079", "BesselI1e", float_only=True, n=1,
)  # fmt: skip


@public("BesselI0")
def bessel_i0(x: Any) -> Tensor:
    """Compute the modified Bessel function I₀; its derivative is I₁.

    Args:
        x (Tensor or number): real values of any shape.

    Returns:
        Tensor with the shape of ``x``.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.bessel_i0(Tensor(1.0)):.4f}")
    1.2661
    """
    return unary(bessel.bessel_i, "BesselI0", x, True, n=0)


@public("BesselI1")
def bessel_i1(x: Any) -> Tensor:
    """Compute the modified Bessel function I₁; its derivative is (I₀ + I₂) / 2.

    Args:
        x (Tensor or number): real values of any shape.

    Returns:
        Tensor with the shape of ``x``.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.bessel_i1(Tensor(1.0)):.4f}")
    0.5652
    """
    return unary(bessel.bessel_i, "BesselI1", x, True, n=1)


def i0(input: Any) -> Tensor:
    """Compute the modified Bessel function I₀; another name of ``bessel_i0``.

    Args:
        input (Tensor or number): real values of any shape.

    Returns:
        Tensor with the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.i0(Tensor(1.0)):.4f}")
    1.2661
    """
    return bessel_i0(input)


bessel_y0 = unary_function(
    __name__, "bessel_y0", bessel_second.bessel_y,
    "Compute the Bessel function of the second kind Y₀(x).\n\n    It is −inf at 0 and NaN below. Its "
    "derivative is −Y₁(x).",
    "1.0", "0.0883", "BesselY0", float_only=True, n=0,
)  # fmt: skip
bessel_y1 = unary_function(
    __name__, "bessel_y1", bessel_second.bessel_y,
    "Compute the Bessel function of the second kind Y₁(x).\n\n    It is −inf at 0 and NaN below. Its "
    "derivative is (Y₀(x) − Y₂(x)) / 2.",
    "1.0", "-0.7812", "BesselY1", float_only=True, n=1,
)  # fmt: skip
bessel_k0e = unary_function(
    __name__, "bessel_k0e", bessel_second.bessel_ke,
    "Compute the scaled modified Bessel function exp(x) K₀(x).",
    "1.0", "1.1445", "BesselK0e", float_only=True, n=0,
)  # fmt: skip
bessel_k1e = unary_function(
    __name__, "bessel_k1e", bessel_second.bessel_ke,
    "Compute the scaled modified Bessel function exp(x) K₁(x).",
    "1.0", "1.6362", "BesselK1e", float_only=True, n=1,
)  # fmt: skip


@public("BesselK0")
def bessel_k0(x: Any) -> Tensor:
    """Compute the modified Bessel function of the second kind K₀.

    Its derivative is −K₁(x).

    Args:
        x (Tensor or number): real values of any shape.

    Returns:
        Tensor with the shape of ``x``.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.bessel_k0(Tensor(1.0)):.4f}")
    0.4210
    """
    return arithmetic.mul(exp(arithmetic.neg(operand(x, "BesselK0"))), bessel_k0e(x))


@public("BesselK1")
def bessel_k1(x: Any) -> Tensor:
    """Compute the modified Bessel function of the second kind K₁.

    Its derivative is −(K₀ + K₂) / 2.

    Args:
        x (Tensor or number): real values of any shape.

    Returns:
        Tensor with the shape of ``x``.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.bessel_k1(Tensor(1.0)):.4f}")
    0.6019
    """
    return arithmetic.mul(exp(arithmetic.neg(operand(x, "BesselK1"))), bessel_k1e(x))
