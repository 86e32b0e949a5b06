"""Logarithms of incomplete gamma and beta functions, and all their derivatives.

A *tail* is the integral of a density below or above a bound. It is computed as v J, where v is the integrand
at the bound, and J is the integral of the integrand divided by v. The tail can underflow, but log v and J do
not, so the logarithm of the tail is computed as log v + log J. The derivatives of the logarithm with respect
to the shapes are ratios of integrals, in which v cancels. The derivative with respect to u = log t, or logit
t, is ±1 / J, the *hazard*. Derivatives of hazards and ratios consist of hazards and ratios. A tail close to 1
is computed as one minus the other tail.
"""

from __future__ import annotations

import math

from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.rules import Array, Module, Partial
from mindgrad.core.primitives.accumulation_type import in_single_xla
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.comparisons import equal
from mindgrad.core.primitives.elementwise import log
from mindgrad.core.primitives.incomplete import (
    Functions,
    derivatives_of_beta,
    derivatives_of_gamma,
    orders_type,
    polynomial,
    with_ends,
)
from mindgrad.core.primitives.kinds import elementwise, full, zeros
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.special import digamma
from mindgrad.core.primitives.special_kernels import in_double

__all__ = ["beta_hazard", "gamma_hazard", "log_beta_tail", "log_gamma_tail"]


def _of_tail(
    numpy: Module, height: Array, integral: Array, slopes: Array | None, is_it: Array, order: int | None
) -> Array:
    """Return the logarithm, a derivative ratio, or the hazard of a tail.

    The integrated tail is exp(``height``) · ``integral``.

    Args:
        numpy: module of array functions: ``numpy`` or ``jax.numpy``.
        height: logarithm of the integrand at the bound.
        integral: the integral over the tail, divided by the integrand at the bound.
        slopes: for a positive ``order``, the integral of the differentiated integrand over the tail, divided
            by the integrand at the bound.
        is_it: whether the integrated tail is the requested tail. If not, one minus the integrated tail is
            requested.
        order: 0 requests the logarithm of the tail, n > 0 the ratio of its n-th derivative to the tail, and
            ``None`` the hazard.
    """
    tail = numpy.minimum(numpy.exp(height) * integral, 1.0)
    if order == 0:
        return numpy.where(is_it, height + numpy.log(integral), numpy.log1p(-tail))
    top = 1.0 if order is None else slopes
    sign = 1.0 if order is None else -1.0
    return numpy.where(is_it, top / integral, sign * numpy.exp(height) * top / (1.0 - tail))


def _log_gamma(functions: Functions, shape: Array, bound: Array, n: int | None, upper: bool) -> Array:
    """Return log T, the ratio ∂ⁿT / T, or the hazard t p(t) / T of a gamma tail T.

    The result is log T for ``n`` = 0, the ratio for ``n`` > 0, and the hazard if ``n`` is ``None``.
    """
    numpy = functions.numpy
    inside = (bound > 0) & (bound < math.inf) & (shape > 0)
    a, x = (numpy.where(inside, value, 1.0).astype(shape.dtype) for value in (shape, bound))
    start = numpy.log(x / a)
    is_below = x <= numpy.maximum(a, 1.0)
    direction = numpy.where(is_below, -1.0, 1.0).astype(a.dtype)
    scale = 1 / (1 + numpy.sqrt(a) + abs(x - a))
    offset = numpy.log(x) - functions.polygamma(a, 0)
    further = [-functions.polygamma(a, order) for order in range(1, n or 0)]
    relative = lambda d: numpy.exp(a * d - x * numpy.expm1(d))

    def term(w: Array) -> Array:
        derivatives = [direction * w + offset, *further]
        return relative(direction * w) * polynomial(n or 0, 0, lambda i, j: derivatives[i - 1])

    integral = functions.integral(scale, lambda w: relative(direction * w))
    height = a * (start - numpy.expm1(start)) + functions.at_mode(a)
    slopes = functions.integral(scale, term) if n else None
    value = _of_tail(numpy, height, integral, slopes, is_below != upper, n)
    is_lower_end = bound == 0
    if n is None:
        at_end = numpy.where(is_lower_end, 0.0 if upper else shape, math.inf if upper else 0.0)
    else:
        at_end = numpy.where(is_lower_end == upper, 0.0, -math.inf) if n == 0 else 0.0
    return with_ends(functions, value, inside, (shape > 0) & (bound >= 0), at_end)


def _logarithm(x: Atom) -> Atom:
    """Return log x, and 0 if x is 0."""
    return log(select(equal(x, zeros(x.type)), full(x.type, 1.0), x))


def _log_gamma_partials(y: Atom, a: Atom, x: Atom, *, n: int, upper: bool) -> list[Partial]:
    slope = log_gamma_tail(a, x, n=n + 1, upper=upper)
    hazard = gamma_hazard(a, x, upper=upper)
    if n:
        slope = slope - y * log_gamma_tail(a, x, n=1, upper=upper)
        hazard = hazard * (polynomial(n, 0, derivatives_of_gamma(a, _logarithm(x))) - y)
    return [slope, (-hazard if upper else hazard, 1 / x)]


def _gamma_hazard_partials(y: Atom, a: Atom, x: Atom, *, upper: bool) -> list[Partial]:
    slope = _logarithm(x) - digamma(a) - log_gamma_tail(a, x, n=1, upper=upper)
    return [y * slope, (y, a - x + y if upper else a - x - y, 1 / x)]


#: ``log_gamma_tail(a, x, n, upper)``: the logarithm of the tail T(a, x) that ``incomplete_gamma`` returns.
#: For n > 0, it returns the ratio (∂ⁿT / ∂aⁿ) / T instead
log_gamma_tail = elementwise(
    "log_gamma_tail",
    type_rule=orders_type("log_gamma_tail"),
    numpy=in_double(lambda a, x, n, upper: _log_gamma(Functions(), a, x, n, upper)),
    xla=in_single_xla(lambda jax, a, x, n, upper: _log_gamma(Functions(jax), a, x, n, upper)),
    partials=_log_gamma_partials,
    accepts="float",
    singular=True,
    samples=[
        case(reals(0.4, 4)[3], reals(0.3, 5)[3], n=0, upper=False, accepts="float"),
        case(reals(20, 30)[2], reals(15, 40)[2], n=0, upper=True, accepts="float"),
        case(reals(0.6, 4)[2], reals(0.3, 5)[2], n=1, upper=False, accepts="float"),
    ],
)

#: ``gamma_hazard``: x p(x) / T, where T is the tail that ``incomplete_gamma`` returns, and p = |∂T / ∂x| is
#: the density
gamma_hazard = elementwise(
    "gamma_hazard",
    type_rule=orders_type("gamma_hazard"),
    numpy=in_double(lambda a, x, upper: _log_gamma(Functions(), a, x, None, upper)),
    xla=in_single_xla(lambda jax, a, x, upper: _log_gamma(Functions(jax), a, x, None, upper)),
    partials=_gamma_hazard_partials,
    accepts="float",
    singular=True,
    samples=[
        case(reals(0.4, 4)[3], reals(0.3, 5)[3], upper=False, accepts="float"),
        case(reals(20, 30)[2], reals(15, 40)[2], upper=True, accepts="float"),
    ],
)


def _log_beta(
    functions: Functions, first: Array, second: Array, bound: Array, m: int | None, n: int
) -> Array:
    """Return log I, the ratio ∂ᵐ⁺ⁿI / I, or the hazard of the beta distribution.

    I is the regularized incomplete beta function. The result is log I for ``m`` = ``n`` = 0, and the ratio
    for any other integers. If ``m`` is ``None``, the result is the hazard x (1 − x) p(x) / I.
    """
    numpy = functions.numpy
    inside = (bound > 0) & (bound < 1) & (first > 0) & (second > 0)
    p, q = (numpy.where(inside, value, 1.0).astype(first.dtype) for value in (first, second))
    x = numpy.where(inside, bound, 0.5).astype(first.dtype)
    of_x, of_rest = numpy.log(x), numpy.log1p(-x)
    is_below = of_x - of_rest <= numpy.log(p / q)
    # the upper tail is the lower tail of the density of 1 − t, for which the parameters a and b are exchanged
    a, b, start = numpy.where(is_below, p, q), numpy.where(is_below, q, p), numpy.where(is_below, x, 1 - x)
    scale = 1 / (1 + numpy.sqrt(a * b / (a + b)) + abs(p - (p + q) * x))
    drop = lambda w: numpy.log1p(start * numpy.expm1(-w))  # −log((1 − t) / (1 − start))
    both = [functions.polygamma(p + q, order) for order in range(max((m or 0) + n, 1))]
    alone = [[functions.polygamma(shape, order) for order in range(max(m or 0, n, 1))] for shape in (p, q)]

    def term(w: Array) -> Array:
        below = drop(w)
        near, far = -w - below, -below  # logarithms of t and of 1 − t, relative to the start
        logarithms = (
            of_x + numpy.where(is_below, near, far), of_rest + numpy.where(is_below, far, near),
        )  # fmt: skip

        def derivative(i: int, j: int) -> Array:
            if i and j:
                return both[i + j - 1]
            k, order = (0, i) if i else (1, j)
            constant = both[order - 1] - alone[k][order - 1]
            return constant + logarithms[k] if order == 1 else constant

        return numpy.exp(-a * w - (a + b) * below) * polynomial(m or 0, n, derivative)

    integral = functions.integral(scale, lambda w: numpy.exp(-a * w - (a + b) * drop(w)))
    at_mode = functions.at_mode(a) + functions.at_mode(b) - functions.at_mode(a + b)
    height = p * (of_x - numpy.log(p / (p + q))) + q * (of_rest - numpy.log(q / (p + q))) + at_mode
    order = None if m is None else m + n
    slopes = functions.integral(scale, term) if order else None
    value = _of_tail(numpy, height, integral, slopes, is_below, order)
    at_end = numpy.where(bound > 0, 0.0, first if m is None else -math.inf if order == 0 else 0.0)
    possible = (first > 0) & (second > 0) & (bound >= 0) & (bound <= 1)
    return with_ends(functions, value, inside, possible, at_end)


def _log_beta_partials(y: Atom, a: Atom, b: Atom, x: Atom, *, m: int, n: int) -> list[Partial]:
    slopes = [log_beta_tail(a, b, x, m=m + 1, n=n), log_beta_tail(a, b, x, m=m, n=n + 1)]
    hazard = beta_hazard(a, b, x)
    if m + n:
        firsts = [log_beta_tail(a, b, x, m=1, n=0), log_beta_tail(a, b, x, m=0, n=1)]
        slopes = [slope - y * first for slope, first in zip(slopes, firsts, strict=True)]
        logarithms = _logarithm(x), _logarithm(1.0 - x)
        hazard = hazard * (polynomial(m, n, derivatives_of_beta(a, b, logarithms)) - y)
    return [*slopes, (hazard, 1 / (1.0 - x), 1 / x)]


def _beta_hazard_partials(y: Atom, a: Atom, b: Atom, x: Atom) -> list[Partial]:
    of_both = digamma(a + b)
    of_a = _logarithm(x) + of_both - digamma(a) - log_beta_tail(a, b, x, m=1, n=0)
    of_b = _logarithm(1.0 - x) + of_both - digamma(b) - log_beta_tail(a, b, x, m=0, n=1)
    return [y * of_a, y * of_b, (y, a - (a + b) * x - y, 1 / (1.0 - x), 1 / x)]


#: ``log_beta_tail``: the logarithm of the regularized incomplete beta function Iₓ(a, b). For m + n > 0, it
#: returns the ratio (∂ᵐ⁺ⁿI / ∂aᵐ ∂bⁿ) / I instead
log_beta_tail = elementwise(
    "log_beta_tail",
    type_rule=orders_type("log_beta_tail"),
    numpy=in_double(lambda a, b, x, m, n: _log_beta(Functions(), a, b, x, m, n)),
    xla=in_single_xla(lambda jax, a, b, x, m, n: _log_beta(Functions(jax), a, b, x, m, n)),
    partials=_log_beta_partials,
    accepts="float",
    singular=True,
    samples=[
        case(reals(0.5, 4)[3], reals(0.5, 4)[3], reals(0.1, 0.9)[3], m=0, n=0, accepts="float"),
        case(reals(0.6, 4)[2], reals(0.6, 4)[2], reals(0.2, 0.8)[2], m=1, n=1, accepts="float"),
    ],
)

#: ``beta_hazard``: x (1 − x) p(x) / Iₓ(a, b), where p is the density of the beta distribution
beta_hazard = elementwise(
    "beta_hazard",
    type_rule=orders_type("beta_hazard"),
    numpy=in_double(lambda a, b, x: _log_beta(Functions(), a, b, x, None, 0)),
    xla=in_single_xla(lambda jax, a, b, x: _log_beta(Functions(jax), a, b, x, None, 0)),
    partials=_beta_hazard_partials,
    accepts="float",
    singular=True,
    samples=(reals(0.5, 4), reals(0.5, 4), reals(0.1, 0.9)),
)
