"""Callbacks that change the learning rate of a run, or stop it early."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.hyperparameters import non_negative, positive_int, real
from mindgrad.train.callback.base import Callback, RunContext, loss_of
from mindgrad.train.callback.monitors import _say

__all__ = ["EarlyStopping", "LearningRateScheduler", "ReduceLROnPlateau"]


def _fixed_rate(owner: str, optimizer: Any) -> Parameter:
    rate = getattr(optimizer, "learning_rate", None)
    if not isinstance(rate, Parameter):
        raise ValueError(
            f"For '{owner}', the optimizer must have one constant learning rate: pass "
            f"a number, not a list or schedule."
        )
    return rate


class LearningRateScheduler(Callback):
    """Callback that sets the learning rate after each step.

    Args:
        learning_rate_function (Callable): function ``(rate, step)`` that returns the new learning rate.
            ``rate`` is the current rate as a float, and ``step`` is the number of the step, from 1.

    Raises:
        TypeError: If ``learning_rate_function`` is not callable.
        ValueError: If the learning rate of the optimizer is a list or schedule, or parameter groups have
            different rates. The first step of training raises the error.

    >>> import mindgrad as ms
    >>> halved = ms.train.LearningRateScheduler(lambda rate, step: rate / 2 if step % 100 == 0 else rate)

    See Also:
        :class:`mindgrad.train.ReduceLROnPlateau`, :class:`mindgrad.nn.LearningRateSchedule`
    """

    def __init__(self, learning_rate_function: Callable[[float, int], float]) -> None:
        if not callable(learning_rate_function):
            raise TypeError(
                f"For 'LearningRateScheduler', the 'learning_rate_function' must be a function, but got "
                f"{type(learning_rate_function).__name__}."
            )
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        """Set the learning rate of the optimizer after a step."""
        state = run_context.original_args()
        if state.mode == "eval":
            return
        parameter = _fixed_rate("LearningRateScheduler", state.optimizer)
        rate = float(parameter.asnumpy())
        new = self.learning_rate_function(rate, state.cur_step_num)
        if new != rate:
            parameter.set_data(Tensor(np.asarray(new, parameter.dtype.numpy)))


class _Watching(Callback):
    """Base class of callbacks that monitor the improvement of a value once per epoch."""

    def __init__(self, monitor: str, min_delta: float, patience: int, mode: str, verbose: bool) -> None:
        owner = type(self).__name__
        if not isinstance(monitor, str):
            raise TypeError(f"For '{owner}', the 'monitor' must be a string, but got {monitor!r}.")
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"For '{owner}', the 'mode' must be auto, min or max, but got {mode!r}.")
        self.monitor = monitor
        self.min_delta = abs(real(owner, "min_delta", min_delta))
        self.patience = positive_int(owner, "patience", patience, least=0)
        self.verbose = verbose
        grows = monitor in ("acc", "accuracy") or "acc" in monitor
        self.mode = mode if mode != "auto" else "max" if grows else "min"
        self.wait = 0
        self.best: float | None = None

    def on_train_begin(self, run_context: RunContext) -> None:
        """Reset the callback before training."""
        self.wait = 0
        self.best = None

    def _is_better(self, value: float, than: float | None) -> bool:
        if than is None:
            return math.isfinite(value)
        if self.mode == "min":
            return value < than - self.min_delta
        return value > than + self.min_delta

    def _value(self, state: Any) -> float:
        """Return the monitored value after an epoch.

        Raises:
            ValueError: If the run has no value with the name ``monitor``.
        """
        if self.monitor == "loss":
            value = loss_of(state.net_outputs)
        else:
            value = (state.eval_results or {}).get(self.monitor)
        if value is None:
            names = ["loss", *(state.eval_results or {})]
            raise ValueError(
                f"For '{type(self).__name__}', there is no {self.monitor!r} to monitor. This run has "
                f"{', '.join(names)}. Metrics are available in Model.fit with a valid_dataset."
            )
        return float(np.mean(np.asarray(value)))


class EarlyStopping(_Watching):
    """Callback that stops training if a loss or metric no longer improves.

    Args:
        monitor (str, optional): value to monitor: ``"loss"``, or in ``Model.fit`` ``"eval_loss"`` or the name
            of a metric. Default: ``"eval_loss"``.
        min_delta (float, optional): minimum change of the monitored value that counts as an improvement.
            Default: ``0``.
        patience (int, optional): number of epochs without improvement after which training stops. Default:
            ``0``.
        verbose (bool, optional): whether to print the reason for the stop. Default: ``False``.
        mode (str, optional): whether a smaller (``"min"``) or larger (``"max"``) value is better. ``"auto"``:
            ``"max"`` if the name contains ``acc``, else ``"min"``. Default: ``"auto"``.
        baseline (float, optional): value that the first epochs must improve upon. ``None``: no baseline.
            Default: ``None``.
        restore_best_weights (bool, optional): whether to restore the Parameters of the best epoch.
            Default: ``False``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range. During training, if the run has no value with the name
            ``monitor``.

    >>> import mindgrad as ms
    >>> stopping = ms.train.EarlyStopping(monitor="loss", patience=3)

    See Also:
        :class:`mindgrad.train.ReduceLROnPlateau`, :class:`mindgrad.train.Callback`
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: bool = False,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__(monitor, min_delta, patience, mode, verbose)
        self.baseline = None if baseline is None else real("EarlyStopping", "baseline", baseline)
        self.restore_best_weights = restore_best_weights
        self.stopped_epoch = 0
        self._best_values: dict[str, np.ndarray] = {}

    def on_train_begin(self, run_context: RunContext) -> None:
        """Reset the callback before training."""
        super().on_train_begin(run_context)
        self.stopped_epoch = 0
        self._best_values = {}

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Check after an epoch whether the monitored value has improved."""
        state = run_context.original_args()
        value = self._value(state)
        if self._is_better(value, self.best):
            self.best = value
            if self.restore_best_weights:
                self._best_values = {p.name: p.asnumpy() for p in state.train_network.get_parameters()}
            if self.baseline is None or self._is_better(value, self.baseline):
                self.wait = 0
                return
        self.wait += 1
        if self.wait < max(self.patience, 1):
            return
        self.stopped_epoch = state.cur_epoch_num
        run_context.request_stop()
        if self.verbose:
            _say(f"Epoch {self.stopped_epoch}: {self.monitor} has not improved upon {self.best}: stopping.")
        if self._best_values:
            for parameter in state.train_network.get_parameters():
                parameter.set_data(Tensor(self._best_values[parameter.name]))


class ReduceLROnPlateau(_Watching):
    """Callback that reduces the learning rate if a loss or metric stops improving.

    Args:
        monitor (str, optional): value to monitor: ``"loss"``, or in ``Model.fit`` ``"eval_loss"`` or the name
            of a metric. Default: ``"eval_loss"``.
        factor (float, optional): factor of a reduction of the learning rate, between 0 and 1. Default:
            ``0.1``.
        patience (int, optional): number of epochs without improvement after which the learning rate is
            reduced. Default: ``10``.
        verbose (bool, optional): whether to print each reduction. Default: ``False``.
        mode (str, optional): whether a smaller (``"min"``) or larger (``"max"``) value is better. ``"auto"``:
            ``"max"`` if the name contains ``acc``, else ``"min"``. Default: ``"auto"``.
        min_delta (float, optional): minimum change of the monitored value that counts as an improvement.
            Default: ``0.0001``.
        cooldown (int, optional): number of epochs after a reduction during which ``patience`` is not counted.
            Default: ``0``.
        min_lr (float, optional): minimum learning rate. Default: ``0``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range. During training, if the run has no value with the name
            ``monitor``, or the learning rate of the optimizer is a list or schedule.

    >>> import mindgrad as ms
    >>> plateau = ms.train.ReduceLROnPlateau(monitor="loss", patience=3)

    See Also:
        :class:`mindgrad.train.EarlyStopping`, :class:`mindgrad.train.LearningRateScheduler`
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__(monitor, min_delta, patience, mode, verbose)
        self.factor = non_negative("ReduceLROnPlateau", "factor", factor)
        if self.factor >= 1:
            raise ValueError(f"For 'ReduceLROnPlateau', the 'factor' must be less than 1, but got {factor}.")
        self.cooldown = positive_int("ReduceLROnPlateau", "cooldown", cooldown, least=0)
        self.min_lr = non_negative("ReduceLROnPlateau", "min_lr", min_lr)
        self.cooldown_counter = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        """Reset the callback before training."""
        super().on_train_begin(run_context)
        self.cooldown_counter = 0

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Check after an epoch whether the monitored value has improved."""
        state = run_context.original_args()
        parameter = _fixed_rate("ReduceLROnPlateau", state.optimizer)
        value = self._value(state)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_better(value, self.best):
            self.best, self.wait = value, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            rate = float(parameter.asnumpy())
            if self.wait >= max(self.patience, 1) and rate > self.min_lr:
                new = max(rate * self.factor, self.min_lr)
                parameter.set_data(Tensor(np.asarray(new, parameter.dtype.numpy)))
                self.cooldown_counter, self.wait = self.cooldown, 0
                if self.verbose:
                    _say(f"Epoch {state.cur_epoch_num}: reducing the learning rate to {new:g}.")
