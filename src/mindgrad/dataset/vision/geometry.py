"""Deterministic geometric transforms: resizing, padding, flips, rotations, maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.dataset.vision.arguments import choice, color, margins, number, size_of, whole_number
from mindgrad.dataset.vision.choices import Border, Inter
from mindgrad.dataset.vision.plane import affine, flipped, padded, perspective, rotated, scaled_to
from mindgrad.dataset.vision.transform import ImageTransform, height_width

__all__ = [
    "Affine", "HorizontalFlip", "Pad", "PadToSize", "Perspective", "Resize", "Rotate", "VerticalFlip",
]  # fmt: skip


class Resize(ImageTransform):
    """Transform that resizes an image.

    Args:
        size (int or list or tuple of int): (height, width) of the result, or one number: the length of its
            shorter side. One number keeps the aspect ratio.
        interpolation (Inter, optional): interpolation method. ``ANTIALIAS`` is for PIL images only. Default:
            ``Inter.BILINEAR``.

    Raises:
        TypeError: If ``size`` is neither an int nor two ints.
        ValueError: If a number in ``size`` is less than 1.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Resize((2, 2))(np.arange(16, dtype=np.float32).reshape(4, 4))
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """

    def __init__(self, size: int | Sequence[int], interpolation: Inter = Inter.BILINEAR) -> None:
        self.size = size_of(size, "Resize")
        self.keeps_proportion = not isinstance(size, (list, tuple))
        self.interpolation = choice(interpolation, Inter, "Resize", "interpolation")

    def array(self, image: Any, interpolation: Inter | None = None) -> Any:
        """Return the array in the new size."""
        height, width = self.size
        if self.keeps_proportion:
            old_height, old_width = height_width(image)
            if old_height < old_width:
                width = int(old_width * height / old_height)
            else:
                height = int(old_height * width / old_width)
        return scaled_to(
            image, height, width, self.interpolation if interpolation is None else interpolation, "Resize"
        )

    pillow = array


class Pad(ImageTransform):
    """Transform that pads an image.

    Args:
        padding (int or list or tuple of int): width of the margins in pixels: one number for all sides, (left
            and right, top and bottom), or (left, top, right, bottom).
        fill_value (int or list or tuple of int, optional): value of a constant margin: a gray level, or (red,
            green, blue). Default: ``0``.
        padding_mode (Border, optional): how the margins are filled, such as ``Border.REFLECT``. Default:
            ``Border.CONSTANT``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Pad((1, 0), padding_mode=vision.Border.EDGE)(np.array([[1, 2]]))
    array([[1, 1, 2, 2]])
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        fill_value: int | Sequence[int] = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self.padding = margins(padding, "Pad")
        self.fill = color(fill_value, "Pad")
        self.mode = choice(padding_mode, Border, "Pad", "padding_mode")

    def array(self, image: Any) -> Any:
        """Add the margins to an array or a PIL image."""
        return padded(image, self.padding, self.fill, self.mode)

    pillow = array


class PadToSize(ImageTransform):
    """Transform that pads an image to a given size.

    Args:
        size (int or list or tuple of int): (height, width) of the result, or one number for both.
        offset (int or list or tuple of int, optional): (top, left) of the image in the result, or one number
            for both. ``None``: the image is centered. Default: ``None``.
        fill_value (int or list or tuple of int, optional): value of a constant margin: a gray level, or (red,
            green, blue). Default: ``0``.
        padding_mode (Border, optional): how the margins are filled, such as ``Border.REFLECT``. Default:
            ``Border.CONSTANT``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.PadToSize((2, 3), (0, 0))(np.ones((1, 2), int))
    array([[1, 1, 0],
           [0, 0, 0]])
    """

    def __init__(
        self,
        size: int | Sequence[int],
        offset: int | Sequence[int] | None = None,
        fill_value: int | Sequence[int] = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self.size = size_of(size, "PadToSize")
        starts = () if offset is None else offset if isinstance(offset, (list, tuple)) else (offset,)
        self.offset = tuple(whole_number(start, "PadToSize", "offset", 0) for start in starts)
        self.fill = color(fill_value, "PadToSize")
        self.mode = choice(padding_mode, Border, "PadToSize", "padding_mode")

    def array(self, image: Any) -> Any:
        """Add margins to an array or a PIL image, up to the given size."""
        height, width = height_width(image)
        rows, columns = self.size[0] - height, self.size[1] - width
        top, left = (self.offset * 2)[:2] if self.offset else (rows // 2, columns // 2)
        if min(rows - top, columns - left) < 0:
            raise RuntimeError(
                f"For 'PadToSize', the image of height {height} and width {width} at ({top}, {left}) does "
                f"not fit into {self.size}."
            )
        return padded(image, (left, top, columns - left, rows - top), self.fill, self.mode)

    pillow = array


class HorizontalFlip(ImageTransform):
    """Transform that flips an image horizontally (left and right).

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.HorizontalFlip()(np.array([[1, 2]]))
    array([[2, 1]])
    """

    def array(self, image: Any) -> Any:
        """Swap left and right in an array."""
        return flipped(image)

    pillow = ImageTransform.as_array


class VerticalFlip(ImageTransform):
    """Transform that flips an image vertically (top and bottom).

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.VerticalFlip()(np.array([[1], [2]]))
    array([[2],
           [1]])
    """

    def array(self, image: Any) -> Any:
        """Swap top and bottom in an array."""
        return flipped(image, upside_down=True)

    pillow = ImageTransform.as_array


class Rotate(ImageTransform):
    """Transform that rotates an image counterclockwise.

    Args:
        degrees (float): angle of the rotation in degrees, counterclockwise.
        resample (Inter, optional): interpolation method. Default: ``Inter.NEAREST``.
        expand (bool, optional): whether to enlarge the result so that it contains the whole rotated image.
            Default: ``False``.
        center (list or tuple of float, optional): center of the rotation, (x, y). ``None``: the center of the
            image. Default: ``None``.
        fill_value (int or list or tuple of int, optional): value of uncovered pixels: a gray level, or (red,
            green, blue). Default: ``0``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Rotate(90)(np.array([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])
    """

    takes_one = True

    def __init__(
        self,
        degrees: float,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill_value: int | Sequence[int] = 0,
    ) -> None:
        self.degrees = number(degrees, "Rotate", "degrees")
        self.resample = choice(resample, Inter, "Rotate", "resample")
        self.expand, self.center = bool(expand), center
        self.fill = color(fill_value, "Rotate")

    def array(self, image: Any) -> Any:
        """Rotate an array by ``degrees``."""
        return rotated(image, self.degrees, self.resample, self.expand, self.center, self.fill)

    pillow = ImageTransform.as_array


class Affine(ImageTransform):
    """Transform that rotates, shears, scales, and moves an image of constant size.

    Args:
        degrees (float): angle of the rotation in degrees, clockwise.
        translate (list or tuple of float): shift to the right and down, as fractions of width and height.
        scale (float): scale factor of the image.
        shear (float or list or tuple of float): angle of a shear along x, or angles of shears along x and y,
            in degrees.
        resample (Inter, optional): interpolation method. Default: ``Inter.NEAREST``.
        fill_value (int or list or tuple of int, optional): value of uncovered pixels: a gray level, or (red,
            green, blue). Default: ``0``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Affine(0, (0.5, 0), 1.0, 0)(np.array([[1, 2], [3, 4]]))
    array([[0, 1],
           [0, 3]])
    """

    takes_one = True

    def __init__(
        self,
        degrees: float,
        translate: Sequence[float],
        scale: float,
        shear: float | Sequence[float],
        resample: Inter = Inter.NEAREST,
        fill_value: int | Sequence[int] = 0,
    ) -> None:
        self.degrees = number(degrees, "Affine", "degrees")
        if not isinstance(translate, (list, tuple)) or len(translate) != 2:
            raise TypeError(f"For 'Affine', 'translate' must be two numbers, but got {translate!r}.")
        across, down = (number(part, "Affine", "translate", -1, 1) for part in translate)
        self.translate = (across, down)
        self.scale = number(scale, "Affine", "scale", 0)
        angles = shear if isinstance(shear, (list, tuple)) else (shear, 0.0)
        along_x, along_y = (number(angle, "Affine", "shear") for angle in angles)
        self.shear = (along_x, along_y)
        self.resample = choice(resample, Inter, "Affine", "resample")
        self.fill = color(fill_value, "Affine")

    def array(self, image: Any) -> Any:
        """Apply the affine map to an array."""
        height, width = height_width(image)
        translation = (self.translate[0] * width, self.translate[1] * height)
        return affine(image, self.degrees, translation, self.scale, self.shear, self.resample, self.fill)

    pillow = ImageTransform.as_array


class Perspective(ImageTransform):
    """Transform that applies the projective map given by four pairs of points.

    Args:
        start_points (list or tuple of list or tuple of int): four points (x, y) in the image.
        end_points (list or tuple of list or tuple of int): positions of these points in the result.
        interpolation (Inter, optional): interpolation method. Default: ``Inter.BILINEAR``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> corners, moved = [[0, 0], [1, 0], [1, 1], [0, 1]], [[1, 0], [2, 0], [2, 1], [1, 1]]
    >>> vision.Perspective(corners, moved, vision.Inter.NEAREST)(np.array([[1, 2], [3, 4]]))
    array([[0, 1],
           [0, 3]])
    """

    takes_one = True

    def __init__(
        self,
        start_points: Sequence[Sequence[int]],
        end_points: Sequence[Sequence[int]],
        interpolation: Inter = Inter.BILINEAR,
    ) -> None:
        for points, argument in ((start_points, "start_points"), (end_points, "end_points")):
            if np.shape(points) != (4, 2):
                raise TypeError(f"For 'Perspective', '{argument}' must be four points, but got {points!r}.")
        self.start, self.end = start_points, end_points
        self.interpolation = choice(interpolation, Inter, "Perspective", "interpolation")

    def array(self, image: Any) -> Any:
        """Apply the projective map to an array or a PIL image."""
        return perspective(image, self.start, self.end, self.interpolation)

    pillow = array
