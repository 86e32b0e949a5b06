"""Access to Pillow, an optional package for image files.

Only functions on image files and on Pillow images need Pillow. Transforms of arrays use NumPy alone.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

try:
    from PIL import Image, ImageEnhance, ImageOps
except ImportError:  # pragma: no cover - Pillow is optional
    Image = None  # type: ignore[assignment]

__all__ = ["ImageEnhance", "ImageOps", "decoded", "from_array", "is_pillow", "package"]


def package(purpose: str) -> Any:
    """Return the module ``PIL.Image``.

    Raises:
        ImportError: If Pillow is not installed. The message names ``purpose``.
    """
    if Image is None:
        raise ImportError(f"{purpose} needs Pillow, which is not installed; install it: pip install pillow.")
    return Image


def is_pillow(value: Any) -> bool:
    """Return whether ``value`` is a Pillow image."""
    return Image is not None and isinstance(value, Image.Image)


def from_array(array: np.ndarray, name: str) -> Any:
    """Convert an array of shape (H, W) or (H, W, C) to a Pillow image.

    Raises:
        TypeError: If ``array`` does not have such a shape, or Pillow does not support its dtype.
    """
    image = package(f"'{name}'")
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3):
        raise TypeError(
            f"For '{name}', the image must be of shape (H, W) or (H, W, C), but its shape is {array.shape}."
        )
    try:
        return image.fromarray(np.ascontiguousarray(array))
    except TypeError:
        raise TypeError(
            f"For '{name}', an array of {array.dtype} and shape {array.shape} cannot become a Pillow "
            "image. Images with several channels must be uint8; convert it: (255 * "
            "image).astype(np.uint8)."
        ) from None


def decoded(data: Any, name: str, mode: str | None = "RGB") -> Any:
    """Decode the bytes of an image file to a Pillow image.

    Args:
        data: the bytes of an image file.
        name (str): the name of the API, for errors.
        mode (str, optional): Pillow's color mode to convert to. ``None`` keeps the mode of the file.
            Default: ``"RGB"``.

    Raises:
        RuntimeError: If ``data`` is not the content of an image file.
    """
    image = package(f"'{name}'")
    try:
        picture = image.open(io.BytesIO(data))
        picture.load()
    except OSError as error:
        raise RuntimeError(f"For '{name}', Pillow cannot decode the data as an image: {error}") from None
    return picture if mode is None or picture.mode == mode else picture.convert(mode)
