"""Grid sampling: interpolate images at arbitrary coordinates.

A point has one coordinate from −1 to 1 for each axis, in reverse order of the axes. With ``align_corners``,
±1 are the centers of the outermost pixels, otherwise their outer edges.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, clipping, comparison, rounding
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import sizes
from mindgrad.ops.contraction import matmul
from mindgrad.ops.indexing import gather_elements
from mindgrad.ops.layout import reshape, swapaxes
from mindgrad.ops.movement import slice_axis
from mindgrad.ops.operands import broadcast_to, cast, promoted
from mindgrad.ops.reduction import flag
from mindgrad.ops.registry import public

__all__ = ["affine_grid", "grid_sample"]

_PADDING = ("zeros", "border", "reflection")


@public("AffineGrid(align_corners=False)(theta, size)")
def affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Tensor:
    """Compute the sampling positions of an affine map, for :func:`grid_sample`.

    The sampling position of the output pixel p is A p + b. Coordinates are from −1 to 1 along each axis.

    Args:
        theta (Tensor): n affine maps (A b), of shape (n, 2, 3) for images, or (n, 3, 4) for volumes.
        size (tuple of int): shape of the output, (n, c, h, w) or (n, c, d, h, w).
        align_corners (bool): whether the coordinates ±1 are the centers of the outermost pixels instead of
            their outer edges.

    Returns:
        Tensor of shape (n, h, w, 2) or (n, d, h, w, 3).

    {errors of arguments}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.affine_grid(Tensor([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2))[0, 0])
    [[0. 0.]
     [1. 0.]]
    """
    maps = real_operand(theta, "AffineGrid")
    shape = sizes(size, "AffineGrid", "size", 1)
    flag(align_corners, "AffineGrid", "align_corners")
    rank = len(shape) - 2
    if rank not in (2, 3) or maps.shape != (shape[0], rank, rank + 1):
        raise ValueError(
            "For 'AffineGrid', the 'theta' must have the shape (n, 2, 3) for the size (n, c, h, w), or "
            f"(n, 3, 4) for (n, c, d, h, w), but its shape is {maps.shape} for the size {shape}."
        )
    steps = [np.linspace(-1, 1, n) if n > 1 else np.zeros(1) for n in shape[2:]]
    if not align_corners:
        steps = [at * (n - 1) / n for at, n in zip(steps, shape[2:], strict=True)]
    places = np.stack([*np.meshgrid(*steps, indexing="ij")][::-1] + [np.ones(shape[2:])], -1)
    flat = Tensor(places.reshape(1, -1, rank + 1).astype(maps.dtype.numpy))
    found = matmul(broadcast_to(flat, (shape[0], *flat.shape[1:])), swapaxes(maps, 1, 2))
    return reshape(found, (shape[0], *shape[2:], rank))


@public(
    "mint.nn.functional",
    "GridSampler2D(interpolation_mode='bilinear', padding_mode='zeros', align_corners=False)(x, grid)"
    "(mode=self.interpolation_mode)"
    " >>> ops.GridSampler2D()(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), ops.zeros((1, 1, 1, 2))) => [[[[2.5]]]]",
    "GridSampler3D(interpolation_mode='bilinear', padding_mode='zeros', align_corners=False)(x, grid)"
    "(mode=self.interpolation_mode)"
    " >>> ops.GridSampler3D()(ops.ones((1, 1, 2, 2, 2)), ops.zeros((1, 1, 1, 1, 3))).shape => (1, 1, 1, 1, "
    "1)",
)
def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample images at the positions of a grid.

    Args:
        input (Tensor): images (n, c, h, w), or volumes (n, c, d, h, w).
        grid (Tensor): sampling positions with coordinates from −1 to 1 in the order x, y(, z), of shape (n,
            h', w', 2) or (n, d', h', w', 3).
        mode (str): ``"bilinear"`` interpolates linearly along each axis. ``"nearest"`` uses the
            nearest pixel, and the derivative with respect to ``grid`` is 0.
        padding_mode (str): value at positions outside the image: ``"zeros"``, ``"border"`` (the nearest pixel
            of the image), or ``"reflection"`` (the image is mirrored).
        align_corners (bool or None): whether the coordinates ±1 are the centers of the outermost pixels
            instead of their outer edges. ``None`` means ``False``.

    Returns:
        Tensor of shape (n, c, h', w') or (n, c, d', h', w').

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes of ``input`` and ``grid`` do not match, or ``mode`` or ``padding_mode`` is
            not supported.

    >>> from mindgrad import Tensor, ops
    >>> image = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> print(ops.grid_sample(image, Tensor([[[[0.0, 0.0], [0.5, 0.5]]]]), align_corners=False))
    [[[[2.5 4. ]]]]
    """
    aligned = flag(
        bool(align_corners) if align_corners is None else align_corners, "GridSample", "align_corners"
    )
    x, places = promoted(
        "GridSample", real_operand(input, "GridSample"), real_operand(grid, "GridSample"), broadcast=False
    )
    rank = x.ndim - 2
    if (
        rank not in (2, 3)
        or places.ndim != rank + 2
        or places.shape[-1] != rank
        or places.shape[0] != x.shape[0]
    ):
        raise ValueError(
            "For 'GridSample', the shapes of input and grid must be (n, c, h, w) and (n, h', w', 2), or "
            f"(n, c, d, h, w) and (n, d', h', w', 3), but they are {x.shape} and {places.shape}."
        )
    one_of(mode, ("bilinear", "nearest"), "GridSample", "mode")
    one_of(padding_mode, _PADDING, "GridSample", "padding_mode")
    n, c, *extent = x.shape
    shape = places.shape[1:-1]
    count = int(np.prod(shape))
    flat = reshape(places, (n, count, rank))
    axes = []
    for axis, size in enumerate(extent):
        one = reshape(slice_axis(flat, 2, rank - 1 - axis, rank - axis), (n, count))
        axes.append(_neighbors(_pixel(one, size, aligned, padding_mode), size, mode))
    pixels = reshape(x, (n, c, int(np.prod(extent))))
    total: Tensor | None = None
    for corner in itertools.product(*axes):
        index, weight = corner[0]
        for (more, share), size in zip(corner[1:], extent[1:], strict=True):
            index = arithmetic.add(arithmetic.mul(index, size), more)
            weight = arithmetic.mul(weight, share)
        whole = (n, c, count)
        read = gather_elements(pixels, 2, broadcast_to(reshape(index, (n, 1, count)), whole))
        part = arithmetic.mul(read, broadcast_to(reshape(weight, (n, 1, count)), whole))
        total = part if total is None else arithmetic.add(total, part)
    assert total is not None
    return reshape(total, (n, c, *shape))


def _pixel(at: Tensor, size: int, aligned: bool, padding_mode: str) -> Tensor:
    """Convert coordinates from −1 to 1 to pixel coordinates."""
    grown = arithmetic.add(at, 1.0)
    pixel = (
        arithmetic.mul(grown, (size - 1) / 2)
        if aligned
        else arithmetic.sub(arithmetic.mul(grown, size / 2), 0.5)
    )
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if aligned else (-0.5, float(size))
        if span:
            turn = arithmetic.floor_mod(rounding.abs(arithmetic.sub(pixel, low)), 2 * span)
            pixel = arithmetic.add(clipping.minimum(turn, arithmetic.sub(2 * span, turn)), low)
        else:
            pixel = arithmetic.mul(pixel, 0.0)
    return pixel if padding_mode == "zeros" else clipping.clamp(pixel, 0.0, size - 1.0)


def _neighbors(pixel: Tensor, size: int, mode: str) -> list[tuple[Tensor, Tensor]]:
    """Return the neighboring pixels along an axis, and their weights.

    The weight of a pixel outside the image is 0.
    """
    if mode == "nearest":
        first = rounding.rint(pixel)
        listed: list[tuple[Tensor, Tensor | None]] = [(first, None)]
    else:
        first = rounding.floor(pixel)
        share = arithmetic.sub(pixel, first)
        listed = [(first, arithmetic.sub(1.0, share)), (arithmetic.add(first, 1.0), share)]
    neighbors = []
    for number, weight in listed:
        inside = comparison.logical_and(
            comparison.greater_equal(number, 0.0), comparison.less_equal(number, size - 1.0)
        )
        kept = cast(inside, pixel.dtype)
        index = cast(clipping.clamp(number, 0.0, size - 1.0), int32)
        neighbors.append((index, kept if weight is None else arithmetic.mul(weight, kept)))
    return neighbors
