"""Resilient backpropagation uses only the signs of gradients."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.nn.hyperparameters import fraction, real
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993).

    Each element of a Parameter has a step size of its own, the learning rate at first. It grows by
    etas[1] where the gradient g has the sign that it had before and shrinks by etas[0] where it has the
    other, within ``step_sizes``; where it shrinks, g counts as 0 in this step and for the next::

        w ← w − sign(g) · step

    Args:
        params: Parameters or groups of them, see :class:`Optimizer`.
        learning_rate: see :class:`Optimizer`.
        etas: the two factors: one between 0 and 1, one above 1.
        step_sizes: the least and the greatest step size.
        weight_decay: see :class:`Optimizer`.

    Inputs:
        ``gradients``: a tuple of Tensors, one for each Parameter.

    Outputs:
        ``True``.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: see :class:`Optimizer`.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
    >>> optimizer = ms.nn.Rprop([w], learning_rate=0.5)
    >>> optimizer((ms.Tensor([3.0]),))
    True
    >>> print(w.value())
    [0.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for name, value in (("etas", etas), ("step_sizes", step_sizes)):
            if not isinstance(value, tuple):
                raise TypeError(f"For 'Rprop', the '{name}' must be a tuple, but got {type(value).__name__}.")
            if len(value) != 2:
                raise ValueError(f"For 'Rprop', the '{name}' must be two numbers, but got {len(value)}.")
        self.etaminus, self.etaplus = fraction("Rprop", "etas[0]", etas[0]), real("Rprop", "etas[1]", etas[1])
        if self.etaplus <= 1:
            raise ValueError(f"For 'Rprop', the 'etas[1]' must be greater than 1, but got {etas[1]}.")
        self.step_size_min, self.step_size_max = [real("Rprop", "step_sizes", each) for each in step_sizes]
        if self.step_size_min > self.step_size_max:
            raise ValueError(f"For 'Rprop', the 'step_sizes' must grow, but got {step_sizes}.")
        self.prev = self._state("prev")
        self.step_size = self._state("step_size")

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates = self._prepared(gradients), self._rates()
        is_first = ops.reshape(ops.equal(self.global_step, 0), ())
        rows = zip(self.parameters, gradients, rates, self.prev, self.step_size, strict=True)
        for parameter, gradient, rate, previous, size in rows:
            agreement = gradient * previous
            turned = agreement < 0
            factor = ops.select(turned, self.etaminus, ops.select(agreement > 0, self.etaplus, 1.0))
            current = ops.select(is_first, ops.ones_like(size) * rate, size.value())
            current = ops.clip_by_value(current * factor, self.step_size_min, self.step_size_max)
            counted = ops.select(turned, ops.zeros_like(gradient), gradient)
            ops.assign_sub(parameter, ops.sign(counted) * current)
            ops.assign(previous, counted)
            ops.assign(size, current)
        return True
