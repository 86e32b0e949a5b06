"""Geometric operations on arrays and PIL images: crops, margins, rotations, maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.dataset import pillow
from mindgrad.dataset.vision.choices import Border, Inter
from mindgrad.dataset.vision.resampling import resized, warped
from mindgrad.dataset.vision.transform import image_axes

__all__ = ["affine", "cropped", "flipped", "padded", "perspective", "rotated", "scaled_to"]


def cropped(image: Any, top: int, left: int, height: int, width: int) -> Any:
    """Crop a part of an image."""
    if pillow.is_pillow(image):
        return image.crop((left, top, left + width, top + height))
    rows, _ = image_axes(image)
    before = (slice(None),) * rows
    return image[(*before, slice(top, top + height), slice(left, left + width))].copy()


def flipped(image: Any, upside_down: bool = False) -> Any:
    """Flip an image horizontally, or vertically with ``upside_down``."""
    if pillow.is_pillow(image):
        return pillow.ImageOps.flip(image) if upside_down else pillow.ImageOps.mirror(image)
    return np.flip(image, image_axes(image)[0 if upside_down else 1]).copy()


def padded(
    image: Any, border: tuple[int, int, int, int], fill: Sequence[int] = (0,), mode: Border = Border.CONSTANT
) -> Any:
    """Add margins at the left, top, right, and bottom of an image."""
    if pillow.is_pillow(image):
        return pillow.from_array(padded(np.asarray(image), border, fill, mode), "Pad")
    left, top, right, bottom = border
    rows, columns = image_axes(image)
    widths = [(0, 0)] * image.ndim
    widths[rows], widths[columns] = (top, bottom), (left, right)
    if mode != Border.CONSTANT:
        return np.pad(image, widths, mode.value)  # type: ignore[call-overload]
    result = np.pad(image, widths)
    if any(fill):
        outside = np.pad(np.zeros(image.shape, bool), widths, constant_values=True)
        levels = np.asarray(fill, image.dtype)
        if image.ndim == 2 or image.shape[-1] < len(fill):
            levels = levels[0]
        result = np.where(outside, levels, result)
    return result


def scaled_to(image: Any, height: int, width: int, interpolation: Inter, name: str) -> Any:
    """Resize an image to the given height and width in pixels."""
    if pillow.is_pillow(image):
        return image.resize((width, height), _pillow_filter(interpolation))
    if interpolation == Inter.ANTIALIAS:
        raise TypeError(f"For '{name}', Inter.ANTIALIAS supports PIL images only. Apply ToPIL() first.")
    return resized(image, height, width, interpolation, name)


def _pillow_filter(interpolation: Inter) -> Any:
    names = {
        Inter.NEAREST: "NEAREST", Inter.ANTIALIAS: "LANCZOS", Inter.BILINEAR: "BILINEAR",
        Inter.BICUBIC: "BICUBIC", Inter.PILCUBIC: "BICUBIC", Inter.AREA: "BOX",
    }  # fmt: skip
    return getattr(pillow.package("interpolation of a PIL image").Resampling, names[interpolation])


def rotated(
    image: Any,
    degrees: float,
    interpolation: Inter = Inter.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: tuple[int, ...] = (0,),
) -> Any:
    """Rotate an image counterclockwise about its center, or about ``center`` = (x, y)."""
    if pillow.is_pillow(image):
        bands = len(image.getbands())
        levels = fill * bands if len(fill) == 1 else fill
        return image.rotate(
            degrees, _pillow_filter(interpolation), expand, center, fillcolor=levels if bands > 1 else fill[0]
        )
    height, width = image.shape[:2]
    across, down = ((width - 1) / 2, (height - 1) / 2) if center is None else center
    angle = math.radians(degrees)
    cosine, sine = math.cos(angle), math.sin(angle)
    size, shift_x, shift_y = (height, width), 0.0, 0.0
    if expand:
        rows = height * abs(cosine) + width * abs(sine)
        columns = height * abs(sine) + width * abs(cosine)
        size = (int(rows + 0.5), int(columns + 0.5))
        shift_x, shift_y = (columns - width) / 2, (rows - height) / 2
    matrix = np.array([
        [cosine, -sine, across - cosine * (across + shift_x) + sine * (down + shift_y)],
        [sine, cosine, down - sine * (across + shift_x) - cosine * (down + shift_y)],
        [0.0, 0.0, 1.0],
    ])  # fmt: skip
    return warped(image, matrix, size, interpolation, fill)


def affine(
    image: Any,
    degrees: float,
    translation: tuple[float, float],
    scale: float,
    shear: tuple[float, float],
    interpolation: Inter,
    fill: tuple[int, ...],
) -> Any:
    """Rotate, shear, and scale an image about its center, then shift it."""
    if pillow.is_pillow(image):
        array = affine(np.asarray(image), degrees, translation, scale, shear, interpolation, fill)
        return pillow.from_array(array, "Affine")
    height, width = image.shape[:2]
    center_x, center_y = (width - 1) / 2, (height - 1) / 2
    rotation, shear_x, shear_y = (math.radians(angle) for angle in (degrees, *shear))
    # the matrix [[a, b], [c, d]] is a rotation times two shears about the center
    a = math.cos(rotation - shear_y) / math.cos(shear_y)
    b = -math.cos(rotation - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(rotation)
    c = math.sin(rotation - shear_y) / math.cos(shear_y)
    d = -math.sin(rotation - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(rotation)
    forward = np.eye(3)
    forward[:2, :2] = scale * np.array([[a, b], [c, d]])
    forward[:2, 2] = [center_x + translation[0], center_y + translation[1]]
    to_center = np.eye(3)
    to_center[:2, 2] = [-center_x, -center_y]
    return warped(image, np.linalg.inv(forward @ to_center), (height, width), interpolation, fill)


def perspective(
    image: Any, start: Sequence[Sequence[float]], end: Sequence[Sequence[float]], interpolation: Inter
) -> Any:
    """Apply the projective map of four points (x, y) to four other points."""
    rows, values = [], []
    for (x, y), (u, v) in zip(end, start, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    matrix = np.append(np.linalg.solve(np.array(rows, np.float64), np.array(values, np.float64)), 1.0)
    if pillow.is_pillow(image):
        kind = pillow.package("'Perspective'").Transform.PERSPECTIVE
        return image.transform(image.size, kind, matrix[:8].tolist(), _pillow_filter(interpolation))
    return warped(image, matrix.reshape(3, 3), image.shape[:2], interpolation)
