"""Layers for images: channels that become pixels, and back."""

from __future__ import annotations

from typing import Any

from mindgrad.core.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.layout import reshape, transpose
from mindgrad.ops.operands import operand

__all__ = ["PixelShuffle", "PixelUnshuffle"]


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
