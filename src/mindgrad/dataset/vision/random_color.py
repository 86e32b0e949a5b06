"""Random color transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.dataset import pillow
from mindgrad.dataset.randomness import generator
from mindgrad.dataset.vision.arguments import interval, pair, probability
from mindgrad.dataset.vision.color import (
    AdjustHue,
    AdjustSharpness,
    AutoContrast,
    Equalize,
    Invert,
    Posterize,
    Solarize,
    enhanced,
)
from mindgrad.dataset.vision.color_spaces import Grayscale
from mindgrad.dataset.vision.colors import colored, saturated
from mindgrad.dataset.vision.transform import ImageTransform

__all__ = [
    "RandomAdjustSharpness", "RandomAutoContrast", "RandomColor", "RandomColorAdjust", "RandomEqualize",
    "RandomGrayscale", "RandomInvert", "RandomLighting", "RandomPosterize", "RandomSharpness",
    "RandomSolarize",
]  # fmt: skip

#: principal components of the RGB values (0 to 255) of ImageNet: eigenvectors, one per column, and
#: eigenvalues (Krizhevsky et al., 2012)
_EIGENVECTORS = np.array([
    [-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203],
])  # fmt: skip
_EIGENVALUES = 255 * np.array([0.2175, 0.0188, 0.0045])


class RandomColorAdjust(ImageTransform):
    """Transform that changes brightness, contrast, saturation, and hue at random.

    The changes are in a random order.

    Args:
        brightness (float or list or tuple of float, optional): interval from which the factor of the
            brightness is drawn. One number r means (max(0, 1 − r), 1 + r). Default: ``(1, 1)``.
        contrast (float or list or tuple of float, optional): interval from which the factor of the contrast
            is drawn, as for ``brightness``. Default: ``(1, 1)``.
        saturation (float or list or tuple of float, optional): interval from which the factor of the
            saturation is drawn, as for ``brightness``. Default: ``(1, 1)``.
        hue (float or list or tuple of float, optional): interval of the rotation of the hue, as a fraction of
            the circle, between −0.5 and 0.5; r means (−r, r). Default: ``(0, 0)``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomColorAdjust(0.4, 0.4, 0.4, 0.1)(np.zeros((9, 7, 3), np.uint8)).shape
    (9, 7, 3)
    """

    takes_one = True

    def __init__(
        self,
        brightness: float | Sequence[float] = (1, 1),
        contrast: float | Sequence[float] = (1, 1),
        saturation: float | Sequence[float] = (1, 1),
        hue: float | Sequence[float] = (0, 0),
    ) -> None:
        name = "RandomColorAdjust"
        self.factors = {
            "Brightness": interval(brightness, name, "brightness", 1, 0),
            "Contrast": interval(contrast, name, "contrast", 1, 0),
            "Color": interval(saturation, name, "saturation", 1, 0),
        }
        self.hue = interval(hue, name, "hue")
        if self.hue[0] < -0.5 or self.hue[1] > 0.5:
            raise ValueError(f"For '{name}', 'hue' must be between -0.5 and 0.5, but got {hue!r}.")

    def parameters(self, image: Any) -> tuple[list[tuple[str, float]]]:
        """Return the changes in random order, without changes that have no effect."""
        draw = generator()
        amounts = {kind: draw.uniform(*ends) for kind, ends in self.factors.items() if ends != (1, 1)}
        if self.hue != (0, 0):
            amounts["Hue"] = draw.uniform(*self.hue)
        kinds = list(amounts)
        return ([(kinds[i], amounts[kinds[i]]) for i in draw.permutation(len(kinds))],)

    def array(self, image: Any, changes: list[tuple[str, float]]) -> Any:
        """Return the array with changed colors."""
        for kind, amount in changes:
            image = AdjustHue(amount)(image) if kind == "Hue" else enhanced(image, kind, amount)
        return image

    pillow = array


class _Enhance(ImageTransform):
    """Base class of enhancements by a random factor."""

    takes_one = True

    kind = ""

    def __init__(self, degrees: Sequence[float] = (0.1, 1.9)) -> None:
        self.degrees = pair(degrees, type(self).__name__, "degrees")
        if self.degrees[0] < 0:
            raise ValueError(
                f"For '{type(self).__name__}', 'degrees' must not be negative, but got {degrees!r}."
            )

    def parameters(self, image: Any) -> tuple[float]:
        """Draw the factor."""
        return (generator().uniform(*self.degrees),)

    def array(self, image: Any, amount: float) -> Any:
        """Multiply the property of the image by the factor ``amount``."""
        return enhanced(image, self.kind, amount)

    pillow = array


class RandomColor(_Enhance):
    """Transform that multiplies the saturation by a random factor.

    Args:
        degrees (list or tuple of float, optional): interval (min, max) from which the random factor is drawn.
            Default: ``(0.1, 1.9)``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomColor()(np.zeros((9, 7, 3), np.uint8)).shape
    (9, 7, 3)
    """

    kind = "Color"


class RandomSharpness(_Enhance):
    """Transform that multiplies the sharpness by a random factor.

    Args:
        degrees (list or tuple of float, optional): interval (min, max) from which the random factor is drawn.
            Default: ``(0.1, 1.9)``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomSharpness()(np.zeros((9, 7, 3), np.uint8)).shape
    (9, 7, 3)
    """

    kind = "Sharpness"


class _Sometimes(ImageTransform):
    """Base class of transforms that are applied with a given probability."""

    def __init__(self, transform: ImageTransform, prob: float) -> None:
        self.transform = transform
        self.prob = probability(prob, type(self).__name__)

    def parameters(self, image: Any) -> tuple[bool]:
        """Return whether the image is transformed."""
        return (bool(generator().random() < self.prob),)

    def array(self, image: Any, applies: bool) -> Any:
        """Return the array, transformed or unchanged."""
        return self.transform(image) if applies else image

    pillow = array


class RandomAdjustSharpness(_Sometimes):
    """:class:`AdjustSharpness` with a given probability.

    Args:
        degree (float): factor of the sharpness, as for :class:`AdjustSharpness`.
        prob (float, optional): probability of the transform. Default: ``0.5``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomAdjustSharpness(2.0)(np.zeros((9, 7, 3), np.uint8)).shape
    (9, 7, 3)
    """

    def __init__(self, degree: float, prob: float = 0.5) -> None:
        super().__init__(AdjustSharpness(degree), prob)


class RandomAutoContrast(_Sometimes):
    """:class:`AutoContrast` with a given probability.

    Args:
        cutoff (float, optional): percentage of pixels to ignore at each end of the histogram. Default:
            ``0.0``.
        ignore (int or list or tuple of int, optional): pixel values to ignore in the histogram. Default:
            ``None``.
        prob (float, optional): probability of the transform. Default: ``0.5``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomAutoContrast(prob=1.0)(np.array([[10, 30]], np.uint8))
    array([[  0, 255]], dtype=uint8)
    """

    def __init__(
        self, cutoff: float = 0.0, ignore: int | Sequence[int] | None = None, prob: float = 0.5
    ) -> None:
        super().__init__(AutoContrast(cutoff, ignore), prob)


class RandomEqualize(_Sometimes):
    """:class:`Equalize` with a given probability.

    Args:
        prob (float, optional): probability of the transform. Default: ``0.5``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomEqualize()(np.zeros((1, 2), np.uint8))
    array([[0, 0]], dtype=uint8)
    """

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__(Equalize(), prob)


class RandomInvert(_Sometimes):
    """:class:`Invert` with a given probability.

    Args:
        prob (float, optional): probability of the transform. Default: ``0.5``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomInvert(1.0)(np.zeros((1, 2), np.uint8))
    array([[255, 255]], dtype=uint8)
    """

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__(Invert(), prob)


class RandomGrayscale(_Sometimes):
    """Transform that converts an image to gray with a given probability.

    The number of channels does not change.

    Args:
        prob (float, optional): probability of the transform. Default: ``0.1``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomGrayscale(1.0)(np.full((1, 1, 3), 9, np.uint8))
    array([[[9, 9, 9]]], dtype=uint8)
    """

    takes_one = True

    def __init__(self, prob: float = 0.1) -> None:
        super().__init__(Grayscale(3), prob)

    def array(self, image: Any, applies: bool) -> Any:
        """Return the array, in gray or unchanged."""
        bands = len(image.getbands()) if pillow.is_pillow(image) else image.shape[2] if image.ndim > 2 else 1
        return self.transform(image) if applies and bands == 3 else image

    pillow = array


class RandomPosterize(ImageTransform):
    """:class:`Posterize` with a random number of bits.

    Args:
        bits (int or list or tuple of int, optional): interval from which the number of bits to keep is drawn,
            or the fixed number. Default: ``(8, 8)``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomPosterize((1, 1))(np.array([[100, 200]], np.uint8))
    array([[  0, 128]], dtype=uint8)
    """

    def __init__(self, bits: int | Sequence[int] = (8, 8)) -> None:
        ends = bits if isinstance(bits, (list, tuple)) else (bits, bits)
        low, high = pair(ends, "RandomPosterize", "bits")
        if low < 1 or high > 8:
            raise ValueError(f"For 'RandomPosterize', 'bits' must be from 1 to 8, but got {bits!r}.")
        self.bits = (int(low), int(high))

    def parameters(self, image: Any) -> tuple[int]:
        """Draw the number of bits to keep."""
        return (int(generator().integers(self.bits[0], self.bits[1] + 1)),)

    def array(self, image: np.ndarray, bits: int) -> Any:
        """Return the array with fewer levels."""
        return Posterize(bits)(image)


class RandomSolarize(ImageTransform):
    """:class:`Solarize` with a random interval.

    Args:
        threshold (list or tuple of int, optional): interval from which both ends of the inverted interval are
            drawn. Default: ``(0, 255)``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomSolarize((0, 10))(np.full((9, 7, 3), 100, np.uint8)).shape
    (9, 7, 3)
    """

    def __init__(self, threshold: Sequence[int] = (0, 255)) -> None:
        self.threshold = pair(threshold, "RandomSolarize", "threshold")

    def parameters(self, image: Any) -> tuple[int, int]:
        """Draw the ends of the interval in which pixels are inverted."""
        low, high = (int(end) for end in self.threshold)
        ends = generator().integers(low, high + 1, 2)
        return int(ends.min()), int(ends.max())

    def array(self, image: np.ndarray, low: int, high: int) -> Any:
        """Return the array with a part of its levels inverted."""
        return Solarize((low, high))(image)


class RandomLighting(ImageTransform):
    """Transform that adds random multiples of the principal components of ImageNet.

    Args:
        alpha (float, optional): standard deviation of the multiples. Default: ``0.05``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomLighting(0.1)(np.zeros((9, 7, 3), np.uint8)).shape
    (9, 7, 3)
    """

    takes_one = True

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = interval(alpha, "RandomLighting", "alpha")[1]

    def parameters(self, image: Any) -> tuple[np.ndarray]:
        """Return the values to add to red, green, and blue."""
        return (_EIGENVECTORS @ (generator().normal(0, self.alpha, 3) * _EIGENVALUES),)

    def array(self, image: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Return the array in other colors."""
        return saturated(colored(image, "RandomLighting") + shift, image.dtype)
