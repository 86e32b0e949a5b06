"""Loss scale managers: a fixed or dynamic loss scale for a ``Model``."""

from __future__ import annotations

from typing import Any

from mindgrad.nn.hyperparameters import boolean, positive, positive_int
from mindgrad.nn.wrap.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

__all__ = ["DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]


class LossScaleManager:
    """Base class of managers of the loss scale.

    A subclass defines :meth:`get_loss_scale`, :meth:`update_loss_scale`, and :meth:`get_update_cell`.

    >>> from mindgrad.train.loss_scale_manager import FixedLossScaleManager, LossScaleManager
    >>> issubclass(FixedLossScaleManager, LossScaleManager)
    True

    See Also:
        :class:`mindgrad.FixedLossScaleManager`, :class:`mindgrad.DynamicLossScaleManager`
    """

    def get_loss_scale(self) -> Any:
        """Return the current loss scale. The base class raises ``NotImplementedError``."""
        raise NotImplementedError(f"For '{type(self).__name__}', define get_loss_scale(self).")

    def update_loss_scale(self, overflow: Any) -> None:
        """Update the loss scale after a step. The base class raises ``NotImplementedError``.

        Args:
            overflow (bool): whether the gradients of the step overflowed.
        """
        raise NotImplementedError(f"For '{type(self).__name__}', define update_loss_scale(self, overflow).")

    def get_update_cell(self) -> Any:
        """Return the Cell that updates the loss scale in a training step, or ``None``.

        The base class raises ``NotImplementedError``.
        """
        raise NotImplementedError(f"For '{type(self).__name__}', define get_update_cell(self).")


class FixedLossScaleManager(LossScaleManager):
    """A constant loss scale.

    Args:
        loss_scale (float, optional): constant loss scale, positive. Default: ``128.0``.
        drop_overflow_update (bool, optional): whether to skip steps whose gradients overflow. If ``False``,
            pass the same ``loss_scale`` to the optimizer, which then divides the gradients.
            Default: ``True``.

    Raises:
        TypeError, ValueError: If ``loss_scale`` is not a positive number, or ``drop_overflow_update`` is not
            a bool.

    >>> import mindgrad as ms
    >>> manager = ms.train.FixedLossScaleManager(1024.0)
    >>> manager.get_loss_scale(), manager.get_drop_overflow_update()
    (1024.0, True)

    See Also:
        :class:`mindgrad.DynamicLossScaleManager`, :class:`mindgrad.Model`
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        self._loss_scale = positive("FixedLossScaleManager", "loss_scale", loss_scale)
        self._drop = boolean("FixedLossScaleManager", "drop_overflow_update", drop_overflow_update)

    def get_loss_scale(self) -> float:
        """Return the constant loss scale."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Return whether steps whose gradients overflow are skipped."""
        return self._drop

    def update_loss_scale(self, overflow: Any) -> None:
        """Do nothing, because the loss scale is constant."""

    def get_update_cell(self) -> FixedLossScaleUpdateCell | None:
        """Return the loss scale Cell of a training step, ``None`` if no step is skipped."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop else None


class DynamicLossScaleManager(LossScaleManager):
    """A loss scale that decreases after an overflow and increases otherwise.

    Args:
        init_loss_scale (float, optional): initial loss scale. Default: ``16777216.0``.
        scale_factor (float, optional): the loss scale is multiplied by this number to increase it, and
            divided by it to decrease it. Default: ``2``.
        scale_window (int, optional): number of consecutive steps without overflow after which the loss scale
            increases. Default: ``2000``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range.

    >>> import mindgrad as ms
    >>> manager = ms.train.DynamicLossScaleManager(1024, 2, 10)
    >>> manager.update_loss_scale(True)
    >>> manager.get_loss_scale()
    512.0

    See Also:
        :class:`mindgrad.FixedLossScaleManager`, :class:`mindgrad.Model`
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
        """Return the current loss scale."""
        return self.loss_scale

    def update_loss_scale(self, overflow: Any) -> None:
        """Update the loss scale after a step.

        Args:
            overflow (bool): whether the gradients of the step overflowed.
        """
        if overflow:
            self.loss_scale = max(self.loss_scale / self.scale_factor, 1.0)
            self.last_overflow_iter = self.cur_iter
        elif self.cur_iter - self.last_overflow_iter >= self.scale_window:
            self.loss_scale *= self.scale_factor
            self.last_overflow_iter = self.cur_iter
        self.cur_iter += 1

    def get_drop_overflow_update(self) -> bool:
        """Return ``True``, because steps whose gradients overflow are skipped."""
        return True

    def get_update_cell(self) -> DynamicLossScaleUpdateCell:
        """Return the Cell that updates the loss scale in a training step."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
