"""Adadelta: steps whose size follows from that of earlier ones."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.nn.hyperparameters import non_negative, positive, real
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012).

    For a Parameter w with the gradient g::

        s ← ρ s + (1 − ρ) g²
        u = g √(d + ε) / √(s + ε)
        d ← ρ d + (1 − ρ) u²
        w ← w − η u

    Args:
        params: Parameters or groups of them, see :class:`Optimizer`.
        learning_rate: η, see :class:`Optimizer`.
        rho: ρ, from 0 to 1.
        epsilon: ε, above 0.
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
    >>> optimizer = ms.nn.Adadelta([w], rho=0.0, epsilon=0.25)
    >>> optimizer((ms.Tensor([0.0]),))
    True
    >>> print(w.value())
    [1.]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho = non_negative("Adadelta", "rho", rho)
        if real("Adadelta", "rho", rho) > 1:
            raise ValueError(f"For 'Adadelta', the 'rho' must be at most 1, but got {rho}.")
        self.epsilon = positive("Adadelta", "epsilon", epsilon)
        self.accum = self._state("accum")
        self.accum_update = self._state("accum_update")

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates = self._prepared(gradients), self._rates()
        rho, epsilon = self.rho, self.epsilon
        rows = zip(self.parameters, gradients, rates, self.accum, self.accum_update, strict=True)
        for parameter, gradient, rate, accum, accum_update in rows:
            square = ops.assign(accum, rho * accum + (1.0 - rho) * ops.square(gradient))
            update = gradient * ops.sqrt(accum_update + epsilon) / ops.sqrt(square + epsilon)
            ops.assign(accum_update, rho * accum_update + (1.0 - rho) * ops.square(update))
            ops.assign_sub(parameter, rate * update)
        return True
