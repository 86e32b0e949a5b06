"""Momentum adds a fraction of the previous step to each gradient step."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.common import dtype
from mindgrad.common.parameter import Parameter
from mindgrad.ir.tensor import Tensor
from mindgrad.nn.hyperparameters import boolean, non_negative
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["Momentum"]


class Momentum(Optimizer):
    """Gradient descent with momentum (Sutskever et al. 2013).

    For a Parameter w with the gradient g, learning rate η and momentum μ::

        v ← μ v + g
        w ← w − η v               (w ← w − η (g + μ v) with use_nesterov)

    Args:
        params: Parameters or groups of them, see :class:`Optimizer`.
        learning_rate: η, see :class:`Optimizer`.
        momentum: μ, at least 0.
        weight_decay: see :class:`Optimizer`.
        loss_scale: what gradients are divided by.
        use_nesterov: whether to look ahead.

    Inputs:
        ``gradients``: a tuple of Tensors, one for each Parameter.

    Outputs:
        ``True``.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: see :class:`Optimizer`.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> optimizer = ms.nn.Momentum([w], learning_rate=0.5, momentum=0.5)
    >>> for _ in range(2):
    ...     _ = optimizer((ms.Tensor([1.0, -1.0]),))
    >>> print(w.value())
    [-0.25  3.25]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        factor = non_negative("Momentum", "momentum", momentum)
        self.use_nesterov = boolean("Momentum", "use_nesterov", use_nesterov)
        self.momentum = Parameter(Tensor(factor, dtype.float32), name="momentum", requires_grad=False)
        self.moments = self._state("moments")

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates = self._prepared(gradients), self._rates()
        momentum = self.momentum.value()
        rows = zip(self.parameters, gradients, rates, self.moments, strict=True)
        for parameter, gradient, rate, moment in rows:
            moved = ops.assign(moment, moment * momentum + gradient)
            if self.use_nesterov:
                moved = gradient + moved * momentum
            ops.assign_sub(parameter, rate * moved)
        return True
