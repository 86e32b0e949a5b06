"""Layers for images: resizing, and channels that become pixels, change their order, and back."""

from __future__ import annotations

from typing import Any

from mindgrad.core.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.function_cells import function_cell
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.layout import reshape, swapaxes, transpose
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import anything
from mindgrad.ops.reduction import flag
from mindgrad.ops.resizing import interpolate, new_sizes, resized_image

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
    """An image with another height and width, by linear interpolation along both (MindSpore r1.x).

    Args:
        half_pixel_centers: whether areas meet, and not the upper left corners.

    Inputs:
        x: a real tensor of shape (n, c, h, w).
        size: the new height and width.
        scale_factor: in its place an int, the factor by which both grow.
        align_corners: whether the corners meet.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``x`` has another shape, or both or none of size and factor are given.

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
        """See the class."""
        x = operand(x, "ResizeBilinear")
        sizes = new_sizes("ResizeBilinear", x.shape[2:], size, scale_factor)
        return resized_image("ResizeBilinear", x, sizes, "linear", align_corners, self.half_pixel_centers)


class ChannelShuffle(Cell):
    """Channels in groups, taken in turn from each group (Zhang et al., 2018).

    Args:
        groups: the number of groups.

    Inputs:
        x: a tensor of shape (n, c, …), c a multiple of ``groups``.

    Raises:
        TypeError: ``groups`` is no int.
        ValueError: it is not positive, or does not divide the number of channels.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.ChannelShuffle(2)(Tensor([[1.0, 2.0, 3.0, 4.0]])))
    [[1. 3. 2. 4.]]
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = whole_number(groups, "ChannelShuffle", "groups", 1)

    def construct(self, x: Any) -> Tensor:
        """See the class."""
        x = operand(x, "ChannelShuffle")
        if x.ndim < 2 or x.shape[1] % self.groups:
            raise ValueError(
                f"For 'ChannelShuffle', the channels of the input must be a multiple of 'groups', but the "
                f"shape is {x.shape} and 'groups' {self.groups}."
            )
        split = reshape(x, (x.shape[0], self.groups, x.shape[1] // self.groups, *x.shape[2:]))
        return reshape(swapaxes(split, 1, 2), x.shape)


class PixelShuffle(Cell):
    """(…, c r², h, w) → (…, c, h r, w r): groups of r² channels become squares of pixels (Shi et al., 2016).

    Args:
        upscale_factor: r.

    Inputs:
        x: a tensor with at least three axes.

    Raises:
        TypeError: ``upscale_factor`` is no int.
        ValueError: it is not positive, or the channels are no multiple of its square.

    >>> from mindgrad import nn, ops
    >>> print(nn.PixelShuffle(2)(ops.arange(4).reshape((1, 4, 1, 1)))[0, 0])
    [[0 1]
     [2 3]]
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = whole_number(upscale_factor, "PixelShuffle", "upscale_factor", 1)

    def construct(self, x: Any) -> Tensor:
        """See the class."""
        x, r = operand(x, "PixelShuffle"), self.upscale_factor
        if x.ndim < 3 or x.shape[-3] % (r * r):
            raise ValueError(
                f"For 'PixelShuffle', the input must have the shape (…, c · {r}², h, w), but it is {x.shape}."
            )
        *front, channels, high, wide = x.shape
        n = len(front)
        split = reshape(x, (*front, channels // (r * r), r, r, high, wide))
        moved = transpose(split, (*range(n + 1), n + 3, n + 1, n + 4, n + 2))
        return reshape(moved, (*front, channels // (r * r), high * r, wide * r))


class PixelUnshuffle(Cell):
    """(…, c, h r, w r) → (…, c r², h, w): the inverse of :class:`PixelShuffle`.

    Args:
        downscale_factor: r.

    Inputs:
        x: a tensor with at least three axes.

    Raises:
        TypeError: ``downscale_factor`` is no int.
        ValueError: it is not positive, or the last two sizes are no multiples of it.

    >>> from mindgrad import nn, ops
    >>> print(nn.PixelUnshuffle(2)(ops.arange(4).reshape((1, 1, 2, 2))).flatten())
    [0 1 2 3]
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = whole_number(downscale_factor, "PixelUnshuffle", "downscale_factor", 1)

    def construct(self, x: Any) -> Tensor:
        """See the class."""
        x, r = operand(x, "PixelUnshuffle"), self.downscale_factor
        if x.ndim < 3 or x.shape[-1] % r or x.shape[-2] % r:
            raise ValueError(
                f"For 'PixelUnshuffle', the input must have the shape (…, c, h · {r}, w · {r}), but it is "
                f"{x.shape}."
            )
        *front, channels, high, wide = x.shape
        n = len(front)
        split = reshape(x, (*front, channels, high // r, r, wide // r, r))
        moved = transpose(split, (*range(n + 1), n + 2, n + 4, n + 1, n + 3))
        return reshape(moved, (*front, channels * r * r, high // r, wide // r))
