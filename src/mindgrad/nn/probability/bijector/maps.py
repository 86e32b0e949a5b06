"""Bijectors: Exp, PowerTransform, ScalarAffine, Softplus, and GumbelCDF."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.nn.probability.bijector.bijector import Bijector
from mindgrad.nn.probability.distribution.tails import log1mexp, softplus

__all__ = ["Exp", "GumbelCDF", "PowerTransform", "ScalarAffine", "Softplus"]


class PowerTransform(Bijector):
    """f(x) = (1 + c x)^(1 / c), and exp x for c = 0.

    Args:
        power (number, optional): parameter c, at least 0. Default: ``0.0``.
        name (str, optional): name of the bijector.

    Raises:
        ValueError: If ``power`` is negative.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability import bijector
    >>> print(bijector.PowerTransform(0.5).forward(Tensor([2.0])))
    [4.]
    """

    def __init__(self, power: Any = 0.0, name: str = "PowerTransform") -> None:
        super().__init__(name=name)
        if isinstance(power, bool) or not isinstance(power, (int, float)):
            raise TypeError(f"For 'PowerTransform', the 'power' must be a number, but got {power!r}.")
        if power < 0:
            raise ValueError(f"For 'PowerTransform', the 'power' must be at least 0, but got {power}.")
        self._power = float(power)

    @property
    def power(self) -> float:
        """The parameter c."""
        return self._power

    def _forward(self, value: Any) -> Any:
        if self._power == 0:
            return ops.exp(value)
        return ops.exp(ops.log1p(value * self._power) * (1.0 / self._power))

    def _inverse(self, value: Any) -> Any:
        if self._power == 0:
            return ops.log(value)
        return ops.expm1(ops.log(value) * self._power) * (1.0 / self._power)

    def _forward_log_jacobian(self, value: Any) -> Any:
        if self._power == 0:
            return value
        return (1.0 / self._power - 1.0) * ops.log1p(value * self._power)

    def _inverse_log_jacobian(self, value: Any) -> Any:
        return (self._power - 1.0) * ops.log(value)


class Exp(PowerTransform):
    """f(x) = exp x.

    Args:
        name (str, optional): name of the bijector.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability import bijector
    >>> print(bijector.Exp().forward(Tensor([0.0])))
    [1.]
    """

    def __init__(self, name: str = "Exp") -> None:
        super().__init__(0.0, name)


class ScalarAffine(Bijector):
    """f(x) = scale · x + shift.

    Args:
        scale (number, array, or Tensor, optional): slope of f, nonzero. Default: ``1.0``.
        shift (number, array, or Tensor, optional): constant term of f. Default: ``0.0``.
        name (str, optional): name of the bijector.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability import bijector
    >>> print(bijector.ScalarAffine(2.0, 1.0).inverse(Tensor([7.0])))
    [3.]
    """

    def __init__(self, scale: Any = 1.0, shift: Any = 0.0, name: str = "ScalarAffine") -> None:
        super().__init__(True, name=name, param={"scale": scale, "shift": shift})

    @property
    def scale(self) -> Any:
        """The slope of f."""
        return self._scale

    @property
    def shift(self) -> Any:
        """The constant term of f."""
        return self._shift

    def _forward(self, value: Any) -> Any:
        return self._scale * value + self._shift

    def _inverse(self, value: Any) -> Any:
        return (value - self._shift) / self._scale

    def _forward_log_jacobian(self, value: Any) -> Any:
        return ops.log(ops.abs(ops.cast(self._scale, value.dtype))) + ops.zeros_like(value)

    def _inverse_log_jacobian(self, value: Any) -> Any:
        return -self._forward_log_jacobian(value)


class Softplus(Bijector):
    """f(x) = log(1 + exp(k x)) / k.

    Args:
        sharpness (number, array, or Tensor, optional): parameter k, nonzero. Default: ``1.0``.
        name (str, optional): name of the bijector.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability import bijector
    >>> print(f"{bijector.Softplus(2.0).forward(Tensor([0.0])).item():.4f}")
    0.3466
    """

    def __init__(self, sharpness: Any = 1.0, name: str = "Softplus") -> None:
        super().__init__(name=name, param={"sharpness": sharpness})

    @property
    def sharpness(self) -> Any:
        """The parameter k."""
        return self._sharpness

    def _forward(self, value: Any) -> Any:
        return softplus(self._sharpness * value) / self._sharpness

    def _inverse(self, value: Any) -> Any:
        scaled = self._sharpness * value
        return (scaled + log1mexp(scaled)) / self._sharpness

    def _forward_log_jacobian(self, value: Any) -> Any:
        return -softplus(-self._sharpness * value)

    def _inverse_log_jacobian(self, value: Any) -> Any:
        return -log1mexp(self._sharpness * value)


class GumbelCDF(Bijector):
    """f(x) = exp(−exp(−(x − loc) / scale)), the distribution function of Gumbel.

    Args:
        loc (number, array, or Tensor, optional): mode of the Gumbel distribution. Default: ``0.0``.
        scale (number, array, or Tensor, optional): scale of the Gumbel distribution, above 0. Default:
            ``1.0``.
        name (str, optional): name of the bijector.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability import bijector
    >>> print(f"{bijector.GumbelCDF().forward(Tensor([0.0])).item():.4f}")
    0.3679
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, name: str = "GumbelCDF") -> None:
        super().__init__(name=name, param={"loc": loc, "scale": scale})

    @property
    def loc(self) -> Any:
        """The mode of the Gumbel distribution."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale of the Gumbel distribution."""
        return self._scale

    def _forward(self, value: Any) -> Any:
        return ops.exp(-ops.exp((self._loc - value) / self._scale))

    def _inverse(self, value: Any) -> Any:
        return self._loc - self._scale * ops.log(-ops.log(value))

    def _forward_log_jacobian(self, value: Any) -> Any:
        z = (value - self._loc) / self._scale
        return -z - ops.exp(-z) - ops.log(ops.cast(self._scale, value.dtype))

    def _inverse_log_jacobian(self, value: Any) -> Any:
        return ops.log(self._scale / (-value * ops.log(value)))
