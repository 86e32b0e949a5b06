"""Stochastic gradient descent with momentum, as defined by PyTorch."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.experimental.optim.optimizer import Optimizer
from mindgrad.nn.hyperparameters import boolean, non_negative

__all__ = ["SGD"]


class SGD(Optimizer):
    """Stochastic gradient descent with momentum, with parameter groups as in PyTorch.

    For a Parameter w with the gradient g::

        g ← g + λ w
        v ← μ v + (1 − τ) g       (v ← g in the first step)
        w ← w − η v               (w ← w − η (g + μ v) with nesterov; w ← w − η g for μ = 0)

    Args:
        params (list of Parameter or list of dict): Parameters, or groups of them, see :class:`Optimizer`.
        lr (float): η.
        momentum (float, optional): μ. Default: ``0``.
        dampening (float, optional): τ. Default: ``0``.
        weight_decay (float, optional): λ. Default: ``0.0``.
        nesterov (bool, optional): whether to use Nesterov's variant; requires μ > 0 and τ = 0.
            Default: ``False``.
        maximize (bool, optional): whether to maximize instead of minimize. Default: ``False``.

    Inputs:
        gradients (tuple of Tensor): one gradient for each Parameter.

    Outputs:
        ``True``.

    Raises:
        TypeError: As for :class:`Optimizer`.
        ValueError: As for :class:`Optimizer`, or if an option is out of range.

    >>> import mindgrad as ms
    >>> from mindgrad.experimental import optim
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> optim.SGD([w], lr=0.5)((ms.Tensor([1.0, -1.0]),))
    True
    >>> print(w.value())
    [0.5 2.5]

    See Also:
        :class:`mindgrad.nn.SGD`, :class:`mindgrad.experimental.optim.Adam`
    """

    def __init__(
        self,
        params: Any,
        lr: float,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        options = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, options)
        for group in self.param_groups:
            for name in ("momentum", "dampening", "weight_decay"):
                non_negative("SGD", name, group[name])
            for name in ("nesterov", "maximize"):
                boolean("SGD", name, group[name])
            if group["nesterov"] and not (group["momentum"] > 0 and group["dampening"] == 0):
                raise ValueError("For 'SGD', 'nesterov' needs a 'momentum' above 0 and no 'dampening'.")
        self.accum = self._state("accum")

    def construct(self, gradients: Any) -> bool:
        is_first = ops.equal(self.state_step, 0)
        for group, parameter, gradient, accum in self._rows(gradients, self.accum):
            if group["weight_decay"]:
                gradient = gradient + parameter * group["weight_decay"]
            change = gradient
            if group["momentum"]:
                moved = group["momentum"] * accum + (1.0 - group["dampening"]) * gradient
                moved = ops.assign(accum, ops.where(is_first, gradient, moved))
                change = gradient + group["momentum"] * moved if group["nesterov"] else moved
            ops.assign_sub(parameter, group["lr"] * change)
        ops.assign_add(self.state_step, 1)
        return True
