"""Learning rates of optimizers: a Parameter, or a Cell that computes the rate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad.common import dtype
from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.hyperparameters import non_negative
from mindgrad.nn.learning_rate_schedule import LearningRateSchedule

__all__ = ["ConstantRate", "ListedRate", "checked_rate", "held_rate"]


class ListedRate(LearningRateSchedule):
    """A schedule of listed rates; the last rate is used for all later steps."""

    def __init__(self, values: np.ndarray, name: str) -> None:
        super().__init__(auto_prefix=False)
        self.learning_rate = Parameter(Tensor(values), name, requires_grad=False)

    def construct(self, global_step: Any) -> Tensor:
        last = self.learning_rate.shape[0] - 1
        return ops.gather(self.learning_rate, ops.minimum(global_step, last), 0)


class ConstantRate(LearningRateSchedule):
    """A schedule with one rate for every step."""

    def __init__(self, learning_rate: Parameter) -> None:
        super().__init__(auto_prefix=False)
        self.learning_rate = learning_rate

    def construct(self, global_step: Any) -> Tensor:
        return self.learning_rate.value()


def checked_rate(owner: str, rate: Any) -> Any:
    """Convert a learning rate to a float, 0-D Tensor, array of rates, or schedule.

    Raises:
        TypeError: If ``rate`` is not a number, a Tensor, a schedule, or an iterable of numbers.
        ValueError: If a rate is negative or not finite, the iterable is empty, or a Tensor has several axes.
    """
    if isinstance(rate, LearningRateSchedule):
        return rate
    if isinstance(rate, Tensor):
        if rate.ndim > 1:
            raise ValueError(
                f"For '{owner}', a 'learning_rate' that is a Tensor must have at most 1 axis, but got "
                f"{rate.ndim}."
            )
        array = rate.asnumpy()
        _check_values(owner, array)
        return Tensor(array) if rate.ndim == 0 else array.astype(np.float32)
    if isinstance(rate, (str, bytes, dict)):
        raise TypeError(_expected(owner, rate))
    if isinstance(rate, Iterable):
        listed = [each.asnumpy() if isinstance(each, Tensor) else each for each in rate]
        try:
            array = np.array(listed, np.float32)
        except (TypeError, ValueError):
            raise TypeError(_expected(owner, listed)) from None
        if array.ndim != 1:
            raise ValueError(
                f"For '{owner}', a list of learning rates must contain numbers, but got {listed!r}."
            )
        _check_values(owner, array)
        return array
    if isinstance(rate, (bool, np.bool_)) or not isinstance(rate, (int, float, np.integer, np.floating)):
        raise TypeError(_expected(owner, rate))
    return non_negative(owner, "learning_rate", rate)


def _expected(owner: str, rate: Any) -> str:
    return (
        f"For '{owner}', the 'learning_rate' must be a float, an int, a Tensor, an iterable of numbers or a "
        f"LearningRateSchedule, but got {type(rate).__name__}."
    )


def _check_values(owner: str, array: np.ndarray) -> None:
    if not array.size:
        raise ValueError(f"For '{owner}', the list of learning rates is empty.")
    if not np.all(np.isfinite(array)) or np.any(array < 0):
        raise ValueError(f"For '{owner}', learning rates must be finite and at least 0, but got {array}.")


def held_rate(rate: Any, name: str) -> Any:
    """Convert the result of :func:`checked_rate` to a Parameter or a schedule."""
    if isinstance(rate, LearningRateSchedule):
        return rate
    if isinstance(rate, np.ndarray):
        return ListedRate(rate, name)
    value = rate if isinstance(rate, Tensor) else Tensor(rate, dtype.float32)
    return Parameter(value, name, requires_grad=False)
