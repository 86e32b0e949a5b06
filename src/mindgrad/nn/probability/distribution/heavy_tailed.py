"""Distributions with location and scale: Cauchy, HalfNormal, Laplace, StudentT."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from mindgrad import ops
from mindgrad.core.ir.dtype import float32
from mindgrad.nn.probability.distribution.distribution import Distribution, above_zero
from mindgrad.nn.probability.distribution.tails import log1p_of_square, log_cauchy_survival

__all__ = ["Cauchy", "HalfNormal", "Laplace", "StudentT"]


class Cauchy(Distribution):
    """The Cauchy distribution, with density 1 / (π scale (1 + ((x − loc) / scale)²)).

    It has no mean and no variance.

    Args:
        loc (number, array, or Tensor, optional): mode of the distribution.
        scale (number, array, or Tensor, optional): half width at half maximum, above 0.
        seed, dtype, name: see :class:`Distribution`.

    Raises:
        ValueError: If a mean, variance, or standard deviation is requested.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Cauchy
    >>> print(Cauchy(1.0, 2.0).cdf(Tensor([1.0])))
    [0.5]
    """

    parameter_names = ("loc", "scale")
    conditions = {"scale": above_zero}

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = None, dtype: Any = float32, name: str = "Cauchy"
    ) -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})

    def _log_prob(self, value: Any, loc: Any, scale: Any) -> Any:
        return -log1p_of_square((value - loc) / scale) - ops.log(scale) - math.log(math.pi)

    def _cdf(self, value: Any, loc: Any, scale: Any) -> Any:
        z = (loc - value) / scale
        return ops.atan2(ops.ones_like(z), z) * (1.0 / math.pi)

    def _survival(self, value: Any, loc: Any, scale: Any) -> Any:
        z = (value - loc) / scale
        return ops.atan2(ops.ones_like(z), z) * (1.0 / math.pi)

    def _log_cdf(self, value: Any, loc: Any, scale: Any) -> Any:
        return log_cauchy_survival((loc - value) / scale)

    def _log_survival(self, value: Any, loc: Any, scale: Any) -> Any:
        return log_cauchy_survival((value - loc) / scale)

    def _undefined(self, *parameters: Any) -> NoReturn:
        raise ValueError("For 'Cauchy', mean, variance and standard deviation are not defined.")

    _mean = _var = _sd = _undefined

    def _mode(self, loc: Any, scale: Any) -> Any:
        return loc + ops.zeros_like(scale)

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return ops.log(scale + ops.zeros_like(loc)) + math.log(4.0 * math.pi)

    def _kl(self, second: Any, first: Any) -> Any:
        (loc_b, scale_b), (loc, scale) = second, first
        both = ops.square(scale + scale_b) + ops.square(loc - loc_b)
        return ops.log(both / (4.0 * scale * scale_b))

    def _sample(self, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        return loc + scale * ops.tan(math.pi * (self._fractions(shape) - 0.5))


class _Centered(Distribution):
    """A distribution with a location, a scale, and only a density, as in MindSpore."""

    parameter_names: tuple[str, ...] = ("mean", "sd")
    conditions = {"sd": above_zero}


class HalfNormal(_Centered):
    """The half-normal distribution: twice the normal density for x ≥ ``mean``.

    Args:
        mean (number, array, or Tensor, optional): lower bound, the mean of the normal density.
        sd (number, array, or Tensor, optional): standard deviation of the normal density, above 0.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import HalfNormal
    >>> print(HalfNormal(0.0, 2.0).prob(Tensor([0.0, -1.0])).asnumpy().round(4))
    [0.3989 0.    ]
    """

    def __init__(
        self,
        mean: Any = None,
        sd: Any = None,
        seed: Any = None,
        dtype: Any = float32,
        name: str = "HalfNormal",
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    def _log_prob(self, value: Any, mean: Any, sd: Any) -> Any:
        density = 0.5 * math.log(2.0 / math.pi) - ops.log(sd) - 0.5 * ops.square((value - mean) / sd)
        return ops.where(value >= mean, density, float("-inf"))


class Laplace(_Centered):
    """The Laplace distribution, with density exp(−|x − mean| / sd) / (2 sd).

    Args:
        mean (number, array, or Tensor, optional): mean of the distribution.
        sd (number, array, or Tensor, optional): scale of the distribution, above 0.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Laplace
    >>> print(Laplace(0.0, 2.0).prob(Tensor([0.0])))
    [0.25]
    """

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = float32, name: str = "Laplace"
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    def _log_prob(self, value: Any, mean: Any, sd: Any) -> Any:
        return -ops.abs(value - mean) / sd - ops.log(2.0 * sd)


class StudentT(_Centered):
    """Student's t distribution, with a location and a scale.

    The density is proportional to (1 + ((x − mean) / sd)² / df)^(−(df + 1) / 2).

    Args:
        df (number, array, or Tensor, optional): degrees of freedom, above 0.
        mean (number, array, or Tensor, optional): location, the center of the density.
        sd (number, array, or Tensor, optional): scale of the distribution, above 0.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import StudentT
    >>> print(f"{StudentT(3.0, 0.0, 2.0).prob(Tensor([0.0])).item():.4f}")
    0.1838
    """

    parameter_names = ("df", "mean", "sd")
    conditions = {"df": above_zero, "sd": above_zero}

    def __init__(
        self, df: Any = None, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = float32,
        name: str = "StudentT",
    ) -> None:  # fmt: skip
        super().__init__(seed, dtype, name, {"df": df, "mean": mean, "sd": sd})

    def _log_prob(self, value: Any, df: Any, mean: Any, sd: Any) -> Any:
        half = 0.5 * (df + 1.0)
        constant = ops.lgamma(half) - ops.lgamma(0.5 * df) - 0.5 * ops.log(math.pi * df) - ops.log(sd)
        return constant - half * log1p_of_square((value - mean) / sd / ops.sqrt(df))
