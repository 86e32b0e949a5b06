"""The distribution of f(x) for a random number x and a bijector f."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.nn.probability.distribution.distribution import Distribution

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of y = f(x), with density p(f⁻¹(y)) · |df⁻¹/dy|.

    Here, p is the density of x.

    Args:
        bijector (Bijector): map f from x to y, which must be increasing for ``cdf``.
        distribution (Distribution): distribution of x; the transformed distribution has the same parameters.
        seed, name: see :class:`Distribution`.

    Raises:
        TypeError: If ``bijector`` is not a Bijector, or ``distribution`` is not a Distribution.
        NotImplementedError: If a requested moment of y cannot be computed from the moment of x.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability import bijector, distribution
    >>> log_normal = distribution.TransformedDistribution(bijector.Exp(), distribution.Normal(0.0, 1.0))
    >>> print(f"{log_normal.prob(Tensor([1.0])).item():.4f}")
    0.3989
    """

    def __init__(
        self,
        bijector: Any,
        distribution: Distribution,
        seed: Any = None,
        name: str = "transformed_distribution",
    ) -> None:
        if not isinstance(distribution, Distribution) or not hasattr(bijector, "inverse_log_jacobian"):
            raise TypeError(
                "For 'TransformedDistribution', the arguments must be a Bijector and a Distribution, but got "
                f"{type(bijector).__name__} and {type(distribution).__name__}."
            )
        super().__init__(seed, distribution.dtype, name)
        self._bijector, self._distribution = bijector, distribution
        self.parameter_names = distribution.parameter_names
        for key in self.parameter_names:
            setattr(self, f"_{key}_value", getattr(distribution, f"_{key}_value"))

    @property
    def bijector(self) -> Any:
        """The bijector f."""
        return self._bijector

    @property
    def distribution(self) -> Distribution:
        """The distribution of x."""
        return self._distribution

    def get_dist_type(self) -> str:
        """Return the kind of the distribution of x."""
        return self._distribution.get_dist_type()

    def _log_prob(self, value: Any, *parameters: Any) -> Any:
        x = self._bijector.inverse(value)
        return self._distribution._log_prob(x, *parameters) + self._bijector.inverse_log_jacobian(value)

    def _cdf(self, value: Any, *parameters: Any) -> Any:
        return self._distribution._cdf(self._bijector.inverse(value), *parameters)

    def _survival(self, value: Any, *parameters: Any) -> Any:
        return self._distribution._survival(self._bijector.inverse(value), *parameters)

    def _log_cdf(self, value: Any, *parameters: Any) -> Any:
        return self._distribution._log_cdf(self._bijector.inverse(value), *parameters)

    def _log_survival(self, value: Any, *parameters: Any) -> Any:
        return self._distribution._log_survival(self._bijector.inverse(value), *parameters)

    def _mean(self, *parameters: Any) -> Any:
        if not self._bijector.is_constant_jacobian:
            self._refuse("mean")
        return self._bijector.forward(self._distribution._mean(*parameters))

    def _entropy(self, *parameters: Any) -> Any:
        if not self._bijector.is_constant_jacobian:
            self._refuse("entropy")
        entropy = self._distribution._entropy(*parameters)
        return entropy + self._bijector.forward_log_jacobian(ops.zeros_like(entropy))

    def _kl(self, second: Any, first: Any) -> Any:
        return self._distribution._kl(second, first)

    def _sample(self, shape: tuple[int, ...], *parameters: Any) -> Any:
        return self._bijector.forward(self._distribution._sample(shape, *parameters))
