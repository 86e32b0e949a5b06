"""Pooling, padding, unfolding, and resizing of images with PyTorch's arguments."""

from __future__ import annotations

from typing import Any

from mindgrad import nn
from mindgrad._base.shared_docs import document
from mindgrad.core.ir.tensor import Tensor
from mindgrad.mint.conversions import placing
from mindgrad.mint.nn import functional as own
from mindgrad.nn.function_cells import function_cell
from mindgrad.nn.layer.padding import family
from mindgrad.ops import functional
from mindgrad.ops.in_place import IN_PLACE, in_place
from mindgrad.ops.operations.base import anything, boolean, integer, integers

_nn: Any = nn  # a type checker cannot resolve the names of ``nn``

# --- functions of ``mint.nn.functional`` -----------------------------------------------------------------


def avg_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """Average the elements of each window over one axis.

    Args:
        input (Tensor): tensor of shape (n, channels, w) or (channels, w).
        kernel_size (int or tuple of int): size of the windows.
        stride (int, tuple of int, or None): step between neighboring windows. ``None`` means
            ``kernel_size``.
        padding (int or tuple of int): number of zeros at both ends.
        ceil_mode (bool): whether the last window may extend past the end of the input.
        count_include_pad (bool): whether the zeros of the padding count as elements of the average.

    Returns:
        Tensor of the averages, with as many axes as ``input``.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.functional.avg_pool1d(Tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2))
    [[[2. 6.]]]
    """
    steps = kernel_size if stride is None else stride
    return functional.avg_pool1d(input, kernel_size, steps, padding, ceil_mode, count_include_pad)


def avg_pool3d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Average the elements of each window over three axes.

    Args:
        input (Tensor): tensor of shape (n, channels, d, h, w) or (channels, d, h, w).
        kernel_size (int or tuple of int): size of the windows.
        stride (int, tuple of int, or None): step between neighboring windows. ``None`` means
            ``kernel_size``.
        padding (int or tuple of int): number of zeros at both ends of each axis.
        ceil_mode (bool): whether the last window may extend past the end of the input.
        count_include_pad (bool): whether the zeros of the padding count as elements of the average.
        divisor_override (int or None): divisor to use instead of the number of elements in the window.

    Returns:
        Tensor of the averages, with as many axes as ``input``.

    >>> from mindgrad import mint
    >>> mint.nn.functional.avg_pool3d(mint.ones((1, 1, 4, 4, 4)), 2).shape
    (1, 1, 2, 2, 2)
    """
    steps = kernel_size if stride is None else stride
    return functional.avg_pool3d(
        input, kernel_size, steps, padding, ceil_mode, count_include_pad, divisor_override or 0
    )


adaptive_max_pool1d = functional.adaptive_max_pool1d
adaptive_max_pool2d = functional.adaptive_max_pool2d
max_unpool2d = functional.max_unpool2d


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set whole channels of images to 0 with probability ``p``.

    The other channels are divided by 1 − p.

    Args:
        input (Tensor): tensor of shape (n, channels, h, w) or (channels, h, w).
        p (float): probability that a channel is dropped.
        training (bool): whether to drop channels. If it is false, the input is returned unchanged.
        inplace (bool): whether to store the result in ``input``.

    Returns:
        Tensor with the shape of ``input``.

    >>> from mindgrad import mint
    >>> mint.nn.functional.dropout2d(mint.ones((2, 3, 4, 4)), 0.5).shape
    (2, 3, 4, 4)
    """
    return placing(inplace, "dropout2d", input, lambda x: functional.dropout2d(x, p, training))


def conv_transpose2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Compute the transpose of a 2-D convolution.

    Args:
        input (Tensor): tensor of shape (n, c, h, w).
        weight (Tensor): kernels of shape (c, out_channels / groups, kh, kw).
        bias (Tensor or None): bias of each output channel, of shape (out_channels,). ``None`` means no bias.
        stride, padding, dilation (int or tuple of int): stride, padding, and dilation of the convolution
            whose transpose is computed.
        output_padding (int or tuple of int): number of elements added at the end of each axis of
            the result.
        groups (int): number of groups of channels, each with its own kernels.

    Returns:
        Tensor of shape (n, out_channels, h', w').

    >>> from mindgrad import mint
    >>> mint.nn.functional.conv_transpose2d(mint.ones((1, 2, 3, 3)), mint.ones((2, 1, 2, 2)), stride=2).shape
    (1, 1, 6, 6)
    """
    return functional.conv_transpose2d(
        input, weight, bias, stride, "pad", padding, output_padding, dilation, groups
    )


# --- in-place functions of ``mint.nn.functional`` --------------------------------------------------------


relu_, sigmoid_ = IN_PLACE["relu_"], IN_PLACE["sigmoid_"]
elu_ = in_place("elu_", own.elu, "the exponential linear unit")
hardtanh_ = in_place("hardtanh_", functional.hardtanh, "its values clipped to an interval")
threshold_ = in_place("threshold_", functional.threshold, "x above a threshold, else ``value``")

for _method in (elu_, hardtanh_, threshold_):
    document(_method, [f"mindgrad.mint.nn.functional.{_method.__name__[:-1]}"])

FUNCTIONS = [
    "adaptive_max_pool1d", "adaptive_max_pool2d", "avg_pool1d", "avg_pool3d", "conv_transpose2d", "dropout2d",
    "elu_", "hardtanh_", "max_unpool2d", "relu_", "sigmoid_", "threshold_",
]  # fmt: skip

# --- Cells of ``mint.nn`` --------------------------------------------------------------------------------

_SIZES = anything("an int or a tuple of ints")
_STRIDE = anything("an int, a tuple of ints or None", None)
_AVERAGE = {
    "kernel_size": _SIZES, "stride": _STRIDE, "padding": integers(0), "ceil_mode": boolean(False),
    "count_include_pad": boolean(True),
}  # fmt: skip

AvgPool1d = function_cell(
    __name__, "AvgPool1d", avg_pool1d, attributes=_AVERAGE, inputs="input",
    example="nn.AvgPool1d(2, 2)(Tensor([[[1.0, 3.0]]]))", prints="[[[2.]]]",
)  # fmt: skip
AvgPool3d = function_cell(
    __name__, "AvgPool3d", avg_pool3d,
    attributes=_AVERAGE | {"divisor_override": anything("an int or None", None)},
    inputs="input", example="nn.AvgPool3d(2, 2)(ops.ones((1, 1, 2, 2, 2))).shape", prints="(1, 1, 1, 1, 1)",
)  # fmt: skip
AdaptiveMaxPool1d = function_cell(
    __name__, "AdaptiveMaxPool1d", functional.adaptive_max_pool1d,
    attributes={"output_size": _SIZES, "return_indices": boolean(False)}, inputs="input",
    example="nn.AdaptiveMaxPool1d(1)(Tensor([[[1.0, 3.0]]]))", prints="[[[3.]]]",
)  # fmt: skip
AdaptiveMaxPool2d, MaxUnpool2d = _nn.AdaptiveMaxPool2d, _nn.MaxUnpool2d
GLU = function_cell(
    __name__, "GLU", own.glu, attributes={"dim": integer(-1)}, inputs="input",
    example="nn.GLU()(Tensor([3.0, 0.0]))", prints="[1.5]",
)  # fmt: skip
_COLUMNS = {"dilation": integers(1), "padding": integers(0), "stride": integers(1)}
Unfold = function_cell(
    __name__, "Unfold", own.unfold, attributes={"kernel_size": _SIZES, **_COLUMNS}, inputs="input",
    meaning="Copy image windows to columns, see :func:`mindgrad.mint.nn.functional.unfold`.",
    example="ops.unfold(ops.ones((1, 2, 3, 3)), 2).shape", prints="(1, 8, 4)",
)  # fmt: skip
Fold = function_cell(
    __name__, "Fold", functional.fold, attributes={"output_size": _SIZES, "kernel_size": _SIZES, **_COLUMNS},
    inputs="input", meaning="Add up columns to images, see :func:`mindgrad.mint.nn.functional.fold`.",
    example="ops.fold(ops.ones((1, 8, 4)), (3, 3), 2).shape", prints="(1, 2, 3, 3)",
)  # fmt: skip
_SCALES = {
    "size": anything("an int, a tuple of ints or None", None),
    "scale_factor": anything("a number, a tuple of numbers or None", None),
}
UpsamplingNearest2d = function_cell(
    __name__, "UpsamplingNearest2d", functional.interpolate, attributes=_SCALES,
    run=lambda self, input: functional.interpolate(input, self.size, self.scale_factor, mode="nearest"),
    inputs="input", meaning="Resize images by copying the nearest element.",
    example="nn.Upsample(size=(2, 2))(Tensor([[[[1.0]]]]))", prints="[[[[1. 1.]\n   [1. 1.]]]]",
)  # fmt: skip
UpsamplingBilinear2d = function_cell(
    __name__, "UpsamplingBilinear2d", functional.interpolate, attributes=_SCALES,
    run=lambda self, input: functional.interpolate(
        input, self.size, self.scale_factor, mode="bilinear", align_corners=True
    ),
    inputs="input", meaning="Resize images by bilinear interpolation with aligned corner pixels.",
    example='nn.Upsample(size=(1, 3), mode="bilinear", align_corners=True)(Tensor([[[[1.0, 3.0]]]]))',
    prints="[[[[1. 2. 3.]]]]",
)  # fmt: skip
ZeroPad1d, ZeroPad3d = family("ZeroPad", "constant", "Zeros", "[0. 1. 2. 3. 0.]", counts=(1, 3))

CELLS = [
    "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AvgPool1d", "AvgPool3d", "Fold", "GLU", "MaxUnpool2d",
    "Unfold", "UpsamplingBilinear2d", "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad3d",
]  # fmt: skip
__all__ = list(FUNCTIONS + CELLS)
