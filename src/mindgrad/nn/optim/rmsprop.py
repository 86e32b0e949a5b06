"""RMSProp: steps divided by the root of the mean square of gradients."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.nn.hyperparameters import boolean, non_negative, positive
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["RMSProp"]


class RMSProp(Optimizer):
    """RMSProp (Tieleman and Hinton 2012), with momentum, centred if asked for.

    For a Parameter w with the gradient g::

        s ← ρ s + (1 − ρ) g²                  (s starts with 1)
        a ← ρ a + (1 − ρ) g                   (centred only; a starts with 0)
        m ← β m + η g / √(s − a² + ε)         (a = 0 unless centred)
        w ← w − m

    Args:
        params: Parameters or groups of them, see :class:`Optimizer`.
        learning_rate: η, see :class:`Optimizer`.
        decay: ρ, at least 0.
        momentum: β, at least 0.
        epsilon: ε, above 0.
        use_locking: accepted for compatibility.
        centered: whether to divide by the standard deviation of the gradients.
        loss_scale: what gradients are divided by.
        weight_decay: see :class:`Optimizer`.

    Inputs:
        ``gradients``: a tuple of Tensors, one for each Parameter.

    Outputs:
        ``True``.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: see :class:`Optimizer`.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
    >>> optimizer = ms.nn.RMSProp([w], learning_rate=0.5, decay=0.5)
    >>> optimizer((ms.Tensor([1.0]),))
    True
    >>> print(w.value())
    [0.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        boolean("RMSProp", "use_locking", use_locking)
        self.centered = boolean("RMSProp", "centered", centered)
        self.decay = non_negative("RMSProp", "decay", decay)
        self.momentum = non_negative("RMSProp", "momentum", momentum)
        self.epsilon = positive("RMSProp", "epsilon", epsilon)
        self.ms = self._state("mean_square", "ones")
        self.moment = self._state("moment")
        if centered:
            self.mg = self._state("mean_grad")

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates = self._prepared(gradients), self._rates()
        means = self.mg if self.centered else (None,) * self.param_length
        rho = self.decay
        rows = zip(self.parameters, gradients, rates, self.ms, self.moment, means, strict=True)
        for parameter, gradient, rate, mean_square, moment, mean in rows:
            spread = ops.assign(mean_square, rho * mean_square + (1.0 - rho) * ops.square(gradient))
            if mean is not None:
                spread = spread - ops.square(ops.assign(mean, rho * mean + (1.0 - rho) * gradient))
            step = rate * gradient / ops.sqrt(spread + self.epsilon)
            ops.assign_sub(parameter, ops.assign(moment, self.momentum * moment + step))
        return True
