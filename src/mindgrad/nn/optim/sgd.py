"""SGD, Momentum, ASGD, and Rprop: gradient descent and its variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad._base.checks import of_type
from mindgrad.common import dtype
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.hyperparameters import boolean, fraction, non_negative, real
from mindgrad.nn.optim.optimizer import Optimizer, documented

__all__ = ["ASGD", "SGD", "Momentum", "Rprop"]


@documented
class SGD(Optimizer):
    """Stochastic gradient descent with optional momentum and Nesterov's variant.

    For a Parameter w with the gradient g, learning rate η, momentum μ, dampening τ, and weight decay λ::

        g ← g + λ w
        v ← μ v + (1 − τ) g       (v ← g in the first step)
        w ← w − η v               (w ← w − η (g + μ v) with nesterov; w ← w − η g for μ = 0)

    Unlike in other optimizers, weight decay applies to all Parameters that are not in a group, as in
    MindSpore.

    Args:
        momentum (float): momentum μ, at least 0.
        dampening (float): dampening τ of the momentum, at least 0.
        weight_decay (float or Cell): weight decay λ, see :class:`Optimizer`.
        nesterov (bool): whether to use Nesterov momentum, which requires ``momentum`` > 0 and ``dampening`` =
            0.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, or ``nesterov`` is set without momentum or with dampening.
        KeyError: If a parameter group has an unknown key, or does not have ``params``.
        RuntimeError: If the same Parameter is listed twice.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> optimizer = ms.nn.SGD([w], learning_rate=0.5)
    >>> optimizer((ms.Tensor([1.0, -1.0]),))
    True
    >>> print(w.value())
    [0.5 2.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        factor = non_negative("SGD", "momentum", momentum)
        self.dampening = non_negative("SGD", "dampening", dampening)
        self.nesterov = boolean("SGD", "nesterov", nesterov)
        if nesterov and (factor == 0 or self.dampening != 0):
            raise ValueError(
                f"For 'SGD', 'nesterov' needs a 'momentum' above 0 and a 'dampening' of 0, but got "
                f"{momentum} and {dampening}."
            )
        self.has_momentum = factor > 0
        self.momentum = Parameter(Tensor(factor, dtype.float32), name="momentum", requires_grad=False)
        self.accum = self._state("accum")
        self.stat = self._state("stat", "ones")
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length

    def construct(self, gradients: Any) -> bool:
        momentum = self.momentum.value()
        for parameter, gradient, rate, accumulated, first in self._rows(gradients, self.accum, self.stat):
            if self.has_momentum:
                damped = gradient * (1.0 - self.dampening) if self.dampening else gradient
                moved = ops.assign(
                    accumulated, ops.select(ops.greater(first, 0), gradient, accumulated * momentum + damped)
                )
                ops.assign(first, ops.zeros_like(first))
                gradient = gradient + moved * momentum if self.nesterov else moved
            ops.assign_sub(parameter, rate * gradient)
        return True

    def set_momentum(self, momentum: float) -> None:
        """Change the momentum, which must remain positive, or remain 0.

        Args:
            momentum (float): new value of the momentum μ.
        """
        factor = non_negative("SGD", "momentum", momentum)
        if (factor > 0) is not self.has_momentum:
            raise ValueError(
                "For 'SGD', the momentum cannot change from 0 or to 0, because the optimizer has momentum "
                "buffers only for a positive momentum. Create a new optimizer."
            )
        self.momentum.set_data(Tensor(np.float32(factor)))


@documented
class Momentum(Optimizer):
    """Gradient descent with momentum (Sutskever et al. 2013).

    For a Parameter w with the gradient g, learning rate η, and momentum μ::

        v ← μ v + g
        w ← w − η v               (w ← w − η (g + μ v) with use_nesterov)

    Args:
        momentum (float): momentum μ, at least 0.
        use_nesterov (bool): whether to use Nesterov momentum.

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
        momentum = self.momentum.value()
        for parameter, gradient, rate, moment in self._rows(gradients, self.moments):
            moved = ops.assign(moment, moment * momentum + gradient)
            if self.use_nesterov:
                moved = gradient + moved * momentum
            ops.assign_sub(parameter, rate * moved)
        return True


@documented
class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992).

    For a Parameter w with the gradient g, in step t = 1, 2, ...::

        w ← w (1 − lambd ηₜ₋₁) − ηₜ₋₁ g       (η₀ is the learning rate)
        a ← a + (w − a) μₜ₋₁                   (a ← w where μ = 1)
        ηₜ = η / (1 + lambd η t)^alpha
        μₜ = 1 / max(1, t − t0)

    Args:
        lambd (float): decay factor of the Parameters and of the learning rate.
        alpha (float): exponent of the decay of the learning rate.
        t0 (float): step at which averaging starts.

    Attributes:
        ax (ParameterTuple): averages a of the Parameters, one for each Parameter.

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
        before = ops.reshape(ops.cast(self.global_step, dtype.float32), ())
        step = before + 1.0
        for parameter, gradient, rate, mu, eta, average in self._rows(gradients, self.mu, self.eta, self.ax):
            current = ops.select(before > 0, eta.value(), ops.cast(rate, dtype.float32))
            moved = ops.assign(parameter, parameter * (1.0 - self.lambd * current) - current * gradient)
            mixed = ops.select(ops.equal(mu, 1.0), moved, average + (moved - average) * mu)
            ops.assign(average, mixed)
            ops.assign(eta, rate / ops.pow(1.0 + self.lambd * rate * step, self.alpha))
            ops.assign(mu, 1.0 / ops.maximum(step - self.t0, 1.0))
        return True


@documented
class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993).

    Each element of a Parameter has a step size, which starts with the learning rate. The step size is
    multiplied by etas[1] if the sign of the gradient g did not change, and by etas[0] if the sign changed,
    within the bounds ``step_sizes``. If the step size shrinks, g counts as 0 in this step and for the next
    one::

        w ← w − sign(g) · step

    Args:
        etas (tuple of float): two factors of the step size: the first between 0 and 1, and the second above
            1.
        step_sizes (tuple of float): minimum and maximum of the step sizes.

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
            of_type(value, tuple, "Rprop", name)
            if len(value) != 2:
                raise ValueError(f"For 'Rprop', the '{name}' must be two numbers, but got {len(value)}.")
        self.etaminus, self.etaplus = fraction("Rprop", "etas[0]", etas[0]), real("Rprop", "etas[1]", etas[1])
        if self.etaplus <= 1:
            raise ValueError(f"For 'Rprop', the 'etas[1]' must be greater than 1, but got {etas[1]}.")
        self.step_size_min, self.step_size_max = [real("Rprop", "step_sizes", each) for each in step_sizes]
        if self.step_size_min > self.step_size_max:
            raise ValueError(
                f"For 'Rprop', the 'step_sizes' must be in ascending order, but got {step_sizes}."
            )
        self.prev = self._state("prev")
        self.step_size = self._state("step_size")

    def construct(self, gradients: Any) -> bool:
        is_first = ops.reshape(ops.equal(self.global_step, 0), ())
        for parameter, gradient, rate, previous, size in self._rows(gradients, self.prev, self.step_size):
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


def _scalar(value: float, name: str) -> Parameter:
    return Parameter(Tensor(value, dtype.float32), name=name, requires_grad=False)
