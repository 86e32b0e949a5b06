"""AdaMax: Adam with the greatest gradient in place of the mean square."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.nn.hyperparameters import fraction, positive
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["AdaMax"]


class AdaMax(Optimizer):
    """AdaMax (Kingma and Ba 2015, section 7.1).

    For a Parameter w with the gradient g, in step t = 1, 2, …::

        m ← β₁ m + (1 − β₁) g
        v ← max(β₂ v, |g|)
        w ← w − η / (1 − β₁ᵗ) · m / (v + ε)

    Args:
        params: Parameters or groups of them, see :class:`Optimizer`.
        learning_rate: η, see :class:`Optimizer`.
        beta1: β₁, between 0 and 1.
        beta2: β₂, between 0 and 1.
        eps: ε, above 0.
        weight_decay: see :class:`Optimizer`.
        loss_scale: what gradients are divided by.

    Inputs:
        ``gradients``: a tuple of Tensors, one for each Parameter.

    Outputs:
        ``True``.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: see :class:`Optimizer`.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
    >>> optimizer = ms.nn.AdaMax([w], learning_rate=0.5, beta1=0.5)
    >>> optimizer((ms.Tensor([3.0]),))
    True
    >>> print(w.value())
    [0.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1, self.beta2 = fraction("AdaMax", "beta1", beta1), fraction("AdaMax", "beta2", beta2)
        self.eps = positive("AdaMax", "eps", eps)
        self.beta1_power = self._scalar_state("beta1_power", 1.0)
        self.moment1 = self._state("moment1")
        self.moment2 = self._state("moment2")

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates = self._prepared(gradients), self._rates()
        power = ops.assign(self.beta1_power, self.beta1_power * self.beta1)
        correction = ops.reshape(1.0 - power, ())
        rows = zip(self.parameters, gradients, rates, self.moment1, self.moment2, strict=True)
        for parameter, gradient, rate, moment1, moment2 in rows:
            mean = ops.assign(moment1, self.beta1 * moment1 + (1.0 - self.beta1) * gradient)
            greatest = ops.assign(moment2, ops.maximum(self.beta2 * moment2, ops.abs(gradient)))
            ops.assign_sub(parameter, (rate / correction) * mean / (greatest + self.eps))
        return True
