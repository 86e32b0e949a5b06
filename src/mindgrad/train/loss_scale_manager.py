"""Loss scale managers choose a fixed or dynamic scale for a :class:`~mindgrad.train.Model`."""

from __future__ import annotations

from typing import Any

from mindgrad.nn.hyperparameters import boolean, positive, positive_int
from mindgrad.nn.wrap.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

__all__ = ["DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]


class LossScaleManager:
    """Base class of managers of the loss scale.

    A class of your own defines :meth:`get_loss_scale`, :meth:`update_loss_scale` and
    :meth:`get_update_cell`.

    >>> from mindgrad.train.loss_scale_manager import FixedLossScaleManager, LossScaleManager
    >>> issubclass(FixedLossScaleManager, LossScaleManager)
    True
    """

    def get_loss_scale(self) -> Any:
        """The scale now; raises ``NotImplementedError`` here."""
        raise NotImplementedError(f"For '{type(self).__name__}', define get_loss_scale(self).")

    def update_loss_scale(self, overflow: Any) -> None:
        """Let the scale follow ``overflow``; raises ``NotImplementedError`` here."""
        raise NotImplementedError(f"For '{type(self).__name__}', define update_loss_scale(self, overflow).")

    def get_update_cell(self) -> Any:
        """The Cell that a training step calls, ``None`` for none; raises ``NotImplementedError`` here."""
        raise NotImplementedError(f"For '{type(self).__name__}', define get_update_cell(self).")


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays.

    Args:
        loss_scale: the scale.
        drop_overflow_update: whether steps whose gradients overflow are left out. If not, give the
            optimiser the same ``loss_scale``, which divides the gradients then.

    Raises:
        TypeError, ValueError: the scale is no number above 0, or the flag no bool.

    >>> import mindgrad as ms
    >>> manager = ms.train.FixedLossScaleManager(1024.0)
    >>> manager.get_loss_scale(), manager.get_drop_overflow_update()
    (1024.0, True)
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        self._loss_scale = positive("FixedLossScaleManager", "loss_scale", loss_scale)
        self._drop = boolean("FixedLossScaleManager", "drop_overflow_update", drop_overflow_update)

    def get_loss_scale(self) -> float:
        """The scale."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether steps whose gradients overflow are left out."""
        return self._drop

    def update_loss_scale(self, overflow: Any) -> None:
        """Nothing: the scale stays."""

    def get_update_cell(self) -> FixedLossScaleUpdateCell | None:
        """The Cell for a training step; ``None`` if no step is left out."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop else None


class DynamicLossScaleManager(LossScaleManager):
    """A scale that shrinks after an overflow and grows after ``scale_window`` steps without one.

    Args:
        init_loss_scale: the scale at first.
        scale_factor: what it is multiplied with or divided by.
        scale_window: how many steps without overflow it takes to grow.

    Raises:
        TypeError, ValueError: an argument is of another type or out of its range.

    >>> import mindgrad as ms
    >>> manager = ms.train.DynamicLossScaleManager(1024, 2, 10)
    >>> manager.update_loss_scale(True)
    >>> manager.get_loss_scale()
    512.0
    """

    def __init__(
        self, init_loss_scale: float = 2.0**24, scale_factor: float = 2, scale_window: int = 2000
    ) -> None:
        owner = "DynamicLossScaleManager"
        self.loss_scale = positive(owner, "init_loss_scale", init_loss_scale)
        if self.loss_scale < 1:
            raise ValueError(f"For '{owner}', the 'init_loss_scale' must be at least 1.")
        self.scale_factor = positive(owner, "scale_factor", scale_factor)
        self.scale_window = positive_int(owner, "scale_window", scale_window)
        self.increase_ratio = self.scale_factor
        self.decrease_ratio = 1 / self.scale_factor
        self.cur_iter = 1
        self.last_overflow_iter = 0

    def get_loss_scale(self) -> float:
        """The scale now."""
        return self.loss_scale

    def update_loss_scale(self, overflow: Any) -> None:
        """Let the scale follow one step.

        Args:
            overflow: whether its gradients overflowed.
        """
        if overflow:
            self.loss_scale = max(self.loss_scale / self.scale_factor, 1.0)
            self.last_overflow_iter = self.cur_iter
        elif self.cur_iter - self.last_overflow_iter >= self.scale_window:
            self.loss_scale *= self.scale_factor
            self.last_overflow_iter = self.cur_iter
        self.cur_iter += 1

    def get_drop_overflow_update(self) -> bool:
        """``True``: steps whose gradients overflow are left out."""
        return True

    def get_update_cell(self) -> DynamicLossScaleUpdateCell:
        """The Cell for a training step."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
