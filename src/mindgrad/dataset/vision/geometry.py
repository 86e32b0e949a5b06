"""Transforms that move pixels in a fixed way: sizes, crops, borders, mirror images, rotations, patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.dataset.vision.arguments import choice, colour, margins, number, size_of, whole_number
from mindgrad.dataset.vision.choices import Border, Inter, SliceMode
from mindgrad.dataset.vision.plane import affine, cropped, flipped, padded, perspective, rotated, scaled_to
from mindgrad.dataset.vision.transform import ImageTransform, height_width, refuse_image

__all__ = [
    "Affine", "CenterCrop", "Crop", "FiveCrop", "HorizontalFlip", "Pad", "PadToSize", "Perspective", "Resize",
    "ResizedCrop", "Rotate", "SlicePatches", "TenCrop", "VerticalFlip",
]  # fmt: skip


class Resize(ImageTransform):
    """The image in another size.

    Args:
        size: (height, width), or the length of the shorter side; the other keeps the proportion.
        interpolation: an :class:`Inter`; arrays take all but ``ANTIALIAS``, which is for images of Pillow.

    Raises:
        TypeError: ``size`` is neither an int nor two of them.
        ValueError: it is below 1.

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
        """The array in the new size."""
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


class CenterCrop(ImageTransform):
    """The middle of the image; where it is smaller than the crop, zeros surround it.

    Args:
        size: (height, width), or one number for both.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.CenterCrop(2)(np.arange(16).reshape(4, 4))
    array([[ 5,  6],
           [ 9, 10]])
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = size_of(size, "CenterCrop")

    def array(self, image: Any) -> Any:
        """The middle of the array."""
        height, width = height_width(image)
        missing_rows, missing_columns = max(self.size[0] - height, 0), max(self.size[1] - width, 0)
        if missing_rows or missing_columns:
            top, left = -(-missing_rows // 2), -(-missing_columns // 2)
            image = padded(image, (left, top, missing_columns - left, missing_rows - top))
            height, width = height_width(image)
        top, left = (height - self.size[0]) // 2, (width - self.size[1]) // 2
        return cropped(image, top, left, *self.size)

    def pillow(self, image: Any) -> Any:
        """The middle of the image of Pillow, which rounds the other way."""
        height, width = height_width(image)
        if self.size[0] > height or self.size[1] > width:
            return self.array(image)
        top, left = round((height - self.size[0]) / 2), round((width - self.size[1]) / 2)
        return cropped(image, top, left, *self.size)


class Crop(ImageTransform):
    """A part of the image at a fixed place.

    Args:
        coordinates: (top, left).
        size: (height, width), or one number for both.

    Raises:
        RuntimeError: when it is called: the part reaches beyond the image.

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
        """The part of the array."""
        height, width = height_width(image)
        if self.top + self.size[0] > height or self.left + self.size[1] > width:
            raise RuntimeError(
                f"For 'Crop', the image of height {height} and width {width} does not contain the "
                f"{self.size} "
                f"pixels from ({self.top}, {self.left}) on."
            )
        return cropped(image, self.top, self.left, *self.size)

    pillow = ImageTransform.as_array


class ResizedCrop(ImageTransform):
    """A part of the image at a fixed place, in another size.

    Args:
        top: the first row.
        left: the first column.
        height: the rows of the part.
        width: the columns of the part.
        size: (height, width) of the result, or the length of its shorter side.
        interpolation: an :class:`Inter`.

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
        """The resized part."""
        return self.resize(self.crop(image))

    pillow = ImageTransform.as_array


class Pad(ImageTransform):
    """The image with margins.

    Args:
        padding: the width of the margins: one number, (left and right, top and bottom), or
            (left, top, right, bottom).
        fill_value: the level of a constant margin, or its red, green and blue.
        padding_mode: a :class:`Border`.

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
        self.fill = colour(fill_value, "Pad")
        self.mode = choice(padding_mode, Border, "Pad", "padding_mode")

    def array(self, image: Any) -> Any:
        """The array with margins."""
        return padded(image, self.padding, self.fill, self.mode)

    pillow = array


class PadToSize(ImageTransform):
    """The image with margins that give it a size.

    Args:
        size: (height, width), or one number for both.
        offset: (top, left) of the image in the result, or one number for both; in the middle by default.
        fill_value: the level of a constant margin, or its red, green and blue.
        padding_mode: a :class:`Border`.

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
        self.fill = colour(fill_value, "PadToSize")
        self.mode = choice(padding_mode, Border, "PadToSize", "padding_mode")

    def array(self, image: Any) -> Any:
        """The array with margins."""
        height, width = height_width(image)
        rows, columns = self.size[0] - height, self.size[1] - width
        top, left = (self.offset * 2)[:2] if self.offset else (rows // 2, columns // 2)
        if min(rows - top, columns - left) < 0:
            raise RuntimeError(
                f"For 'PadToSize', the image of height {height} and width {width} at ({top}, {left}) does "
                f"not "
                f"fit into {self.size}."
            )
        return padded(image, (left, top, columns - left, rows - top), self.fill, self.mode)

    pillow = array


class HorizontalFlip(ImageTransform):
    """Left and right exchanged.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.HorizontalFlip()(np.array([[1, 2]]))
    array([[2, 1]])
    """

    def array(self, image: Any) -> Any:
        """The mirror image."""
        return flipped(image)

    pillow = ImageTransform.as_array


class VerticalFlip(ImageTransform):
    """Top and bottom exchanged.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.VerticalFlip()(np.array([[1], [2]]))
    array([[2],
           [1]])
    """

    def array(self, image: Any) -> Any:
        """The mirror image."""
        return flipped(image, upside_down=True)

    pillow = ImageTransform.as_array


class Rotate(ImageTransform):
    """The image turned counter-clockwise.

    Args:
        degrees: the angle.
        resample: an :class:`Inter`.
        expand: whether the result grows until the whole turned image fits.
        center: the point (x, y) that stays; the middle by default.
        fill_value: the level of what no pixel covers, or its red, green and blue.

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
        self.fill = colour(fill_value, "Rotate")

    def array(self, image: Any) -> Any:
        """The turned array."""
        return rotated(image, self.degrees, self.resample, self.expand, self.center, self.fill)

    pillow = ImageTransform.as_array


class Affine(ImageTransform):
    """The image rotated, sheared, scaled and moved; its size stays.

    Args:
        degrees: the angle of the rotation, clockwise.
        translate: by which parts of width and height it moves to the right and down.
        scale: the factor.
        shear: the angle of a shear along x, or the angles along x and y, in degrees.
        resample: an :class:`Inter`.
        fill_value: the level of what no pixel covers, or its red, green and blue.

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
        self.fill = colour(fill_value, "Affine")

    def array(self, image: Any) -> Any:
        """The transformed array."""
        height, width = height_width(image)
        translation = (self.translate[0] * width, self.translate[1] * height)
        return affine(image, self.degrees, translation, self.scale, self.shear, self.resample, self.fill)

    pillow = ImageTransform.as_array


class Perspective(ImageTransform):
    """The image under the projective map that takes four points to four others.

    Args:
        start_points: the four points (x, y) in the image.
        end_points: where they come to lie.
        interpolation: an :class:`Inter`.

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
        """The transformed array."""
        return perspective(image, self.start, self.end, self.interpolation)

    pillow = array


class FiveCrop(ImageTransform):
    """The four corners and the middle of an image: top left, top right, bottom left, bottom right, middle.

    Args:
        size: (height, width) of the parts, or one number for both.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> print(*[part.item() for part in vision.FiveCrop(1)(np.arange(9).reshape(3, 3))])
    0 2 6 8 4
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = size_of(size, type(self).__name__)

    def array(self, image: Any) -> Any:
        """The five parts."""
        height, width = height_width(image)
        rows, columns = self.size
        if rows > height or columns > width:
            raise RuntimeError(
                f"For '{type(self).__name__}', parts of {self.size} do not fit into the image of height "
                f"{height} and width {width}."
            )
        starts = [(top, left) for top in (0, height - rows) for left in (0, width - columns)]
        starts.append((round((height - rows) / 2), round((width - columns) / 2)))
        return tuple(cropped(image, top, left, rows, columns) for top, left in starts)

    pillow = array


class TenCrop(FiveCrop):
    """The parts of :class:`FiveCrop`, and those of the mirror image.

    Args:
        size: (height, width) of the parts, or one number for both.
        use_vertical_flip: whether the mirror image exchanges top and bottom instead of left and right.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> print(*[part.item() for part in vision.TenCrop(1)(np.arange(4).reshape(2, 2))])
    0 1 2 3 0 1 0 3 2 1
    """

    def __init__(self, size: int | Sequence[int], use_vertical_flip: bool = False) -> None:
        super().__init__(size)
        self.upside_down = bool(use_vertical_flip)

    def array(self, image: Any) -> Any:
        """The ten parts."""
        return super().array(image) + super().array(flipped(image, self.upside_down))

    pillow = array


class SlicePatches(ImageTransform):
    """The image cut into a grid of patches, row by row.

    Args:
        num_height: the rows of the grid.
        num_width: its columns.
        slice_mode: whether an image that they do not divide is padded at the bottom and the right, or cut.
        fill_value: the level that it is padded with.

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
        self.fill = colour(fill_value, "SlicePatches")

    def array(self, image: np.ndarray) -> Any:
        """The patches, a tuple."""
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
