"""Averaged stochastic gradient descent returns the mean of its iterates."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.common import dtype
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.ir.tensor import Tensor
from mindgrad.nn.hyperparameters import real
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992).

    For a Parameter w with the gradient g, in step t = 1, 2, …::

        w ← w (1 − lambd ηₜ₋₁) − ηₜ₋₁ g       (η₀ is the learning rate)
        a ← a + (w − a) μₜ₋₁                   (a ← w where μ = 1)
        ηₜ = η / (1 + lambd η t)^alpha
        μₜ = 1 / max(1, t − t0)

    Args:
        params: Parameters or groups of them, see :class:`Optimizer`.
        learning_rate: η, see :class:`Optimizer`.
        lambd: the decay term.
        alpha: the power of the decay.
        t0: the step at which averaging starts.
        weight_decay: see :class:`Optimizer`.

    Inputs:
        ``gradients``: a tuple of Tensors, one for each Parameter.

    Outputs:
        ``True``.

    Attributes:
        ax: the averages, one Parameter for each.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: see :class:`Optimizer`.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
    >>> optimizer = ms.nn.ASGD([w], learning_rate=0.5, lambd=0.0)
    >>> optimizer((ms.Tensor([1.0]),))
    True
    >>> print(w.value(), optimizer.ax[0].value())
    [0.5] [0.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.lambd, self.alpha = real("ASGD", "lambd", lambd), real("ASGD", "alpha", alpha)
        self.t0 = real("ASGD", "t0", t0)
        self.mu = ParameterTuple([_scalar(1.0, f"mu_{p.name}") for p in self.parameters])
        self.eta = ParameterTuple([_scalar(0.0, f"eta_{p.name}") for p in self.parameters])
        self.ax = self._state("ax_")

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates = self._prepared(gradients), self._rates()
        before = ops.reshape(ops.cast(self.global_step, dtype.float32), ())
        step = before + 1.0
        rows = zip(self.parameters, gradients, rates, self.mu, self.eta, self.ax, strict=True)
        for parameter, gradient, rate, mu, eta, average in rows:
            current = ops.select(before > 0, eta.value(), ops.cast(rate, dtype.float32))
            moved = ops.assign(parameter, parameter * (1.0 - self.lambd * current) - current * gradient)
            mixed = ops.select(ops.equal(mu, 1.0), moved, average + (moved - average) * mu)
            ops.assign(average, mixed)
            ops.assign(eta, rate / ops.pow(1.0 + self.lambd * rate * step, self.alpha))
            ops.assign(mu, 1.0 / ops.maximum(step - self.t0, 1.0))
        return True


def _scalar(value: float, name: str) -> Parameter:
    return Parameter(Tensor(value, dtype.float32), name=name, requires_grad=False)
