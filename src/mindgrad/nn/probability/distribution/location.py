"""Normal, LogNormal, Uniform, Logistic, and Gumbel distributions."""

from __future__ import annotations

import math
from typing import Any

from mindgrad import ops
from mindgrad.ir.dtype import float32
from mindgrad.nn.probability.distribution.distribution import Distribution, above_zero
from mindgrad.nn.probability.distribution.tails import log_normal_cdf, log_of_gumbel_survival, softplus

__all__ = ["Gumbel", "LogNormal", "Logistic", "Normal", "Uniform"]

_HALF_LOG = 0.5 * math.log(2 * math.pi)
_EULER = 0.5772156649015329


class Normal(Distribution):
    """The normal distribution, with density exp(−((x − mean) / sd)² / 2) / (sd √(2π)).

    Samples are mean + sd · z, so gradients flow from them to both parameters.

    Args:
        mean (number, array, or Tensor, optional): mean of the distribution.
        sd (number, array, or Tensor, optional): standard deviation of the distribution, above 0.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Normal
    >>> normal = Normal(1.0, 2.0)
    >>> print(f"{normal.log_prob(Tensor([1.0])).item():.4f} {normal.cdf(Tensor([1.0])).item():.4f}")
    -1.6121 0.5000
    >>> print(normal.kl_loss("Normal", Tensor(1.0), Tensor(2.0)))
    0.0
    """

    parameter_names = ("mean", "sd")
    conditions = {"sd": above_zero}

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = float32, name: str = "Normal"
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    def _log_prob(self, value: Any, mean: Any, sd: Any) -> Any:
        return -0.5 * ops.square((value - mean) / sd) - ops.log(sd) - _HALF_LOG

    def _cdf(self, value: Any, mean: Any, sd: Any) -> Any:
        return 0.5 * ops.erfc((mean - value) / sd * math.sqrt(0.5))

    def _survival(self, value: Any, mean: Any, sd: Any) -> Any:
        return 0.5 * ops.erfc((value - mean) / sd * math.sqrt(0.5))

    def _log_cdf(self, value: Any, mean: Any, sd: Any) -> Any:
        return log_normal_cdf((value - mean) / sd)

    def _log_survival(self, value: Any, mean: Any, sd: Any) -> Any:
        return log_normal_cdf((mean - value) / sd)

    def _mean(self, mean: Any, sd: Any) -> Any:
        return mean + ops.zeros_like(sd)

    _mode = _mean

    def _sd(self, mean: Any, sd: Any) -> Any:
        return sd + ops.zeros_like(mean)

    def _var(self, mean: Any, sd: Any) -> Any:
        return ops.square(self._sd(mean, sd))

    def _entropy(self, mean: Any, sd: Any) -> Any:
        return 0.5 + _HALF_LOG + ops.log(self._sd(mean, sd))

    def _kl(self, second: Any, first: Any) -> Any:
        (mean_b, sd_b), (mean, sd) = second, first
        return ops.log(sd_b / sd) + 0.5 * (ops.square(sd / sd_b) + ops.square((mean - mean_b) / sd_b)) - 0.5

    def _sample(self, shape: tuple[int, ...], mean: Any, sd: Any) -> Any:
        return mean + sd * ops.standard_normal(shape, self._seed or None)


class LogNormal(Normal):
    """The log-normal distribution: the logarithm is normally distributed.

    Args:
        loc (number, array, or Tensor, optional): mean of the logarithm.
        scale (number, array, or Tensor, optional): standard deviation of the logarithm, above 0.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import LogNormal
    >>> print(f"{LogNormal(0.0, 1.0).prob(Tensor([1.0])).item():.4f}")
    0.3989
    """

    parameter_names = ("loc", "scale")
    conditions = {"scale": above_zero}

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = 0, dtype: Any = float32, name: str = "LogNormal"
    ) -> None:
        Distribution.__init__(self, seed, dtype, name, {"loc": loc, "scale": scale})

    def _log_prob(self, value: Any, loc: Any, scale: Any) -> Any:
        is_positive = value > 0.0
        log = ops.log(ops.where(is_positive, value, 1.0))
        return ops.where(is_positive, super()._log_prob(log, loc, scale) - log, float("-inf"))

    def _cdf(self, value: Any, loc: Any, scale: Any) -> Any:
        return self._of_logarithm(super()._cdf, 0.0, value, loc, scale)

    def _survival(self, value: Any, loc: Any, scale: Any) -> Any:
        return self._of_logarithm(super()._survival, 1.0, value, loc, scale)

    def _log_cdf(self, value: Any, loc: Any, scale: Any) -> Any:
        return self._of_logarithm(super()._log_cdf, float("-inf"), value, loc, scale)

    def _log_survival(self, value: Any, loc: Any, scale: Any) -> Any:
        return self._of_logarithm(super()._log_survival, 0.0, value, loc, scale)

    def _of_logarithm(self, of_normal: Any, elsewhere: float, value: Any, loc: Any, scale: Any) -> Any:
        """Return ``of_normal(log(value), loc, scale)``, or ``elsewhere`` if value ≤ 0."""
        is_positive = value > 0.0
        return ops.where(
            is_positive, of_normal(ops.log(ops.where(is_positive, value, 1.0)), loc, scale), elsewhere
        )

    def _mean(self, loc: Any, scale: Any) -> Any:
        return ops.exp(loc + 0.5 * ops.square(scale))

    def _var(self, loc: Any, scale: Any) -> Any:
        return ops.expm1(ops.square(scale)) * ops.exp(2.0 * loc + ops.square(scale))

    def _sd(self, loc: Any, scale: Any) -> Any:
        return ops.sqrt(self._var(loc, scale))

    def _mode(self, loc: Any, scale: Any) -> Any:
        return ops.exp(loc - ops.square(scale))

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return 0.5 + _HALF_LOG + ops.log(scale) + loc

    def _sample(self, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        return ops.exp(super()._sample(shape, loc, scale))


class Uniform(Distribution):
    """The uniform distribution on [low, high].

    Samples are low + (high − low) · u, so gradients flow from them to both parameters.

    Args:
        low (number, array, or Tensor, optional): lower bound.
        high (number, array, or Tensor, optional): upper bound, above ``low``.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Uniform
    >>> print(Uniform(0.0, 2.0).prob(Tensor([1.0, 3.0])))
    [0.5 0. ]
    """

    parameter_names = ("low", "high")

    def __init__(
        self, low: Any = None, high: Any = None, seed: Any = None, dtype: Any = float32, name: str = "Uniform"
    ) -> None:
        super().__init__(seed, dtype, name, {"low": low, "high": high})

    def _log_prob(self, value: Any, low: Any, high: Any) -> Any:
        is_inside = ops.logical_and(value >= low, value <= high)
        return ops.where(is_inside, -ops.log(high - low) + ops.zeros_like(value), float("-inf"))

    def _cdf(self, value: Any, low: Any, high: Any) -> Any:
        return ops.clamp((value - low) / (high - low), 0.0, 1.0)

    def _survival(self, value: Any, low: Any, high: Any) -> Any:
        return ops.clamp((high - value) / (high - low), 0.0, 1.0)

    def _mean(self, low: Any, high: Any) -> Any:
        return 0.5 * (low + high)

    def _var(self, low: Any, high: Any) -> Any:
        return ops.square(high - low) / 12.0

    def _entropy(self, low: Any, high: Any) -> Any:
        return ops.log(high - low)

    def _kl(self, second: Any, first: Any) -> Any:
        (low_b, high_b), (low, high) = second, first
        is_inside = ops.logical_and(low_b <= low, high <= high_b)
        return ops.where(is_inside, ops.log((high_b - low_b) / (high - low)), float("inf"))

    def _sample(self, shape: tuple[int, ...], low: Any, high: Any) -> Any:
        return low + (high - low) * (1.0 - self._fractions(shape))


class _LocationScale(Distribution):
    """The distribution of loc + scale · z for a random number z."""

    parameter_names = ("loc", "scale")
    conditions = {"scale": above_zero}

    def _mode(self, loc: Any, scale: Any) -> Any:
        return loc + ops.zeros_like(scale)


class Logistic(_LocationScale):
    """The logistic distribution, with ``cdf`` 1 / (1 + exp(−(x − loc) / scale)).

    Args:
        loc (number, array, or Tensor, optional): mean of the distribution.
        scale (number, array, or Tensor, optional): scale of the distribution, above 0.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Logistic
    >>> print(Logistic(1.0, 2.0).cdf(Tensor([1.0])))
    [0.5]
    """

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        seed: Any = None,
        dtype: Any = float32,
        name: str = "Logistic",
    ) -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})

    def _log_prob(self, value: Any, loc: Any, scale: Any) -> Any:
        z = (value - loc) / scale
        return -z - 2.0 * softplus(-z) - ops.log(scale)

    def _cdf(self, value: Any, loc: Any, scale: Any) -> Any:
        return ops.sigmoid((value - loc) / scale)

    def _log_cdf(self, value: Any, loc: Any, scale: Any) -> Any:
        return -softplus((loc - value) / scale)

    def _survival(self, value: Any, loc: Any, scale: Any) -> Any:
        return ops.sigmoid((loc - value) / scale)

    def _log_survival(self, value: Any, loc: Any, scale: Any) -> Any:
        return -softplus((value - loc) / scale)

    def _mean(self, loc: Any, scale: Any) -> Any:
        return self._mode(loc, scale)

    def _sd(self, loc: Any, scale: Any) -> Any:
        return (scale + ops.zeros_like(loc)) * (math.pi / math.sqrt(3.0))

    def _var(self, loc: Any, scale: Any) -> Any:
        return ops.square(self._sd(loc, scale))

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return ops.log(scale + ops.zeros_like(loc)) + 2.0

    def _sample(self, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        u = self._fractions(shape)
        return loc + scale * (ops.log(u) - ops.log(ops.maximum(1.0 - u, 2.0**-25)))


class Gumbel(_LocationScale):
    """The Gumbel distribution, with ``cdf`` exp(−exp(−(x − loc) / scale)).

    It is the limit distribution of the maximum of many samples.

    Args:
        loc (number, array, or Tensor): mode of the distribution.
        scale (number, array, or Tensor): scale of the distribution, above 0.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Gumbel
    >>> print(f"{Gumbel(1.0, 2.0).cdf(Tensor([1.0])).item():.4f}")
    0.3679
    """

    def __init__(
        self, loc: Any, scale: Any, seed: Any = 0, dtype: Any = float32, name: str = "Gumbel"
    ) -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})

    def _log_prob(self, value: Any, loc: Any, scale: Any) -> Any:
        z = (value - loc) / scale
        return -z - ops.exp(-z) - ops.log(scale)

    def _cdf(self, value: Any, loc: Any, scale: Any) -> Any:
        return ops.exp(-ops.exp((loc - value) / scale))

    def _log_cdf(self, value: Any, loc: Any, scale: Any) -> Any:
        return -ops.exp((loc - value) / scale)

    def _survival(self, value: Any, loc: Any, scale: Any) -> Any:
        return -ops.expm1(-ops.exp((loc - value) / scale))

    def _log_survival(self, value: Any, loc: Any, scale: Any) -> Any:
        return log_of_gumbel_survival((value - loc) / scale)

    def _mean(self, loc: Any, scale: Any) -> Any:
        return loc + _EULER * scale

    def _sd(self, loc: Any, scale: Any) -> Any:
        return (scale + ops.zeros_like(loc)) * (math.pi / math.sqrt(6.0))

    def _var(self, loc: Any, scale: Any) -> Any:
        return ops.square(self._sd(loc, scale))

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return ops.log(scale + ops.zeros_like(loc)) + (1.0 + _EULER)

    def _kl(self, second: Any, first: Any) -> Any:
        (loc_b, scale_b), (loc, scale) = second, first
        ratio = scale / scale_b
        mean = ops.exp((loc_b - loc) / scale_b + ops.lgamma(ratio + 1.0))
        return -ops.log(ratio) + _EULER * (ratio - 1.0) + mean - 1.0 + (loc - loc_b) / scale_b

    def _sample(self, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        return loc - scale * ops.log(-ops.log(ops.minimum(self._fractions(shape), 1.0 - 2.0**-24)))
