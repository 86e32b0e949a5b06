"""Combined layers: convolution or dense layer, normalization, and activation."""

from __future__ import annotations

from typing import Any

from mindgrad._base.shared_docs import with_sections
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.layer.activation import LeakyReLU, get_activation
from mindgrad.nn.layer.basic import Dense
from mindgrad.nn.layer.conv import Conv2d
from mindgrad.nn.layer.normalization import BatchNorm1d, BatchNorm2d
from mindgrad.ops.arguments import axis_in_range
from mindgrad.ops.layout import moveaxis
from mindgrad.ops.operands import operand
from mindgrad.ops.recurrence import over_time
from mindgrad.ops.reduction import flag

__all__ = ["Conv2dBnAct", "DenseBnAct", "TimeDistributed"]


class _Combined(Cell):
    """Base class of layers that are followed by normalization and activation."""

    def _follow(self, norm: Cell | None, activation: Any, alpha: float) -> None:
        owner = type(self).__name__
        self.has_bn = norm is not None
        self.batchnorm = norm
        if activation == "leakyrelu":
            activation = LeakyReLU(alpha)
        elif isinstance(activation, str):
            activation = get_activation(activation, owner)
        if activation is not None and not callable(activation):
            raise TypeError(
                f"For '{owner}', the 'activation' must be a string, Cell or operator, but got {activation!r}."
            )
        self.activation = activation

    def _followed(self, x: Tensor) -> Tensor:
        x = x if self.batchnorm is None else self.batchnorm(x)
        return x if self.activation is None else self.activation(x)


class Conv2dBnAct(_Combined):
    """A :class:`Conv2d` layer, with an optional :class:`BatchNorm2d` and activation.

    Args:
        in_channels (int): number of input channels.
        out_channels (int): number of output channels.
        kernel_size (int or tuple of int): size of the kernel, as for :class:`Conv2d`.
        stride (int or tuple of int): stride, as for :class:`Conv2d`.
        pad_mode (str): ``"same"``, ``"valid"``, or ``"pad"``, as for :class:`Conv2d`.
        padding (int or tuple of int): padding, as for :class:`Conv2d`.
        dilation (int or tuple of int): dilation, as for :class:`Conv2d`.
        group (int): number of channel groups, as for :class:`Conv2d`.
        has_bias (bool): whether to add a bias.
        weight_init (Tensor, str, Initializer, or number): initial weights. ``"normal"`` means Normal(0.01).
        bias_init (Tensor, str, Initializer, or number): initial biases.
        has_bn (bool): whether to apply batch normalization to the result.
        momentum (float): momentum of the normalization, as for :class:`BatchNorm2d`.
        eps (float): ε of the normalization, as for :class:`BatchNorm2d`.
        activation (str, Cell, or Primitive): activation function, or its name. ``None``: no activation.
        alpha (float): slope for negative inputs if ``activation`` is ``"leakyrelu"``.
        after_fake (bool): accepted for compatibility.

    Inputs:
        x (Tensor): real tensor of shape (n, in_channels, h, w).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, or ``x`` does not have the documented shape.

    >>> from mindgrad import nn, ops
    >>> net = nn.Conv2dBnAct(2, 4, 3, has_bn=True, activation="relu")
    >>> print(net(ops.ones((1, 2, 5, 5))).shape)
    (1, 4, 5, 5)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False,
        weight_init: Any = "normal", bias_init: Any = "zeros", has_bn: bool = False, momentum: float = 0.997,
        eps: float = 1e-5, activation: Any = None, alpha: float = 0.2, after_fake: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.conv = Conv2d(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
            weight_init, bias_init,
        )  # fmt: skip
        norm = BatchNorm2d(out_channels, eps, momentum) if flag(has_bn, "Conv2dBnAct", "has_bn") else None
        self._follow(norm, activation, alpha)

    def construct(self, x: Any) -> Tensor:
        return self._followed(self.conv(x))


@with_sections
class DenseBnAct(_Combined):
    """A :class:`Dense` layer, with an optional :class:`BatchNorm1d` and activation.

    Args:
        in_channels (int): size of the last axis of the input.
        out_channels (int): size of the last axis of the output.
        momentum (float): momentum of the normalization, as for :class:`BatchNorm1d`.
        eps (float): ε of the normalization, as for :class:`BatchNorm1d`.

    {as Conv2dBnAct}

    Inputs:
        x (Tensor): real tensor of shape (n, in_channels).

    >>> from mindgrad import nn, ops
    >>> print(nn.DenseBnAct(3, 2, has_bn=True, activation="relu")(ops.ones((5, 3))).shape)
    (5, 2)
    """

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros",
        has_bias: bool = True, has_bn: bool = False, momentum: float = 0.9, eps: float = 1e-5,
        activation: Any = None, alpha: float = 0.2, after_fake: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        norm = BatchNorm1d(out_channels, eps, momentum) if flag(has_bn, "DenseBnAct", "has_bn") else None
        self._follow(norm, activation, alpha)

    def construct(self, x: Any) -> Tensor:
        return self._followed(self.dense(x))


class TimeDistributed(Cell):
    """Apply one layer to each slice along an axis, and stack the results.

    Args:
        layer (Cell or Primitive): layer to apply to each slice. A slice does not have the axis ``time_axis``.
        time_axis (int): axis along which the input is sliced.
        reshape_with_axis (int): accepted for compatibility.

    Inputs:
        x (Tensor): tensor that is sliced along the axis ``time_axis``.

    Raises:
        TypeError: If ``layer`` is not callable, or ``time_axis`` is not an int.
        ValueError: If ``time_axis`` is out of range, or ``x`` has size 0 along this axis.

    >>> from mindgrad import nn, ops
    >>> print(nn.TimeDistributed(nn.Dense(3, 2), time_axis=1)(ops.ones((4, 7, 3))).shape)
    (4, 7, 2)
    """

    def __init__(self, layer: Any, time_axis: int, reshape_with_axis: int | None = None) -> None:
        super().__init__()
        if not callable(layer):
            raise TypeError(
                f"For 'TimeDistributed', the 'layer' must be a Cell or operator, but got {layer!r}."
            )
        self.layer = layer
        self.time_axis = time_axis

    def construct(self, inputs: Any) -> Tensor:
        x = operand(inputs, "TimeDistributed")
        axis = axis_in_range(self.time_axis, x.ndim, "TimeDistributed", "time_axis")
        if not x.shape[axis]:
            raise ValueError(
                f"For 'TimeDistributed', axis {axis} must not be empty, but the shape is {x.shape}."
            )
        results, _ = over_time(lambda part, _: ((), self.layer(part)), moveaxis(x, axis, 0), ())
        return moveaxis(results, 0, min(axis, results.ndim - 1))
