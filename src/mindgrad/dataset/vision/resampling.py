"""Resample arrays: resize each axis, or apply affine and projective maps.

Pixel i covers the interval from i to i + 1, and its coordinate is the center of the interval. If an axis is
scaled by s, the output pixel x is at (x + ½)·s − ½ in the input. Images of dtype uint8 are interpolated in
integer arithmetic with 11-bit weights, as in image libraries, so that results agree with them exactly.
"""

from __future__ import annotations

import functools

import numpy as np

from mindgrad.dataset.vision.choices import Inter
from mindgrad.dataset.vision.colors import saturated
from mindgrad.dataset.vision.transform import image_axes, refuse_image

__all__ = ["resized", "warped"]

_BITS = 11
_ONE = 1 << _BITS
_PARTS = 32  # affine and projective maps round positions to 1/32 of a pixel


def resized(
    image: np.ndarray, height: int, width: int, interpolation: Inter, name: str = "Resize"
) -> np.ndarray:
    """Resize an image to a given height and width.

    Args:
        image (numpy.ndarray): image of shape (H, W) or (..., H, W, C), with dtype uint8 or a floating-point
            dtype. ``Inter.NEAREST`` supports all dtypes.
        height (int): the new height.
        width (int): the new width.
        interpolation (Inter): nearest pixel, (bi)linear, (bi)cubic, mean over the area, or Pillow's cubic.
        name (str, optional): the name of the transform, for errors. Default: ``"Resize"``.

    Returns:
        numpy.ndarray: the resized image, with the dtype of ``image``.

    Raises:
        RuntimeError: If the dtype cannot be interpolated.
    """
    rows, columns = image_axes(image)
    if image.shape[rows] == height and image.shape[columns] == width:
        return image.copy()
    if interpolation == Inter.NEAREST:
        return image.take(_nearest(image.shape[rows], height), rows).take(
            _nearest(image.shape[columns], width), columns
        )
    if image.dtype.kind != "f" and image.dtype not in (np.uint8, np.uint16, np.int16):
        raise refuse_image(
            name, "have the dtype uint8, uint16, int16 or a float dtype for this interpolation", image
        )
    shrinks = height <= image.shape[rows] and width <= image.shape[columns]
    if interpolation == Inter.BILINEAR or (interpolation == Inter.AREA and not shrinks):
        linear = _linear if interpolation == Inter.BILINEAR else _area_enlarged
        along_columns = linear(image.shape[columns], width)
        along_rows = linear(image.shape[rows], height, False)
        if image.dtype == np.uint8:
            return _linear_of_bytes(image, along_rows, along_columns, rows, columns)
        return _of_taps(_of_taps(image, along_columns, columns), along_rows, rows).astype(image.dtype)
    if interpolation == Inter.BICUBIC:
        along_columns, along_rows = _cubic(image.shape[columns], width), _cubic(image.shape[rows], height)
        if image.dtype == np.uint8:
            return _cubic_of_bytes(image, along_rows, along_columns, rows, columns)
        return saturated(_of_taps(_of_taps(image, along_columns, columns), along_rows, rows), image.dtype)
    weights = _area if interpolation == Inter.AREA else _wide_cubic
    lines = _along(image, weights(image.shape[columns], width), columns)
    if interpolation == Inter.PILCUBIC:  # round after each of the two passes, as Pillow does
        lines = saturated(lines, image.dtype)
    return saturated(_along(lines, weights(image.shape[rows], height), rows), image.dtype)


# two arrays of shape (weights per output, outputs): for each output pixel, the indices of the input pixels
# from which it is computed, and their weights
_Taps = tuple[np.ndarray, np.ndarray]


@functools.lru_cache(maxsize=64)
def _nearest(old: int, new: int) -> np.ndarray:
    return np.minimum(np.floor(np.arange(new) * (old / new)).astype(np.int64), old - 1)


@functools.lru_cache(maxsize=64)
def _linear(old: int, new: int, cuts_ends: bool = True) -> _Taps:
    centers = ((np.arange(new) + 0.5) * (old / new) - 0.5).astype(np.float32)
    first = np.floor(centers).astype(np.int64)
    fractions = centers - first.astype(np.float32)
    if cuts_ends:  # an output outside the centers of the first and last pixel copies the nearest pixel
        fractions[(first < 0) | (first >= old - 1)] = 0
    indices = np.clip(np.stack([first, first + 1]), 0, old - 1)
    return indices, np.stack([1 - fractions, fractions])


@functools.lru_cache(maxsize=64)
def _area_enlarged(old: int, new: int, cuts_ends: bool = True) -> _Taps:
    """Return pixels and weights of the mean over the area, if an image is enlarged.

    An output pixel that overlaps with two input pixels has two nonzero weights.
    """
    scale = old / new
    first = np.floor(np.arange(new) * scale).astype(np.int64)
    fractions = ((np.arange(new) + 1) - (first + 1) / scale).astype(np.float32)
    fractions = np.where(fractions <= 0, np.float32(0), fractions - np.floor(fractions))
    if cuts_ends:
        fractions[first >= old - 1] = 0
    indices = np.clip(np.stack([first, first + 1]), 0, old - 1)
    return indices, np.stack([1 - fractions, fractions]).astype(np.float32)


@functools.lru_cache(maxsize=64)
def _cubic(old: int, new: int) -> _Taps:
    centers = ((np.arange(new) + 0.5) * (old / new) - 0.5).astype(np.float32)
    first = np.floor(centers).astype(np.int64)
    t = centers - first.astype(np.float32)
    a = np.float32(-0.75)
    near = lambda d: ((a + 2) * d - (a + 3)) * d * d + 1
    far = lambda d: ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    weights = np.stack([far(t + 1), near(t), near(1 - t)])
    weights = np.concatenate([weights, [1 - weights.sum(0)]]).astype(np.float32)
    return np.clip(first + np.arange(-1, 3)[:, None], 0, old - 1), weights


def _shaped(weights: np.ndarray, image: np.ndarray, axis: int) -> np.ndarray:
    return weights.reshape([-1 if i == axis else 1 for i in range(image.ndim)])


def _of_taps(image: np.ndarray, taps: _Taps, axis: int) -> np.ndarray:
    values = image if image.dtype == np.float64 else image.astype(np.float32)
    terms = [
        values.take(index, axis) * _shaped(weight, image, axis) for index, weight in zip(*taps, strict=True)
    ]
    return functools.reduce(np.add, terms)


def _integers(taps: _Taps) -> _Taps:
    return taps[0], np.rint(taps[1] * np.float32(_ONE)).astype(np.int32)


def _sum_of_taps(image: np.ndarray, taps: _Taps, axis: int) -> np.ndarray:
    indices, weights = _integers(taps)
    values = image.astype(np.int32)
    return functools.reduce(
        np.add,
        [values.take(i, axis) * _shaped(w, image, axis) for i, w in zip(indices, weights, strict=True)],
    )


def _linear_of_bytes(
    image: np.ndarray, along_rows: _Taps, along_columns: _Taps, rows: int, columns: int
) -> np.ndarray:
    """Interpolate uint8 along both axes in 32-bit integers.

    The second pass drops four bits before its product and sixteen bits after it.
    """
    lines = _sum_of_taps(image, along_columns, columns) >> 4
    indices, weights = _integers(along_rows)
    parts = [
        (lines.take(i, rows) * _shaped(w, image, rows)) >> 16 for i, w in zip(indices, weights, strict=True)
    ]
    return ((parts[0] + parts[1] + 2) >> 2).astype(np.uint8)


def _cubic_of_bytes(
    image: np.ndarray, along_rows: _Taps, along_columns: _Taps, rows: int, columns: int
) -> np.ndarray:
    lines = _sum_of_taps(image, along_columns, columns)
    return saturated(_sum_of_taps(lines, along_rows, rows) / float(_ONE * _ONE), image.dtype)


@functools.lru_cache(maxsize=64)
def _area(old: int, new: int) -> np.ndarray:
    """Return weights (new, old) of the mean over the interval of each output pixel."""
    scale = old / new
    starts = np.arange(new)[:, None] * scale
    cells = np.arange(old)[None]
    overlaps = np.minimum(starts + scale, cells + 1) - np.maximum(starts, cells)
    weights = np.maximum(overlaps, 0)
    return weights / weights.sum(1, keepdims=True)


@functools.lru_cache(maxsize=64)
def _wide_cubic(old: int, new: int) -> np.ndarray:
    """Return weights (new, old) of Pillow's cubic kernel with a = −½.

    If the image shrinks, the kernel is widened by the scale.
    """
    scale = old / new
    spread = max(scale, 1.0)
    distance = np.abs((np.arange(old)[None] + 0.5 - (np.arange(new)[:, None] + 0.5) * scale) / spread)
    a = -0.5
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    weights = np.where(distance < 1, near, np.where(distance < 2, far, 0.0))
    return weights / weights.sum(1, keepdims=True)


def _along(image: np.ndarray, weights: np.ndarray, axis: int) -> np.ndarray:
    return np.moveaxis(np.tensordot(weights, image.astype(np.float64), (1, axis)), 0, axis)


def warped(
    image: np.ndarray,
    matrix: np.ndarray,
    size: tuple[int, int],
    interpolation: Inter,
    fill: tuple[int, ...] = (0,),
) -> np.ndarray:
    """Apply an affine or projective map to an image.

    Args:
        image (numpy.ndarray): image of shape (H, W) or (H, W, C).
        matrix (numpy.ndarray): matrix of shape (3, 3) in homogeneous coordinates (x, y, 1). It maps a pixel
            of the output to its position in the input.
        size (tuple of int): height and width of the output.
        interpolation (Inter): nearest pixel for ``Inter.NEAREST``, bicubic for ``Inter.BICUBIC`` and
            ``Inter.PILCUBIC``, and bilinear for all other methods.
        fill (tuple of int, optional): the color outside of the input. Default: ``(0,)``.

    Returns:
        numpy.ndarray: the mapped image, with the dtype of ``image``.
    """
    nearest = interpolation == Inter.NEAREST
    across, down = _coordinates(matrix, size, nearest)
    color = np.zeros(image.shape[2:]) + np.asarray(fill if image.ndim > 2 else fill[0])
    if nearest:
        pixels = _pixels(image, down, across, color)
    else:
        cubic = interpolation in (Inter.BICUBIC, Inter.PILCUBIC)
        pixels = _mixed(image, down, across, color, _cubic_weights if cubic else _linear_weights)
    return saturated(pixels.reshape(size + image.shape[2:]), image.dtype)


def _coordinates(matrix: np.ndarray, size: tuple[int, int], nearest: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns and rows in the input for each output pixel.

    They are integers for the nearest pixel, and multiples of 1/32 for other interpolations.
    """
    x, y = np.arange(size[1]), np.arange(size[0])[:, None]
    parts = 1 if nearest else _PARTS
    if matrix[2, 0] == matrix[2, 1] == 0:  # affine map: use fixed-point numbers with 10 fractional bits
        shift = 10 if nearest else 5
        across, down = (
            (
                np.rint(row[0] * x * 1024).astype(np.int64)
                + np.rint((row[1] * y + row[2]) * 1024).astype(np.int64)
                + (1 << (shift - 1))
            )
            >> shift
            for row in matrix[:2]
        )
    else:
        depth = matrix[2, 0] * x + matrix[2, 1] * y + matrix[2, 2]
        across, down = (np.rint((row[0] * x + row[1] * y + row[2]) / depth * parts) for row in matrix[:2])
    return across.ravel() / parts, down.ravel() / parts


def _linear_weights(fraction: np.ndarray) -> dict[int, np.ndarray]:
    return {0: 1 - fraction, 1: fraction}


def _cubic_weights(fraction: np.ndarray) -> dict[int, np.ndarray]:
    a = -0.75
    near = lambda d: ((a + 2) * d - (a + 3)) * d * d + 1
    far = lambda d: ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return {-1: far(fraction + 1), 0: near(fraction), 1: near(1 - fraction), 2: far(2 - fraction)}


def _mixed(image, down, across, color, weights):  # type: ignore[no-untyped-def]
    top, left = np.floor(down), np.floor(across)
    total: np.ndarray | float = 0.0
    for i, row_weight in weights(down - top).items():
        for j, column_weight in weights(across - left).items():
            weight = row_weight * column_weight
            pixels = _pixels(image, top + i, left + j, color)
            total = total + (weight if image.ndim == 2 else weight[:, None]) * pixels
    return total


def _pixels(image: np.ndarray, down: np.ndarray, across: np.ndarray, color: np.ndarray) -> np.ndarray:
    """Return the pixels at given rows and columns; outside of the image, the color."""
    height, width = image.shape[:2]
    inside = (down >= 0) & (down < height) & (across >= 0) & (across < width)
    rows, columns = (np.where(inside, index, 0).astype(np.int64) for index in (down, across))
    pixels = image[rows, columns].astype(np.float64)
    pixels[~inside] = color
    return pixels
