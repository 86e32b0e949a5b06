"""Gradient accumulation: sum the gradients of several batches for one step."""

from __future__ import annotations

from typing import Any

from mindgrad import ops
from mindgrad.common import dtype
from mindgrad.common.parameter import Parameter
from mindgrad.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.hyperparameters import positive_int
from mindgrad.nn.wrap.loss_scale import unless

__all__ = ["GradientAccumulation", "gradient_accumulation_op", "gradient_clear_op"]

#: operator of (steps, Parameter, gradient): add ``gradient / steps`` to the Parameter
gradient_accumulation_op = ops.MultitypeFuncGraph("gradient_accumulation_op")
#: operator of (Parameter,): set the Parameter to zero
gradient_clear_op = ops.MultitypeFuncGraph("gradient_clear_op")


@gradient_accumulation_op.register("Int", "Tensor", "Tensor")
def _accumulate(steps: int, total: Any, gradient: Any) -> Any:
    return ops.assign_add(total, ops.cast(gradient / steps, total.dtype))


@gradient_clear_op.register("Tensor")
def _clear(total: Any) -> Any:
    return ops.assign(total, ops.zeros_like(total))


class GradientAccumulation(Cell):
    """Accumulate gradients, and pass their mean to the optimizer.

    Args:
        max_accumulation_step (int): number of batches for one step of the optimizer.
        optimizer (Cell): optimizer that receives the mean gradients, one for each of its ``parameters``.

    Inputs:
        loss (Tensor): loss of the batch, which is returned unchanged.
        grads (tuple of Tensor): gradients of the batch, one for each Parameter of the optimizer.

    Outputs:
        ``loss``.

    Raises:
        TypeError, ValueError: If ``max_accumulation_step`` is not a positive int.

    >>> from mindgrad import Tensor, boost, nn
    >>> net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
    >>> accumulate = boost.GradientAccumulation(2, nn.SGD(net.trainable_params(), 0.5))
    >>> for gradient in (1.0, 3.0):
    ...     loss = accumulate(Tensor(0.0), (Tensor([[gradient]]),))
    ...     print(net.weight.value())
    [[1.]]
    [[0.]]
    """

    def __init__(self, max_accumulation_step: int, optimizer: Any) -> None:
        super().__init__()
        self._steps = positive_int("GradientAccumulation", "max_accumulation_step", max_accumulation_step)
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.hyper_map = ops.HyperMap()
        self._totals = self.weights.clone(prefix="grad_accumulation", init="zeros")
        self._count = Parameter(Tensor(0, dtype.int32), name="accumulation_step", requires_grad=False)

    def construct(self, loss: Any, grads: Any) -> Any:
        self.hyper_map(ops.partial(gradient_accumulation_op, self._steps), self._totals, grads)
        ops.assign_add(self._count, 1)
        unless(ops.less(self._count, self._steps), self._update)
        return loss

    def _update(self) -> None:
        """Take one step of the optimizer, and reset the sums."""
        self.optimizer(self._totals)
        self.hyper_map(gradient_clear_op, self._totals)
        ops.assign(self._count, 0)
