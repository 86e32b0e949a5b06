"""Color arithmetic on arrays: luminance, hue, saturation, histograms, sharpness."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mindgrad.dataset.vision.transform import refuse_image

__all__ = [
    "adjusted_hue", "blended", "equalized", "gray", "hsv_of_rgb", "rgb_of_hsv", "saturated", "stretched",
    "with_smoothed_inside",
]  # fmt: skip

#: weights of red, green, and blue in the luminance (ITU-R BT.601)
_LUMINANCE = (0.299, 0.587, 0.114)
_SHIFT = 15  # fractional bits of the fixed-point weights for uint8 images


def saturated(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Round and clip values to the range of an integer dtype; cast to a float dtype."""
    if dtype.kind == "f":
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)


def colored(image: np.ndarray, name: str) -> np.ndarray:
    """Check that an image has shape (..., H, W, 3), and return it."""
    if image.ndim < 3 or image.shape[-1] != 3:
        raise refuse_image(name, "be of shape (H, W, 3)", image)
    return image


def gray(image: np.ndarray) -> np.ndarray:
    """Return the luminance of an RGB image, in the dtype of the image."""
    if image.dtype == np.uint8:
        weights = [round(weight * (1 << _SHIFT)) for weight in _LUMINANCE[:2]]
        weights.append((1 << _SHIFT) - sum(weights))
        total = image[..., :3].astype(np.int32) @ np.array(weights, np.int32)
        return ((total + (1 << (_SHIFT - 1))) >> _SHIFT).astype(np.uint8)
    return (image @ np.asarray(_LUMINANCE, np.float64)).astype(image.dtype)


def blended(image: np.ndarray, other: np.ndarray | float, factor: float) -> np.ndarray:
    """Interpolate or extrapolate: ``other`` for factor 0, ``image`` for factor 1."""
    share = np.float32(factor)
    values = image.astype(np.float32) * share + np.asarray(other, np.float32) * np.float32(1 - factor)
    return saturated(values, image.dtype)


def hsv_of_rgb(image: np.ndarray) -> np.ndarray:
    """Convert RGB to HSV in float64. Hue and saturation are between 0 and 1.

    Args:
        image (numpy.ndarray): image of shape (..., 3).
    """
    colors = image.astype(np.float64)
    value, low = colors.max(-1), colors.min(-1)
    span = value - low
    safe = np.where(span == 0, 1.0, span)
    red, green, blue = ((value - colors[..., i]) / safe for i in range(3))
    hue = np.where(
        colors[..., 0] == value,
        blue - green,
        np.where(colors[..., 1] == value, 2 + red - blue, 4 + green - red),
    )
    hue = np.where(span == 0, 0.0, hue / 6 % 1)
    saturation = span / np.where(value == 0, 1.0, value)
    return np.stack([hue, saturation, value], -1)


def rgb_of_hsv(image: np.ndarray) -> np.ndarray:
    """Convert HSV to RGB in float64. This is the inverse of :func:`hsv_of_rgb`.

    Args:
        image (numpy.ndarray): image of shape (..., 3).
    """
    hue, saturation, value = np.moveaxis(image.astype(np.float64), -1, 0)
    sector = np.floor(hue * 6)
    fraction = hue * 6 - sector
    p, q, t = (value * (1 - saturation * x) for x in (1.0, fraction, 1 - fraction))
    cases = [(value, t, p), (q, value, p), (p, value, t), (p, q, value), (t, p, value), (value, p, q)]
    chosen = sector.astype(np.int64) % 6
    return np.stack([np.choose(chosen, [case[i] for case in cases]) for i in range(3)], -1)


def adjusted_hue(image: np.ndarray, amount: float) -> np.ndarray:
    """Rotate the hue of an image by a fraction of the circle."""
    hsv = hsv_of_rgb(image)
    hsv[..., 0] = (hsv[..., 0] + amount) % 1
    return saturated(rgb_of_hsv(hsv), image.dtype)


def equalized(image: np.ndarray) -> np.ndarray:
    """Equalize the histogram of each channel of a uint8 image."""
    result = image.copy()
    for channel in _channels(result):
        counts = np.bincount(channel.ravel(), minlength=256)
        lowest = counts[np.flatnonzero(counts)[0]]
        if lowest < channel.size:
            scale = np.float32(255 / (channel.size - lowest))
            channel[...] = saturated((np.cumsum(counts) - lowest) * scale, image.dtype)[channel]
    return result


def stretched(image: np.ndarray, cutoff: float, ignored: Sequence[int]) -> np.ndarray:
    """Stretch the levels of each channel to the range from 0 to 255.

    Args:
        image (numpy.ndarray): image of dtype uint8.
        cutoff (float): percentage of pixels to ignore at each end of the histogram.
        ignored (list or tuple of int): levels to ignore.
    """
    result = image.copy()
    for channel in _channels(result):
        counts = np.bincount(channel.ravel(), minlength=256)
        counts[list(ignored)] = 0
        share = int(counts.sum() * cutoff // 100)
        for levels in (range(256), range(255, -1, -1)):
            remainder = share
            for level in levels:
                taken = min(remainder, counts[level])
                counts[level] -= taken
                remainder -= taken
        used = np.flatnonzero(counts)
        if len(used) and used[-1] > used[0]:
            scale = np.float32(255 / (used[-1] - used[0]))
            table = np.arange(256, dtype=np.float32) * scale - np.float32(used[0]) * scale
            channel[...] = np.clip(table.astype(np.int64), 0, 255).astype(np.uint8)[channel]
    return result


def _channels(image: np.ndarray) -> list[np.ndarray]:
    return [image] if image.ndim == 2 else [image[..., i] for i in range(image.shape[-1])]


def with_smoothed_inside(image: np.ndarray) -> np.ndarray:
    """Smooth the inner pixels of an image with a 3 × 3 kernel.

    The weights are 5 in the center and 1 elsewhere, divided by their sum.
    """
    values = image.astype(np.float64)
    height, width = image.shape[:2]
    if height < 3 or width < 3:
        return image.copy()
    total = 4 * values[1:-1, 1:-1]
    for i in range(3):
        for j in range(3):
            total = total + values[i : height - 2 + i, j : width - 2 + j]
    values[1:-1, 1:-1] = total / 13
    return saturated(values, image.dtype)
