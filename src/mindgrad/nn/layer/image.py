"""Layers for images: resizing, pixel shuffle, and channel shuffle."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.function_cells import function_cell
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.layout import reshape, swapaxes
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import anything, integer
from mindgrad.ops.reduction import flag
from mindgrad.ops.resizing import interpolate, new_sizes, resized_image
from mindgrad.ops.shuffling import pixel_shuffle, pixel_unshuffle

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle", "ResizeBilinear", "Upsample"]

Upsample = function_cell(
    __name__, "Upsample", interpolate,
    attributes={
        "size": anything("an int, a tuple of them or None", None),
        "scale_factor": anything("a float, a tuple of them or None", None),
        "mode": anything("the name of a mode", "nearest"),
        "align_corners": anything("a bool or None", None),
        "recompute_scale_factor": anything("a bool or None", None),
    },
    example='nn.Upsample(scale_factor=2.0, mode="nearest")(Tensor([[[1.0, 2.0]]]))',
    prints="[[[1. 1. 2. 2.]]]",
)  # fmt: skip


class ResizeBilinear(Cell):
    """Resize an image by bilinear interpolation (MindSpore 1.x).

    Args:
        half_pixel_centers (bool): whether to align the areas of the pixels instead of the upper left corners.

    Inputs:
        x (Tensor): real tensor of shape (n, c, h, w).
        size (tuple of int, optional): height and width of the resized image.
        scale_factor (int, optional): scale factor of height and width, which can be passed instead of
            ``size``.
        align_corners (bool, optional): whether to align the centers of the corner pixels.

    Outputs:
        Tensor of shape (n, c, new height, new width).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``x`` is not of shape (n, c, h, w), or not exactly one of ``size`` and ``scale_factor``
            is given.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.ResizeBilinear()(Tensor([[[[0.0, 1.0]]]]), (1, 3), align_corners=True))
    [[[[0.  0.5 1. ]]]]
    """

    def __init__(self, half_pixel_centers: bool = False) -> None:
        super().__init__()
        self.half_pixel_centers = flag(half_pixel_centers, "ResizeBilinear", "half_pixel_centers")

    def construct(
        self, x: Any, size: Any = None, scale_factor: Any = None, align_corners: bool = False
    ) -> Tensor:
        x = operand(x, "ResizeBilinear")
        sizes = new_sizes("ResizeBilinear", x.shape[2:], size, scale_factor)
        return resized_image("ResizeBilinear", x, sizes, "linear", align_corners, self.half_pixel_centers)


class ChannelShuffle(Cell):
    """Interleave the channels of several groups (Zhang et al., 2018).

    Args:
        groups (int): number of groups of channels.

    Inputs:
        x (Tensor): tensor of shape (n, c, ...), where c is a multiple of ``groups``.

    Outputs:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If ``groups`` is not an int.
        ValueError: If ``groups`` is not positive, or does not divide the number of channels.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.ChannelShuffle(2)(Tensor([[1.0, 2.0, 3.0, 4.0]])))
    [[1. 3. 2. 4.]]
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = whole_number(groups, "ChannelShuffle", "groups", 1)

    def construct(self, x: Any) -> Tensor:
        x = operand(x, "ChannelShuffle")
        if x.ndim < 2 or x.shape[1] % self.groups:
            raise ValueError(
                f"For 'ChannelShuffle', the channels of the input must be a multiple of 'groups', but the "
                f"shape is {x.shape} and 'groups' {self.groups}."
            )
        split = reshape(x, (x.shape[0], self.groups, x.shape[1] // self.groups, *x.shape[2:]))
        return reshape(swapaxes(split, 1, 2), x.shape)


PixelShuffle = function_cell(
    __name__, "PixelShuffle", pixel_shuffle, attributes={"upscale_factor": integer()}, inputs="x",
    example="nn.PixelShuffle(2)(ops.arange(4).reshape((1, 4, 1, 1)))[0, 0]", prints="[[0 1]\n [2 3]]",
)  # fmt: skip
PixelUnshuffle = function_cell(
    __name__, "PixelUnshuffle", pixel_unshuffle, attributes={"downscale_factor": integer()}, inputs="x",
    example="nn.PixelUnshuffle(2)(ops.arange(4).reshape((1, 1, 2, 2))).flatten()", prints="[0 1 2 3]",
)  # fmt: skip
