"""Deterministic color transforms: brightness, contrast, hue, histograms, blur."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.dataset import pillow
from mindgrad.dataset.vision.arguments import factor, number, pair, whole_number
from mindgrad.dataset.vision.colors import (
    adjusted_hue,
    blended,
    colored,
    equalized,
    gray,
    saturated,
    stretched,
    with_smoothed_inside,
)
from mindgrad.dataset.vision.transform import ImageTransform, refuse_image

__all__ = [
    "AdjustBrightness", "AdjustContrast", "AdjustGamma", "AdjustHue", "AdjustSaturation", "AdjustSharpness",
    "AutoContrast", "Equalize", "GaussianBlur", "Invert",
    "Posterize", "Solarize", "enhanced",
]  # fmt: skip


def enhanced(image: Any, kind: str, amount: float) -> Any:
    """Multiply a property of an image by a factor.

    ``kind`` is ``"Brightness"``, ``"Contrast"``, ``"Color"``, or ``"Sharpness"``. ``amount`` is the factor.
    """
    if pillow.is_pillow(image):
        return getattr(pillow.ImageEnhance, kind)(image).enhance(amount)
    if kind == "Brightness":
        return saturated(image.astype(np.float64) * amount, image.dtype)
    if kind == "Sharpness":
        return blended(image, with_smoothed_inside(image), amount)
    luminance = gray(colored(image, f"Adjust{kind.replace('Color', 'Saturation')}"))
    if kind == "Contrast":
        mean = luminance.mean(dtype=np.float64)
        return blended(image, math.floor(mean + 0.5) if image.dtype.kind in "iu" else mean, amount)
    return blended(image, luminance[..., None], amount)


def bytes_only(image: np.ndarray, name: str) -> np.ndarray:
    """Check that an image has dtype uint8, and return it."""
    if image.dtype != np.uint8:
        raise refuse_image(name, "be of uint8", image)
    return image


class _Enhance(ImageTransform):
    """Base class of transforms that multiply a property of an image by a factor."""

    takes_one = True

    kind = ""

    def __init__(self, amount: float, argument: str) -> None:
        self.amount = factor(amount, type(self).__name__, argument)

    def array(self, image: Any) -> Any:
        """Multiply the property of the image by the factor."""
        return enhanced(image, self.kind, self.amount)

    pillow = array


class AdjustBrightness(_Enhance):
    """Transform that multiplies the brightness of an image by a factor.

    Args:
        brightness_factor (float): factor of the brightness, nonnegative. 0 results in a black image, and 1 in
            the original image.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.AdjustBrightness(2.0)(np.array([[50, 200]], np.uint8))
    array([[100, 255]], dtype=uint8)
    """

    kind = "Brightness"

    def __init__(self, brightness_factor: float) -> None:
        super().__init__(brightness_factor, "brightness_factor")


class AdjustContrast(_Enhance):
    """Transform that multiplies the contrast of an image by a factor.

    It scales the differences from the mean luminance.

    Args:
        contrast_factor (float): factor of the contrast, nonnegative. 0 results in a uniform gray, and 1 in
            the original image.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.AdjustContrast(0.0)(np.full((1, 1, 3), 7, np.uint8))
    array([[[7, 7, 7]]], dtype=uint8)
    """

    kind = "Contrast"

    def __init__(self, contrast_factor: float) -> None:
        super().__init__(contrast_factor, "contrast_factor")


class AdjustSaturation(_Enhance):
    """Transform that multiplies the saturation of an image by a factor.

    It scales the differences of the colors from the luminance.

    Args:
        saturation_factor (float): factor of the saturation, nonnegative. 0 results in a gray image, and 1 in
            the original image.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.AdjustSaturation(0.0)(np.full((1, 1, 3), 7, np.uint8))
    array([[[7, 7, 7]]], dtype=uint8)
    """

    kind = "Color"

    def __init__(self, saturation_factor: float) -> None:
        super().__init__(saturation_factor, "saturation_factor")


class AdjustSharpness(_Enhance):
    """Transform that multiplies the sharpness of an image by a factor.

    It scales the differences of inner pixels from their smoothed image.

    Args:
        sharpness_factor (float): factor of the sharpness, nonnegative. 0 results in the smoothed image, and 1
            in the original image.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.AdjustSharpness(2.0)(np.full((3, 3), 7, np.uint8))[1, 1].item()
    7
    """

    kind = "Sharpness"

    def __init__(self, sharpness_factor: float) -> None:
        super().__init__(sharpness_factor, "sharpness_factor")

    pillow = ImageTransform.as_array


class AdjustHue(ImageTransform):
    """Transform that rotates the hue of an image.

    Args:
        hue_factor (float): rotation of the hue, as a fraction of the color circle, from −0.5 to 0.5.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.AdjustHue(1 / 3)(np.array([[[255, 0, 0]]], np.uint8))
    array([[[  0, 255,   0]]], dtype=uint8)
    """

    takes_one = True

    def __init__(self, hue_factor: float) -> None:
        self.hue_factor = number(hue_factor, "AdjustHue", "hue_factor", -0.5, 0.5)

    def array(self, image: np.ndarray) -> np.ndarray:
        """Return the array with adjusted hue."""
        return adjusted_hue(colored(image, "AdjustHue"), self.hue_factor)


class AdjustGamma(ImageTransform):
    """Transform that applies gamma correction: gain · x^gamma for x from 0 to 1.

    Args:
        gamma (float): exponent of the gamma correction, nonnegative.
        gain (float, optional): factor of the result. Default: ``1``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.AdjustGamma(2.0)(np.array([[0.5, 1.0]], np.float32))
    array([[0.25, 1.  ]], dtype=float32)
    """

    def __init__(self, gamma: float, gain: float = 1) -> None:
        self.gamma = factor(gamma, "AdjustGamma", "gamma")
        self.gain = number(gain, "AdjustGamma", "gain")

    def array(self, image: np.ndarray) -> np.ndarray:
        """Apply the gamma correction to an array."""
        if image.dtype.kind == "f":
            return np.clip(self.gain * image**self.gamma, 0, 1).astype(image.dtype)
        if image.dtype.kind not in "iu":
            raise refuse_image("AdjustGamma", "have an integer or float dtype", image)
        # the factor 255.999 divides [0, 1] into 256 intervals of nearly equal width, one for each integer
        # from 0 to 255
        levels = 255.999 * self.gain * (np.clip(image, 0, 255) / 255) ** self.gamma
        return np.clip(levels, 0, 255).astype(image.dtype)


class AutoContrast(ImageTransform):
    """Transform that stretches each channel to the full range from 0 to 255.

    Args:
        cutoff (float, optional): percentage of pixels to ignore at each end of the histogram, at least 0 and
            less than 50. Default: ``0.0``.
        ignore (int or list or tuple of int, optional): pixel values to ignore in the histogram. Default:
            ``None``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.AutoContrast()(np.array([[10, 20, 30]], np.uint8))
    array([[  0, 127, 255]], dtype=uint8)
    """

    takes_one = True

    def __init__(self, cutoff: float = 0.0, ignore: int | Sequence[int] | None = None) -> None:
        self.cutoff = number(cutoff, "AutoContrast", "cutoff", 0)
        if self.cutoff >= 50:
            raise ValueError(f"For 'AutoContrast', 'cutoff' must be below 50, but got {cutoff!r}.")
        levels = () if ignore is None else ignore if isinstance(ignore, (list, tuple)) else (ignore,)
        self.ignore = [whole_number(level, "AutoContrast", "ignore", 0) for level in levels]

    def array(self, image: np.ndarray) -> np.ndarray:
        """Stretch each channel of an array to the full range."""
        return stretched(bytes_only(image, "AutoContrast"), self.cutoff, self.ignore)

    def pillow(self, image: Any) -> Any:
        """Stretch each channel of a PIL image to the full range."""
        return pillow.ImageOps.autocontrast(image, self.cutoff, self.ignore or None)


class Equalize(ImageTransform):
    """Transform that equalizes the histogram of each channel.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Equalize()(np.zeros((1, 2), np.uint8))
    array([[0, 0]], dtype=uint8)
    """

    takes_one = True

    def array(self, image: np.ndarray) -> np.ndarray:
        """Equalize the histogram of each channel of an array."""
        return equalized(bytes_only(image, "Equalize"))

    def pillow(self, image: Any) -> Any:
        """Equalize the histogram of each channel of a PIL image."""
        return pillow.ImageOps.equalize(image)


class Invert(ImageTransform):
    """Transform that inverts an image: 255 minus the values.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Invert()(np.array([[0, 200]], np.uint8))
    array([[255,  55]], dtype=uint8)
    """

    def array(self, image: np.ndarray) -> np.ndarray:
        """Subtract the elements of an array from 255."""
        return (255 - image).astype(image.dtype)


class Posterize(ImageTransform):
    """Transform that keeps only the highest bits of the values.

    Args:
        bits (int): number of highest bits to keep, from 0 to 8.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Posterize(1)(np.array([[100, 200]], np.uint8))
    array([[  0, 128]], dtype=uint8)
    """

    def __init__(self, bits: int) -> None:
        self.bits = whole_number(bits, "Posterize", "bits", 0)
        if self.bits > 8:
            raise ValueError(f"For 'Posterize', 'bits' must be from 0 to 8, but got {bits!r}.")

    def array(self, image: np.ndarray) -> np.ndarray:
        """Return the array with fewer levels."""
        return bytes_only(image, "Posterize") & np.uint8(256 - (1 << (8 - self.bits)) & 255)

    pillow = ImageTransform.as_array


class Solarize(ImageTransform):
    """Transform that inverts the values in an interval.

    Args:
        threshold (float or list or tuple of float): interval (min, max) of the values to invert. One number
            t, or (t, t), means (t, 255).

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Solarize((0, 100))(np.array([[55, 200]], np.uint8))
    array([[200, 200]], dtype=uint8)
    """

    def __init__(self, threshold: float | Sequence[float]) -> None:
        ends = threshold if isinstance(threshold, (list, tuple)) else (threshold, threshold)
        self.low, self.high = pair(ends, "Solarize", "threshold")
        if self.low == self.high:
            self.high = 255.0

    def array(self, image: np.ndarray) -> np.ndarray:
        """Return the array with a part of its levels inverted."""
        return np.where((image >= self.low) & (image <= self.high), 255 - image, image).astype(image.dtype)

    pillow = ImageTransform.as_array


class GaussianBlur(ImageTransform):
    """Transform that blurs an image with a Gaussian kernel; borders are reflected.

    Args:
        kernel_size (int or list or tuple of int): odd size of the Gaussian kernel: one number for both, or
            (width, height).
        sigma (float or list or tuple of float, optional): standard deviation of the Gaussian kernel: one
            number for both, or (horizontal, vertical). ``None``: 0.3·((n − 1)/2 − 1) + 0.8 for a kernel of
            width n. Default: ``None``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> print(f"{vision.GaussianBlur(3)(np.full((3, 3), 7.0))[0, 0]:.6f}")
    7.000000
    """

    takes_one = True

    def __init__(
        self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] | None = None
    ) -> None:
        sizes = kernel_size if isinstance(kernel_size, (list, tuple)) else (kernel_size, kernel_size)
        self.sizes = [whole_number(size, "GaussianBlur", "kernel_size", 1) for size in sizes]
        if len(self.sizes) != 2 or not all(size % 2 for size in self.sizes):
            raise ValueError(f"For 'GaussianBlur', 'kernel_size' must be odd, but got {kernel_size!r}.")
        spreads: Sequence[float]
        if sigma is None:
            spreads = (0.0, 0.0)
        else:
            spreads = sigma if isinstance(sigma, (list, tuple)) else (sigma, sigma)
        self.sigmas = [
            factor(spread, "GaussianBlur", "sigma") or 0.3 * ((self.sizes[0] - 1) * 0.5 - 1) + 0.8
            for spread in spreads
        ]

    def array(self, image: np.ndarray) -> np.ndarray:
        """Blur an array with the Gaussian kernel."""
        if image.dtype.kind != "f" and image.dtype not in (np.uint8, np.uint16, np.int16):
            raise refuse_image("GaussianBlur", "have the dtype uint8, uint16, int16 or a float dtype", image)
        values = image.astype(np.float64)
        for axis, size, sigma in zip((1, 0), self.sizes, self.sigmas, strict=True):
            reach = size // 2
            weights = np.exp(-((np.arange(size) - reach) ** 2) / (2 * sigma**2))
            widths = [(reach, reach) if i == axis else (0, 0) for i in range(image.ndim)]
            mode = "reflect" if image.shape[axis] > 1 else "edge"
            wide = np.pad(values, widths, mode)  # type: ignore[call-overload]
            windows = np.lib.stride_tricks.sliding_window_view(wide, size, axis)
            values = windows @ (weights / weights.sum())
        return saturated(values, image.dtype)

    pillow = ImageTransform.as_array
