"""Base class of losses, which weights the losses of elements and reduces them."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.ops import arithmetic
from mindgrad.ops.losses import checked_reduction
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.reduction import mean, widened
from mindgrad.ops.reduction import sum as sum_of

__all__ = ["LossBase"]


class LossBase(Cell):
    """Base class of loss functions; ``get_loss`` weights and reduces losses.

    Args:
        reduction (str): reduction of the losses of elements: ``"mean"``, ``"sum"``, or ``"none"``. ``None``
            is ``"none"``.

    Raises:
        ValueError: If ``reduction`` is not ``"mean"``, ``"sum"``, or ``"none"``.

    >>> from mindgrad import Tensor, nn, ops
    >>> class Quartic(nn.LossBase):
    ...     def construct(self, logits, labels):
    ...         return self.get_loss((logits - labels) ** 4)
    >>> print(Quartic("sum")(Tensor([1.0, 2.0]), Tensor([0.0, 0.0])))
    17.0
    """

    def __init__(self, reduction: str | None = "mean") -> None:
        super().__init__()
        self._reduce_by(reduction, ())

    def _reduce_by(self, reduction: Any, also: tuple[str, ...]) -> None:
        self.reduction = checked_reduction(
            type(self).__name__, "none" if reduction is None else reduction, also
        )
        self.reduce = self.reduction != "none"
        self.average = self.reduction == "mean"

    def get_axis(self, x: Tensor) -> tuple[int, ...]:
        """Return all axes of ``x``, over which a loss is reduced.

        Args:
            x (Tensor): losses of the elements.
        """
        return tuple(range(operand(x, type(self).__name__).ndim))

    def get_loss(self, x: Tensor, weights: Any = 1.0) -> Tensor:
        """Return the reduction of ``weights`` · ``x``, computed in float32 or wider.

        Args:
            x (Tensor): loss of each element.
            weights (number or Tensor, optional): factor that broadcasts with ``x``. Default: ``1.0``.
        """
        x = operand(x, type(self).__name__)
        loss = arithmetic.mul(widened(x), weights)
        if self.reduce:
            loss = mean(loss) if self.average else sum_of(loss)
        return cast(loss, x.dtype)

    def construct(self, *inputs: Any) -> Any:
        """Compute the loss. Each loss function defines this method.

        Raises:
            NotImplementedError: If the subclass does not define ``construct``.
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not define its computation. Define the method construct(self, "
            "logits, labels)."
        )
