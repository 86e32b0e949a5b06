"""Mixed precision: loss scalers, and casts of Cells to float16 or bfloat16."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from mindgrad import ops
from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.common.dtype import float32, int32
from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.hyperparameters import positive, positive_int
from mindgrad.nn.wrap.loss_scale import all_finite as _all_finite
from mindgrad.nn.wrap.loss_scale import multiplied
from mindgrad.train.amp import (
    auto_mixed_precision,
    build_train_network,
    custom_mixed_precision,
    get_black_list,
    get_white_list,
)
from mindgrad.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager

__all__ = [
    "DynamicLossScaleManager", "DynamicLossScaler", "FixedLossScaleManager", "LossScaleManager", "LossScaler",
    "StaticLossScaler", "all_finite", "auto_mixed_precision", "build_train_network", "custom_mixed_precision",
    "get_black_list", "get_white_list", "init_status",
]  # fmt: skip


def all_finite(inputs: Any, status: Any = None) -> Tensor:
    """Check that all elements of the given tensors are finite.

    Args:
        inputs (Tensor, or tuple or list of Tensor): tensors to check, such as gradients.
        status (Any, optional): accepted for compatibility. Default: ``None``.

    Returns:
        Tensor: 0-D bool tensor. It is ``False`` if any element of ``inputs`` is infinite or NaN.

    Raises:
        TypeError: If ``inputs`` contains no Tensor.

    >>> import mindgrad as ms
    >>> print(ms.amp.all_finite((ms.Tensor([1.0]), ms.Tensor([float("nan")]))))
    False
    """
    return _all_finite(inputs)


def init_status() -> Tensor:
    """Return a tensor of zeros, which some training loops pass to :func:`all_finite`.

    Accepted for compatibility; results do not depend on it.

    >>> import mindgrad as ms
    >>> ms.amp.init_status().shape
    (8,)
    """
    return ops.zeros((8,), float32)


class LossScaler(ABC):
    """Base class of loss scalers: ``scale``, ``unscale``, and ``adjust``.

    >>> import mindgrad as ms
    >>> issubclass(ms.amp.StaticLossScaler, ms.amp.LossScaler)
    True
    """

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """Multiply ``inputs``, the loss as a Tensor or a tuple of Tensors, by the scale."""

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """Divide ``inputs``, gradients as a Tensor or a tuple of Tensors, by the scale."""

    @abstractmethod
    def adjust(self, grads_finite: Any) -> Any:
        """Adjust the loss scale after a training step.

        Args:
            grads_finite (Tensor): 0-D bool tensor: whether all gradients of the training step were finite.
        """


class StaticLossScaler(LossScaler):
    """A loss scaler with a constant scale.

    Args:
        scale_value (float): positive factor of the loss.

    Raises:
        TypeError: If ``scale_value`` is not a number.
        ValueError: If ``scale_value`` is not positive.

    >>> import mindgrad as ms
    >>> scaler = ms.amp.StaticLossScaler(1024.0)
    >>> print(scaler.scale(ms.Tensor(2.0)), scaler.unscale((ms.Tensor([512.0]),))[0])
    2048.0 [0.5]
    """

    def __init__(self, scale_value: float) -> None:
        self.scale_value = Tensor(positive("StaticLossScaler", "scale_value", scale_value), float32)

    def scale(self, inputs: Any) -> Any:
        """Multiply ``inputs``, the loss as a Tensor or a tuple of Tensors, by the scale."""
        return multiplied(inputs, self.scale_value)

    def unscale(self, inputs: Any) -> Any:
        """Divide ``inputs``, gradients as a Tensor or a tuple of Tensors, by the scale."""
        return multiplied(inputs, ops.reciprocal(self.scale_value))

    def adjust(self, grads_finite: Any) -> bool:
        """Return ``False``, because a static scale does not change."""
        return False


class DynamicLossScaler(LossScaler):
    """A loss scaler that adapts the scale to overflows.

    The scaler divides the scale by ``scale_factor`` after a training step with an overflow, but not below 1.
    After ``scale_window`` steps without an overflow, it multiplies the scale by ``scale_factor``.

    Args:
        scale_value (float): initial value of the loss scale.
        scale_factor (float): the scaler divides the scale by this factor after an overflow, and multiplies
            the scale by it to increase it.
        scale_window (int): number of successive steps without overflow after which the scale grows.

    Attributes:
        scale_value (Parameter): current value of the loss scale.
        counter (Parameter): number of steps without overflow since the last change of the scale.

    Raises:
        TypeError: If ``scale_value`` or ``scale_factor`` is not a number, or ``scale_window`` is not an int.
        ValueError: If ``scale_value``, ``scale_factor``, or ``scale_window`` is not positive.

    A training step, eager or compiled:

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([3.0]), name="w")
    >>> optimizer = ms.nn.SGD([w], 0.25)
    >>> scaler = ms.amp.DynamicLossScaler(1024, 2, 10)
    >>> gradient = ms.value_and_grad(lambda x: scaler.scale(((w - x) ** 2).sum()), None, optimizer.parameters)
    >>> @ms.jit
    ... def step(x):
    ...     loss, gradients = gradient(x)
    ...     gradients = scaler.unscale(gradients)
    ...     finite = ms.amp.all_finite(gradients)
    ...     if finite:
    ...         optimizer(gradients)
    ...     scaler.adjust(finite)
    ...     return scaler.unscale(loss)
    >>> print(step(ms.Tensor([1.0])), w.value(), scaler.scale_value.value())
    4.0 [2.] 1024.0
    >>> _ = step(ms.Tensor([float("nan")]))
    >>> print(w.value(), scaler.scale_value.value())
    [2.] 512.0
    """

    def __init__(self, scale_value: float, scale_factor: float, scale_window: int) -> None:
        owner = "DynamicLossScaler"
        value = Tensor(positive(owner, "scale_value", scale_value), float32)
        self.scale_value: Any = Parameter(value, name="scale_value", requires_grad=False)
        self.counter: Any = Parameter(Tensor(0, int32), name="counter", requires_grad=False)
        self.scale_factor = positive(owner, "scale_factor", scale_factor)
        self.scale_window = positive_int(owner, "scale_window", scale_window)

    def scale(self, inputs: Any) -> Any:
        """Multiply ``inputs``, the loss as a Tensor or a tuple of Tensors, by the scale."""
        return multiplied(inputs, self.scale_value.value())

    def unscale(self, inputs: Any) -> Any:
        """Divide ``inputs``, gradients as a Tensor or a tuple of Tensors, by the scale."""
        return multiplied(inputs, ops.reciprocal(self.scale_value))

    def adjust(self, grads_finite: Any) -> bool:
        """Adjust the loss scale after a training step.

        Args:
            grads_finite (bool or Tensor): whether all gradients of the training step were finite.

        Returns:
            bool: ``True``, because the scale may have changed.
        """
        finite = grads_finite if isinstance(grads_finite, Tensor) else Tensor(bool(grads_finite))
        finite = ops.reshape(finite, ())
        scale = self.scale_value.value()
        grown = scale * self.scale_factor
        is_due = ops.logical_and(ops.equal(self.counter, self.scale_window - 1), ops.isfinite(grown))
        shrunk = ops.maximum(scale / self.scale_factor, 1.0)
        ops.assign(self.scale_value, ops.select(finite, ops.select(is_due, grown, scale), shrunk))
        ops.assign(self.counter, (self.counter + 1) % self.scale_window * ops.cast(finite, int32))
        return True


_explain_package(__name__)
