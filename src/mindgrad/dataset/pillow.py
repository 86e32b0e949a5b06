"""Pillow, an optional package, decodes and encodes image files and resamples its own images.

It is needed only by what works on files or on Pillow's images; arrays are transformed with NumPy alone.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

try:
    from PIL import Image, ImageEnhance, ImageOps
except ImportError:  # pragma: no cover - without the optional package
    Image = None  # type: ignore[assignment]

__all__ = ["ImageEnhance", "ImageOps", "decoded", "from_array", "is_pillow", "package"]


def package(purpose: str) -> Any:
    """The module ``PIL.Image``.

    Raises:
        ImportError: Pillow is not installed; the message names ``purpose``.
    """
    if Image is None:
        raise ImportError(f"{purpose} needs Pillow, which is not installed; install it: pip install pillow.")
    return Image


def is_pillow(value: Any) -> bool:
    """Whether it is an image of Pillow."""
    return Image is not None and isinstance(value, Image.Image)


def from_array(array: np.ndarray, name: str) -> Any:
    """An array of shape (H, W) or (H, W, C) as an image of Pillow.

    Raises:
        TypeError: If it has a different shape, or an element type that such images do not have.
    """
    image = package(f"'{name}'")
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3):
        raise TypeError(
            f"For '{name}', the image must be of shape (H, W) or (H, W, C), but got {array.shape}."
        )
    try:
        return image.fromarray(np.ascontiguousarray(array))
    except TypeError:
        raise TypeError(
            f"For '{name}', an array of {array.dtype} and shape {array.shape} is not a Pillow image. Images "
            "with several channels must be uint8; convert it: (255 * image).astype(np.uint8)."
        ) from None


def decoded(data: Any, name: str, mode: str | None = "RGB") -> Any:
    """The image of Pillow that the bytes of a file hold.

    Args:
        data: the bytes.
        name (str): what errors name.
        mode (str, optional): Pillow's color mode to convert to. ``None`` keeps the mode of the file.
            Default: ``"RGB"``.

    Raises:
        RuntimeError: If they are no image.
    """
    image = package(f"'{name}'")
    try:
        picture = image.open(io.BytesIO(data))
        picture.load()
    except OSError as error:
        raise RuntimeError(f"For '{name}', Pillow cannot decode the data as an image: {error}") from None
    return picture if mode is None or picture.mode == mode else picture.convert(mode)
