"""Adagrad, Adadelta, RMSProp, FTRL: steps divided by a root of squared gradients."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.nn.hyperparameters import boolean, non_negative, positive, real
from mindgrad.nn.optim.optimizer import Optimizer, documented

__all__ = ["FTRL", "Adadelta", "Adagrad", "ProximalAdagrad", "RMSProp"]


@documented
class Adagrad(Optimizer):
    """The Adagrad optimizer (Duchi et al. 2011).

    For a Parameter w with the gradient g::

        s ← s + g²                            (with update_slots; s starts with accum)
        w ← w − η g / √s

    Args:
        accum (float): initial value of s, the sum of squared gradients; at least 0.
        update_slots (bool): whether to update s, the sum of squared gradients.

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
        for parameter, gradient, rate, accum in self._rows(gradients, self.accum):
            total = ops.assign_add(accum, ops.square(gradient)) if self.update_slots else accum.value()
            ops.assign_sub(parameter, rate * gradient / ops.sqrt(total))
        return True


@documented
class ProximalAdagrad(Optimizer):
    """Adagrad with forward–backward splitting (Duchi and Singer 2009).

    For a Parameter w with the gradient g::

        s ← s + g²                            (s starts with accum)
        η' = η / √s
        u = w − η' g
        w ← sign(u) max(|u| − η' l1, 0) / (1 + η' l2)

    Args:
        accum (float): initial value of s, the sum of squared gradients; at least 0.
        l1 (float): strength of the ℓ₁ regularization, at least 0.
        l2 (float): strength of the ℓ₂ regularization, at least 0.

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
        for parameter, gradient, rate, accum in self._rows(gradients, self.accum):
            scaled = rate / ops.sqrt(ops.assign_add(accum, ops.square(gradient)))
            moved = parameter - scaled * gradient
            shrunk = ops.sign(moved) * ops.maximum(ops.abs(moved) - scaled * self.l1, 0.0)
            ops.assign(parameter, shrunk / (1.0 + scaled * self.l2))
        return True


@documented
class Adadelta(Optimizer):
    """The Adadelta optimizer (Zeiler 2012).

    For a Parameter w with the gradient g::

        s ← ρ s + (1 − ρ) g²
        u = g √(d + ε) / √(s + ε)
        d ← ρ d + (1 − ρ) u²
        w ← w − η u

    Args:
        rho (float): decay rate ρ of the running averages, from 0 to 1.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
    >>> optimizer = ms.nn.Adadelta([w], rho=0.0, epsilon=0.25)
    >>> optimizer((ms.Tensor([0.0]),))
    True
    >>> print(w.value())
    [1.]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho = non_negative("Adadelta", "rho", rho)
        if real("Adadelta", "rho", rho) > 1:
            raise ValueError(f"For 'Adadelta', the 'rho' must be at most 1, but got {rho}.")
        self.epsilon = positive("Adadelta", "epsilon", epsilon)
        self.accum = self._state("accum")
        self.accum_update = self._state("accum_update")

    def construct(self, gradients: Any) -> bool:
        rho, epsilon = self.rho, self.epsilon
        rows = self._rows(gradients, self.accum, self.accum_update)
        for parameter, gradient, rate, accum, accum_update in rows:
            square = ops.assign(accum, rho * accum + (1.0 - rho) * ops.square(gradient))
            update = gradient * ops.sqrt(accum_update + epsilon) / ops.sqrt(square + epsilon)
            ops.assign(accum_update, rho * accum_update + (1.0 - rho) * ops.square(update))
            ops.assign_sub(parameter, rate * update)
        return True


@documented
class RMSProp(Optimizer):
    """The RMSProp optimizer (Tieleman and Hinton 2012), with optional centering.

    For a Parameter w with the gradient g::

        s ← ρ s + (1 − ρ) g²                  (s starts with 1)
        a ← ρ a + (1 − ρ) g                   (centered only; a starts with 0)
        m ← β m + η g / √(s − a² + ε)         (a = 0 unless centered)
        w ← w − m

    Args:
        decay (float): decay rate ρ of the running averages, at least 0.
        momentum (float): momentum β, at least 0.
        centered (bool): whether to divide by the running standard deviation of the gradients instead of their
            root mean square.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
    >>> optimizer = ms.nn.RMSProp([w], learning_rate=0.5, decay=0.5)
    >>> optimizer((ms.Tensor([1.0]),))
    True
    >>> print(w.value())
    [0.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        boolean("RMSProp", "use_locking", use_locking)
        self.centered = boolean("RMSProp", "centered", centered)
        self.decay = non_negative("RMSProp", "decay", decay)
        self.momentum = non_negative("RMSProp", "momentum", momentum)
        self.epsilon = positive("RMSProp", "epsilon", epsilon)
        self.ms = self._state("mean_square", "ones")
        self.moment = self._state("moment")
        if centered:
            self.mg = self._state("mean_grad")

    def construct(self, gradients: Any) -> bool:
        means = self.mg if self.centered else (None,) * self.param_length
        rho = self.decay
        rows = self._rows(gradients, self.ms, self.moment, means)
        for parameter, gradient, rate, mean_square, moment, mean in rows:
            spread = ops.assign(mean_square, rho * mean_square + (1.0 - rho) * ops.square(gradient))
            if mean is not None:
                spread = spread - ops.square(ops.assign(mean, rho * mean + (1.0 - rho) * gradient))
            step = rate * gradient / ops.sqrt(spread + self.epsilon)
            ops.assign_sub(parameter, ops.assign(moment, self.momentum * moment + step))
        return True


@documented
class FTRL(Optimizer):
    """The FTRL optimizer, "follow the regularized leader" (McMahan et al. 2013).

    For a Parameter w with the gradient g and p = lr_power::

        n' = n + g²                           (n starts with initial_accum)
        z ← z + g − (n'^(−p) − n^(−p)) / η · w
        w ← (sign(z) l1 − z) / (n'^(−p) / η + 2 l2)   where |z| > l1, else 0

    Args:
        params (list of Parameter or list of dict): Parameters, or groups of them without learning rates, see
            :class:`Optimizer`.
        initial_accum (float): initial value of n, the sum of squared gradients; at least 0.
        learning_rate (float): constant learning rate η.
        lr_power (float): exponent p in the formula, at most 0.
        l1 (float): strength of the ℓ₁ regularization, at least 0.
        l2 (float): strength of the ℓ₂ regularization, at least 0.
        weight_decay (float or Cell): weight decay, see :class:`Optimizer`. It applies to all Parameters.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, the learning rate is not constant, or a parameter group
            has a learning rate.
        KeyError: If a parameter group has an unknown key, or does not have ``params``.
        RuntimeError: If the same Parameter is listed twice.

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
            raise ValueError(
                "For 'FTRL', the 'learning_rate' must be one constant number for all Parameters, but it "
                "is a list, a schedule, or differs between groups."
            )
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
        power = -self.lr_power
        for parameter, gradient, rate, moment, linear in self._rows(gradients, self.moments, self.linear):
            before = ops.pow(moment.value(), power)
            after = ops.pow(ops.assign_add(moment, ops.square(gradient)), power)
            total = ops.assign_add(linear, gradient - (after - before) / rate * parameter)
            leader = (ops.sign(total) * self.l1 - total) / (after / rate + 2.0 * self.l2)
            ops.assign(parameter, ops.select(ops.abs(total) > self.l1, leader, ops.zeros_like(leader)))
        return True
