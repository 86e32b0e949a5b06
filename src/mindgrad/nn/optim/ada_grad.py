"""Adagrad: steps divided by the root of the sum of squares of gradients."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.nn.hyperparameters import boolean, non_negative
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Adagrad (Duchi et al. 2011).

    For a Parameter w with the gradient g::

        s ← s + g²                            (with update_slots; s starts with accum)
        w ← w − η g / √s

    Args:
        params: Parameters or groups of them, see :class:`Optimizer`.
        accum: what the sum of squares starts with, at least 0.
        learning_rate: η, see :class:`Optimizer`.
        update_slots: whether the sum grows.
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
    >>> optimizer = ms.nn.Adagrad([w], accum=0.0, learning_rate=0.5)
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
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.update_slots = boolean("Adagrad", "update_slots", update_slots)
        self.accum = self._state("accum", non_negative("Adagrad", "accum", accum))

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates = self._prepared(gradients), self._rates()
        for parameter, gradient, rate, accum in zip(
            self.parameters, gradients, rates, self.accum, strict=True
        ):
            total = ops.assign_add(accum, ops.square(gradient)) if self.update_slots else accum.value()
            ops.assign_sub(parameter, rate * gradient / ops.sqrt(total))
        return True
