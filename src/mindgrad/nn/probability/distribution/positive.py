"""Distributions of positive numbers: exponential, gamma, and beta."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.core.ir.dtype import float32
from mindgrad.nn.probability.distribution.distribution import Distribution, above_zero
from mindgrad.nn.probability.distribution.tails import (
    log1mexp,
    log_beta_cdf,
    log_gamma_cdf,
    log_gamma_survival,
    xlog1py,
)

__all__ = ["Beta", "Exponential", "Gamma"]

_NAN = float("nan")
#: Upper bound of the logarithm of the normalizing factor, so that the factor does not overflow. The factor is
#: used only at an edge of the support: there, the log density may be −∞, so the density is computed as a
#: product of powers and the normalizing factor.
_MOST = 80.0


class Exponential(Distribution):
    """The exponential distribution, with density rate · exp(−rate · x) for x ≥ 0.

    Samples are −log u / rate, so gradients flow from them to the rate.

    Args:
        rate (number, array, or Tensor, optional): rate, the inverse of the mean; above 0.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Exponential
    >>> print(Exponential(2.0).prob(Tensor([0.0, -1.0])))
    [2. 0.]
    """

    parameter_names = ("rate",)
    conditions = {"rate": above_zero}

    def __init__(
        self, rate: Any = None, seed: Any = None, dtype: Any = float32, name: str = "Exponential"
    ) -> None:
        super().__init__(seed, dtype, name, {"rate": rate})

    def _log_prob(self, value: Any, rate: Any) -> Any:
        return ops.where(value >= 0.0, ops.log(rate) - rate * value, float("-inf"))

    def _cdf(self, value: Any, rate: Any) -> Any:
        return -ops.expm1(-rate * ops.relu(value))

    def _survival(self, value: Any, rate: Any) -> Any:
        return ops.exp(-rate * ops.relu(value))

    def _log_cdf(self, value: Any, rate: Any) -> Any:
        return log1mexp(rate * ops.relu(value))

    def _log_survival(self, value: Any, rate: Any) -> Any:
        return -rate * ops.relu(value)

    def _mean(self, rate: Any) -> Any:
        return 1.0 / rate

    _sd = _mean

    def _var(self, rate: Any) -> Any:
        return 1.0 / ops.square(rate)

    def _mode(self, rate: Any) -> Any:
        return ops.zeros_like(rate)

    def _entropy(self, rate: Any) -> Any:
        return 1.0 - ops.log(rate)

    def _kl(self, second: Any, first: Any) -> Any:
        ratio = second[0] / first[0]
        return ratio - 1.0 - ops.log(ratio)

    def _sample(self, shape: tuple[int, ...], rate: Any) -> Any:
        return -ops.log(self._fractions(shape)) / rate


class Gamma(Distribution):
    """The gamma distribution, with density rateᶜ xᶜ⁻¹ exp(−rate · x) / Γ(c).

    Gradients flow from samples to the rate, but not to the concentration c (see :func:`mindgrad.ops.gamma`).

    Args:
        concentration (number, array, or Tensor, optional): shape parameter c, above 0.
        rate (number, array, or Tensor, optional): rate, the inverse of the scale; above 0.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Gamma
    >>> print(f"{Gamma([2.0], [3.0]).prob(Tensor([1.0])).item():.4f}")
    0.4481
    """

    parameter_names = ("concentration", "rate")
    conditions = {"concentration": above_zero, "rate": above_zero}

    def __init__(
        self, concentration: Any = None, rate: Any = None, seed: Any = None, dtype: Any = float32,
        name: str = "Gamma",
    ) -> None:  # fmt: skip
        super().__init__(seed, dtype, name, {"concentration": concentration, "rate": rate})

    def _prob(self, value: Any, concentration: Any, rate: Any) -> Any:
        is_edge = value == 0.0
        logarithm = self._log_prob(ops.where(is_edge, 1.0, value), concentration, rate)
        scale = concentration * ops.log(rate) - ops.lgamma(concentration)
        at_edge = ops.pow(value, concentration - 1.0) * ops.exp(ops.clamp(scale, None, _MOST) - rate * value)
        return ops.where(is_edge, at_edge, ops.exp(logarithm))

    def _log_prob(self, value: Any, concentration: Any, rate: Any) -> Any:
        constant = concentration * ops.log(rate) - ops.lgamma(concentration)
        return ops.xlogy(concentration - 1.0, value) - rate * value + constant

    def _cdf(self, value: Any, concentration: Any, rate: Any) -> Any:
        return ops.igamma(concentration, rate * ops.relu(value))

    def _survival(self, value: Any, concentration: Any, rate: Any) -> Any:
        return ops.igammac(concentration, rate * ops.relu(value))

    def _log_cdf(self, value: Any, concentration: Any, rate: Any) -> Any:
        return log_gamma_cdf(concentration, rate * ops.relu(value))

    def _log_survival(self, value: Any, concentration: Any, rate: Any) -> Any:
        return log_gamma_survival(concentration, rate * ops.relu(value))

    def _mean(self, concentration: Any, rate: Any) -> Any:
        return concentration / rate

    def _var(self, concentration: Any, rate: Any) -> Any:
        return concentration / ops.square(rate)

    def _mode(self, concentration: Any, rate: Any) -> Any:
        return ops.where(concentration > 1.0, (concentration - 1.0) / rate, _NAN)

    def _entropy(self, concentration: Any, rate: Any) -> Any:
        rest = ops.lgamma(concentration) + (1.0 - concentration) * ops.digamma(concentration)
        return concentration - ops.log(rate) + rest

    def _kl(self, second: Any, first: Any) -> Any:
        (c_b, rate_b), (c, rate) = second, first
        counts = (c - c_b) * ops.digamma(c) - ops.lgamma(c) + ops.lgamma(c_b)
        return counts + c_b * ops.log(rate / rate_b) + c * (rate_b / rate - 1.0)

    def _sample(self, shape: tuple[int, ...], concentration: Any, rate: Any) -> Any:
        return ops.gamma(shape, concentration, rate, self._seed or None)


class Beta(Distribution):
    """The beta distribution, with density xᵃ⁻¹ (1 − x)ᵇ⁻¹ / B(a, b) on [0, 1].

    Args:
        concentration1 (number, array, or Tensor, optional): shape parameter a, above 0.
        concentration0 (number, array, or Tensor, optional): shape parameter b, above 0.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Beta
    >>> print(f"{Beta([2.0], [2.0]).prob(Tensor([0.5])).item():.4f}")
    1.5000
    """

    parameter_names = ("concentration1", "concentration0")
    conditions = {"concentration1": above_zero, "concentration0": above_zero}

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, seed: Any = None, dtype: Any = float32,
        name: str = "Beta",
    ) -> None:  # fmt: skip
        param = {"concentration1": concentration1, "concentration0": concentration0}
        super().__init__(seed, dtype, name, param)

    def _prob(self, value: Any, a: Any, b: Any) -> Any:
        is_edge = ops.logical_or(value == 0.0, value == 1.0)
        logarithm = self._log_prob(ops.where(is_edge, 0.5, value), a, b)
        powers = ops.pow(value, a - 1.0) * ops.pow(1.0 - value, b - 1.0)
        at_edge = powers * ops.exp(ops.clamp(-_log_beta(a, b), None, _MOST))
        return ops.where(is_edge, at_edge, ops.exp(logarithm))

    def _log_prob(self, value: Any, a: Any, b: Any) -> Any:
        return ops.xlogy(a - 1.0, value) + xlog1py(b - 1.0, -value) - _log_beta(a, b)

    def _cdf(self, value: Any, a: Any, b: Any) -> Any:
        return ops.betainc(a, b, ops.clamp(value, 0.0, 1.0))

    def _survival(self, value: Any, a: Any, b: Any) -> Any:
        return ops.betainc(b, a, 1.0 - ops.clamp(value, 0.0, 1.0))

    def _log_cdf(self, value: Any, a: Any, b: Any) -> Any:
        return log_beta_cdf(a, b, ops.clamp(value, 0.0, 1.0))

    def _log_survival(self, value: Any, a: Any, b: Any) -> Any:
        return log_beta_cdf(b, a, 1.0 - ops.clamp(value, 0.0, 1.0))

    def _mean(self, a: Any, b: Any) -> Any:
        return a / (a + b)

    def _var(self, a: Any, b: Any) -> Any:
        return a * b / (ops.square(a + b) * (a + b + 1.0))

    def _mode(self, a: Any, b: Any) -> Any:
        is_inside = ops.logical_and(a > 1.0, b > 1.0)
        return ops.where(is_inside, (a - 1.0) / ops.where(is_inside, a + b - 2.0, 1.0), _NAN)

    def _entropy(self, a: Any, b: Any) -> Any:
        total = (a + b - 2.0) * ops.digamma(a + b)
        return _log_beta(a, b) - (a - 1.0) * ops.digamma(a) - (b - 1.0) * ops.digamma(b) + total

    def _kl(self, second: Any, first: Any) -> Any:
        (a_b, b_b), (a, b) = second, first
        total = (a_b - a + b_b - b) * ops.digamma(a + b)
        parts = (a - a_b) * ops.digamma(a) + (b - b_b) * ops.digamma(b)
        return _log_beta(a_b, b_b) - _log_beta(a, b) + parts + total

    def _sample(self, shape: tuple[int, ...], a: Any, b: Any) -> Any:
        seed = self._seed or None
        first = ops.gamma(shape, a, ops.ones_like(a), seed)
        second = ops.gamma(shape, b, ops.ones_like(b), seed if seed is None else seed + 1)
        return first / (first + second)  # type: ignore[operator]


def _log_beta(a: Any, b: Any) -> Any:
    return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)
