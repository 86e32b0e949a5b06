"""Transforms that crop images at fixed positions: crops, corners, patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.dataset.vision.arguments import choice, color, size_of, whole_number
from mindgrad.dataset.vision.choices import Inter, SliceMode
from mindgrad.dataset.vision.geometry import Resize
from mindgrad.dataset.vision.plane import cropped, flipped, padded
from mindgrad.dataset.vision.transform import ImageTransform, height_width, refuse_image

__all__ = ["CenterCrop", "Crop", "FiveCrop", "ResizedCrop", "SlicePatches", "TenCrop"]


class CenterCrop(ImageTransform):
    """Transform that crops the center of an image, with zeros around a small image.

    Args:
        size (int or list or tuple of int): (height, width) of the result, or one number for both.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.CenterCrop(2)(np.arange(16).reshape(4, 4))
    array([[ 5,  6],
           [ 9, 10]])
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = size_of(size, "CenterCrop")

    def array(self, image: Any) -> Any:
        """Return the center of the array."""
        height, width = height_width(image)
        missing_rows, missing_columns = max(self.size[0] - height, 0), max(self.size[1] - width, 0)
        if missing_rows or missing_columns:
            top, left = -(-missing_rows // 2), -(-missing_columns // 2)
            image = padded(image, (left, top, missing_columns - left, missing_rows - top))
            height, width = height_width(image)
        top, left = (height - self.size[0]) // 2, (width - self.size[1]) // 2
        return cropped(image, top, left, *self.size)

    def pillow(self, image: Any) -> Any:
        """Return the center of a PIL image. The offset is rounded to the nearest integer."""
        height, width = height_width(image)
        if self.size[0] > height or self.size[1] > width:
            return self.array(image)
        top, left = round((height - self.size[0]) / 2), round((width - self.size[1]) / 2)
        return cropped(image, top, left, *self.size)


class Crop(ImageTransform):
    """Transform that crops an image at a fixed position.

    Args:
        coordinates (list or tuple of int): position (top, left) of the cropped part in the image.
        size (int or list or tuple of int): (height, width) of the result, or one number for both.

    Raises:
        RuntimeError: In a call, if the cropped part extends beyond the image.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Crop((0, 1), 2)(np.arange(9).reshape(3, 3))
    array([[1, 2],
           [4, 5]])
    """

    def __init__(self, coordinates: Sequence[int], size: int | Sequence[int]) -> None:
        if not isinstance(coordinates, (list, tuple)) or len(coordinates) != 2:
            raise TypeError(f"For 'Crop', 'coordinates' must be (top, left), but got {coordinates!r}.")
        self.top, self.left = (whole_number(start, "Crop", "coordinates", 0) for start in coordinates)
        self.size = size_of(size, "Crop")

    def array(self, image: Any) -> Any:
        """Return the part of an array."""
        height, width = height_width(image)
        if self.top + self.size[0] > height or self.left + self.size[1] > width:
            raise RuntimeError(
                f"For 'Crop', the image of height {height} and width {width} does not contain the "
                f"{self.size} pixels at ({self.top}, {self.left})."
            )
        return cropped(image, self.top, self.left, *self.size)

    pillow = ImageTransform.as_array


class ResizedCrop(ImageTransform):
    """Transform that crops an image at a fixed position and resizes the result.

    Args:
        top (int): index of the first row of the cropped part.
        left (int): index of the first column of the cropped part.
        height (int): number of rows of the cropped part.
        width (int): number of columns of the cropped part.
        size (int or list or tuple of int): (height, width) of the result, or the length of its shorter side.
        interpolation (Inter, optional): interpolation method. Default: ``Inter.BILINEAR``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.ResizedCrop(0, 0, 4, 4, (2, 2), vision.Inter.NEAREST)(np.arange(36).reshape(6, 6))
    array([[ 0,  2],
           [12, 14]])
    """

    def __init__(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        size: int | Sequence[int],
        interpolation: Inter = Inter.BILINEAR,
    ) -> None:
        self.crop = Crop((top, left), (height, width))
        self.resize = Resize(size, interpolation)

    def array(self, image: Any) -> Any:
        """Crop an array, and resize the result."""
        return self.resize(self.crop(image))

    pillow = ImageTransform.as_array


class FiveCrop(ImageTransform):
    """Transform that returns the four corners and the center of an image.

    Their order is top left, top right, bottom left, bottom right, center.

    Args:
        size (int or list or tuple of int): (height, width) of each cropped part, or one number for both.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> print(*[part.item() for part in vision.FiveCrop(1)(np.arange(9).reshape(3, 3))])
    0 2 6 8 4
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = size_of(size, type(self).__name__)

    def array(self, image: Any) -> Any:
        """Return the four corners and the center of an array or a PIL image."""
        height, width = height_width(image)
        rows, columns = self.size
        if rows > height or columns > width:
            raise RuntimeError(
                f"For '{type(self).__name__}', patches of size {self.size} do not fit into the image of "
                f"height {height} and width {width}."
            )
        starts = [(top, left) for top in (0, height - rows) for left in (0, width - columns)]
        starts.append((round((height - rows) / 2), round((width - columns) / 2)))
        return tuple(cropped(image, top, left, rows, columns) for top, left in starts)

    pillow = array


class TenCrop(FiveCrop):
    """Transform that returns :class:`FiveCrop` of an image and of its mirror image.

    Args:
        size (int or list or tuple of int): (height, width) of each cropped part, or one number for both.
        use_vertical_flip (bool, optional): whether the mirror image exchanges top and bottom instead of left
            and right. Default: ``False``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> print(*[part.item() for part in vision.TenCrop(1)(np.arange(4).reshape(2, 2))])
    0 1 2 3 0 1 0 3 2 1
    """

    def __init__(self, size: int | Sequence[int], use_vertical_flip: bool = False) -> None:
        super().__init__(size)
        self.upside_down = bool(use_vertical_flip)

    def array(self, image: Any) -> Any:
        """Return the five crops of an image, then the five crops of its mirror image."""
        return super().array(image) + super().array(flipped(image, self.upside_down))

    pillow = array


class SlicePatches(ImageTransform):
    """Transform that divides an image into a grid of patches, row by row.

    Args:
        num_height (int, optional): number of rows of the grid. Default: ``1``.
        num_width (int, optional): number of columns of the grid. Default: ``1``.
        slice_mode (SliceMode, optional): whether to pad the image at the bottom and right, or to crop it, if
            its size is not a multiple of the grid. Default: ``SliceMode.PAD``.
        fill_value (int, optional): value of the padded pixels. Default: ``0``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> print(*vision.SlicePatches(1, 2)(np.array([[1, 2, 3]])))
    [[1 2]] [[3 0]]
    """

    def __init__(
        self,
        num_height: int = 1,
        num_width: int = 1,
        slice_mode: SliceMode = SliceMode.PAD,
        fill_value: int = 0,
    ) -> None:
        self.grid = (
            whole_number(num_height, "SlicePatches", "num_height", 1),
            whole_number(num_width, "SlicePatches", "num_width", 1),
        )
        self.mode = choice(slice_mode, SliceMode, "SlicePatches", "slice_mode")
        self.fill = color(fill_value, "SlicePatches")

    def array(self, image: np.ndarray) -> Any:
        """Return the patches of an array as a tuple, row by row."""
        height, width = height_width(image)
        if self.mode == SliceMode.PAD:
            rows, columns = -(-height // self.grid[0]), -(-width // self.grid[1])
            image = padded(
                image, (0, 0, columns * self.grid[1] - width, rows * self.grid[0] - height), self.fill
            )
        else:
            rows, columns = height // self.grid[0], width // self.grid[1]
        if not rows or not columns:
            raise refuse_image("SlicePatches", f"have a pixel for each patch of the grid {self.grid}", image)
        return tuple(
            cropped(image, i * rows, j * columns, rows, columns)
            for i in range(self.grid[0])
            for j in range(self.grid[1])
        )
