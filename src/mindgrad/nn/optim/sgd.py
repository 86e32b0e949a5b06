"""Stochastic gradient descent has momentum, dampening and Nesterov's variant."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad.common import dtype
from mindgrad.common.parameter import Parameter
from mindgrad.ir.tensor import Tensor
from mindgrad.nn.hyperparameters import boolean, non_negative
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["SGD"]


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum and Nesterov's variant of it.

    For a Parameter w with the gradient g, learning rate η, momentum μ, dampening τ and weight decay λ::

        g ← g + λ w
        v ← μ v + (1 − τ) g       (v ← g in the first step)
        w ← w − η v               (w ← w − η (g + μ v) with nesterov; w ← w − η g for μ = 0)

    Unlike in other optimisers the weight decay applies to every Parameter that is not in a group, as
    MindSpore's operator has it.

    Args:
        params: Parameters or groups of them, see :class:`Optimizer`.
        learning_rate: η, see :class:`Optimizer`.
        momentum: μ, at least 0.
        dampening: τ, at least 0.
        weight_decay: λ, see :class:`Optimizer`.
        nesterov: whether to look ahead; needs μ > 0 and τ = 0.
        loss_scale: what gradients are divided by.

    Inputs:
        ``gradients``: a tuple of Tensors, one for each Parameter.

    Outputs:
        ``True``.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: see :class:`Optimizer`; ``nesterov`` without momentum
            or with dampening is a ``ValueError``.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> optimizer = ms.nn.SGD([w], learning_rate=0.5)
    >>> optimizer((ms.Tensor([1.0, -1.0]),))
    True
    >>> print(w.value())
    [0.5 2.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        factor = non_negative("SGD", "momentum", momentum)
        self.dampening = non_negative("SGD", "dampening", dampening)
        self.nesterov = boolean("SGD", "nesterov", nesterov)
        if nesterov and (factor == 0 or self.dampening != 0):
            raise ValueError(
                f"For 'SGD', 'nesterov' needs a 'momentum' above 0 and a 'dampening' of 0, but got "
                f"{momentum} and {dampening}."
            )
        self.has_momentum = factor > 0
        self.momentum = Parameter(Tensor(factor, dtype.float32), name="momentum", requires_grad=False)
        self.accum = self._state("accum")
        self.stat = self._state("stat", "ones")
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates = self._prepared(gradients), self._rates()
        momentum = self.momentum.value()
        rows = zip(self.parameters, gradients, rates, self.accum, self.stat, strict=True)
        for parameter, gradient, rate, accumulated, first in rows:
            if self.has_momentum:
                damped = gradient * (1.0 - self.dampening) if self.dampening else gradient
                moved = ops.assign(
                    accumulated,
                    ops.select(ops.greater(first, 0), gradient, accumulated * momentum + damped),
                )
                ops.assign(first, ops.zeros_like(first))
                gradient = gradient + moved * momentum if self.nesterov else moved
            ops.assign_sub(parameter, rate * gradient)
        return True

    def set_momentum(self, momentum: float) -> None:
        """Change μ; it stays above 0 if it was, and 0 if it was."""
        factor = non_negative("SGD", "momentum", momentum)
        if (factor > 0) is not self.has_momentum:
            raise ValueError("For 'SGD', momentum cannot be switched on or off: make a new optimiser.")
        self.momentum.set_data(Tensor(np.float32(factor)))
