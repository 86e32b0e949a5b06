"""Resize sequences, images and volumes: each axis is resampled separately.

Resizing is linear in the image. Let an axis of n elements become an axis of m elements. Counted from 0, new
element i is located at this position among the old elements:

- i (n − 1) / (m − 1) with ``align_corners``, so that the centers of the first and last elements coincide;
- (i + 1/2) n / m − 1/2 with half-pixel centers, so that old and new elements cover the same interval;
- i n / m in older operators.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.core.arrays.index_checks import read_along
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import check_axes, number, one_or_more, whole_number
from mindgrad.ops.operands import cast
from mindgrad.ops.pool_windows import adaptive_avg, mixed
from mindgrad.ops.reduction import flag, widened
from mindgrad.ops.registry import public

__all__ = ["interpolate", "upsample"]

#: mode -> supported numbers of spatial axes (the axes after batch and channel)
_AXES = {
    "nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "linear": (1,), "bilinear": (2,), "trilinear": (3,),
    "bicubic": (2,), "area": (1, 2, 3),
}  # fmt: skip
_CUBIC = -0.75
_KEYS = -0.5


def places(old: int, new: int, align_corners: bool, half_pixels: bool) -> np.ndarray:
    """Return the positions of the new elements of an axis among the old elements."""
    i = np.arange(new)
    if align_corners:
        return i * (old - 1) / (new - 1) if new > 1 else np.zeros(1)
    return (i + 0.5) * old / new - 0.5 if half_pixels else i * old / new


def linear_shares(old: int, at: np.ndarray) -> np.ndarray:
    """Return the weights of the two neighbors of each position."""
    at = np.clip(at, 0, old - 1)
    low = np.minimum(np.floor(at).astype(int), old - 1)
    high, fraction = np.minimum(low + 1, old - 1), at - low
    shares = np.zeros((old, len(at)))
    np.add.at(shares, (low, np.arange(len(at))), 1 - fraction)
    np.add.at(shares, (high, np.arange(len(at))), fraction)
    return shares


def cubic_shares(old: int, at: np.ndarray, aligned: bool) -> np.ndarray:
    """Return the weights of the four neighbors of each position (Keys, 1981).

    If ``aligned``, the kernel has the slope ``_CUBIC`` at its first zero, and the edge elements are repeated.
    Otherwise, the slope is ``_KEYS``, and neighbors outside the axis have no weight. MindSpore does the same
    on CPUs.
    """
    slope = _CUBIC if aligned else _KEYS
    low = np.floor(at).astype(int)
    shares = np.zeros((old, len(at)))
    for k in range(-1, 3):
        d = np.abs(at - (low + k))
        near = ((slope + 2) * d - (slope + 3)) * d * d + 1
        far = ((slope * d - 5 * slope) * d + 8 * slope) * d - 4 * slope
        share = np.where(d <= 1, near, np.where(d < 2, far, 0))
        index = np.clip(low + k, 0, old - 1)
        np.add.at(shares, (index, np.arange(len(at))), share if aligned else share * (index == low + k))
    return shares if aligned else shares / shares.sum(axis=0)


def resized(
    x: Tensor, sizes: tuple[int, ...], mode: str, align_corners: bool = False, half_pixels: bool = True
) -> Tensor:
    """Resize the last axes of ``x``; mode ``"linear"``, ``"cubic"`` or ``"nearest"``."""
    first = x.ndim - len(sizes)
    original = x
    x = x if mode == "nearest" else widened(x)
    for axis, new in enumerate(sizes, first):
        old = x.shape[axis]
        if old == new:
            continue
        at = places(old, new, align_corners, half_pixels)
        if mode == "nearest":
            nearest = np.floor(at + 0.5) if align_corners or half_pixels else np.floor(at)
            x = read_along(x, np.clip(nearest, 0, old - 1).astype(np.int32), axis)
        else:
            shares = linear_shares(old, at) if mode == "linear" else cubic_shares(old, at, align_corners)
            x = mixed(x, axis, shares)
    return cast(x, original.dtype)


def new_sizes(operator: str, old: tuple[int, ...], size: Any, scale_factor: Any) -> tuple[int, ...]:
    """Compute the new sizes of the axes from ``size`` or ``scale_factor``.

    Raises:
        TypeError: If a size is not an int or a factor is not a number.
        ValueError: If both or neither of ``size`` and ``scale_factor`` are passed, the number of entries is
            not the number of spatial axes, or an entry is not positive.
    """
    if (size is None) == (scale_factor is None):
        raise ValueError(f"For '{operator}', pass either 'size' or 'scale_factor', but not both.")
    numbers = one_or_more(scale_factor if size is None else size)
    numbers = numbers * len(old) if len(numbers) == 1 else numbers
    if len(numbers) != len(old):
        raise ValueError(
            f"For '{operator}', '{'scale_factor' if size is None else 'size'}' must be one number or "
            f"{len(old)} numbers, but got {len(numbers)}."
        )
    if size is not None:
        return tuple(whole_number(n, operator, "size", 1) for n in numbers)
    scaled = tuple(int(n * number(f, operator, "scale_factor")) for n, f in zip(old, numbers, strict=True))
    if min(scaled) < 1:
        raise ValueError(
            f"For '{operator}', the 'scale_factor' {scale_factor} must not reduce a size of {old} to 0."
        )
    return scaled


@public("mint.nn.functional mint.nn.functional.upsample")
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Resize sequences, images, or volumes by interpolation.

    Args:
        input (Tensor): real tensor of shape (n, c, l), (n, c, h, w), or (n, c, d, h, w).
        size (int, tuple of int, or None): new sizes of the spatial axes, which follow the channels.
        scale_factor (float, tuple of float, or None): scale factors of the spatial axes, as an alternative to
            ``size``. The new sizes are rounded down, and sample positions are computed from the rounded
            sizes.
        mode (str): ``"nearest"`` (the element at ⌊i n / m⌋), ``"nearest-exact"``, ``"linear"``
            (three axes), ``"bilinear"`` or ``"bicubic"`` (four axes), ``"trilinear"`` (five axes), or
            ``"area"`` (averages, as :func:`adaptive_avg_pool2d`).
        align_corners (bool or None): for linear and cubic modes, whether the centers of the first and last
            elements of the old and the new axis coincide. If true, ``"bicubic"`` uses a kernel of slope −3/4
            and repeats the edge elements. Otherwise, it uses Keys' kernel of slope −1/2, without elements
            outside the image.
        recompute_scale_factor (bool or None): accepted for compatibility and ignored; positions are always
            computed from the rounded sizes.

    Returns:
        Tensor of the new shape.

    Raises:
        TypeError: If ``input`` is complex or not a tensor, or an argument has the wrong type.
        ValueError: If ``mode`` does not support the number of axes of ``input``, or an argument is out of
            range.

    >>> from mindgrad import Tensor, ops
    >>> x = Tensor([[[0.0, 1.0, 2.0]]])
    >>> print(ops.interpolate(x, 5, mode="linear", align_corners=True))
    [[[0.  0.5 1.  1.5 2. ]]]
    >>> print(ops.interpolate(x, scale_factor=2.0))
    [[[0. 0. 1. 1. 2. 2.]]]
    """
    operator = "Interpolate"
    x = real_operand(input, operator)
    one_of(mode, _AXES, operator, "mode")
    if x.ndim - 2 not in _AXES[mode]:
        wanted = " or ".join(str(n + 2) for n in _AXES[mode])
        raise ValueError(
            f"For '{operator}' in mode '{mode}', the input must have {wanted} axes, but its shape is "
            f"{x.shape}."
        )
    sizes = new_sizes(operator, x.shape[2:], size, scale_factor)
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ValueError(f"For '{operator}' in mode '{mode}', 'align_corners' has no effect; omit it.")
    aligned = align_corners is not None and flag(align_corners, operator, "align_corners")
    if mode == "area":
        return adaptive_avg(operator, len(sizes), x, sizes)
    if mode.startswith("nearest"):
        return resized(x, sizes, "nearest", False, mode == "nearest-exact")
    return resized(x, sizes, "cubic" if mode == "bicubic" else "linear", aligned)


def resized_image(
    operator: str, input: Any, sizes: Any, mode: str, align_corners: Any, half_pixel_centers: Any
) -> Tensor:
    """Resize an image of shape (n, c, h, w) as MindSpore's older operators do.

    Raises:
        TypeError: If ``input`` is complex or not a tensor, or an argument has the wrong type.
        ValueError: If ``input`` is not 4-D, or both ``align_corners`` and half-pixel centers are requested.
    """
    x = real_operand(input, operator)
    check_axes(x, "(n, c, h, w)", operator)
    aligned = flag(align_corners, operator, "align_corners")
    halves = flag(half_pixel_centers, operator, "half_pixel_centers")
    if aligned and halves:
        raise ValueError(f"For '{operator}', 'align_corners' and 'half_pixel_centers' cannot both be true.")
    return resized(x, new_sizes(operator, x.shape[2:], sizes, None), mode, aligned, halves)


# alternative name, as in MindSpore
upsample = interpolate
