"""Likelihoods of the usual losses, for Fisher matrices and Laplace approximations.

    loss = c Σₙ ℓ(zₙ, yₙ)        ℓ(z, y) = −log p(y | z) + constant        c = 1 or 1 / (number of terms)

The Fisher information of p is the Hessian, with respect to z, of the expectation of ℓ(z, y) under
p(y | z₀) at z = z₀. Each likelihood therefore defines this expectation, and draws targets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from mindgrad import ops
from mindgrad.core.ir.tensor import Tensor, make_tensor

__all__ = ["Likelihood", "likelihood_of"]


class Family(NamedTuple):
    """A family of distributions p(y | z).

    Attributes:
        nll: function of outputs and targets that returns the terms ℓ of the loss.
        expected: function of outputs z₀ and z that returns the expectation of ℓ(z, y), up to a constant.
        draw: function of a NumPy random number generator and outputs, as arrays, that returns targets.
    """

    nll: Callable[..., Tensor]
    expected: Callable[..., Tensor]
    draw: Callable[..., np.ndarray]


def _class_axis(z: Any) -> int:
    return 1 if z.ndim > 1 else 0


def _draw_classes(random: np.random.Generator, z: np.ndarray) -> np.ndarray:
    """Draw classes with probabilities softmax(z), by the Gumbel-max trick."""
    return np.argmax(z + random.gumbel(size=z.shape), axis=_class_axis(z)).astype(np.int32)


def _expected_cross_entropy(z0: Tensor, z: Tensor) -> Tensor:
    axis = _class_axis(z)
    return -(ops.softmax(z0, axis) * ops.log_softmax(z, axis))


def _draw_counts(random: np.random.Generator, rate: np.ndarray) -> np.ndarray:
    return random.poisson(rate).astype(rate.dtype)


_FAMILIES: dict[str, Family] = {
    "squared_error": Family(
        lambda z, y: 0.5 * (z - y) ** 2,
        lambda z0, z: 0.5 * (z - z0) ** 2,
        lambda random, z: random.normal(z).astype(z.dtype),
    ),
    "mse": Family(
        lambda z, y: (z - y) ** 2,
        lambda z0, z: (z - z0) ** 2,
        lambda random, z: random.normal(z, 0.5**0.5).astype(z.dtype),
    ),
    "cross_entropy": Family(
        lambda z, y: ops.cross_entropy(z, y, reduction="none"), _expected_cross_entropy, _draw_classes
    ),
    "nll": Family(  # z contains logarithms of probabilities
        lambda z, y: ops.nll_loss(z, y, reduction="none"),
        lambda z0, z: 0.5 * ops.exp(z0) * (z - z0) ** 2,
        _draw_classes,
    ),
    "binary_cross_entropy": Family(
        lambda z, y: ops.softplus(z) - z * y,
        lambda z0, z: ops.softplus(z) - z * ops.sigmoid(z0),
        lambda random, z: (random.random(z.shape) < 1 / (1 + np.exp(-z))).astype(z.dtype),
    ),
    "binary_probability": Family(
        lambda z, y: -(y * ops.log(z) + (1 - y) * ops.log(1 - z)),
        lambda z0, z: -(z0 * ops.log(z) + (1 - z0) * ops.log(1 - z)),
        lambda random, z: (random.random(z.shape) < z).astype(z.dtype),
    ),
    "poisson": Family(
        lambda z, y: ops.exp(z) - y * z,
        lambda z0, z: ops.exp(z) - ops.exp(z0) * z,
        lambda random, z: _draw_counts(random, np.exp(z)),
    ),
    "poisson_rate": Family(
        lambda z, y: z - y * ops.log(z),
        lambda z0, z: z - z0 * ops.log(z),
        _draw_counts,
    ),
    "gaussian": Family(  # the outputs are a mean and a variance
        lambda z, y: 0.5 * (ops.log(z[1]) + (z[0] - y) ** 2 / z[1]),
        lambda z0, z: 0.5 * (ops.log(z[1]) + (z0[1] + (z[0] - z0[0]) ** 2) / z[1]),
        lambda random, z: random.normal(z[0], np.sqrt(z[1])).astype(z[0].dtype),
    ),
}  # fmt: skip

#: names of losses -> family
_BY_CELL = {
    "MSELoss": "mse", "CrossEntropyLoss": "cross_entropy", "SoftmaxCrossEntropyWithLogits": "cross_entropy",
    "NLLLoss": "nll", "BCEWithLogitsLoss": "binary_cross_entropy", "BCELoss": "binary_probability",
    "PoissonNLLLoss": "poisson", "GaussianNLLLoss": "gaussian",
}  # fmt: skip
_BY_FUNCTION = {
    "mse_loss": "mse", "cross_entropy": "cross_entropy", "nll_loss": "nll",
    "binary_cross_entropy_with_logits": "binary_cross_entropy", "binary_cross_entropy": "binary_probability",
    "gaussian_nll_loss": "gaussian",
}  # fmt: skip
_STRINGS = ("squared_error", "mse", "cross_entropy", "binary_cross_entropy", "poisson", "gaussian")
#: families whose losses, as functions of the outputs, are convex
_CONVEX = {
    "squared_error",
    "mse",
    "cross_entropy",
    "nll",
    "binary_cross_entropy",
    "binary_probability",
    "poisson",
}


class Likelihood:
    """A family of distributions with a reduction of its loss.

    Attributes:
        name: name of the family.
        reduction: ``"sum"`` or ``"mean"``.
    """

    def __init__(self, name: str, reduction: str) -> None:
        self.name = name
        self.reduction = reduction
        self.family = _FAMILIES[name]

    @property
    def is_convex(self) -> bool:
        """Whether the loss is a convex function of the outputs."""
        return self.name in _CONVEX

    @property
    def has_classes(self) -> bool:
        """Whether an axis of the outputs contains the classes."""
        return self.name in ("cross_entropy", "nll")

    def divisor(self, outputs: Any) -> int:
        """Return the divisor of the loss, the number of terms for a mean."""
        if self.reduction == "sum":
            return 1
        z = outputs[0] if self.name == "gaussian" else outputs
        size = int(np.prod(z.shape))
        return size // z.shape[_class_axis(z)] if self.has_classes else size

    def loss(self, outputs: Any, targets: Any) -> Tensor:
        """Return the loss, the sum or mean of all terms."""
        return self.family.nll(outputs, targets).sum() / self.divisor(outputs)

    def terms(self, outputs: Any, targets: Any) -> Tensor:
        """Return the sum of the terms, without the division of a mean."""
        return self.family.nll(outputs, targets).sum()

    def expected(self, outputs: Any) -> Tensor:
        """Return a scalar whose Hessian is the Fisher information of the outputs."""
        is_pair = isinstance(outputs, (tuple, list))
        fixed = [ops.stop_gradient(z) for z in outputs] if is_pair else ops.stop_gradient(outputs)
        return self.family.expected(fixed, outputs).sum() / self.divisor(outputs)

    def draw(self, random: np.random.Generator, outputs: Any) -> Tensor:
        """Draw targets of the distribution p(y | outputs)."""
        is_pair = isinstance(outputs, (tuple, list))
        arrays = [z.asnumpy() for z in outputs] if is_pair else outputs.asnumpy()
        return make_tensor(self.family.draw(random, arrays))


@lru_cache
def _likelihood(name: str, reduction: str) -> Likelihood:
    return Likelihood(name, reduction)


def likelihood_of(owner: str, loss: Any, reduction: str | None = None) -> Likelihood | None:
    """Return the likelihood of a loss, or ``None`` if the loss is unknown.

    Known losses are strings, Cells of ``nn``, and functions of ``ops``.

    Raises:
        ValueError: If a string is not a name of a likelihood, ``reduction`` is unknown, or the loss has class
            weights or label smoothing, so that it is not the logarithm of a likelihood.
    """
    if reduction not in (None, "none", "sum", "mean"):
        raise ValueError(
            f"For '{owner}', 'reduction' must be 'none', 'sum', or 'mean', but is {reduction!r}."
        )
    if isinstance(loss, str):
        if loss not in _STRINGS:
            raise ValueError(f"For '{owner}', 'loss' must be one of {', '.join(_STRINGS)}, but is {loss!r}.")
        return _likelihood(loss, "mean" if reduction == "mean" else "sum")
    kind = type(loss).__name__
    if kind in _BY_CELL and type(loss).__module__.startswith("mindgrad.nn"):
        for name in ("weight", "pos_weight", "label_smoothing"):
            value = getattr(loss, name, None)
            if value is not None and not (isinstance(value, (int, float)) and value == 0):
                raise ValueError(
                    f"For '{owner}', {kind} with '{name}' is not the logarithm of a likelihood. Remove "
                    f"'{name}', or use gauss_newton(outputs, weights, ..., loss=loss, targets=targets)."
                )
        family = _BY_CELL[kind]
        if family == "poisson" and not loss.log_input:
            family = "poisson_rate"
        chosen = reduction or loss.reduction
        return _likelihood(family, "mean" if chosen == "mean" else "sum")
    name = getattr(loss, "__name__", "")
    if name in _BY_FUNCTION and getattr(ops, name, None) is loss:
        return _likelihood(_BY_FUNCTION[name], "sum" if reduction in ("sum", "none") else "mean")
    return None
