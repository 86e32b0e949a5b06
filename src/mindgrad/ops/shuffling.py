"""Space and channel shuffles, such as ``pixel_shuffle`` and ``space_to_batch_nd``."""

from __future__ import annotations

import math
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import layout, padding
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.getitem import getitem
from mindgrad.ops.operands import operand
from mindgrad.ops.registry import public

__all__ = [
    "batch_to_space_nd", "channel_shuffle", "depth_to_space", "pixel_shuffle", "pixel_unshuffle",
    "space_to_batch_nd", "space_to_depth",
]  # fmt: skip


def _divided(size: int, by: int, operator: str, subject: str, shape: tuple[int, ...]) -> int:
    if size % by:
        raise ValueError(
            f"For '{operator}', the number of {subject} must be divisible by {by}, but it is {size}: the "
            f"shape is {shape}."
        )
    return size // by


def _image(x: Any, operator: str, least: int) -> Tensor:
    image = operand(x, operator)
    if image.ndim < least:
        raise ValueError(
            f"For '{operator}', there must be at least {least} axes, but the shape is {image.shape}."
        )
    return image


@public("mint.nn.functional")
def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """Rearrange channels into pixels: (…, C r², H, W) to (…, C, H r, W r).

    Args:
        input (Tensor): tensor of at least three axes.
        upscale_factor (int): factor r of the height and width.

    Returns:
        Tensor of shape (…, C, H r, W r).

    Raises:
        ValueError: If the number of channels is not divisible by ``upscale_factor``².

    >>> from mindgrad import Tensor, ops
    >>> print(ops.pixel_shuffle(Tensor([[[1.0]], [[2.0]], [[3.0]], [[4.0]]]), 2))
    [[[1. 2.]
      [3. 4.]]]
    """
    x = _image(input, "PixelShuffle", 3)
    r = whole_number(upscale_factor, "PixelShuffle", "upscale_factor", least=1)
    *front, channels, height, width = x.shape
    c = _divided(channels, r * r, "PixelShuffle", "channels", x.shape)
    n = len(front)
    x = layout.reshape(x, (*front, c, r, r, height, width))
    x = layout.transpose(x, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return layout.reshape(x, (*front, c, height * r, width * r))


def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """Rearrange pixels into channels: (…, C, H r, W r) to (…, C r², H, W).

    Args:
        input (Tensor): tensor of at least three axes.
        downscale_factor (int): divisor r of the height and width.

    Returns:
        Tensor of shape (…, C r², H, W).

    Raises:
        ValueError: If the height or width is not divisible by ``downscale_factor``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.pixel_unshuffle(Tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2).shape)
    (4, 1, 1)
    """
    x = _image(input, "PixelUnshuffle", 3)
    r = whole_number(downscale_factor, "PixelUnshuffle", "downscale_factor", least=1)
    *front, c, height, width = x.shape
    h, w = (_divided(size, r, "PixelUnshuffle", "pixels", x.shape) for size in (height, width))
    n = len(front)
    x = layout.reshape(x, (*front, c, h, r, w, r))
    x = layout.transpose(x, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return layout.reshape(x, (*front, c * r * r, h, w))


def channel_shuffle(x: Any, groups: int) -> Tensor:
    """Interleave the channels of groups.

    The result has the first channels of all groups, then their second channels, and so on.

    Args:
        x (Tensor): tensor of shape (N, C, …).
        groups (int): number of groups of channels.

    Returns:
        Tensor with the shape of ``x``.

    Raises:
        ValueError: If the number of channels is not divisible by ``groups``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.channel_shuffle(Tensor([[[1.0], [2.0], [3.0], [4.0]]]), 2)[0, :, 0])
    [1. 3. 2. 4.]
    """
    image = _image(x, "ChannelShuffle", 3)
    g = whole_number(groups, "ChannelShuffle", "groups", least=1)
    n, channels, *rest = image.shape
    c = _divided(channels, g, "ChannelShuffle", "channels", image.shape)
    return layout.reshape(layout.swapaxes(layout.reshape(image, (n, g, c, *rest)), 1, 2), image.shape)


@public("SpaceToDepth(block_size: integer)(x)")
def space_to_depth(input_x: Any, block_size: int) -> Tensor:
    """Rearrange blocks of pixels into channels: (N, C, H b, W b) to (N, b² C, H, W).

    The original channels are the fastest-changing part of the new channel axis.

    Args:
        input_x (Tensor): 4-D tensor of images.
        block_size (int): height and width b of a block.

    Returns:
        Tensor of shape (N, b² C, H, W).

    Raises:
        ValueError: If ``input_x`` is not 4-D, or its height or width is not divisible by ``block_size``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.space_to_depth(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2).shape)
    (1, 4, 1, 1)
    """
    x, b = _image(input_x, "SpaceToDepth", 4), whole_number(block_size, "SpaceToDepth", "block_size", least=1)
    n, c, height, width = x.shape
    h, w = (_divided(size, b, "SpaceToDepth", "pixels", x.shape) for size in (height, width))
    x = layout.transpose(layout.reshape(x, (n, c, h, b, w, b)), (0, 3, 5, 1, 2, 4))
    return layout.reshape(x, (n, b * b * c, h, w))


@public("DepthToSpace(block_size: integer)(x)")
def depth_to_space(input_x: Any, block_size: int) -> Tensor:
    """Rearrange channels into blocks of pixels: (N, b² C, H, W) to (N, C, H b, W b).

    Args:
        input_x (Tensor): 4-D tensor of images.
        block_size (int): height and width b of a block.

    Returns:
        Tensor of shape (N, C, H b, W b).

    Raises:
        ValueError: If ``input_x`` is not 4-D, or the number of channels is not divisible by ``block_size``².

    >>> from mindgrad import Tensor, ops
    >>> print(ops.depth_to_space(Tensor([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]), 2))
    [[[[1. 2.]
       [3. 4.]]]]
    """
    x, b = _image(input_x, "DepthToSpace", 4), whole_number(block_size, "DepthToSpace", "block_size", least=1)
    n, channels, h, w = x.shape
    c = _divided(channels, b * b, "DepthToSpace", "channels", x.shape)
    x = layout.transpose(layout.reshape(x, (n, b, b, c, h, w)), (0, 3, 4, 1, 5, 2))
    return layout.reshape(x, (n, c, h * b, w * b))


@public(
    "SpaceToBatch(block_size: integer, paddings: anything('a pair of ints for each axis of space'))(x)"
    " >>> ops.SpaceToBatch(2, [[0, 0], [0, 0]])(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).shape => (4, 1, 1, 1)",
    "SpaceToBatchND(block_shape: integers, paddings: anything('a pair of ints for each axis of space'))(x)"
    "(block_size=self.block_shape)",
)
def space_to_batch_nd(input_x: Any, block_size: Any, paddings: Any) -> Tensor:
    """Pad the spatial axes with zeros, and move blocks of them to the batch axis.

    Args:
        input_x (Tensor): tensor whose first axis is the batch and whose last M axes are spatial.
        block_size (int, or tuple or list of int): size of a block along each of the M spatial axes, or one
            size for all.
        paddings (tuple or list): pairs (before, after) of numbers of zeros for each spatial axis.

    Returns:
        Tensor with a larger batch and smaller spatial axes.

    Raises:
        ValueError: If a padded spatial axis is not divisible by its block size.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.space_to_batch_nd(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), [2, 2], [[0, 0], [0, 0]]).shape)
    (4, 1, 1, 1)
    """
    operator = "SpaceToBatchND"
    x, blocks, pairs = _space(operator, input_x, block_size, paddings)
    lead = x.ndim - len(blocks)
    x = padding.padded(x, [(0, 0)] * lead + pairs, "constant", 0)
    sizes = [
        _divided(n, b, operator, "elements", x.shape) for n, b in zip(x.shape[lead:], blocks, strict=True)
    ]
    front, count = x.shape[:lead], len(blocks)
    x = layout.reshape(x, (*front, *[k for pair in zip(sizes, blocks, strict=True) for k in pair]))
    order = (
        [lead + 2 * k + 1 for k in range(count)] + list(range(lead)) + [lead + 2 * k for k in range(count)]
    )
    x = layout.transpose(x, tuple(order))
    return layout.reshape(x, (math.prod(blocks) * front[0], *front[1:], *sizes))


@public(
    "BatchToSpace(block_size: integer, crops: anything('a pair of ints for each axis of space'))(x)"
    "(block_shape=self.block_size)"
    " >>> ops.BatchToSpace(2, [[0, 0], [0, 0]])(ops.ones((4, 1, 1, 1))).shape => (1, 1, 2, 2)",
    "BatchToSpaceND(block_shape: integers, crops: anything('a pair of ints for each axis of space'))(x)",
)
def batch_to_space_nd(input_x: Any, block_shape: Any, crops: Any) -> Tensor:
    """Move the batch axis to blocks of the spatial axes, and crop these axes.

    This is the inverse of :func:`space_to_batch_nd`.

    Args:
        input_x (Tensor): tensor whose first axis is the batch and whose last M axes are spatial.
        block_shape (int, or tuple or list of int): size of a block along each of the M spatial axes, or one
            size for all.
        crops (tuple or list): pairs (before, after) of numbers of elements to remove for each
            spatial axis.

    Returns:
        Tensor with a smaller batch and larger spatial axes.

    Raises:
        ValueError: If the batch size is not divisible by the product of the block sizes.

    >>> from mindgrad import Tensor, ops
    >>> x = Tensor([[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]])
    >>> print(ops.batch_to_space_nd(x, [2, 2], [[0, 0], [0, 0]]))
    [[[[1. 2.]
       [3. 4.]]]]
    """
    operator = "BatchToSpaceND"
    x, blocks, pairs = _space(operator, input_x, block_shape, crops)
    count, lead = len(blocks), x.ndim - len(blocks)
    n = _divided(x.shape[0], math.prod(blocks), operator, "elements of the batch", x.shape)
    front, sizes = (n, *x.shape[1:lead]), x.shape[lead:]
    x = layout.reshape(x, (*blocks, *front, *sizes))
    order = list(range(count, count + lead))
    for k in range(count):
        order += [count + lead + k, k]
    x = layout.reshape(
        layout.transpose(x, tuple(order)), (*front, *[s * b for s, b in zip(sizes, blocks, strict=True)])
    )
    kept = [slice(low, size - high) for (low, high), size in zip(pairs, x.shape[lead:], strict=True)]
    return getitem(x, (..., *kept))


def _space(operator: str, x: Any, blocks: Any, pairs: Any) -> tuple[Tensor, list[int], list[tuple[int, int]]]:
    tensor = operand(x, operator)
    sides = [tuple(whole_number(n, operator, "paddings", least=0) for n in pair) for pair in pairs]
    listed = list(blocks) if isinstance(blocks, (tuple, list)) else [blocks] * len(sides)
    sizes = [whole_number(n, operator, "block_size", least=1) for n in listed]
    if len(sizes) != len(sides) or any(len(pair) != 2 for pair in sides) or tensor.ndim <= len(sizes):
        raise ValueError(
            f"For '{operator}', there must be one block size and one pair for each spatial axis, but got "
            f"{blocks} and {pairs} for a tensor of shape {tensor.shape}."
        )
    return tensor, sizes, sides  # type: ignore[return-value]
