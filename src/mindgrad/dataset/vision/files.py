"""Read, write, and encode image files with Pillow."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad.core.ir.tensor import Tensor
from mindgrad.dataset import pillow
from mindgrad.dataset.vision.arguments import choice, whole_number
from mindgrad.dataset.vision.choices import ImageReadMode

__all__ = [
    "encode_jpeg", "encode_png", "get_image_num_channels", "get_image_size", "read_file", "read_image",
    "write_file", "write_jpeg", "write_png",
]  # fmt: skip


def _array(image: Any, name: str) -> np.ndarray:
    array = image.asnumpy() if isinstance(image, Tensor) else image
    if not isinstance(array, np.ndarray) or array.dtype != np.uint8:
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"For '{name}', the image must be an array of uint8, but got {kind}.")
    return array


def _encoded(image: Any, name: str, kind: str, **options: int) -> np.ndarray:
    stream = io.BytesIO()
    pillow.from_array(_array(image, name), name).save(stream, kind, **options)
    return np.frombuffer(stream.getvalue(), np.uint8)


def encode_jpeg(image: Any, quality: int = 75) -> np.ndarray:
    """Encode an image as the bytes of a JPEG file.

    Args:
        image (numpy.ndarray or Tensor): image of shape (H, W), (H, W, 1), or (H, W, 3), with dtype uint8.
        quality (int, optional): quality of the JPEG compression, from 1 to 100. Default: ``75``.

    Returns:
        The bytes of the encoded image, a 1-D array of uint8.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Decode()(vision.encode_jpeg(np.zeros((2, 3, 3), np.uint8))).shape
    (2, 3, 3)
    """
    return _encoded(image, "encode_jpeg", "JPEG", quality=whole_number(quality, "encode_jpeg", "quality", 1))


def encode_png(image: Any, compression_level: int = 6) -> np.ndarray:
    """Encode an image as the bytes of a PNG file.

    Args:
        image (numpy.ndarray or Tensor): image of shape (H, W), (H, W, 1), or (H, W, 3), with dtype uint8.
        compression_level (int, optional): level of the PNG compression, from 0 (none) to 9. Default: ``6``.

    Returns:
        The bytes of the encoded image, a 1-D array of uint8.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.encode_png(np.zeros((2, 3), np.uint8))[1:4].tobytes()
    b'PNG'
    """
    level = whole_number(compression_level, "encode_png", "compression_level", 0)
    return _encoded(image, "encode_png", "PNG", compress_level=level)


def read_file(filename: str | os.PathLike[str]) -> np.ndarray:
    """Return the bytes of a file as an array of uint8."""
    return np.fromfile(filename, np.uint8)


def write_file(filename: str | os.PathLike[str], data: Any) -> None:
    """Write the bytes of a 1-D array or Tensor of uint8 to a file."""
    Path(filename).write_bytes(_array(data, "write_file").tobytes())


def read_image(filename: str | os.PathLike[str], mode: ImageReadMode = ImageReadMode.UNCHANGED) -> np.ndarray:
    """Read an image from a file.

    Args:
        filename (str or PathLike): path of the image file.
        mode (ImageReadMode, optional): channels of the result. Default: ``ImageReadMode.UNCHANGED``.

    Returns:
        The image, an array of shape (H, W, C).
    """
    colors = {ImageReadMode.GRAYSCALE: "L", ImageReadMode.COLOR: "RGB"}
    target = colors.get(choice(mode, ImageReadMode, "read_image", "mode"))
    array = np.array(pillow.decoded(Path(filename).read_bytes(), "read_image", target))
    return array[..., None] if array.ndim == 2 else array


def write_jpeg(filename: str | os.PathLike[str], image: Any, quality: int = 75) -> None:
    """Write an image to a JPEG file, see :func:`encode_jpeg`."""
    write_file(filename, encode_jpeg(image, quality))


def write_png(filename: str | os.PathLike[str], image: Any, compression_level: int = 6) -> None:
    """Write an image to a PNG file, see :func:`encode_png`."""
    write_file(filename, encode_png(image, compression_level))


def get_image_num_channels(image: Any) -> int:
    """Return the number of channels of an array (..., H, W, C) or (H, W) or PIL image.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.get_image_num_channels(np.zeros((4, 5, 3)))
    3
    """
    if pillow.is_pillow(image):
        return len(image.getbands())
    return 1 if np.ndim(image) == 2 else int(np.shape(image)[-1])


def get_image_size(image: Any) -> list[int]:
    """Return [height, width] of an array (..., H, W, C) or (H, W), or of a PIL image.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.get_image_size(np.zeros((4, 5, 3)))
    [4, 5]
    """
    if pillow.is_pillow(image):
        return [image.height, image.width]
    return list(np.shape(image)[:2] if np.ndim(image) == 2 else np.shape(image)[-3:-1])
