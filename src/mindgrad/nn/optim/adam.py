"""Adam, AdamWeightDecay, AdaMax, Lamb: steps scaled by averages of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad import ops
from mindgrad.common import dtype
from mindgrad.nn.hyperparameters import boolean, fraction, positive
from mindgrad.nn.optim.optimizer import Optimizer, documented

__all__ = ["AdaMax", "Adam", "AdamOffload", "AdamWeightDecay", "Lamb", "LazyAdam"]


@documented
class Adam(Optimizer):
    """The Adam optimizer (Kingma and Ba 2015), with Nesterov's variant and AMSGrad.

    For a Parameter w with the gradient g, in step t = 1, 2, ...::

        m ← β₁ m + (1 − β₁) g
        v ← β₂ v + (1 − β₂) g²
        w ← w − η √(1 − β₂ᵗ) / (1 − β₁ᵗ) · m / (√v + ε)

    ε is added before the bias correction of v, as in the last remark of section 2 of the paper. In the last
    line, ``use_nesterov`` replaces m by β₁ m + (1 − β₁) g, and ``use_amsgrad`` (Reddi et al. 2018) replaces v
    by its maximum so far.

    Args:
        use_nesterov (bool): whether to use Nesterov momentum.
        weight_decay (float or Cell): weight decay λ; λ w is added to the gradient. See :class:`Optimizer`.
        use_amsgrad (bool): whether to use AMSGrad. Cannot be combined with ``use_nesterov``.
        use_lazy (bool): accepted for compatibility; it does not change results for dense gradients.
        use_offload (bool): accepted for compatibility; it does not change results for dense gradients.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> optimizer = ms.nn.Adam([w], learning_rate=0.5)
    >>> optimizer((ms.Tensor([3.0, -4.0]),))
    True
    >>> print(w.asnumpy().round(4))
    [0.5 2.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        use_lazy: bool = False,
        use_offload: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        owner = self.cls_name
        self.beta1, self.beta2 = fraction(owner, "beta1", beta1), fraction(owner, "beta2", beta2)
        self.eps = positive(owner, "eps", eps)
        for name, value in (
            ("use_locking", use_locking), ("use_lazy", use_lazy), ("use_offload", use_offload)
        ):  # fmt: skip
            boolean(owner, name, value)
        self.use_nesterov = boolean(owner, "use_nesterov", use_nesterov)
        self.use_amsgrad = boolean(owner, "use_amsgrad", use_amsgrad)
        if use_nesterov and use_amsgrad:
            raise ValueError(f"For '{owner}', 'use_nesterov' and 'use_amsgrad' cannot both be set.")
        self.beta1_power = self._scalar_state("beta1_power", 1.0)
        self.beta2_power = self._scalar_state("beta2_power", 1.0)
        self.moment1 = self._state("moment1")
        self.moment2 = self._state("moment2")
        if use_amsgrad:
            self.vhat = self._state("vhat")

    def construct(self, gradients: Any) -> bool:
        power1 = ops.assign(self.beta1_power, self.beta1_power * self.beta1)
        power2 = ops.assign(self.beta2_power, self.beta2_power * self.beta2)
        root, correction = ops.sqrt(1.0 - power2), 1.0 - power1
        greatest = self.vhat if self.use_amsgrad else (None,) * self.param_length
        rows = self._rows(gradients, self.moment1, self.moment2, greatest)
        # ``id`` of a learning rate -> step size. Most Parameters share one learning rate, and so one step
        # size
        steps: dict[int, Any] = {}
        for parameter, gradient, rate, moment1, moment2, bound in rows:
            mean, square = _moments(moment1, moment2, gradient, self.beta1, self.beta2)
            if bound is not None:
                square = ops.assign(bound, ops.maximum(bound, square))
            if self.use_nesterov:
                mean = self.beta1 * mean + (1.0 - self.beta1) * gradient
            if id(rate) not in steps:
                # Divide last: XLA computes a scalar quotient once, but repeats a scalar product for every
                # element of the Parameter.
                steps[id(rate)] = ops.reshape(rate * root / correction, ())
            ops.assign_sub(parameter, steps[id(rate)] * mean / (ops.sqrt(square) + self.eps))
        return True


class _ShortAdam(Adam):
    """Adam with fewer arguments."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(
            params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale
        )


class AdamOffload(_ShortAdam):
    """Another name of :class:`Adam`, with its arguments up to ``loss_scale``.

    In MindSpore, this optimizer keeps its state on the host. In mindgrad, the state is on the device of the
    program, as the state of :class:`Adam` is.

    {as Adam}

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> ms.nn.AdamOffload([w], learning_rate=0.5)((ms.Tensor([3.0, -4.0]),))
    True
    """


@documented
class AdamWeightDecay(Optimizer):
    """Adam with decoupled weight decay and without bias correction.

    For a Parameter w with the gradient g (Loshchilov and Hutter 2019, without the bias correction, as in
    BERT)::

        m ← β₁ m + (1 − β₁) g
        v ← β₂ v + (1 − β₂) g²
        w ← w − η (m / (√v + ε) + λ w)

    Args:
        weight_decay (float or Cell): weight decay λ. Without parameter groups, it applies only to Parameters
            whose names contain neither ``beta`` nor ``gamma``.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> optimizer = ms.nn.AdamWeightDecay([w], learning_rate=0.5, beta1=0.5, beta2=0.75)
    >>> optimizer((ms.Tensor([3.0, -4.0]),))
    True
    >>> print(w.asnumpy().round(4))
    [0.5 2.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        owner = self.cls_name
        self.beta1, self.beta2 = fraction(owner, "beta1", beta1), fraction(owner, "beta2", beta2)
        self.eps = positive(owner, "eps", eps)
        self.moments1 = self._state("adam_m")
        self.moments2 = self._state("adam_v")

    def construct(self, gradients: Any) -> bool:
        rows = self._rows(
            gradients, self._decays(), self.decay_flags, self.moments1, self.moments2, decayed=False
        )
        for parameter, gradient, rate, decay, applies, moment1, moment2 in rows:
            mean, square = _moments(moment1, moment2, gradient, self.beta1, self.beta2)
            update = mean / (ops.sqrt(square) + self.eps)
            if applies and self.exec_weight_decay:
                update = update + parameter * decay
            ops.assign_sub(parameter, rate * update)
        return True


class LazyAdam(_ShortAdam):
    """:class:`Adam`, under MindSpore's name for its variant for sparse gradients.

    mindgrad's gradients are dense, and for dense gradients both variants compute the same. The arguments are
    the arguments of :class:`Adam` up to ``loss_scale``.

    {as Adam}

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> ms.nn.LazyAdam([w], learning_rate=0.5)((ms.Tensor([3.0, -4.0]),))
    True
    """


@documented
class AdaMax(Optimizer):
    """The AdaMax optimizer (Kingma and Ba 2015, section 7.1).

    For a Parameter w with the gradient g, in step t = 1, 2, ...::

        m ← β₁ m + (1 − β₁) g
        v ← max(β₂ v, |g|)
        w ← w − η / (1 − β₁ᵗ) · m / (v + ε)

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
    >>> optimizer = ms.nn.AdaMax([w], learning_rate=0.5, beta1=0.5)
    >>> optimizer((ms.Tensor([3.0]),))
    True
    >>> print(w.value())
    [0.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1, self.beta2 = fraction("AdaMax", "beta1", beta1), fraction("AdaMax", "beta2", beta2)
        self.eps = positive("AdaMax", "eps", eps)
        self.beta1_power = self._scalar_state("beta1_power", 1.0)
        self.moment1 = self._state("moment1")
        self.moment2 = self._state("moment2")

    def construct(self, gradients: Any) -> bool:
        power = ops.assign(self.beta1_power, self.beta1_power * self.beta1)
        correction = ops.reshape(1.0 - power, ())
        for parameter, gradient, rate, moment1, moment2 in self._rows(gradients, self.moment1, self.moment2):
            mean = ops.assign(moment1, self.beta1 * moment1 + (1.0 - self.beta1) * gradient)
            greatest = ops.assign(moment2, ops.maximum(self.beta2 * moment2, ops.abs(gradient)))
            ops.assign_sub(parameter, (rate / correction) * mean / (greatest + self.eps))
        return True


#: upper bound of the ratio ‖w‖ / ‖r‖ in ``Lamb``, as in MindSpore
_MOST = 10.0


@documented
class Lamb(Optimizer):
    """The LAMB optimizer (You et al. 2020).

    For a Parameter w with the gradient g, in step t = 1, 2, ...::

        m ← β₁ m + (1 − β₁) g
        v ← β₂ v + (1 − β₂) g²
        r = m / (1 − β₁ᵗ) / (√(v / (1 − β₂ᵗ)) + ε) + λ w
        w ← w − η · min(‖w‖ / ‖r‖, 10) · r

    The ratio is 1 if ‖w‖ or ‖g‖ is 0.

    Args:
        weight_decay (float or Cell): weight decay λ. Without parameter groups, it applies only to Parameters
            whose names contain neither ``beta`` nor ``gamma``.

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
        step = ops.reshape(ops.cast(self.global_step, dtype.float32), ()) + 1.0
        left1, left2 = 1.0 - ops.pow(self.beta1, step), 1.0 - ops.pow(self.beta2, step)
        rows = self._rows(
            gradients, self._decays(), self.decay_flags, self.moments1, self.moments2, decayed=False
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


def _moments(moment1: Any, moment2: Any, gradient: Any, beta1: float, beta2: float) -> Sequence[Any]:
    """Update the running means of the gradient and of its square, and return them."""
    return (
        ops.assign(moment1, beta1 * moment1 + (1.0 - beta1) * gradient),
        ops.assign(moment2, beta2 * moment2 + (1.0 - beta2) * ops.square(gradient)),
    )


def _norm(x: Any) -> Any:
    return ops.sqrt(ops.sum(ops.square(ops.cast(x, dtype.float32))))
