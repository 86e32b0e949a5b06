"""FTRL: follow the regularised leader."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.nn.hyperparameters import boolean, non_negative, real
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["FTRL"]


class FTRL(Optimizer):
    """Follow the regularised leader, by coordinate (McMahan et al. 2013).

    For a Parameter w with the gradient g and p = lr_power::

        n' = n + g²                           (n starts with initial_accum)
        z ← z + g − (n'^(−p) − n^(−p)) / η · w
        w ← (sign(z) l1 − z) / (n'^(−p) / η + 2 l2)   where |z| > l1, else 0

    Args:
        params: Parameters or groups of them without rates of their own, see :class:`Optimizer`.
        initial_accum: what n starts with, at least 0.
        learning_rate: η, a fixed number.
        lr_power: p, at most 0.
        l1, l2: the strengths of the two regularisations, at least 0.
        use_locking: accepted for compatibility.
        loss_scale: what gradients are divided by.
        weight_decay: see :class:`Optimizer`; it applies to all Parameters.

    Inputs:
        ``gradients``: a tuple of Tensors, one for each Parameter.

    Outputs:
        ``True``.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: see :class:`Optimizer`; a learning rate that changes,
            or one of a group, is a ``ValueError``.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([0.0]), name="w")
    >>> optimizer = ms.nn.FTRL([w], initial_accum=0.0, learning_rate=0.5)
    >>> optimizer((ms.Tensor([2.0]),))
    True
    >>> print(w.value())
    [-0.5]
    """

    def __init__(
        self,
        params: Any,
        initial_accum: float = 0.1,
        learning_rate: Any = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError("For 'FTRL', the 'learning_rate' must be fixed, and one for all groups.")
        boolean("FTRL", "use_locking", use_locking)
        self.l1, self.l2 = non_negative("FTRL", "l1", l1), non_negative("FTRL", "l2", l2)
        self.lr_power = real("FTRL", "lr_power", lr_power)
        if self.lr_power > 0:
            raise ValueError(f"For 'FTRL', the 'lr_power' must be at most 0, but got {lr_power}.")
        self.moments = self._state("moments", non_negative("FTRL", "initial_accum", initial_accum))
        self.linear = self._state("linear")
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates = self._prepared(gradients), self._rates()
        power = -self.lr_power
        rows = zip(self.parameters, gradients, rates, self.moments, self.linear, strict=True)
        for parameter, gradient, rate, moment, linear in rows:
            before = ops.pow(moment.value(), power)
            after = ops.pow(ops.assign_add(moment, ops.square(gradient)), power)
            total = ops.assign_add(linear, gradient - (after - before) / rate * parameter)
            leader = (ops.sign(total) * self.l1 - total) / (after / rate + 2.0 * self.l2)
            ops.assign(parameter, ops.select(ops.abs(total) > self.l1, leader, ops.zeros_like(leader)))
        return True
