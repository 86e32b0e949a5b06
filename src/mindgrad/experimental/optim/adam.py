"""The optimizers Adam and AdamW, with PyTorch's bias correction."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.experimental.optim.optimizer import Optimizer
from mindgrad.nn.hyperparameters import boolean, non_negative

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """The Adam optimizer (Kingma and Ba, 2015), with parameter groups as in PyTorch.

    For a Parameter w with the gradient g in step t::

        g ← g + λ w
        m ← β₁ m + (1 − β₁) g,    v ← β₂ v + (1 − β₂) g²
        w ← w − η m̂ / (√v̂ + ε),   m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)

    :class:`mindgrad.nn.Adam` adds ε to √v instead of √v̂.

    Args:
        params (list of Parameter or list of dict): Parameters, or groups of them, see :class:`Optimizer`.
        lr (float, optional): η. Default: ``0.001``.
        betas (tuple of float, optional): (β₁, β₂), in [0, 1), for all groups. Default: ``(0.9, 0.999)``.
        eps (float, optional): ε. Default: ``1e-08``.
        weight_decay (float, optional): λ. Default: ``0.0``.
        amsgrad (bool, optional): whether to use the maximum of v̂ so far, for all groups. Default: ``False``.
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
    >>> optim.Adam([w], lr=0.5)((ms.Tensor([3.0, -4.0]),))
    True
    >>> print(w.asnumpy().round(4))
    [0.5 2.5]

    See Also:
        :class:`mindgrad.experimental.optim.AdamW`, :class:`mindgrad.nn.Adam`
    """

    _decoupled = False

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        owner = type(self).__name__
        options = {"lr": lr, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, options)
        for group in self.param_groups:
            for name in ("eps", "weight_decay"):
                non_negative(owner, name, group[name])
            boolean(owner, "maximize", group["maximize"])
        self.amsgrad = boolean(owner, "amsgrad", amsgrad)
        if not isinstance(betas, (tuple, list)) or len(betas) != 2:
            raise TypeError(f"For '{owner}', the 'betas' must be two numbers, but got {betas!r}.")
        for value in betas:
            if not 0 <= value < 1:
                raise ValueError(f"For '{owner}', the 'betas' must be from 0 to below 1, but got {betas}.")
        self.beta1, self.beta2 = float(betas[0]), float(betas[1])
        one = Tensor(np.float32(1))
        self.beta1_power: Any = Parameter(one, name="beta1_power", requires_grad=False)
        self.beta2_power: Any = Parameter(one, name="beta2_power", requires_grad=False)
        self.exp_avg = self._state("exp_avg")
        self.exp_avg_sq = self._state("exp_avg_sq")
        self.max_exp_avg_sq = self._state("max_exp_avg_sq") if self.amsgrad else None

    def construct(self, gradients: Any) -> bool:
        ops.assign_add(self.state_step, 1)
        power1 = ops.assign(self.beta1_power, self.beta1_power * self.beta1)
        power2 = ops.assign(self.beta2_power, self.beta2_power * self.beta2)
        correction, root = 1.0 - power1, ops.sqrt(1.0 - power2)
        bounds = self.max_exp_avg_sq if self.amsgrad else (None,) * len(self.parameters)
        rows = self._rows(gradients, self.exp_avg, self.exp_avg_sq, bounds)
        for group, parameter, gradient, moment1, moment2, bound in rows:
            decay, old = group["weight_decay"], parameter.value()
            if decay and self._decoupled:
                old = old * (1.0 - group["lr"] * decay)
            elif decay:
                gradient = gradient + old * decay
            mean = ops.assign(moment1, self.beta1 * moment1 + (1.0 - self.beta1) * gradient)
            square = ops.assign(moment2, self.beta2 * moment2 + (1.0 - self.beta2) * ops.square(gradient))
            if bound is not None:
                square = ops.assign(bound, ops.maximum(bound, square))
            step = group["lr"] / correction
            ops.assign(parameter, old - step * mean / (ops.sqrt(square) / root + group["eps"]))
        return True


class AdamW(Adam):
    """Adam with decoupled weight decay, w ← w − η λ w (Loshchilov and Hutter, 2019).

    Args:
        params (list of Parameter or list of dict): Parameters, or groups of them, see :class:`Optimizer`.
        lr (float, optional): η. Default: ``0.001``.
        betas (tuple of float, optional): (β₁, β₂), in [0, 1), for all groups. Default: ``(0.9, 0.999)``.
        eps (float, optional): ε. Default: ``1e-08``.
        weight_decay (float, optional): λ. Default: ``0.01``.
        amsgrad (bool, optional): whether to use the maximum of v̂ so far, for all groups. Default: ``False``.
        maximize (bool, optional): whether to maximize instead of minimize. Default: ``False``.

    Inputs:
        gradients (tuple of Tensor): one gradient for each Parameter.

    >>> import mindgrad as ms
    >>> from mindgrad.experimental import optim
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> optim.AdamW([w], lr=0.5, weight_decay=0.5)((ms.Tensor([3.0, -4.0]),))
    True
    >>> print(w.asnumpy().round(4))
    [0.25 2.  ]

    See Also:
        :class:`mindgrad.experimental.optim.Adam`, :class:`mindgrad.nn.AdamWeightDecay`
    """

    _decoupled = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
