"""Combined layers join convolution or product, normalisation and activation, or apply a layer over time."""

from __future__ import annotations

from typing import Any

from mindgrad._base.shared_docs import with_sections
from mindgrad.ir.tensor import Tensor
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
    """Base of both: the normalisation and activation behind a layer."""

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
    """:class:`Conv2d`, then :class:`BatchNorm2d` and an activation, where they are asked for.

    Args:
        in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
            weight_init, bias_init: as for :class:`Conv2d`; weights are Normal(0.01) at first, biases 0.
        has_bn: whether the result is normalised.
        momentum, eps: as for :class:`BatchNorm2d`.
        activation: the name of an activation function, a Cell or an operator; ``None``: nothing.
        alpha: the slope of ``"leakyrelu"``.
        after_fake: accepted for compatibility.

    Inputs:
        x: a real tensor of shape (n, in_channels, h, w).

    Raises:
        TypeError: an argument is of another type.
        ValueError: an argument is out of range, or the input has another shape.

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
        """See the class."""
        return self._followed(self.conv(x))


@with_sections
class DenseBnAct(_Combined):
    """:class:`Dense`, then :class:`BatchNorm1d` and an activation, where they are asked for.

    Args:
        in_channels, out_channels, weight_init, bias_init, has_bias: as for :class:`Dense`; weights are
            Normal(0.01) at first, biases 0.
        momentum, eps: as for :class:`BatchNorm1d`.

    {as Conv2dBnAct}

    Inputs:
        x: a real tensor of shape (n, in_channels).

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
        """See the class."""
        return self._followed(self.dense(x))


class TimeDistributed(Cell):
    """One layer for each element along an axis: the results are stacked along the same axis.

    Args:
        layer: a Cell or operator, applied to each part without the axis.
        time_axis: the axis.
        reshape_with_axis: accepted for compatibility.

    Inputs:
        x: a tensor.

    Raises:
        TypeError: ``layer`` cannot be called, or ``time_axis`` is no int.
        ValueError: ``time_axis`` is out of range, or the axis is empty.

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
        """See the class."""
        x = operand(inputs, "TimeDistributed")
        axis = axis_in_range(self.time_axis, x.ndim, "TimeDistributed", "time_axis")
        if not x.shape[axis]:
            raise ValueError(
                f"For 'TimeDistributed', axis {axis} must not be empty, but the shape is {x.shape}."
            )
        results, _ = over_time(lambda part, _: ((), self.layer(part)), moveaxis(x, axis, 0), ())
        return moveaxis(results, 0, min(axis, results.ndim - 1))
