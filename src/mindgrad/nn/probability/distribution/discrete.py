"""Discrete distributions: Bernoulli, geometric, Poisson, and categorical.

Values are floats. Between two integers, ``cdf`` is the value at the lower one. Samples have no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad.ir.dtype import float32, int32
from mindgrad.ir.tensor import Tensor
from mindgrad.nn.probability.distribution.distribution import Distribution, above_zero, in_unit_interval
from mindgrad.nn.probability.distribution.tails import log1mexp, log_gamma_cdf, log_gamma_survival, xlog1py

__all__ = ["Bernoulli", "Categorical", "Geometric", "Poisson"]

_NONE = float("-inf")


def _log_chances(p: Any) -> Any:
    """p log p + (1 − p) log(1 − p)."""
    return ops.xlogy(p, p) + xlog1py(1.0 - p, -p)


class _Chance(Distribution):
    """A distribution with a probability of success."""

    parameter_names = ("probs",)
    conditions = {"probs": in_unit_interval}
    is_discrete = True


class Bernoulli(_Chance):
    """The Bernoulli distribution: 1 with probability ``probs``, else 0.

    Args:
        probs (number, array, or Tensor, optional): probability of 1, in [0, 1].
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Bernoulli
    >>> print(Bernoulli(0.25).prob(Tensor([0, 1])))
    [0.75 0.25]
    """

    def __init__(
        self, probs: Any = None, seed: Any = None, dtype: Any = int32, name: str = "Bernoulli"
    ) -> None:
        super().__init__(seed, dtype, name, {"probs": probs})

    def _log_prob(self, value: Any, p: Any) -> Any:
        return ops.xlogy(value, p) + xlog1py(1.0 - value, -p)

    def _cdf(self, value: Any, p: Any) -> Any:
        return ops.where(value < 0.0, 0.0, ops.where(value < 1.0, 1.0 - p, 1.0))

    def _log_cdf(self, value: Any, p: Any) -> Any:
        return ops.where(value < 0.0, _NONE, ops.where(value < 1.0, ops.log1p(-p), 0.0))

    def _survival(self, value: Any, p: Any) -> Any:
        return ops.where(value < 0.0, 1.0, ops.where(value < 1.0, p, 0.0))

    def _mean(self, p: Any) -> Any:
        return p

    def _var(self, p: Any) -> Any:
        return p * (1.0 - p)

    def _mode(self, p: Any) -> Any:
        return ops.cast(p > 0.5, self._dtype)

    def _entropy(self, p: Any) -> Any:
        return -_log_chances(p)

    def _kl(self, second: Any, first: Any) -> Any:
        p_b, p = second[0], first[0]
        return _log_chances(p) - ops.xlogy(p, p_b) - xlog1py(1.0 - p, -p_b)

    def _sample(self, shape: tuple[int, ...], p: Any) -> Any:
        return self._fractions(shape) <= p


class Geometric(_Chance):
    """The geometric distribution: number of failures before the first success.

    Args:
        probs (number, array, or Tensor, optional): probability of success, in (0, 1].
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Geometric
    >>> print(Geometric(0.5).prob(Tensor([0, 1, 2])))
    [0.5   0.25  0.125]
    """

    def __init__(
        self, probs: Any = None, seed: Any = None, dtype: Any = int32, name: str = "Geometric"
    ) -> None:
        super().__init__(seed, dtype, name, {"probs": probs})

    def _log_prob(self, value: Any, p: Any) -> Any:
        count = ops.floor(value)
        return ops.where(value >= 0.0, xlog1py(count, -p) + ops.log(p), _NONE)

    def _survival(self, value: Any, p: Any) -> Any:
        return ops.exp(self._log_survival(value, p))

    def _log_survival(self, value: Any, p: Any) -> Any:
        return xlog1py(ops.relu(ops.floor(value) + 1.0), -p)

    def _cdf(self, value: Any, p: Any) -> Any:
        return -ops.expm1(self._log_survival(value, p))

    def _log_cdf(self, value: Any, p: Any) -> Any:
        return log1mexp(-self._log_survival(value, p))

    def _mean(self, p: Any) -> Any:
        return (1.0 - p) / p

    def _var(self, p: Any) -> Any:
        return (1.0 - p) / ops.square(p)

    def _mode(self, p: Any) -> Any:
        return ops.cast(ops.zeros_like(p), self._dtype)

    def _entropy(self, p: Any) -> Any:
        return -_log_chances(p) / p

    def _kl(self, second: Any, first: Any) -> Any:
        p_b, p = second[0], first[0]
        return (_log_chances(p) - ops.xlogy(p, p_b) - xlog1py(1.0 - p, -p_b)) / p

    def _sample(self, shape: tuple[int, ...], p: Any) -> Any:
        return ops.floor(ops.log(self._fractions(shape)) / ops.log1p(-p))


class Poisson(Distribution):
    """The Poisson distribution: number of independent events.

    Args:
        rate (number, array, or Tensor, optional): mean number of events, above 0.
        seed, dtype, name: see :class:`Distribution`.

    Raises:
        NotImplementedError: If ``entropy`` is called.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Poisson
    >>> print(f"{Poisson([2.0]).prob(Tensor([0.0])).item():.4f}")
    0.1353
    """

    parameter_names = ("rate",)
    conditions = {"rate": above_zero}
    is_discrete = True

    def __init__(
        self, rate: Any = None, seed: Any = None, dtype: Any = float32, name: str = "Poisson"
    ) -> None:
        super().__init__(seed, dtype, name, {"rate": rate})

    def _log_prob(self, value: Any, rate: Any) -> Any:
        is_count = ops.logical_and(value >= 0.0, value == ops.floor(value))
        count = ops.where(is_count, value, 0.0)
        return ops.where(is_count, ops.xlogy(count, rate) - rate - ops.lgamma(count + 1.0), _NONE)

    def _cdf(self, value: Any, rate: Any) -> Any:
        count = ops.floor(value) + 1.0  # the waiting time for ``count`` events has a gamma distribution
        return ops.where(count > 0.0, ops.igammac(ops.where(count > 0.0, count, 1.0), rate), 0.0)

    def _survival(self, value: Any, rate: Any) -> Any:
        count = ops.floor(value) + 1.0
        return ops.where(count > 0.0, ops.igamma(ops.where(count > 0.0, count, 1.0), rate), 1.0)

    def _log_cdf(self, value: Any, rate: Any) -> Any:
        count = ops.floor(value) + 1.0
        inside = log_gamma_survival(ops.where(count > 0.0, count, 1.0), rate)
        return ops.where(count > 0.0, inside, float("-inf"))

    def _log_survival(self, value: Any, rate: Any) -> Any:
        count = ops.floor(value) + 1.0
        return ops.where(count > 0.0, log_gamma_cdf(ops.where(count > 0.0, count, 1.0), rate), 0.0)

    def _mean(self, rate: Any) -> Any:
        return rate

    _var = _mean

    def _mode(self, rate: Any) -> Any:
        return ops.floor(rate)

    def _kl(self, second: Any, first: Any) -> Any:
        rate_b, rate = second[0], first[0]
        return rate * ops.log(rate / rate_b) + rate_b - rate

    def _sample(self, shape: tuple[int, ...], rate: Any) -> Any:
        return ops.poisson(shape, rate, self._seed or None)


class Categorical(Distribution):
    """The categorical distribution: index of a category.

    Args:
        probs (array or Tensor, optional): probabilities of k categories, of shape (…, k); their sum over the
            last axis is 1.
        seed, dtype, name: see :class:`Distribution`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Categorical
    >>> print(Categorical([0.25, 0.75]).prob(Tensor([0, 1, 1])))
    [0.25 0.75 0.75]
    """

    parameter_names = ("probs",)
    conditions = {"probs": in_unit_interval}
    is_discrete = True

    def __init__(
        self, probs: Any = None, seed: Any = None, dtype: Any = int32, name: str = "Categorical"
    ) -> None:
        super().__init__(seed, dtype, name, {"probs": probs})
        value = self._probs_value
        if value is not None and value.ndim == 0:
            raise ValueError(
                "For 'Categorical', the 'probs' must have at least one axis, because the last axis "
                "contains the categories, but it is a 0-D tensor."
            )

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The shape of the batch, without the axis of categories."""
        return None if self._probs_value is None else self._probs_value.shape[:-1]

    def _batch(self, values: Any) -> tuple[int, ...]:
        return values[0].shape[:-1]

    def _numbers(self, p: Any) -> Any:
        return Tensor(np.arange(p.shape[-1]), self._real)

    def _log_prob(self, value: Any, p: Any) -> Any:
        number = ops.expand_dims(ops.floor(value), -1)
        is_chosen = number == self._numbers(p)
        known = ops.logical_and(value >= 0.0, value < float(p.shape[-1]))
        chosen = ops.sum(ops.where(is_chosen, p, 0.0), -1)
        return ops.where(known, ops.log(ops.where(known, chosen, 1.0)), float("nan"))

    def _cdf(self, value: Any, p: Any) -> Any:
        is_below = self._numbers(p) <= ops.expand_dims(value, -1)
        return ops.sum(ops.where(is_below, p, 0.0), -1)

    def _survival(self, value: Any, p: Any) -> Any:
        is_above = self._numbers(p) > ops.expand_dims(value, -1)
        return ops.sum(ops.where(is_above, p, 0.0), -1)

    def _mean(self, p: Any) -> Any:
        return ops.sum(p * self._numbers(p), -1)

    def _var(self, p: Any) -> Any:
        distance = self._numbers(p) - ops.expand_dims(self._mean(p), -1)
        return ops.sum(p * ops.square(distance), -1)

    def _mode(self, p: Any) -> Any:
        return ops.cast(ops.argmax(p, -1), self._dtype)

    def _entropy(self, p: Any) -> Any:
        return -ops.sum(ops.xlogy(p, p), -1)

    def _kl(self, second: Any, first: Any) -> Any:
        p_b, p = second[0], first[0]
        return ops.sum(ops.xlogy(p, p) - ops.xlogy(p, p_b), -1)

    def _sample(self, shape: tuple[int, ...], p: Any) -> Any:
        noise = -ops.log(-ops.log(ops.minimum(self._fractions((*shape, p.shape[-1])), 1.0 - 2.0**-24)))
        return ops.argmax(ops.log(p) + noise, -1)
