"""Learning rate schedules: Cells that compute the rate from the step number.

An optimizer calls its schedule with ``global_step``, the number of previous steps. Inside a compiled training
step, the schedule is part of the compiled program.
"""

from __future__ import annotations

import math
from typing import Any

from mindgrad import ops
from mindgrad._base.shared_docs import SharedSections
from mindgrad.common import dtype
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.hyperparameters import boolean, non_negative, positive, positive_int

__all__ = [
    "CosineDecayLR", "ExponentialDecayLR", "InverseDecayLR", "LearningRateSchedule", "NaturalExpDecayLR",
    "PolynomialDecayLR", "WarmUpLR",
]  # fmt: skip

_documented = SharedSections("""
    Args:
        learning_rate (float): initial learning rate (step 0), positive.
        decay_steps (int): number of steps over which the learning rate decays.
        is_stair (bool): whether the learning rate changes only every ``decay_steps`` steps, and is constant
            in between.

    Inputs:
        global_step (Tensor): number of training steps completed so far, an integer tensor.

    Outputs:
        Learning rate of the step: float32 Tensor with the shape of ``global_step``.

    Raises:
        TypeError: If a learning rate is not a number, a number of steps is not an int, or ``is_stair`` or
            another bool argument is not a bool.
        ValueError: If a learning rate, a decay rate, or a number of steps is out of range.
""")


class LearningRateSchedule(Cell):
    """Base class of learning rate schedules, which define ``construct(global_step)``.

    Args:
        *args, **kwargs (Any): arguments of :class:`mindgrad.nn.Cell`.

    Inputs:
        global_step (Tensor): number of training steps completed so far, an integer tensor.

    Outputs:
        Learning rate of the step, a Tensor of one element.

    >>> import mindgrad as ms
    >>> class Halved(ms.nn.LearningRateSchedule):
    ...     def construct(self, global_step):
    ...         return 0.5 ** global_step.astype(ms.float32)
    >>> print(Halved()(ms.Tensor(3, ms.int32)))
    0.125
    """

    def construct(self, global_step: Any) -> Any:
        """Return the learning rate of a step. Each schedule defines this method.

        Args:
            global_step (Tensor): number of training steps completed so far, an integer tensor.

        Raises:
            NotImplementedError: If the subclass does not define ``construct``.
        """
        raise NotImplementedError(
            f"For '{type(self).__name__}', define construct(self, global_step): the learning rate."
        )


def _as_float(step: Any) -> Any:
    return ops.cast(step, dtype.float32)


class _Decay(LearningRateSchedule):
    """A rate that starts at ``learning_rate`` and shrinks by ``decay_rate``."""

    def __init__(
        self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        self.learning_rate = positive(owner, "learning_rate", learning_rate)
        self.decay_rate = positive(owner, "decay_rate", decay_rate)
        self.decay_steps = positive_int(owner, "decay_steps", decay_steps)
        self.is_stair = boolean(owner, "is_stair", is_stair)

    def _periods(self, global_step: Any) -> Any:
        step = _as_float(global_step)
        # ``//`` instead of floor(step / decay_steps): XLA may round the quotient to slightly below an integer
        return step // self.decay_steps if self.is_stair else step / self.decay_steps


@_documented
class ExponentialDecayLR(_Decay):
    """Exponential decay: learning_rate · decay_rate^p with p = step / decay_steps.

    With ``is_stair``, p is rounded down.

    Args:
        decay_rate (float): factor of the learning rate per ``decay_steps`` steps, positive.
        decay_steps (int): number of steps in which the learning rate is multiplied by ``decay_rate`` once.

    >>> import mindgrad as ms
    >>> print(ms.nn.ExponentialDecayLR(0.1, 0.5, 4)(ms.Tensor(8, ms.int32)))
    0.025
    """

    def construct(self, global_step: Any) -> Tensor:
        return self.learning_rate * ops.pow(self.decay_rate, self._periods(global_step))


@_documented
class NaturalExpDecayLR(_Decay):
    """Natural exponential decay: learning_rate · e^(−decay_rate · step).

    With ``is_stair``, step is rounded down to a multiple of ``decay_steps``. Otherwise, ``decay_steps`` has
    no effect, as in MindSpore. In the formula of MindSpore's documentation, step is divided by
    ``decay_steps``.

    Args:
        decay_rate (float): exponential decay rate per step, positive.
        decay_steps (int): number of steps of one stair, if ``is_stair`` is ``True``.

    >>> import mindgrad as ms
    >>> print(ms.nn.NaturalExpDecayLR(0.1, 0.5, 4, True)(ms.Tensor(3, ms.int32)))
    0.1
    """

    def construct(self, global_step: Any) -> Tensor:
        step = _as_float(global_step)
        if self.is_stair:
            step = step // self.decay_steps * self.decay_steps
        return self.learning_rate * ops.exp(-self.decay_rate * step)


@_documented
class InverseDecayLR(_Decay):
    """Inverse time decay: learning_rate / (1 + decay_rate · p).

    p is step / decay_steps; with ``is_stair`` it is rounded down.

    Args:
        decay_rate (float): factor of p = step / decay_steps in the denominator, positive.
        decay_steps (int): divisor of the step number in p = step / decay_steps.

    >>> import mindgrad as ms
    >>> print(ms.nn.InverseDecayLR(0.1, 1.0, 4)(ms.Tensor(4, ms.int32)))
    0.05
    """

    def construct(self, global_step: Any) -> Tensor:
        return self.learning_rate / (1.0 + self.decay_rate * self._periods(global_step))


@_documented
class CosineDecayLR(LearningRateSchedule):
    """Cosine decay from ``max_lr`` to ``min_lr``.

    The rate of a step is::

        min_lr + ½ (max_lr − min_lr) (1 + cos(π · min(step, decay_steps) / decay_steps))

    Args:
        min_lr (float): minimum learning rate, reached after ``decay_steps`` steps; at least 0.
        max_lr (float): maximum learning rate, used in step 0; above ``min_lr``.

    >>> import mindgrad as ms
    >>> print(ms.nn.CosineDecayLR(0.0, 0.5, 4)(ms.Tensor(4, ms.int32)))
    0.0
    """

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        owner = type(self).__name__
        self.min_lr = non_negative(owner, "min_lr", min_lr)
        self.max_lr = positive(owner, "max_lr", max_lr)
        self.decay_steps = positive_int(owner, "decay_steps", decay_steps)
        if self.min_lr >= self.max_lr:
            raise ValueError(
                f"For '{owner}', the 'max_lr' must exceed the 'min_lr', but got {max_lr} and {min_lr}."
            )

    def construct(self, global_step: Any) -> Tensor:
        step = ops.minimum(_as_float(global_step), float(self.decay_steps))
        share = 1.0 + ops.cos(math.pi * step / self.decay_steps)
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * share


@_documented
class PolynomialDecayLR(LearningRateSchedule):
    """Polynomial decay from ``learning_rate`` to ``end_learning_rate``.

    The rate of a step is::

        (learning_rate − end_learning_rate) · (1 − step / steps)^power + end_learning_rate

    ``steps`` is ``decay_steps``, and step is at most ``decay_steps``. With ``update_decay_steps``, step is
    not bounded, and ``steps`` is the smallest multiple of ``decay_steps`` that is at least step.

    Args:
        end_learning_rate (float): learning rate after the decay, at least 0.
        power (float): exponent of the polynomial decay, positive.
        update_decay_steps (bool): whether to start another, longer decay period after each ``decay_steps``
            steps.

    >>> import mindgrad as ms
    >>> print(ms.nn.PolynomialDecayLR(0.5, 0.0, 4, 2.0)(ms.Tensor(2, ms.int32)))
    0.125
    """

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        self.start_learning_rate = positive(owner, "learning_rate", learning_rate)
        self.end_learning_rate = non_negative(owner, "end_learning_rate", end_learning_rate)
        self.decay_steps = positive_int(owner, "decay_steps", decay_steps)
        self.power = positive(owner, "power", power)
        self.update_decay_steps = boolean(owner, "update_decay_steps", update_decay_steps)

    def construct(self, global_step: Any) -> Tensor:
        step = _as_float(global_step)
        steps: Any = float(self.decay_steps)
        if self.update_decay_steps:
            steps = steps * ops.maximum(-(-step // steps), 1.0)
        # ops.pow returns NaN for negative numbers, so ``left`` must not be negative
        left = (steps - ops.minimum(step, steps)) / steps
        difference = self.start_learning_rate - self.end_learning_rate
        return difference * ops.pow(left, self.power) + self.end_learning_rate


@_documented
class WarmUpLR(LearningRateSchedule):
    """Linear warm-up: learning_rate · min(step, warmup_steps) / warmup_steps.

    Args:
        learning_rate (float): learning rate after the warm-up, positive.
        warmup_steps (int): number of steps over which the learning rate increases from 0.

    >>> import mindgrad as ms
    >>> print(ms.nn.WarmUpLR(0.5, 4)(ms.Tensor(1, ms.int32)))
    0.125
    """

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self.learning_rate = positive("WarmUpLR", "learning_rate", learning_rate)
        self.warmup_steps = positive_int("WarmUpLR", "warmup_steps", warmup_steps)

    def construct(self, global_step: Any) -> Tensor:
        steps = float(self.warmup_steps)
        return self.learning_rate * ops.minimum(_as_float(global_step), steps) / steps
