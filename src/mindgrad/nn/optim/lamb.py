"""LAMB: Adam with one rate of its own for each Parameter, for large batches."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.common import dtype
from mindgrad.nn.hyperparameters import fraction, positive
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["Lamb"]

#: the greatest trust ratio, as in MindSpore
_MOST = 10.0


class Lamb(Optimizer):
    """LAMB (You et al. 2020).

    For a Parameter w with the gradient g, in step t = 1, 2, …::

        m ← β₁ m + (1 − β₁) g
        v ← β₂ v + (1 − β₂) g²
        r = m / (1 − β₁ᵗ) / (√(v / (1 − β₂ᵗ)) + ε) + λ w
        w ← w − η · min(‖w‖ / ‖r‖, 10) · r

    The ratio is 1 where ‖w‖ or ‖g‖ is 0.

    Args:
        params: Parameters or groups of them, see :class:`Optimizer`.
        learning_rate: η, see :class:`Optimizer`.
        beta1: β₁, between 0 and 1.
        beta2: β₂, between 0 and 1.
        eps: ε, above 0.
        weight_decay: λ; without groups it applies to Parameters whose names contain neither ``beta`` nor
            ``gamma``.

    Inputs:
        ``gradients``: a tuple of Tensors, one for each Parameter.

    Outputs:
        ``True``.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: see :class:`Optimizer`.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([4.0]), name="w")
    >>> optimizer = ms.nn.Lamb([w], learning_rate=0.5)
    >>> optimizer((ms.Tensor([1.0]),))
    True
    >>> print(w.value())
    [2.]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.beta1, self.beta2 = fraction("Lamb", "beta1", beta1), fraction("Lamb", "beta2", beta2)
        self.eps = positive("Lamb", "eps", eps)
        self.moments1 = self._state("lamb_m")
        self.moments2 = self._state("lamb_v")

    def construct(self, gradients: Any) -> bool:
        """See the class."""
        gradients, rates, decays = self._prepared(gradients, decayed=False), self._rates(), self._decays()
        step = ops.reshape(ops.cast(self.global_step, dtype.float32), ()) + 1.0
        left1, left2 = 1.0 - ops.pow(self.beta1, step), 1.0 - ops.pow(self.beta2, step)
        rows = zip(
            self.parameters,
            gradients,
            rates,
            decays,
            self.decay_flags,
            self.moments1,
            self.moments2,
            strict=True,
        )
        for parameter, gradient, rate, decay, applies, moment1, moment2 in rows:
            mean = ops.assign(moment1, self.beta1 * moment1 + (1.0 - self.beta1) * gradient)
            square = ops.assign(moment2, self.beta2 * moment2 + (1.0 - self.beta2) * ops.square(gradient))
            update = (mean / left1) / (ops.sqrt(square / left2) + self.eps)
            if applies and self.exec_weight_decay:
                update = update + parameter * decay
            size, length = _norm(parameter), _norm(update)
            counts = ops.logical_and(size > 0, _norm(gradient) > 0)
            ratio = ops.select(counts, ops.minimum(size / ops.select(counts, length, 1.0), _MOST), 1.0)
            ops.assign_sub(parameter, rate * ratio * update)
        return True


def _norm(x: Any) -> Any:
    return ops.sqrt(ops.sum(ops.square(ops.cast(x, dtype.float32))))
