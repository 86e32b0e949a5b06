"""Convolution layers and transposed convolutions, over one, two, or three axes.

By default, kernels are initialized as in MindSpore 2.x with HeUniform(√5), and biases uniformly in
±1/√(inputs of a unit). MindSpore 1.6 used Normal(0.01) and zeros; to get these, pass ``weight_init="normal"``
and ``bias_init="zeros"``.
"""

from __future__ import annotations

import math
from typing import Any

from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.layer.parameters import bias_of_fan, check_data_format, parameter, weight_of_fan
from mindgrad.ops import convolution
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.convolution import per_axis
from mindgrad.ops.layout import expand_dims, squeeze
from mindgrad.ops.reduction import flag

__all__ = ["Conv1d", "Conv1dTranspose", "Conv2d", "Conv2dTranspose", "Conv3d", "Conv3dTranspose"]

_TRANSPOSED = (convolution.conv_transpose1d, convolution.conv_transpose2d, convolution.conv_transpose3d)


class _Conv(Cell):
    """Base of all convolution layers: arguments, Parameters, printed form."""

    axes = 0
    is_transposed = False
    output_padding: Any = 0
    data_format = ""

    def _prepare(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        pad_mode: str,
        padding: Any,
        dilation: Any,
        group: int,
        has_bias: bool,
        weight_init: Any,
        bias_init: Any,
        dtype: Any,
    ) -> None:
        owner, axes = type(self).__name__, self.axes
        self.in_channels = whole_number(in_channels, owner, "in_channels", 1)
        self.out_channels = whole_number(out_channels, owner, "out_channels", 1)
        self.group = whole_number(group, owner, "group", 1)
        self.kernel_size = per_axis(kernel_size, axes, owner, "kernel_size", 1)
        self.stride = per_axis(stride, axes, owner, "stride", 1)
        self.dilation = per_axis(dilation, axes, owner, "dilation", 1)
        self.pad_mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode
        self.padding = padding
        # check ``padding`` now. The check needs an input size, but its errors do not depend on this size
        some = (64,) * axes
        convolution.margins(owner, self.pad_mode, padding, some, self.kernel_size, self.stride)
        if self.in_channels % self.group or self.out_channels % self.group:
            raise ValueError(
                f"For '{owner}', 'in_channels' and 'out_channels' must be multiples of 'group', but they are "
                f"{in_channels}, {out_channels} and {group}."
            )
        self.has_bias = flag(has_bias, owner, "has_bias")
        first, second = self.in_channels, self.out_channels
        if not self.is_transposed:
            first, second = second, first
        # a 1-D kernel has an additional axis of size 1, as in MindSpore
        shape = (first, second // self.group, *((1,) if axes == 1 else ()), *self.kernel_size)
        if axes == 1 and isinstance(weight_init, Tensor) and weight_init.ndim == 3:
            weight_init = expand_dims(weight_init, 2)
        self.weight_init = weight_init
        self.bias_init = bias_init
        self.weight = parameter(owner, weight_of_fan(weight_init), shape, "weight", dtype)
        fan_in = math.prod(shape[1:])
        self.bias = (
            parameter(owner, bias_of_fan(bias_init, fan_in), (self.out_channels,), "bias", dtype)
            if self.has_bias
            else None
        )

    def construct(self, x: Any) -> Tensor:
        owner, axes = type(self).__name__, self.axes
        x = real_operand(x, owner)
        if x.ndim != axes + 2 or x.shape[1] != self.in_channels:
            raise ValueError(
                f"For '{owner}', the input must have {axes + 2} axes and {self.in_channels} channels in the "
                f"second, but its shape is {x.shape}."
            )
        weight = squeeze(self.weight, 2) if axes == 1 else self.weight
        if not self.is_transposed:
            return convolution.convolution(
                owner, axes, x, weight, self.bias, self.stride, self.pad_mode, self.padding, self.dilation,
                self.group,
            )  # fmt: skip
        more = per_axis(self.output_padding, axes, owner, "output_padding", 0)
        if self.pad_mode == "valid":
            # if the stride is larger than the window, there is a gap after each window. As in MindSpore, the
            # output also includes the gap after the last window
            spans = ((k - 1) * d + 1 for k, d in zip(self.kernel_size, self.dilation, strict=True))
            more = tuple(max(extra, s - k) for extra, s, k in zip(more, self.stride, spans, strict=True))
        return _TRANSPOSED[axes - 1](
            x, weight, self.bias, self.stride, self.pad_mode, self.padding, more, self.dilation, self.group
        )

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, "
            f"has_bias={self.has_bias}, weight_init={_shown(self.weight_init)}, "
            f"bias_init={_shown(self.bias_init)}, format={self.data_format}"
        )


def _shown(init: Any) -> Any:
    return init if init is None or isinstance(init, (str, int, float)) else type(init).__name__


_DOC = """{what} over {words}, with an optional bias.

    See :func:`mindgrad.ops.{function}`.

    Args:
        in_channels (int): number of input channels.
        out_channels (int): number of output channels.
        kernel_size (int or tuple of int): size of the kernel: one int for all axes, or one int for each axis.
        stride (int or tuple of int): {stride}
        pad_mode (str): ``"same"`` ({same}), ``"valid"`` (no padding), or ``"pad"`` (``padding`` is used).
        padding (int or tuple of int): number of zeros {zeros} on each side: an int, {pads}. Without ``"pad"``
            it must be 0.
        dilation (int or tuple of int): distance between input elements that neighboring kernel elements
            multiply.
        group (int): number of groups of channels, each with a separate kernel.{more}
        has_bias (bool): whether to add a bias.
        weight_init (Tensor, str, Initializer, or number): initial kernel, of shape {kernel}. ``None``:
            HeUniform(√5), as in MindSpore 2.x.
        bias_init (Tensor, str, Initializer, or number): initial bias, of shape (out_channels,). ``None``:
            uniform in ±1/√n for n inputs of a unit.{format}
        dtype (DType): dtype of the Parameters.

    Inputs:
        x (Tensor): real tensor of shape (n, in_channels, {axes}).

    Outputs:
        Tensor of shape (n, out_channels, {new_axes}).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, or ``x`` is not of shape (n, in_channels, {axes}).

    >>> from mindgrad import nn, ops
    >>> layer = nn.{name}(2, 4, 3, stride=2)
    >>> print(layer(ops.ones({example})).shape, layer.weight.shape)
    {prints}
    """


class Conv1d(_Conv):
    axes = 1
    data_format = "NCW"

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
        bias_init: Any = None, dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self._prepare(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
            weight_init, bias_init, dtype,
        )  # fmt: skip


class _ConvOfFormat(_Conv):
    """A convolution with an argument for the order of the axes."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
        bias_init: Any = None, data_format: str | None = None, dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        wanted = type(self).data_format
        check_data_format(type(self).__name__, wanted if data_format is None else data_format, wanted)
        self._prepare(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
            weight_init, bias_init, dtype,
        )  # fmt: skip


class Conv2d(_ConvOfFormat):
    axes = 2
    data_format = "NCHW"


class Conv3d(_ConvOfFormat):
    axes = 3
    data_format = "NCDHW"


class Conv1dTranspose(Conv1d):
    is_transposed = True


class Conv2dTranspose(_Conv):
    axes = 2
    data_format = "NCHW"
    is_transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, output_padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False,
        weight_init: Any = None, bias_init: Any = None, dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.output_padding = output_padding
        self._prepare(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
            weight_init, bias_init, dtype,
        )  # fmt: skip


class Conv3dTranspose(_Conv):
    axes = 3
    data_format = "NCDHW"
    is_transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, output_padding: Any = 0, has_bias: bool = False,
        weight_init: Any = None, bias_init: Any = None, data_format: str = "NCDHW", dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        check_data_format("Conv3dTranspose", data_format, "NCDHW")
        self.output_padding = output_padding
        self._prepare(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
            weight_init, bias_init, dtype,
        )  # fmt: skip


def _describe() -> None:
    """Create the docstrings of all layers of this file."""
    words, letters = ("one axis", "two axes", "three axes"), ("w", "h, w", "d, h, w")
    for kind in (Conv1d, Conv2d, Conv3d, Conv1dTranspose, Conv2dTranspose, Conv3dTranspose):
        axes, back = kind.axes, kind.is_transposed
        sizes = letters[axes - 1].replace(" ", "").split(",")
        first = ("in_channels", "out_channels / group") if back else ("out_channels", "in_channels / group")
        stored = (1,) if axes == 1 else ()
        input_sizes, output_sizes = (5,) * axes, ((10,) if back else (3,)) * axes
        kernel = ((2, 4) if back else (4, 2)) + stored + (3,) * axes
        kind.__doc__ = _DOC.format(
            what="A transposed convolution" if back else "A convolution",
            words=words[axes - 1],
            function=f"conv_transpose{axes}d" if back else f"conv{axes}d",
            stride="upsampling factor of the axes." if back else "distance between windows.",
            same="output size m · stride for size m" if back else "output size ⌈m / stride⌉ for size m",
            zeros="removed" if back else "added",
            pads="or two" if axes == 1 else f"{axes} or {2 * axes}",
            more="\n        output_padding (int or tuple of int): additional output size, below the stride."
            if back and axes > 1
            else "",
            kernel=f"({', '.join([*first, *(['1'] if axes == 1 else []), *(f'k{size}' for size in sizes)])})",
            format=f'\n        data_format (str): must be ``"{kind.data_format}"``.'
            if kind in (Conv2d, Conv3d, Conv3dTranspose)
            else "",
            axes=letters[axes - 1],
            new_axes=", ".join(f"new {size}" for size in sizes),
            name=kind.__name__,
            example=(1, 2, *input_sizes),
            prints=f"{(1, 4, *output_sizes)} {kernel}",
        )


_describe()
