"""Image transforms of PIL images, under their names in MindSpore 1.x.

``Normalize`` and ``Cutout`` of this module expect the channels in the first axis, the layout that
``ToTensor`` returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.dataset.vision import color_spaces, conversion, mixing, transforms
from mindgrad.dataset.vision.transforms import *  # noqa: F403

__all__ = [name for name in transforms.__all__ if name not in ("CutMixBatch", "CutOut")]
__all__ += ["Cutout", "RgbToBgr"]


class Decode(conversion.Decode):
    """Transform that decodes the bytes of an image file to a PIL image.

    >>> from mindgrad.dataset.vision import encode_png, py_transforms
    >>> import numpy as np
    >>> py_transforms.Decode()(encode_png(np.zeros((2, 3, 3), np.uint8))).size
    (3, 2)
    """

    def __init__(self) -> None:
        super().__init__(to_pil=True)


class Normalize(conversion.Normalize):
    """Transform that computes (x − mean) / std for each channel, in float32.

    Images have the shape (C, H, W).

    Args:
        mean (list or tuple of float): means to subtract: one for each channel, or one for all channels.
        std (list or tuple of float): positive standard deviations, one for each element of ``mean``.

    >>> import numpy as np
    >>> from mindgrad.dataset.vision import py_transforms
    >>> py_transforms.Normalize([0.5], [0.5])(np.ones((1, 1, 2)))
    array([[[1., 1.]]], dtype=float32)
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__(mean, std, is_hwc=False)


class NormalizePad(conversion.NormalizePad):
    """:class:`Normalize` with an additional last channel of zeros.

    Args:
        mean (list or tuple of float): means to subtract, one for each channel.
        std (list or tuple of float): positive standard deviations, one for each element of ``mean``.
        dtype (str, optional): dtype of the result, ``"float32"`` or ``"float16"``. Default: ``"float32"``.

    >>> import numpy as np
    >>> from mindgrad.dataset.vision import py_transforms
    >>> py_transforms.NormalizePad([0.5], [0.5])(np.ones((1, 1, 2))).shape
    (2, 1, 2)
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32") -> None:
        super().__init__(mean, std, dtype, is_hwc=False)


class Cutout(mixing.CutOut):
    """Transform that sets squares at random positions to zero.

    Images have the shape (C, H, W).

    Args:
        length (int): side length of each square in pixels.
        num_patches (int, optional): number of squares to set to zero. Default: ``1``.

    >>> import numpy as np
    >>> from mindgrad.dataset.vision import py_transforms
    >>> py_transforms.Cutout(2)(np.ones((3, 4, 4))).shape
    (3, 4, 4)
    """

    def __init__(self, length: int, num_patches: int = 1) -> None:
        super().__init__(length, num_patches, is_hwc=False)


class RgbToBgr(color_spaces.RgbToHsv):
    """Transform that exchanges red and blue.

    Args:
        is_hwc (bool, optional): whether the channels are the last axis. ``False``: the channels are the axis
            before height and width.

    >>> import numpy as np
    >>> from mindgrad.dataset.vision import py_transforms
    >>> py_transforms.RgbToBgr(is_hwc=True)(np.array([[[1, 2, 3]]]))
    array([[[3, 2, 1]]])
    """

    @staticmethod
    def _convert(image: Any) -> Any:
        return image[..., ::-1]
