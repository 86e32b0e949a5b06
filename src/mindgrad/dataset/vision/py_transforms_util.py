"""Helpers of MindSpore 1.x's ``py_transforms`` that other libraries import."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.dataset import pillow
from mindgrad.dataset.vision.conversion import HWC2CHW

__all__ = ["hwc_to_chw", "is_numpy", "is_pil"]


def is_numpy(img: Any) -> bool:
    """Return whether ``img`` is a NumPy array.

    >>> import numpy as np
    >>> from mindgrad.dataset.vision.py_transforms_util import is_numpy
    >>> is_numpy(np.zeros(2)), is_numpy([0.0])
    (True, False)
    """
    return isinstance(img, np.ndarray)


def is_pil(img: Any) -> bool:
    """Return whether ``img`` is a PIL image.

    >>> from mindgrad.dataset.vision.py_transforms_util import is_pil
    >>> is_pil([0.0])
    False
    """
    return pillow.is_pillow(img)


def hwc_to_chw(img: Any) -> np.ndarray:
    """Transpose an array from (H, W, C) to (C, H, W).

    Raises:
        TypeError: If ``img`` is not a NumPy array.

    >>> import numpy as np
    >>> from mindgrad.dataset.vision.py_transforms_util import hwc_to_chw
    >>> hwc_to_chw(np.zeros((4, 5, 3))).shape
    (3, 4, 5)
    """
    if not is_numpy(img):
        raise TypeError(f"For 'hwc_to_chw', 'img' must be a NumPy array, but got {type(img).__name__}.")
    return HWC2CHW().array(img)
