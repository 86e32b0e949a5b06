"""Transforms between color spaces: grayscale, HSV, and orders of channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.dataset.vision.arguments import choice
from mindgrad.dataset.vision.choices import ConvertMode
from mindgrad.dataset.vision.colors import gray, hsv_of_rgb, rgb_of_hsv
from mindgrad.dataset.vision.transform import ImageTransform, refuse_image

__all__ = ["ConvertColor", "Grayscale", "HsvToRgb", "RgbToHsv"]


class Grayscale(ImageTransform):
    """Transform that converts an image to gray, with one or three equal channels.

    Args:
        num_output_channels (int, optional): number of channels of the result, 1 or 3. Default: ``1``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Grayscale(3)(np.full((1, 1, 3), 9, np.uint8))
    array([[[9, 9, 9]]], dtype=uint8)
    """

    takes_one = True

    def __init__(self, num_output_channels: int = 1) -> None:
        if num_output_channels not in (1, 3):
            raise ValueError(
                f"For 'Grayscale', 'num_output_channels' must be 1 or 3, but got {num_output_channels!r}."
            )
        self.channels = num_output_channels

    def array(self, image: np.ndarray) -> np.ndarray:
        """Return the luminance of shape (H, W), or (H, W, 3)."""
        luminance = gray(image) if image.ndim > 2 and image.shape[-1] == 3 else image.reshape(image.shape[:2])
        return luminance if self.channels == 1 else np.stack([luminance] * 3, -1)

    def pillow(self, image: Any) -> Any:
        """Convert a PIL image to gray."""
        luminance = image.convert("L")
        return luminance if self.channels == 1 else luminance.convert("RGB")


class RgbToHsv(ImageTransform):
    """Transform that converts RGB to HSV, in float64.

    Hue and saturation are from 0 to 1.

    Args:
        is_hwc (bool, optional): whether the channels are the last axis. ``False``: the channels are the axis
            before height and width. Default: ``False``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RgbToHsv(is_hwc=True)(np.array([[[0.0, 1.0, 0.0]]]))
    array([[[0.33333333, 1.        , 1.        ]]])
    """

    least_axes = 3
    _convert = staticmethod(hsv_of_rgb)

    def __init__(self, is_hwc: bool = False) -> None:
        self.is_hwc = bool(is_hwc)

    def array(self, image: np.ndarray) -> np.ndarray:
        """Return the array in the other color space."""
        axis = -1 if self.is_hwc else -3
        if image.shape[axis] != 3:
            raise refuse_image(type(self).__name__, f"have 3 channels at axis {axis}", image)
        return np.moveaxis(self._convert(np.moveaxis(image, axis, -1)), -1, axis)


class HsvToRgb(RgbToHsv):
    """Transform that converts HSV to RGB, in float64.

    Args:
        is_hwc (bool, optional): whether the channels are the last axis. ``False``: the channels are the axis
            before height and width.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.HsvToRgb(is_hwc=True)(np.array([[[0.0, 0.0, 1.0]]]))
    array([[[1., 1., 1.]]])
    """

    _convert = staticmethod(rgb_of_hsv)


#: conversion -> for each output channel, the input channel; ``None`` for an opaque alpha channel
_CHANNELS = {
    ConvertMode.COLOR_BGR2BGRA: (0, 1, 2, None), ConvertMode.COLOR_BGRA2BGR: (0, 1, 2),
    ConvertMode.COLOR_BGR2RGBA: (2, 1, 0, None), ConvertMode.COLOR_RGBA2BGR: (2, 1, 0),
    ConvertMode.COLOR_BGR2RGB: (2, 1, 0), ConvertMode.COLOR_BGRA2RGBA: (2, 1, 0, 3),
    ConvertMode.COLOR_GRAY2BGR: (0, 0, 0), ConvertMode.COLOR_GRAY2BGRA: (0, 0, 0, None),
}  # fmt: skip


class ConvertColor(ImageTransform):
    """Transform that converts the color space of an image.

    Args:
        convert_mode (ConvertMode): color space conversion, such as ``ConvertMode.COLOR_BGR2RGB``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.ConvertColor(vision.ConvertMode.COLOR_BGR2RGB)(np.array([[[1, 2, 3]]], np.uint8))
    array([[[3, 2, 1]]], dtype=uint8)
    """

    takes_one = True

    def __init__(self, convert_mode: ConvertMode) -> None:
        self.mode = choice(convert_mode, ConvertMode, "ConvertColor", "convert_mode")

    def array(self, image: np.ndarray) -> np.ndarray:
        """Convert the color space of an array."""
        source = self.mode.name.removeprefix("COLOR_").partition("2")[0]
        channels = 1 if source == "GRAY" else len(source)
        if image.ndim == 2:
            image = image[..., None]
        if image.shape[-1] != channels:
            raise refuse_image("ConvertColor", f"have {channels} channels for {self.mode.name}", image)
        if self.mode.name.endswith("2GRAY"):
            return gray(image[..., :3] if source.startswith("RGB") else image[..., 2::-1])
        opaque = 1 if image.dtype.kind == "f" else np.iinfo(image.dtype).max
        parts = [
            np.full(image.shape[:-1], opaque, image.dtype) if channel is None else image[..., channel]
            for channel in _CHANNELS[self.mode]
        ]
        return np.stack(parts, -1)
