"""Image transforms of arrays, under their names in MindSpore 1.x."""

from __future__ import annotations

from typing import Any

from mindgrad.dataset.vision import conversion, transforms
from mindgrad.dataset.vision.transforms import *  # noqa: F403

__all__ = [name for name in transforms.__all__ if name not in ("ToPIL", "ToTensor")]


class Decode(conversion.Decode):
    """Transform that decodes the bytes of an image file to an (H, W, 3) array.

    This transform requires Pillow.

    Args:
        rgb (bool, optional): must be ``True``. The colors are red, green, and blue. Default: ``True``.

    >>> from mindgrad.dataset.vision import c_transforms, encode_png
    >>> import numpy as np
    >>> c_transforms.Decode()(encode_png(np.zeros((2, 3, 3), np.uint8))).shape
    (2, 3, 3)
    """

    def __init__(self, rgb: bool = True) -> None:
        if rgb is not True:
            raise ValueError(f"For 'Decode', 'rgb' must be True, but got {rgb!r}; use ConvertColor after it.")
        super().__init__()

    def __call__(self, data: Any) -> Any:
        """Decode the bytes of an image file to an array."""
        return super().__call__(data)
