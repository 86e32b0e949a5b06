"""Adagrad with a proximal step for two regularisations."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.nn.hyperparameters import boolean, non_negative
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["ProximalAdagrad"]


class ProximalAdagrad(Optimizer):
    """Adagrad with forward–backward splitting (Duchi and Singer 2009).

    For a Parameter w with the gradient g::

        s ← s + g²                            (s starts with accum)
        η' = η / √s
        u = w − η' g
        w ← sign(u) max(|u| − η' l1, 0) / (1 + η' l2)

    Args:
        params: Parameters or groups of them, see :class:`Optimizer`.
        accum: what the sum of squares starts with, at least 0.
        learning_rate: η, see :class:`Optimizer`.
        l1, l2: the strengths of the two regularisations, at least 0.
        use_locking: accepted for compatibility.
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
    >>> optimizer = ms.nn.ProximalAdagrad([w], accum=0.0, learning_rate=0.5)
    >>> optimizer((ms.Tensor([3.0]),))
    True
    >>> print(w.value())
    [0.5]
    """

    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        owner = "ProximalAdagrad"
        boolean(owner, "use_locking", use_locking)
        self.l1, self.l2 = non_negative(owner, "l1", l1), non_negative(owner, "l2", l2)
        self.accum = self._state("accum", non_negative(owner, "accum", accum))

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates = self._prepared(gradients), self._rates()
        for parameter, gradient, rate, accum in zip(
            self.parameters, gradients, rates, self.accum, strict=True
        ):
            scaled = rate / ops.sqrt(ops.assign_add(accum, ops.square(gradient)))
            moved = parameter - scaled * gradient
            shrunk = ops.sign(moved) * ops.maximum(ops.abs(moved) - scaled * self.l1, 0.0)
            ops.assign(parameter, shrunk / (1.0 + scaled * self.l2))
        return True
