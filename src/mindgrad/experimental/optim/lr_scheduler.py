"""Learning rate schedulers, which set the rates of an optimizer after each epoch."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mindgrad.nn as nn
from mindgrad.core.base.refusal import refuse
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.experimental.optim.optimizer import Optimizer

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


class LRScheduler:
    """Base class of schedulers, which define ``rate(base, epoch)``.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.

    Raises:
        TypeError: If ``optimizer`` is not an optimizer of ``experimental.optim``, or ``last_epoch`` is not an
            int.

    >>> import mindgrad as ms
    >>> from mindgrad.experimental import optim
    >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
    >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for epoch in range(3):
    ...     scheduler.step()
    ...     print(scheduler.get_last_lr()[0])
    0.5
    0.25
    0.25

    See Also:
        :class:`mindgrad.nn.LearningRateSchedule`
    """

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        owner = type(self).__name__
        if not isinstance(optimizer, Optimizer):
            name = type(optimizer).__name__
            hint = ""
            if isinstance(optimizer, nn.Optimizer):
                hint = f" nn.{name} accepts a schedule as its learning rate: nn.{name}(params, schedule)."
            raise TypeError(
                f"For '{owner}', the 'optimizer' must be one of mindgrad.experimental.optim, but got "
                f"{name}.{hint}"
            )
        if isinstance(last_epoch, bool) or not isinstance(last_epoch, int):
            raise TypeError(f"For '{owner}', the 'last_epoch' must be an int, but got {last_epoch!r}.")
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", float(group["lr"].asnumpy()))
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def rate(self, base: float, epoch: int) -> float:
        """Return the rate after ``epoch`` steps. Each schedule defines this method.

        Args:
            base (float): initial rate of the group.
            epoch (int): number of steps.

        Raises:
            NotImplementedError: If the class does not define this method.
        """
        raise NotImplementedError(f"'{type(self).__name__}' must define 'rate(self, base, epoch)'.")

    def step(self) -> None:
        """Update the learning rates after an epoch."""
        self.last_epoch += 1
        self._write([self.rate(base, self.last_epoch) for base in self.base_lrs])

    def _write(self, rates: Sequence[float]) -> None:
        if references.is_compiling():
            refuse(
                f"{type(self).__name__}.step() is called inside a compiled function. It counts steps in "
                "Python and would count once, at compile time",
                "Call step() outside the compiled function, after each epoch.",
            )
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"].set_data(Tensor(np.float32(rate)))

    def get_last_lr(self) -> list[Tensor]:
        """Return the current rates of the groups, as float32 tensors."""
        return [group["lr"].value() for group in self.optimizer.param_groups]


class StepLR(LRScheduler):
    """Schedule that multiplies the rate by ``gamma`` every ``step_size`` epochs.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        step_size (int): number of epochs between changes.
        gamma (float, optional): factor of the rate. Default: ``0.1``.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.
    """

    def __init__(self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = _positive("StepLR", "step_size", step_size), gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int) -> float:
        return base * self.gamma ** (epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """Schedule that multiplies the rate by ``gamma`` at each of ``milestones``.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        milestones (list of int): epochs of the changes.
        gamma (float, optional): factor of the rate. Default: ``0.1``.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.
    """

    def __init__(self, optimizer: Any, milestones: Any, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int) -> float:
        return base * self.gamma ** sum(milestone <= epoch for milestone in self.milestones)


class ExponentialLR(LRScheduler):
    """Schedule that multiplies the rate by ``gamma`` after each epoch.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        gamma (float): factor of the rate.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.
    """

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int) -> float:
        return base * self.gamma**epoch


class LambdaLR(LRScheduler):
    """Schedule that multiplies the initial rate by ``lr_lambda(epoch)``.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        lr_lambda (Callable or list or tuple of Callable): a function of the epoch, or a list with one for
            each group.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.
    """

    def __init__(
        self, optimizer: Any, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else lr_lambda
        super().__init__(optimizer, last_epoch)

    def step(self) -> None:
        """Update the learning rates after an epoch."""
        self.last_epoch += 1
        factors = self.lr_lambdas
        listed = factors if isinstance(factors, list) else [factors] * len(self.base_lrs)
        if len(listed) != len(self.base_lrs):
            raise ValueError(
                f"For 'LambdaLR', pass one function for each of {len(self.base_lrs)} groups, but got "
                f"{len(listed)}."
            )
        self._write([base * f(self.last_epoch) for base, f in zip(self.base_lrs, listed, strict=True)])


class MultiplicativeLR(LRScheduler):
    """Schedule that multiplies the rate by ``lr_lambda(epoch)`` after each epoch.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        lr_lambda (Callable or list of Callable): a function of the epoch, or a list with one for each group.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.
    """

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.lr_lambdas = _for_each_group("MultiplicativeLR", "lr_lambda", lr_lambda, optimizer)
        super().__init__(optimizer, last_epoch)

    def step(self) -> None:
        """Update the learning rates after an epoch."""
        self.last_epoch += 1
        if self.last_epoch > 0:
            rates = [float(group["lr"].asnumpy()) for group in self.optimizer.param_groups]
            self._write([rate * f(self.last_epoch) for rate, f in zip(rates, self.lr_lambdas, strict=True)])


class SequentialLR(LRScheduler):
    """Sequence of schedulers, each of which takes over at its milestone.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        schedulers (list of LRScheduler): schedules of this optimizer.
        milestones (list of int): increasing epochs, one fewer than schedules.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.

    Raises:
        ValueError: If a schedule belongs to another optimizer, or the number of milestones does not match.
    """

    def __init__(self, optimizer: Any, schedulers: Any, milestones: Any, last_epoch: int = -1) -> None:
        if any(scheduler.optimizer is not optimizer for scheduler in schedulers):
            raise ValueError(
                "For 'SequentialLR', all schedulers must be created with the optimizer that is passed to "
                "SequentialLR."
            )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"For 'SequentialLR', there must be one more scheduler than milestones, but there are "
                f"{len(schedulers)} and {len(milestones)}."
            )
        self.optimizer, self.milestones, self.last_epoch = optimizer, list(milestones), last_epoch + 1
        self._schedulers = list(schedulers)
        first = self._schedulers[0]
        self._write(first.base_lrs)
        for scheduler in self._schedulers:
            scheduler.last_epoch -= 1
        first.step()

    def step(self) -> None:
        """Update the learning rates after an epoch."""
        self.last_epoch += 1
        scheduler = self._schedulers[bisect.bisect_right(self.milestones, self.last_epoch)]
        if self.last_epoch in self.milestones:
            scheduler.last_epoch = -1
        scheduler.step()


class CyclicLR(LRScheduler):
    """Schedule that cycles between ``base_lr`` and ``max_lr`` (L. N. Smith, 2017).

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        base_lr (float or list of float): lower bound, a number or one for each group.
        max_lr (float or list of float): upper bound, a number or one for each group.
        step_size_up (float, optional): number of steps of the increasing half of a cycle. Default: ``2000``.
        step_size_down (float, optional): number of steps of the decreasing half. ``None``: ``step_size_up``.
            Default: ``None``.
        mode (str, optional): ``"triangular"``, ``"triangular2"`` (each cycle has half the height of
            the previous one), or ``"exp_range"`` (the height is multiplied by ``gamma`` in each step).
            Default: ``"triangular"``.
        gamma (float, optional): factor for ``"exp_range"``. Default: ``1.0``.
        scale_fn (Callable, optional): function that returns a factor of the height, instead of ``mode``.
            Default: ``None``.
        scale_mode (str, optional): argument of ``scale_fn``: ``"cycle"``, the number of the cycle, or
            ``"iterations"``, the number of steps. Default: ``"cycle"``.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.

    Raises:
        ValueError: If ``mode`` is not one of these names, or the number of bounds differs from the number of
            groups.
    """

    def __init__(
        self,
        optimizer: Any,
        base_lr: Any,
        max_lr: Any,
        step_size_up: float = 2000,
        step_size_down: Any = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Any = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ) -> None:
        scales: dict[str, tuple[Callable[[float], float], str]] = {
            "triangular": (lambda cycle: 1.0, "cycle"),
            "triangular2": (lambda cycle: 0.5 ** (cycle - 1), "cycle"),
            "exp_range": (lambda step: gamma**step, "iterations"),
        }
        if scale_fn is None and mode not in scales:
            raise ValueError(
                f"For 'CyclicLR', the 'mode' must be one of {', '.join(scales)}, but got {mode!r}."
            )
        self._scale: Callable[[float], float] = scales[mode][0] if scale_fn is None else scale_fn
        self.scale_mode = scales[mode][1] if scale_fn is None else scale_mode
        down = step_size_up if step_size_down is None else step_size_down
        self.total_step_size = float(step_size_up + down)
        self.step_up_ratio = step_size_up / self.total_step_size
        lows = _for_each_group("CyclicLR", "base_lr", base_lr, optimizer)
        self.max_lrs = dict(zip(lows, _for_each_group("CyclicLR", "max_lr", max_lr, optimizer), strict=True))
        if last_epoch == -1:
            for group, low in zip(optimizer.param_groups, lows, strict=True):
                group["lr"].set_data(Tensor(np.float32(low)))
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def rate(self, base: float, epoch: int) -> float:
        cycle = math.floor(1 + epoch / self.total_step_size)
        x = 1 + epoch / self.total_step_size - cycle
        up = x <= self.step_up_ratio
        height = x / self.step_up_ratio if up else (x - 1) / (self.step_up_ratio - 1)
        most = self.max_lrs.get(base, base)
        return base + (most - base) * height * self._scale(cycle if self.scale_mode == "cycle" else epoch)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine schedule down to ``eta_min`` with warm restarts.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        T_0 (int): number of epochs of the first period.
        T_mult (int, optional): factor of the length of a period, at least 1. Default: ``1``.
        eta_min (float, optional): minimum rate. Default: ``0``.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.

    Raises:
        ValueError: If ``T_0`` or ``T_mult`` is not an int, or is less than 1.
    """

    def __init__(
        self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0, last_epoch: int = -1
    ) -> None:
        owner = "CosineAnnealingWarmRestarts"
        self.T_0, self.T_mult = _positive(owner, "T_0", T_0), _positive(owner, "T_mult", T_mult)
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def step(self, epoch: float | None = None) -> None:
        """Update the learning rates after an epoch.

        Args:
            epoch (float, optional): number of epochs that have ended, which may be a fraction. ``None``: one
                more. Default: ``None``.
        """
        if epoch is not None and epoch < 0:
            raise ValueError(
                f"For 'CosineAnnealingWarmRestarts', the 'epoch' must be at least 0, but got {epoch}."
            )
        time = self.last_epoch + 1 if epoch is None else epoch
        self.last_epoch = math.floor(time)
        self._write([self.rate(base, time) for base in self.base_lrs])  # type: ignore[arg-type]

    def rate(self, base: float, epoch: float) -> float:
        length = self.T_0
        while epoch >= length:
            epoch, length = epoch - length, length * self.T_mult
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * epoch / length)) / 2


class LinearLR(LRScheduler):
    """Schedule that multiplies the rate by a factor that changes linearly.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        start_factor (float, optional): factor of the first epoch. Default: ``1 / 3``.
        end_factor (float, optional): factor after ``total_iters`` epochs. Default: ``1.0``.
        total_iters (int, optional): number of epochs of the change. Default: ``5``.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.
    """

    def __init__(
        self, optimizer: Any, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.factors = start_factor, end_factor
        self.total_iters = _positive("LinearLR", "total_iters", total_iters)
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int) -> float:
        start, end = self.factors
        return base * (start + (end - start) * min(epoch, self.total_iters) / self.total_iters)


class ConstantLR(LRScheduler):
    """Schedule that multiplies the rate by ``factor`` for ``total_iters`` epochs.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        factor (float, optional): factor of the rate. Default: ``1 / 3``.
        total_iters (int, optional): number of epochs. Default: ``5``.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.
    """

    def __init__(
        self, optimizer: Any, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self.factor, self.total_iters = factor, _positive("ConstantLR", "total_iters", total_iters)
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int) -> float:
        return base * (self.factor if epoch < self.total_iters else 1.0)


class PolynomialLR(LRScheduler):
    """Schedule that multiplies the initial rate by (1 − epoch / total_iters)^power.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        total_iters (int, optional): number of epochs, after which the rate is 0. Default: ``5``.
        power (float, optional): exponent. Default: ``1.0``.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.
    """

    def __init__(
        self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = _positive("PolynomialLR", "total_iters", total_iters), power
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int) -> float:
        return base * (1 - min(epoch, self.total_iters) / self.total_iters) ** self.power


class CosineAnnealingLR(LRScheduler):
    """Schedule that reduces the rate to ``eta_min`` along half a cosine.

    From Loshchilov and Hutter (2017).

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        T_max (int): number of epochs of the decay.
        eta_min (float, optional): minimum rate. Default: ``0.0``.
        last_epoch (int, optional): index of the previous epoch; −1 if there is none. Default: ``-1``.
    """

    def __init__(self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = _positive("CosineAnnealingLR", "T_max", T_max), eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int) -> float:
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * epoch / self.T_max)) / 2


class ReduceLROnPlateau(LRScheduler):
    """Schedule that reduces the rate if a value has not improved for some epochs.

    Args:
        optimizer (Optimizer): optimizer whose learning rates change.
        mode (str, optional): ``"min"`` if smaller values are better, or ``"max"``. Default: ``"min"``.
        factor (float, optional): factor of the rate. Default: ``0.1``.
        patience (int, optional): number of epochs without improvement to allow. Default: ``10``.
        threshold (float, optional): minimum improvement. Default: ``0.0001``.
        threshold_mode (str, optional): ``"rel"``: relative to the best value; ``"abs"``: absolute.
            Default: ``"rel"``.
        cooldown (int, optional): number of epochs to ignore after a change. Default: ``0``.
        min_lr (float, optional): minimum rate. Default: ``0.0``.
        eps (float, optional): changes of the rate up to this size are not applied. Default: ``1e-08``.

    Raises:
        ValueError: If ``mode`` or ``threshold_mode`` is not one of these names, or ``factor`` is not below 1.

    >>> import mindgrad as ms
    >>> from mindgrad.experimental import optim
    >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
    >>> scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (3.0, 3.0, 3.0):
    ...     scheduler.step(loss)
    >>> print(scheduler.get_last_lr()[0])
    0.25
    """

    def __init__(
        self, optimizer: Any, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: float = 0.0,
        eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"For 'ReduceLROnPlateau', 'mode' must be 'min' or 'max' and 'threshold_mode' 'rel' or "
                f"'abs', but got {mode!r} and {threshold_mode!r}."
            )
        if not factor < 1:
            raise ValueError(f"For 'ReduceLROnPlateau', the 'factor' must be below 1, but got {factor}.")
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.eps = cooldown, min_lr, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.bad_epochs = self.cooling = 0
        super().__init__(optimizer, 0)

    def step(self, metrics: Any = None) -> None:
        """Update the learning rates after an epoch.

        Args:
            metrics (float or Tensor, optional): the value of the epoch. Default: ``None``.
        """
        if metrics is None:  # the constructor of the base class calls without metrics
            return
        self.last_epoch += 1
        figure = float(metrics.asnumpy() if isinstance(metrics, Tensor) else metrics)
        if self._is_better(figure):
            self.best, self.bad_epochs = figure, 0
        else:
            self.bad_epochs += 1
        if self.cooling > 0:
            self.cooling, self.bad_epochs = self.cooling - 1, 0
        if self.bad_epochs > self.patience:
            now = [float(rate.asnumpy()) for rate in self.get_last_lr()]
            lower = [max(rate * self.factor, self.min_lr) for rate in now]
            self._write([new if old - new > self.eps else old for old, new in zip(now, lower, strict=True)])
            self.cooling, self.bad_epochs = self.cooldown, 0

    def _is_better(self, figure: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if math.isinf(self.best):
            return math.isfinite(figure)
        margin = self.threshold * (abs(self.best) if self.threshold_mode == "rel" else 1)
        return sign * (figure - self.best) > margin


def _positive(owner: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"For '{owner}', the '{name}' must be a positive int, but got {value!r}.")
    return value


def _for_each_group(owner: str, name: str, value: Any, optimizer: Any) -> list[Any]:
    """Return one value for each group: the items of ``value``, or ``value`` itself."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"For '{owner}', the '{name}' must have {count} items, one for each group, not {len(value)}."
        )
    return list(value)
