"""Learning rates as lists: functions that return one rate per step.

Such a list is a valid ``learning_rate`` of an optimizer. In the formulas, the epoch of step i is
⌊i / step_per_epoch⌋.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad._base.shared_docs import SharedSections
from mindgrad.nn.hyperparameters import boolean, non_negative, positive, positive_int

__all__ = [
    "cosine_decay_lr", "exponential_decay_lr", "inverse_decay_lr", "natural_exp_decay_lr",
    "piecewise_constant_lr", "polynomial_decay_lr", "warmup_lr",
]  # fmt: skip

_documented = SharedSections("""
    Args:
        learning_rate (float): initial learning rate (epoch 0), positive.
        total_step (int): total number of training steps, the length of the returned list.
        step_per_epoch (int): number of steps in an epoch.
        decay_epoch (int): number of epochs over which the learning rate decays.
        is_stair (bool): whether the learning rate changes only every ``decay_epoch`` epochs, and is constant
            in between.

    Returns:
        list of float: learning rates, one for each of the ``total_step`` steps.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range.
""")


def piecewise_constant_lr(milestone: list[int], learning_rates: list[float]) -> list[float]:
    """Return piecewise constant learning rates.

    The rate is ``learning_rates[k]`` for the steps from ``milestone[k − 1]`` to ``milestone[k] − 1``.

    Args:
        milestone (list of int): steps at which the learning rate changes: positive and increasing.
        learning_rates (list of float): learning rates; ``learning_rates[k]`` is used until step
            ``milestone[k]``.

    Returns:
        list of float: learning rates, one for each of ``milestone[-1]`` steps.

    Raises:
        TypeError: If an argument is not a list or tuple, a milestone is not an int, or a learning rate is not
            a number.
        ValueError: If the lists are empty or differ in length, or the milestones do not increase.

    >>> from mindgrad import nn
    >>> nn.piecewise_constant_lr([2, 5], [0.1, 0.05])
    [0.1, 0.1, 0.05, 0.05, 0.05]
    """
    owner = "piecewise_constant_lr"
    for name, value in (("milestone", milestone), ("learning_rates", learning_rates)):
        of_type(value, (list, tuple), owner, name, "a list")
    if len(milestone) != len(learning_rates) or not milestone:
        raise ValueError(
            f"For '{owner}', the 'milestone' and the 'learning_rates' must have the same length, at least 1, "
            f"but got {len(milestone)} and {len(learning_rates)}."
        )
    rates: list[float] = []
    for index, (step, rate) in enumerate(zip(milestone, learning_rates, strict=True)):
        last = positive_int(owner, f"milestone[{index}]", step)
        if last < len(rates):
            raise ValueError(
                f"For '{owner}', the 'milestone' must be in ascending order, but got {list(milestone)}."
            )
        rates += [non_negative(owner, f"learning_rates[{index}]", rate)] * (last - len(rates))
    return rates


def _listed(owner: str, total_step: Any, step_per_epoch: Any, rate: Callable[[int], float]) -> list[float]:
    total = positive_int(owner, "total_step", total_step)
    per_epoch = positive_int(owner, "step_per_epoch", step_per_epoch)
    return [rate(step // per_epoch) for step in range(total)]


@_documented
def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """Return the learning rates learning_rate · decay_rate^(epoch / decay_epoch).

    With ``is_stair``, the exponent is rounded down.

    Args:
        decay_rate (float): factor of the learning rate per ``decay_epoch`` epochs, positive.
        decay_epoch (int): number of epochs in which the learning rate is multiplied by ``decay_rate`` once.

    >>> from mindgrad import nn
    >>> nn.exponential_decay_lr(0.5, 0.5, 4, 2, 1)
    [0.5, 0.5, 0.25, 0.25]
    """
    owner = "exponential_decay_lr"
    start, factor = positive(owner, "learning_rate", learning_rate), positive(owner, "decay_rate", decay_rate)
    periods = _periods(owner, decay_epoch, is_stair)
    return _listed(owner, total_step, step_per_epoch, lambda epoch: start * factor ** periods(epoch))


@_documented
def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """Return the learning rates learning_rate · e^(−decay_rate · epoch).

    If ``is_stair`` is ``True``, the epoch is rounded down to a multiple of ``decay_epoch``, so the rate
    changes in steps. Otherwise, ``decay_epoch`` has no effect.

    Args:
        decay_rate (float): exponential decay rate per epoch, positive.
        decay_epoch (int): number of epochs between two changes of the rate, if ``is_stair`` is ``True``.

    >>> from mindgrad import nn
    >>> [round(rate, 4) for rate in nn.natural_exp_decay_lr(0.1, 0.9, 4, 2, 1)]
    [0.1, 0.1, 0.0407, 0.0407]
    """
    owner = "natural_exp_decay_lr"
    start, decay = positive(owner, "learning_rate", learning_rate), positive(owner, "decay_rate", decay_rate)
    stair = positive_int(owner, "decay_epoch", decay_epoch)
    if not boolean(owner, "is_stair", is_stair):
        stair = 1
    return _listed(
        owner, total_step, step_per_epoch, lambda epoch: start * math.exp(-decay * (epoch // stair * stair))
    )


@_documented
def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """Return the rates learning_rate / (1 + decay_rate · epoch / decay_epoch).

    With ``is_stair``, the quotient epoch / decay_epoch is rounded down.

    Args:
        decay_rate (float): factor of epoch / decay_epoch in the denominator, positive.
        decay_epoch (int): divisor of the epoch number in the formula.

    >>> from mindgrad import nn
    >>> nn.inverse_decay_lr(0.5, 1.0, 4, 2, 1)
    [0.5, 0.5, 0.25, 0.25]
    """
    owner = "inverse_decay_lr"
    start, decay = positive(owner, "learning_rate", learning_rate), positive(owner, "decay_rate", decay_rate)
    periods = _periods(owner, decay_epoch, is_stair)
    return _listed(owner, total_step, step_per_epoch, lambda epoch: start / (1.0 + decay * periods(epoch)))


def _periods(owner: str, decay_epoch: Any, is_stair: Any) -> Callable[[int], float]:
    length = positive_int(owner, "decay_epoch", decay_epoch)
    if boolean(owner, "is_stair", is_stair):
        return lambda epoch: float(epoch // length)
    return lambda epoch: epoch / length


@_documented
def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """Return learning rates that decay from ``max_lr`` to ``min_lr`` along a cosine.

    The rate of an epoch is::

        min_lr + ½ (max_lr − min_lr) (1 + cos(π · min(epoch, decay_epoch) / decay_epoch))

    Args:
        min_lr (float): minimum learning rate, reached after ``decay_epoch`` epochs; at least 0.
        max_lr (float): maximum learning rate, used in epoch 0; above ``min_lr``.

    >>> from mindgrad import nn
    >>> nn.cosine_decay_lr(0.0, 0.5, 3, 1, 2)
    [0.5, 0.25, 0.0]
    """
    owner = "cosine_decay_lr"
    low, high = non_negative(owner, "min_lr", min_lr), positive(owner, "max_lr", max_lr)
    if low >= high:
        raise ValueError(
            f"For '{owner}', the 'max_lr' must exceed the 'min_lr', but got {max_lr} and {min_lr}."
        )
    last = positive_int(owner, "decay_epoch", decay_epoch)

    def rate(epoch: int) -> float:
        return low + 0.5 * (high - low) * (1.0 + math.cos(math.pi * min(epoch, last) / last))

    return _listed(owner, total_step, step_per_epoch, rate)


@_documented
def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """Return learning rates that decay polynomially.

    The rate of an epoch is::

        (learning_rate − end_learning_rate) · (1 − epoch / epochs)^power + end_learning_rate

    ``epochs`` is ``decay_epoch``, and epoch is at most ``decay_epoch``. With ``update_decay_epoch``, epoch is
    not bounded, and ``epochs`` is the smallest multiple of ``decay_epoch`` that is at least epoch.

    Args:
        end_learning_rate (float): learning rate after the decay, at least 0.
        power (float): exponent of the polynomial decay, positive.
        update_decay_epoch (bool): whether to start another, longer decay period after each ``decay_epoch``
            epochs.

    >>> from mindgrad import nn
    >>> nn.polynomial_decay_lr(0.5, 0.0, 3, 1, 2, 1.0)
    [0.5, 0.25, 0.0]
    """
    owner = "polynomial_decay_lr"
    start = positive(owner, "learning_rate", learning_rate)
    end = non_negative(owner, "end_learning_rate", end_learning_rate)
    length = positive_int(owner, "decay_epoch", decay_epoch)
    exponent = positive(owner, "power", power)
    grows = boolean(owner, "update_decay_epoch", update_decay_epoch)

    def rate(epoch: int) -> float:
        epochs = length * max(math.ceil(epoch / length), 1) if grows else length
        return (start - end) * (1.0 - min(epoch, epochs) / epochs) ** exponent + end

    return _listed(owner, total_step, step_per_epoch, rate)


@_documented
def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """Return learning rates of a linear warm-up.

    The rate is learning_rate · min(epoch, warmup_epoch) / warmup_epoch, or learning_rate if ``warmup_epoch``
    is 0.

    Args:
        learning_rate (float): learning rate after the warm-up, positive.
        warmup_epoch (int): number of epochs over which the learning rate increases from 0.

    >>> from mindgrad import nn
    >>> nn.warmup_lr(0.5, 5, 2, 2)
    [0.0, 0.0, 0.25, 0.25, 0.5]
    """
    end = positive("warmup_lr", "learning_rate", learning_rate)
    last = positive_int("warmup_lr", "warmup_epoch", warmup_epoch, least=0)
    return _listed(
        "warmup_lr", total_step, step_per_epoch, lambda epoch: end * min(epoch, last) / last if last else end
    )
