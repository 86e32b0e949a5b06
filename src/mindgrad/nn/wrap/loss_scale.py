"""Loss scaling for float16: scale the loss, and skip steps with an overflow.

Small gradients underflow in float16. Therefore the loss is multiplied by a scale before it is differentiated,
and the gradients are divided by the scale. If a gradient is infinite or NaN, the Parameters do not change and
the scale decreases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad import ops
from mindgrad.common import dtype
from mindgrad.common.parameter import Parameter
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.frontend.control.variables import is_symbolic
from mindgrad.nn.cell import Cell
from mindgrad.nn.hyperparameters import positive, positive_int
from mindgrad.nn.wrap.cell_wrapper import TrainOneStepCell, loss_and_gradients

__all__ = ["DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell"]


def all_finite(tensors: Any) -> Any:
    """Return whether all elements of the tensors in a structure are finite."""
    flags = [ops.all(ops.isfinite(leaf)) for leaf in flatten(tensors)[0] if isinstance(leaf, Tensor)]
    if not flags:
        raise TypeError("For 'all_finite', the argument must contain at least one Tensor.")
    result = flags[0]
    for flag in flags[1:]:
        result = ops.logical_and(result, flag)
    return result


#: operator of (gradient,) that returns a float32 tensor of shape (1,): 1 if an element is infinite or NaN,
#: else 0. Other libraries import this name.
_grad_overflow = ops.MultitypeFuncGraph("grad_overflow")


@_grad_overflow.register("Tensor")
def _tensor_overflow(gradient: Any) -> Any:
    return ops.FloatStatus()(gradient)


@_grad_overflow.register("RowTensor")
def _row_tensor_overflow(gradient: Any) -> Any:
    return ops.FloatStatus()(gradient.values)


def multiplied(tensors: Any, factor: Any) -> Any:
    """Multiply a tensor, tuple, or list by a scalar tensor, each in its own dtype."""
    if isinstance(tensors, (tuple, list)):
        return type(tensors)([multiplied(each, factor) for each in tensors])
    return ops.cast(tensors * factor, tensors.dtype)


class DynamicLossScaleUpdateCell(Cell):
    """Dynamic loss scale, which decreases after an overflow and increases otherwise.

    Args:
        loss_scale_value (number): initial loss scale, positive.
        scale_factor (number): the loss scale is multiplied by this number to increase it, and divided by it
            to decrease it.
        scale_window (int): number of consecutive steps without overflow after which the loss scale increases.

    Inputs:
        loss_scale (Parameter): Parameter that contains the loss scale.
        overflow (Tensor): 0-D bool tensor, whether the gradients of this step overflowed.

    Outputs:
        ``overflow``.

    Raises:
        TypeError, ValueError: If an argument has an unsupported type or is not positive.

    >>> import mindgrad as ms
    >>> scale = ms.Parameter(ms.Tensor(1024.0), name="scale_sense")
    >>> _ = ms.nn.DynamicLossScaleUpdateCell(1024.0, 2, 1000)(scale, ms.Tensor(True))
    >>> print(scale.value())
    512.0
    """

    def __init__(self, loss_scale_value: float, scale_factor: float, scale_window: int) -> None:
        super().__init__()
        owner = "DynamicLossScaleUpdateCell"
        self.loss_scale_value = positive(owner, "loss_scale_value", loss_scale_value)
        self.scale_factor = positive(owner, "scale_factor", scale_factor)
        self.scale_window = positive_int(owner, "scale_window", scale_window)
        self.cur_iter = _counter(1, "current_iterator_step")
        self.last_overflow_iter = _counter(0, "last_overflow_iterator_step")

    def get_loss_scale(self) -> float:
        """Return the initial loss scale."""
        return self.loss_scale_value

    def construct(self, loss_scale: Any, overflow: Any) -> Any:
        shrunk = ops.maximum(loss_scale / self.scale_factor, 1.0)
        is_due = self.cur_iter - self.last_overflow_iter >= self.scale_window
        grown = ops.select(is_due, loss_scale * self.scale_factor, loss_scale)
        ops.assign(
            self.last_overflow_iter,
            ops.select(ops.logical_or(overflow, is_due), self.cur_iter, self.last_overflow_iter),
        )
        ops.assign(loss_scale, ops.select(overflow, shrunk, grown))
        ops.assign_add(self.cur_iter, 1)
        return overflow


def _counter(value: int, name: str) -> Any:
    return Parameter(Tensor(value, dtype.int32), name=name, requires_grad=False)


class FixedLossScaleUpdateCell(Cell):
    """Constant loss scale; steps whose gradients overflow are skipped.

    Args:
        loss_scale_value (number): constant loss scale, positive.

    Inputs:
        loss_scale (Parameter): Parameter that contains the loss scale.
        overflow (Tensor): 0-D bool tensor, whether the gradients of this step overflowed.

    Outputs:
        ``overflow``.

    Raises:
        TypeError, ValueError: If ``loss_scale_value`` is not a positive number.

    >>> import mindgrad as ms
    >>> print(ms.nn.FixedLossScaleUpdateCell(1024.0)(ms.Tensor(1024.0), ms.Tensor(True)))
    True
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        self.loss_scale_value = positive("FixedLossScaleUpdateCell", "loss_scale_value", loss_scale_value)

    def get_loss_scale(self) -> float:
        """Return the constant loss scale."""
        return self.loss_scale_value

    def construct(self, _: Any, overflow: Any) -> Any:
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step with a scaled loss, skipped if a gradient is not finite.

    Args:
        network (Cell): network that returns its loss.
        optimizer (Optimizer): optimizer, which updates the Parameters with which it was created.
        scale_sense (Tensor or Cell): loss scale, a Tensor of one element, or a Cell that updates the scale,
            such as :class:`DynamicLossScaleUpdateCell`.

    Inputs:
        inputs (Any): the inputs of ``network``.

    Outputs:
        ``(loss, overflow, loss scale)``: the loss without the scale, whether the step was skipped, and the
        scale of this step.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``scale_sense`` is a Tensor with more than one element, or ``optimizer`` is a
            :class:`ClosureOptimizer`.

    Subclasses may call :meth:`start_overflow_check`, :meth:`get_overflow_status`, and
    :meth:`process_loss_scale`, in this order.

    >>> import mindgrad as ms
    >>> class Distance(ms.nn.Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = ms.Parameter(ms.Tensor([3.0]), name="w")
    ...     def construct(self, x):
    ...         return ((self.w - x) ** 2).sum()
    >>> net = Distance()
    >>> step = ms.nn.TrainOneStepWithLossScaleCell(
    ...     net, ms.nn.SGD(net.trainable_params(), 0.25), ms.nn.DynamicLossScaleUpdateCell(1024.0, 2, 10))
    >>> print(*step(ms.Tensor([1.0])), net.w.value())
    4.0 False 1024.0 [2.]
    >>> print(*step(ms.Tensor([float("inf")])), net.w.value())
    inf True 1024.0 [2.]
    """

    def __init__(self, network: Any, optimizer: Any, scale_sense: Any) -> None:
        super().__init__(network, optimizer, sens=None)
        if self._steps_itself:
            raise ValueError(
                f"For '{type(self).__name__}', {type(optimizer).__name__} evaluates the loss itself and "
                "cannot scale it. Use nn.TrainOneStepCell, without a loss scale."
            )
        self.hyper_map = ops.HyperMap()
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            value = Tensor(scale_sense.get_loss_scale(), dtype.float32)  # type: ignore[attr-defined]
        elif isinstance(scale_sense, Tensor):
            if scale_sense.shape not in ((), (1,)):
                raise ValueError(
                    f"For '{type(self).__name__}', the 'scale_sense' must be a Tensor of one element, but "
                    f"its shape is {scale_sense.shape}."
                )
            value = Tensor(scale_sense)
        else:
            raise TypeError(
                f"For '{type(self).__name__}', the 'scale_sense' must be a Cell or Tensor, but got "
                f"{type(scale_sense).__name__}."
            )
        self.scale_sense = Parameter(value, name="scale_sense", requires_grad=False)

    def construct(self, *inputs: Any) -> Any:
        scale = self.scale_sense.value()
        factor = ops.reshape(scale, ())
        loss, gradients = loss_and_gradients(self.network, self.weights, inputs, factor)
        gradients = self.grad_reducer(multiplied(gradients, ops.reciprocal(factor)))
        overflow = self.process_loss_scale(self.get_overflow_status(False, gradients))
        unless(overflow, lambda: self.optimizer(gradients))
        return loss, overflow, scale

    def set_sense_scale(self, sens: Any) -> None:
        """Change the loss scale, if ``scale_sense`` is a Tensor.

        Args:
            sens (Tensor): new loss scale, of the same shape as ``scale_sense``.

        Raises:
            TypeError: If ``sens`` is not a Tensor.
            ValueError: If ``sens`` does not have the shape of ``scale_sense``.
        """
        if not isinstance(sens, Tensor):
            raise TypeError(f"For 'set_sense_scale', 'sens' must be a Tensor, but got {type(sens).__name__}.")
        self.scale_sense.set_data(sens)

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> tuple[Any, Any]:
        """Return ``(False, compute_input)``; no preparation is necessary."""
        return False, compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Any:
        """Return whether a tensor in ``compute_output`` is infinite or NaN."""
        return ops.logical_not(all_finite(compute_output))

    def process_loss_scale(self, overflow: Any) -> Any:
        """Update the loss scale after a step, and return ``overflow``."""
        if self.loss_scaling_manager is not None:
            return self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow


def unless(test: Any, action: Callable[[], Any]) -> None:
    """Execute ``if not test: action()`` for an action that updates Parameters.

    In a compiled function, the action always runs, and the updates are selected element by element. XLA fuses
    the selection into the update; a branch would copy every Parameter and its state.
    """
    if not is_symbolic(test):
        if not test:
            action()
        return
    with references.journal() as journal:
        action()
    for parameter, before in list(journal.before.values()):
        references.write(parameter, ops.select(test, before, parameter))
