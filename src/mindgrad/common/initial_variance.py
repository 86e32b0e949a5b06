"""Random initializers, most of which scale by the fan-in and fan-out of a weight.

A weight of shape (n_out, n_in, k₁, k₂, …) has

    fan_in = n_in · k₁ · k₂ · …        fan_out = n_out · k₁ · k₂ · …
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.common.initial_values import Initializer, _assignment, _generator, _number, _register

__all__ = [
    "HeNormal", "HeUniform", "Normal", "TruncatedNormal", "Uniform", "VarianceScaling", "XavierNormal",
    "XavierUniform",
]  # fmt: skip

# --- fan-in, fan-out, and gains ----------------------------------------------------------------------


def _calculate_fan_in_and_fan_out(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return fan-in and fan-out: inputs per output of a weight, and outputs per input.

    Raises:
        ValueError: If the shape of the tensor to initialize has fewer than two axes.

    >>> from mindgrad.common.initializer import _calculate_fan_in_and_fan_out
    >>> _calculate_fan_in_and_fan_out((8, 4, 3, 3))
    (36, 72)
    """
    if len(shape) < 2:
        raise ValueError(
            f"'fan_in' and 'fan_out' can not be computed for tensor with fewer than 2 dimensions, but got "
            f"dimensions {len(shape)}: the shape is {tuple(shape)}. Use 'normal', 'uniform' or a constant."
        )
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


def _calculate_correct_fan(shape: tuple[int, ...], mode: str) -> int:
    """Return the fan-in or the fan-out of a weight.

    Raises:
        ValueError: If ``mode`` is neither ``"fan_in"`` nor ``"fan_out"``.
    """
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"'mode' {mode!r} not supported, please use one of 'fan_in', 'fan_out'.")
    return _calculate_fan_in_and_fan_out(shape)[mode == "fan_out"]


#: nonlinearity -> gain, a factor of the standard deviation of the weights before it. For tanh, 5/3 keeps the
#: variance of normally distributed inputs near 1 over many layers.
_GAINS = {
    "linear": 1.0, "identity": 1.0, "sigmoid": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0,
    "conv_transpose1d": 1.0, "conv_transpose2d": 1.0, "conv_transpose3d": 1.0,
    "tanh": 5 / 3, "relu": math.sqrt(2.0), "selu": 3 / 4,
}  # fmt: skip


def _calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor of weights that preserves the variance after a nonlinearity.

    The factor is √2 for ReLU and √(2 / (1 + slope²)) for leaky ReLU: K. He et al., *Delving Deep into
    Rectifiers* (2015), section 2.2.

    Args:
        nonlinearity (str): ``"linear"``, ``"identity"``, ``"sigmoid"``, ``"tanh"``, ``"relu"``,
            ``"leaky_relu"``, ``"selu"``, or the name of a convolution, such as ``"conv2d"``.
        param (float, optional): slope of the leaky ReLU for negative inputs. ``None``: 0.01. Default:
            ``None``.

    Raises:
        ValueError: If ``nonlinearity`` is unknown, or ``param`` is not a number.

    >>> from mindgrad.common.initializer import _calculate_gain
    >>> round(_calculate_gain("leaky_relu", 0.0), 4)
    1.4142
    """
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"For 'leaky_relu', the 'negative_slope' must be a number, but got {param!r}.")
        slope = 0.01 if param is None else param
        return math.sqrt(2 / (1 + slope * slope))
    if nonlinearity not in _GAINS:
        known = ", ".join(sorted([*_GAINS, "leaky_relu"]))
        raise ValueError(f"For initializers, the nonlinearity {nonlinearity!r} is not one of {known}.")
    return _GAINS[nonlinearity]


def _init_random_uniform(a: float, b: float, shape: tuple[int, ...] | None = None) -> Any:
    """Draw uniform random numbers between ``a`` and ``b``."""
    return _generator().uniform(a, b, shape)


def _init_random_normal(mean: float, sigma: float, shape: tuple[int, ...] | None = None) -> Any:
    """Draw normal random numbers with the given mean and standard deviation ``sigma``."""
    return _generator().normal(mean, sigma, shape)


# --- initializers with random values -----------------------------------------------------------------


@_register()
class Uniform(Initializer):
    """Initializer that draws uniform random numbers between −``scale`` and ``scale``.

    Args:
        scale (float, optional): upper bound of the absolute values. Default: ``0.07``.

    >>> from mindgrad.common.initializer import Uniform, initializer
    >>> bool(abs(initializer(Uniform(0.5), (100,))).max() < 0.5)
    True
    """

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = _number("Uniform", "scale", scale)

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, _init_random_uniform(-self.scale, self.scale, arr.shape))


@_register()
class Normal(Initializer):
    """Initializer that draws normally distributed random numbers.

    Args:
        sigma (float, optional): standard deviation of the distribution. Default: ``0.01``.
        mean (float, optional): mean of the distribution. Default: ``0.0``.

    >>> from mindgrad.common.initializer import Normal, initializer
    >>> initializer(Normal(0.1), (2, 3)).shape
    (2, 3)
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma = _number("Normal", "sigma", sigma)
        self.mean = _number("Normal", "mean", mean)

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, _init_random_normal(self.mean, self.sigma, arr.shape))


def _truncated(low: float, high: float, shape: tuple[int, ...]) -> np.ndarray:
    """Draw standard normal random numbers between ``low`` and ``high`` by rejection."""
    generator = _generator()
    # limit the sampled range to 40 standard deviations from the maximum of the density. Beyond this range,
    # the density is smaller by the factor exp(−800)
    low, high = max(low, min(0.0, high) - 40), min(high, max(0.0, low) + 40)
    values = generator.normal(size=shape)
    outside = (values < low) | (values > high)
    while outside.any():
        # normal numbers rarely fall into an interval far from 0. Therefore draw uniform numbers, and accept
        # each with a probability proportional to its normal density (C. P. Robert, Simulation of truncated
        # normal variables, 1995)
        count = int(outside.sum())
        nearest = min(max(0.0, low), high)
        drawn = generator.uniform(low, high, count)
        accepted = generator.uniform(size=count) <= np.exp((nearest**2 - drawn**2) / 2)
        places = np.flatnonzero(outside.reshape(-1))[accepted]
        values.reshape(-1)[places] = drawn[accepted]
        outside.reshape(-1)[places] = False
    return values


@_register()
class TruncatedNormal(Initializer):
    """Initializer that draws from a truncated normal distribution.

    Args:
        sigma (float, optional): standard deviation before truncation. Default: ``0.01``.
        mean (float, optional): mean before truncation. Default: ``0.0``.
        a (float, optional): lower bound minus ``mean``, in units of ``sigma``. Default: ``-2.0``.
        b (float, optional): upper bound minus ``mean``, in units of ``sigma``. Default: ``2.0``.

    Raises:
        ValueError: If ``a`` is not below ``b``.

    >>> from mindgrad.common.initializer import TruncatedNormal, initializer
    >>> bool(abs(initializer(TruncatedNormal(0.1), (1000,))).max() <= 0.2)
    True
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = (
            _number("TruncatedNormal", name, value)
            for name, value in (("sigma", sigma), ("mean", mean), ("a", a), ("b", b))
        )
        if not self.a < self.b:
            raise ValueError(f"For 'TruncatedNormal', 'a' must be below 'b', but got {a} and {b}.")

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, self.mean + self.sigma * _truncated(self.a, self.b, arr.shape))


@_register()
class XavierUniform(Initializer):
    """Glorot initializer that draws from a uniform distribution.

        U(−r, r)        r = gain · √(6 / (fan_in + fan_out))        variance = gain² · 2 / (fan_in + fan_out)

    X. Glorot, Y. Bengio, *Understanding the difficulty of training deep feedforward neural networks*
    (2010), equation 16.

    Args:
        gain (float, optional): factor of the standard deviation. Default: ``1``.

    Raises:
        ValueError: If the shape of the tensor to initialize has fewer than two axes.

    >>> from mindgrad.common.initializer import XavierUniform, initializer
    >>> bool(abs(initializer(XavierUniform(), (4, 2))).max() <= 1.0)
    True
    """

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = _number("XavierUniform", "gain", gain)

    def _initialize(self, arr: np.ndarray) -> None:
        bound = self.gain * math.sqrt(6 / sum(_calculate_fan_in_and_fan_out(arr.shape)))
        _assignment(arr, _generator().uniform(-bound, bound, arr.shape))


@_register()
class XavierNormal(Initializer):
    """Glorot initializer: normal, with variance ``gain² · 2 / (fan_in + fan_out)``.

    See :class:`XavierUniform` for the reference.

    Args:
        gain (float, optional): factor of the standard deviation. Default: ``1``.

    Raises:
        ValueError: If the shape of the tensor to initialize has fewer than two axes.

    >>> from mindgrad.common.initializer import XavierNormal, initializer
    >>> initializer(XavierNormal(), (4, 2)).shape
    (4, 2)
    """

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = _number("XavierNormal", "gain", gain)

    def _initialize(self, arr: np.ndarray) -> None:
        sigma = self.gain * math.sqrt(2 / sum(_calculate_fan_in_and_fan_out(arr.shape)))
        _assignment(arr, _generator().normal(0, sigma, arr.shape))


class _He(Initializer):
    """The base class of both He initializers, with standard deviation ``gain / √fan``."""

    def __init__(
        self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
    ) -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope = _number(type(self).__name__, "negative_slope", negative_slope)
        self.mode, self.nonlinearity = mode, nonlinearity

    def _deviation(self, shape: tuple[int, ...]) -> float:
        gain = _calculate_gain(self.nonlinearity, self.negative_slope)
        return gain / math.sqrt(_calculate_correct_fan(shape, self.mode))


@_register("kaiming_uniform")
class HeUniform(_He):
    """He initializer: uniform, with standard deviation ``gain / √fan``.

        U(−r, r)        r = gain · √(3 / fan)

    K. He et al., *Delving Deep into Rectifiers* (2015), equations 10 and 14.

    Args:
        negative_slope (float, optional): slope, for negative inputs, of the leaky ReLU that follows the
            layer. Default: ``0``.
        mode (str, optional): ``"fan_in"`` preserves the variance of activations, and ``"fan_out"`` preserves
            the variance of gradients. Default: ``"fan_in"``.
        nonlinearity (str, optional): name of the nonlinearity that follows the layer. Default:
            ``"leaky_relu"``.

    Raises:
        ValueError: If ``mode`` or ``nonlinearity`` is unknown, or the shape of the tensor to initialize has
            fewer than two axes.

    >>> from mindgrad.common.initializer import HeUniform, initializer
    >>> bool(abs(initializer(HeUniform(), (4, 6))).max() <= 1.0)
    True
    """

    def _initialize(self, arr: np.ndarray) -> None:
        bound = math.sqrt(3) * self._deviation(arr.shape)
        _assignment(arr, _generator().uniform(-bound, bound, arr.shape))


@_register("kaiming_normal")
class HeNormal(_He):
    """He initializer: normal, with standard deviation ``gain / √fan``.

    :class:`HeUniform` documents the arguments.

    >>> from mindgrad.common.initializer import HeNormal, initializer
    >>> initializer(HeNormal(), (4, 6)).shape
    (4, 6)
    """

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, _generator().normal(0, self._deviation(arr.shape), arr.shape))


@_register()
class VarianceScaling(Initializer):
    """Initializer with variance ``scale / n``, where ``mode`` selects n.

    The distribution ``"truncated_normal"`` is cut at two standard deviations, and scaled by 1/0.8796… so that
    its variance is also ``scale / n``.

    Args:
        scale (float, optional): positive factor of the variance. Default: ``1.0``.
        mode (str, optional): n is the fan-in for ``"fan_in"``, the fan-out for ``"fan_out"``, and their mean
            for ``"fan_avg"``. Default: ``"fan_in"``.
        distribution (str, optional): ``"truncated_normal"``, ``"untruncated_normal"``, or ``"uniform"``.
            Default: ``"truncated_normal"``.

    Raises:
        ValueError: If ``scale`` is not positive, ``mode`` or ``distribution`` is unknown, or the shape of the
            tensor to initialize has fewer than two axes.

    >>> from mindgrad.common.initializer import VarianceScaling, initializer
    >>> initializer(VarianceScaling(distribution="uniform"), (4, 6)).shape
    (4, 6)
    """

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal"
    ) -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        self.scale, self.mode, self.distribution = (
            _number("VarianceScaling", "scale", scale),
            mode,
            distribution,
        )
        if self.scale <= 0:
            raise ValueError(f"For 'VarianceScaling', the 'scale' must be positive, but got {scale}.")
        for name, value, choices in (
            ("mode", mode, ("fan_in", "fan_out", "fan_avg")),
            ("distribution", distribution, ("truncated_normal", "untruncated_normal", "uniform")),
        ):
            one_of(value, choices, "VarianceScaling", name)

    def _initialize(self, arr: np.ndarray) -> None:
        fans = _calculate_fan_in_and_fan_out(arr.shape)
        n = {"fan_in": fans[0], "fan_out": fans[1], "fan_avg": sum(fans) / 2}[self.mode]
        sigma = math.sqrt(self.scale / max(1.0, n))
        if self.distribution == "truncated_normal":
            _assignment(arr, sigma / _TRUNCATED_DEVIATION * _truncated(-2, 2, arr.shape))
        elif self.distribution == "untruncated_normal":
            _assignment(arr, _generator().normal(0, sigma, arr.shape))
        else:
            bound = math.sqrt(3) * sigma
            _assignment(arr, _generator().uniform(-bound, bound, arr.shape))


#: standard deviation of the standard normal distribution after truncation at ±2: √(1 − 4 φ(2) / (2 Φ(2) − 1))
_TRUNCATED_DEVIATION = math.sqrt(1 - 4 * math.exp(-2) / math.sqrt(2 * math.pi) / math.erf(math.sqrt(2)))
