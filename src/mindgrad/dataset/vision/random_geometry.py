"""Random geometric transforms: crops, flips, rotations, and maps of the plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad._base.shared_docs import with_sections
from mindgrad.dataset.randomness import generator
from mindgrad.dataset.vision.arguments import (
    choice,
    color,
    interval,
    margins,
    number,
    pair,
    probability,
    size_of,
    whole_number,
)
from mindgrad.dataset.vision.choices import Border, Inter
from mindgrad.dataset.vision.conversion import Decode
from mindgrad.dataset.vision.geometry import Resize
from mindgrad.dataset.vision.plane import affine, cropped, flipped, padded, perspective, rotated, scaled_to
from mindgrad.dataset.vision.transform import ImageTransform, height_width

__all__ = [
    "RandomAffine", "RandomCrop", "RandomCropDecodeResize", "RandomHorizontalFlip", "RandomPerspective",
    "RandomResize", "RandomResizedCrop", "RandomRotation", "RandomVerticalFlip",
]  # fmt: skip


class RandomCrop(ImageTransform):
    """Transform that crops an image at a random position.

    Args:
        size (int or list or tuple of int): (height, width) of the cropped part, or one number for both.
        padding (int or list or tuple of int, optional): width of margins that are added before cropping: one
            number, (left and right, top and bottom), or (left, top, right, bottom). ``None``: no margins.
            Default: ``None``.
        pad_if_needed (bool, optional): whether to pad an image that is smaller than ``size``. Default:
            ``False``.
        fill_value (int or list or tuple of int, optional): value of a constant margin: a gray level, or (red,
            green, blue). Default: ``0``.
        padding_mode (Border, optional): how the margins are filled, such as ``Border.REFLECT``. Default:
            ``Border.CONSTANT``.

    Raises:
        RuntimeError: In a call, if the image, including its margins, is smaller than ``size``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomCrop((2, 3))(np.zeros((5, 5, 3), np.uint8)).shape
    (2, 3, 3)
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill_value: int | Sequence[int] = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self.size = size_of(size, "RandomCrop")
        self.padding = None if padding is None else margins(padding, "RandomCrop")
        self.pad_if_needed = bool(pad_if_needed)
        self.fill = color(fill_value, "RandomCrop")
        self.mode = choice(padding_mode, Border, "RandomCrop", "padding_mode")

    def _with_margins(self, image: Any) -> Any:
        if self.padding is not None:
            image = padded(image, self.padding, self.fill, self.mode)
        if self.pad_if_needed:
            height, width = height_width(image)
            rows, columns = max(self.size[0] - height, 0), max(self.size[1] - width, 0)
            if rows or columns:
                image = padded(image, (columns, rows, columns, rows), self.fill, self.mode)
        return image

    def parameters(self, image: Any) -> tuple[int, int]:
        """Return the first row and column of the part."""
        height, width = height_width(self._with_margins(image))
        if self.size[0] > height or self.size[1] > width:
            raise RuntimeError(
                f"For 'RandomCrop', a part of {self.size} does not fit into the image of height {height} and "
                f"width {width}; pass 'padding' or pad_if_needed=True, or enlarge the image with Resize."
            )
        draw = generator()
        top = int(draw.integers(height - self.size[0] + 1))
        return top, int(draw.integers(width - self.size[1] + 1))

    def array(self, image: Any, top: int, left: int) -> Any:
        """Return the drawn part of an image, after padding."""
        return cropped(self._with_margins(image), top, left, *self.size)

    pillow = array


class RandomResizedCrop(ImageTransform):
    """Transform that crops a random part of an image and resizes it.

    Size and aspect ratio of the part are random.

    Args:
        size (int or list or tuple of int): (height, width) of the result, or one number for both.
        scale (list or tuple of float, optional): smallest and largest area of the part, as fractions of the
            image. Default: ``(0.08, 1.0)``.
        ratio (list or tuple of float, optional): smallest and largest ratio of width to height.
            Default: ``(3 / 4, 4 / 3)``.
        interpolation (Inter, optional): interpolation method. Default: ``Inter.BILINEAR``.
        max_attempts (int, optional): number of attempts to draw a part that fits. After that, the center is
            used. Default: ``10``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomResizedCrop(4)(np.zeros((9, 7, 3), np.uint8)).shape
    (4, 4, 3)
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        name = type(self).__name__
        self.size = size_of(size, name)
        self.scale, self.ratio = pair(scale, name, "scale"), pair(ratio, name, "ratio")
        if self.scale[0] < 0 or self.scale[1] <= 0 or self.ratio[0] <= 0:
            raise ValueError(
                f"For '{name}', 'scale' and 'ratio' must be above 0, but got {scale!r} and {ratio!r}."
            )
        self.interpolation = choice(interpolation, Inter, name, "interpolation")
        self.attempts = whole_number(max_attempts, name, "max_attempts", 1)

    def parameters(self, image: Any) -> tuple[int, int, int, int]:
        """Return the first row and column, the height and the width of the part."""
        height, width = height_width(image)
        draw = generator()
        for _ in range(self.attempts):
            area = height * width * draw.uniform(*self.scale)
            ratio = math.exp(draw.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            rows, columns = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
            if 0 < rows <= height and 0 < columns <= width:
                top = int(draw.integers(height - rows + 1))
                return top, int(draw.integers(width - columns + 1)), rows, columns
        low, high = self.ratio
        columns = min(width, max(1, round(height * high)))
        rows = min(height, max(1, round(width / low)))
        return (height - rows) // 2, (width - columns) // 2, rows, columns

    def array(self, image: Any, top: int, left: int, height: int, width: int) -> Any:
        """Crop the given part of an image, and resize it."""
        part = cropped(image, top, left, height, width)
        return scaled_to(part, *self.size, self.interpolation, type(self).__name__)

    pillow = array


@with_sections
class RandomCropDecodeResize(RandomResizedCrop):
    """:class:`Decode`, then :class:`RandomResizedCrop`.

    {as RandomResizedCrop}

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> data = vision.encode_png(np.zeros((9, 7, 3), np.uint8))
    >>> vision.RandomCropDecodeResize(4)(data).shape
    (4, 4, 3)
    """

    def __call__(self, *images: Any) -> Any:
        """Decode image files, crop one random part of all images, and resize it."""
        decode = Decode()
        return super().__call__(*(decode(image) for image in images))


class _RandomFlip(ImageTransform):
    """Base class of random flips."""

    upside_down = False

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = probability(prob, type(self).__name__)

    def parameters(self, image: Any) -> tuple[bool]:
        """Return whether the image is flipped."""
        return (bool(generator().random() < self.prob),)

    def array(self, image: Any, flips: bool) -> Any:
        """Return the array or its mirror image."""
        return flipped(image, self.upside_down) if flips else image

    pillow = array


class RandomHorizontalFlip(_RandomFlip):
    """Transform that flips an image horizontally with a given probability.

    Args:
        prob (float, optional): probability of the flip. Default: ``0.5``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomHorizontalFlip(1.0)(np.array([[1, 2]]))
    array([[2, 1]])
    """


class RandomVerticalFlip(_RandomFlip):
    """Transform that flips an image vertically with a given probability.

    Args:
        prob (float, optional): probability of the flip. Default: ``0.5``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomVerticalFlip(0.0)(np.array([[1], [2]]))
    array([[1],
           [2]])
    """

    upside_down = True


class RandomResize(Resize):
    """:class:`Resize` with a random interpolation.

    Args:
        size (int or list or tuple of int): (height, width) of the result, or one number: the length of its
            shorter side. One number keeps the aspect ratio.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomResize((4, 5))(np.zeros((9, 7, 3), np.uint8)).shape
    (4, 5, 3)
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__(size)

    def parameters(self, image: Any) -> tuple[Inter]:
        """Draw the interpolation."""
        return ((Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC, Inter.AREA)[generator().integers(4)],)


class RandomRotation(ImageTransform):
    """Transform that rotates an image counterclockwise by a random angle.

    Args:
        degrees (float or list or tuple of float): interval from which the angle in degrees is drawn. One
            number r means (−r, r).
        resample (Inter, optional): interpolation method. Default: ``Inter.NEAREST``.
        expand (bool, optional): whether to enlarge the result so that it contains the whole rotated image.
            Default: ``False``.
        center (list or tuple of float, optional): center of the rotation, (x, y). ``None``: the center of the
            image. Default: ``None``.
        fill_value (int or list or tuple of int, optional): value of uncovered pixels: a gray level, or (red,
            green, blue). Default: ``0``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomRotation(30)(np.zeros((9, 7, 3), np.uint8)).shape
    (9, 7, 3)
    """

    takes_one = True

    def __init__(
        self,
        degrees: float | Sequence[float],
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill_value: int | Sequence[int] = 0,
    ) -> None:
        self.degrees = interval(degrees, "RandomRotation", "degrees")
        self.resample = choice(resample, Inter, "RandomRotation", "resample")
        self.expand, self.center = bool(expand), center
        self.fill = color(fill_value, "RandomRotation")

    def parameters(self, image: Any) -> tuple[float]:
        """Draw the angle in degrees."""
        return (generator().uniform(*self.degrees),)

    def array(self, image: Any, degrees: float) -> Any:
        """Rotate an image counterclockwise by ``degrees``."""
        return rotated(image, degrees, self.resample, self.expand, self.center, self.fill)

    pillow = array


class RandomAffine(ImageTransform):
    """Transform that rotates, shears, scales, and moves an image at random.

    Args:
        degrees (float or list or tuple of float): interval from which the angle in degrees is drawn. One
            number r means (−r, r).
        translate (list or tuple of float, optional): largest shift, as fractions of width and height, or
            intervals of the shift, (min x, max x, min y, max y). ``None``: no shift. Default: ``None``.
        scale (list or tuple of float, optional): interval from which the scale factor is drawn. ``None``: 1.
            Default: ``None``.
        shear (float or list or tuple of float, optional): interval of the angle of a shear along x, or two
            intervals, for x and y; r means (−r, r). ``None``: no shear. Default: ``None``.
        resample (Inter, optional): interpolation method. Default: ``Inter.NEAREST``.
        fill_value (int or list or tuple of int, optional): value of uncovered pixels: a gray level, or (red,
            green, blue). Default: ``0``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomAffine(15, (0.1, 0.1), (0.9, 1.1))(np.zeros((9, 7, 3), np.uint8)).shape
    (9, 7, 3)
    """

    takes_one = True

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        resample: Inter = Inter.NEAREST,
        fill_value: int | Sequence[int] = 0,
    ) -> None:
        name = "RandomAffine"
        self.degrees = interval(degrees, name, "degrees")
        parts = [number(part, name, "translate", -1, 1) for part in translate or (0, 0)]
        if len(parts) not in (2, 4):
            raise ValueError(f"For '{name}', 'translate' must be 2 or 4 numbers, but got {translate!r}.")
        ends = parts if len(parts) == 4 else [-abs(parts[0]), abs(parts[0]), -abs(parts[1]), abs(parts[1])]
        self.across = pair(ends[:2], name, "translate")
        self.down = pair(ends[2:], name, "translate")
        self.scale = (1.0, 1.0) if scale is None else pair(scale, name, "scale")
        both = isinstance(shear, (list, tuple)) and len(shear) == 4
        self.shear_x = interval(shear[:2] if both else shear or 0, name, "shear")  # type: ignore[index]
        self.shear_y = interval(shear[2:] if both else 0, name, "shear")  # type: ignore[index]
        self.resample = choice(resample, Inter, name, "resample")
        self.fill = color(fill_value, name)

    def parameters(self, image: Any) -> tuple[float, tuple[float, float], float, tuple[float, float]]:
        """Return the angle, the move in pixels, the factor, and the angles of the shears."""
        height, width = height_width(image)
        draw = generator().uniform
        move = (round(width * draw(*self.across)), round(height * draw(*self.down)))
        return draw(*self.degrees), move, draw(*self.scale), (draw(*self.shear_x), draw(*self.shear_y))

    def array(self, image: Any, degrees: float, move: Any, scale: float, shear: Any) -> Any:
        """Apply the affine map with the drawn parameters to an image."""
        return affine(image, degrees, move, scale, shear, self.resample, self.fill)

    pillow = array


class RandomPerspective(ImageTransform):
    """Transform that applies a random projective map with a given probability.

    Args:
        distortion_scale (float, optional): largest shift of a corner, as a fraction of half of the image.
            Default: ``0.5``.
        prob (float, optional): probability of the transform. Default: ``0.5``.
        interpolation (Inter, optional): interpolation method. Default: ``Inter.BICUBIC``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomPerspective(prob=1.0)(np.zeros((9, 7, 3), np.uint8)).shape
    (9, 7, 3)
    """

    takes_one = True

    def __init__(
        self, distortion_scale: float = 0.5, prob: float = 0.5, interpolation: Inter = Inter.BICUBIC
    ) -> None:
        self.distortion = probability(distortion_scale, "RandomPerspective", "distortion_scale")
        self.prob = probability(prob, "RandomPerspective")
        self.interpolation = choice(interpolation, Inter, "RandomPerspective", "interpolation")

    def parameters(self, image: Any) -> tuple[Any]:
        """Return the corners of the image and their new positions, or ``None`` for no map."""
        draw = generator()
        if draw.random() >= self.prob:
            return (None,)
        height, width = height_width(image)
        corners = np.array([[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]])
        reach = [int(self.distortion * width / 2) + 1, int(self.distortion * height / 2) + 1]
        inwards = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
        return ((corners, corners + inwards * draw.integers(reach, size=(4, 2))),)

    def array(self, image: Any, corners: Any) -> Any:
        """Map the points ``corners[0]`` to ``corners[1]``; ``None`` keeps the image."""
        return image if corners is None else perspective(image, corners[0], corners[1], self.interpolation)

    pillow = array
