"""Transforms that erase parts of images, or mix the images and labels of a batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.tensor import Tensor
from mindgrad.dataset.randomness import generator
from mindgrad.dataset.vision.arguments import choice, number, pair, probability, whole_number
from mindgrad.dataset.vision.choices import ImageBatchFormat
from mindgrad.dataset.vision.transform import ImageTransform, refuse_image

__all__ = ["CutMixBatch", "CutOut", "Erase", "MixUp", "MixUpBatch", "RandomErasing"]


class CutOut(ImageTransform):
    """Transform that sets squares at random positions to zero.

    Args:
        length (int): side length of each square in pixels. Squares are cropped at the border of the image.
        num_patches (int, optional): number of squares to set to zero. Default: ``1``.
        is_hwc (bool, optional): whether the channels are the last axis. ``False``: the channels are the first
            axis. Default: ``True``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.CutOut(9)(np.ones((3, 3, 1))).shape
    (3, 3, 1)
    """

    least_axes = 3

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True) -> None:
        self.length = whole_number(length, "CutOut", "length", 1)
        self.patches = whole_number(num_patches, "CutOut", "num_patches", 1)
        self.is_hwc = bool(is_hwc)

    def parameters(self, image: Any) -> tuple[list[tuple[slice, slice]]]:
        """Return the rows and columns of the squares."""
        height, width = np.shape(image)[:2] if self.is_hwc else np.shape(image)[-2:]
        draw = generator()
        squares = []
        for _ in range(self.patches):
            corners = (int(draw.integers(size)) - self.length // 2 for size in (height, width))
            rows, columns = (slice(max(start, 0), max(start + self.length, 0)) for start in corners)
            squares.append((rows, columns))
        return (squares,)

    def array(self, image: np.ndarray, squares: list[tuple[slice, slice]]) -> np.ndarray:
        """Return the array with the squares set to zero."""
        result = image.copy()
        for square in squares:
            result[square if self.is_hwc else (..., *square)] = 0
        return result


class Erase(ImageTransform):
    """Transform that sets a rectangle at a fixed position to a value.

    Args:
        top (int): index of the first row of the rectangle.
        left (int): index of the first column of the rectangle.
        height (int): number of rows of the rectangle.
        width (int): number of columns of the rectangle.
        value (float or list or tuple of float, optional): value of the pixels in the rectangle: one number,
            or one for each channel. Default: ``0.0``.
        inplace (bool, optional): accepted for compatibility; the result is always a new array. Default:
            ``False``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Erase(0, 1, 1, 9, 5)(np.zeros((1, 3, 1)))[..., 0]
    array([[0., 5., 5.]])
    """

    least_axes = 3

    def __init__(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        value: float | Sequence[float] = 0.0,
        inplace: bool = False,
    ) -> None:
        self.rows = slice(
            top, whole_number(top, "Erase", "top", 0) + whole_number(height, "Erase", "height", 1)
        )
        self.columns = slice(
            left, whole_number(left, "Erase", "left", 0) + whole_number(width, "Erase", "width", 1)
        )
        self.value = value

    def array(self, image: np.ndarray) -> np.ndarray:
        """Return the array with the rectangle set to the value."""
        result = image.copy()
        result[..., self.rows, self.columns, :] = self.value
        return result


class RandomErasing(ImageTransform):
    """Transform that sets a random rectangle to a value, with a given probability.

    Images have the shape (C, H, W).

    Args:
        prob (float, optional): probability that a rectangle is erased. Default: ``0.5``.
        scale (list or tuple of float, optional): smallest and largest area of the rectangle, as fractions of
            the image. Default: ``(0.02, 0.33)``.
        ratio (list or tuple of float, optional): smallest and largest ratio of height to width of the
            rectangle. Default: ``(0.3, 3.3)``.
        value (float, str, or list or tuple of float, optional): value of the pixels in the rectangle: one
            number, one for each channel, or ``"random"`` for normally distributed values. Default: ``0``.
        inplace (bool, optional): accepted for compatibility; the result is always a new array. Default:
            ``False``.
        max_attempts (int, optional): number of attempts to draw a rectangle that fits. After that, the image
            does not change. Default: ``10``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomErasing(0.0)(np.ones((1, 2, 2))).sum().item()
    4.0
    """

    least_axes = 3

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | str | Sequence[float] = 0,
        inplace: bool = False,
        max_attempts: int = 10,
    ) -> None:
        self.prob = probability(prob, "RandomErasing")
        self.scale, self.ratio = pair(scale, "RandomErasing", "scale"), pair(ratio, "RandomErasing", "ratio")
        if isinstance(value, str) and value != "random":
            raise ValueError(f"For 'RandomErasing', 'value' must be numbers or 'random', but got {value!r}.")
        self.value = value
        self.attempts = whole_number(max_attempts, "RandomErasing", "max_attempts", 1)

    def parameters(self, image: Any) -> tuple[tuple[slice, slice] | None]:
        """Return the rows and columns of the rectangle, or ``None``."""
        draw = generator()
        if draw.random() >= self.prob:
            return (None,)
        height, width = np.shape(image)[-2:]
        for _ in range(self.attempts):
            area = height * width * draw.uniform(*self.scale)
            ratio = math.exp(draw.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            rows, columns = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < rows < height and 0 < columns < width:
                top = int(draw.integers(height - rows + 1))
                left = int(draw.integers(width - columns + 1))
                return ((slice(top, top + rows), slice(left, left + columns)),)
        return (None,)

    def array(self, image: np.ndarray, rectangle: tuple[slice, slice] | None) -> np.ndarray:
        """Return the array with the rectangle set to the value."""
        if rectangle is None:
            return image
        result = image.copy()
        part = result[(..., *rectangle)]
        if isinstance(self.value, str):
            part[...] = generator().normal(size=part.shape)
        else:
            levels = np.asarray(self.value)
            part[...] = levels.reshape(-1, 1, 1) if levels.ndim else levels
        return result


# -- transforms of batches: MixUp and CutMix ---------------------------------------------------------


def _arrays(images: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    both = (value.asnumpy() if isinstance(value, Tensor) else np.asarray(value) for value in (images, labels))
    images, labels = both
    return images, labels


def _batch(images: Any, labels: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    images, labels = _arrays(images, labels)
    if images.ndim != 4:
        raise refuse_image(
            name, "be a batch of images, with four axes (use it after batch(...)), and it", images
        )
    if labels.ndim not in (2, 3) or len(labels) != len(images):
        raise RuntimeError(
            f"For '{name}', the labels must be one-hot vectors, one row for each of the {len(images)} "
            f"images, but have the shape {labels.shape}: use OneHot before batch(...)."
        )
    return images, labels


def _mixed_labels(labels: np.ndarray, others: np.ndarray, share: float) -> np.ndarray:
    return (share * labels + (1 - share) * others).astype(np.float32)


class MixUpBatch:
    """Transform that averages each image of a batch with another, with random weights.

    Labels are averaged, too.

    Args:
        alpha (float, optional): parameter of the distribution Beta(alpha, alpha) of the random weight of an
            image. Default: ``1.0``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> images, labels = vision.MixUpBatch()(np.ones((2, 4, 4, 3), np.float32), np.eye(2))
    >>> images.shape, labels.sum(1).round(5).tolist()
    ((2, 4, 4, 3), [1.0, 1.0])
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = number(alpha, "MixUpBatch", "alpha", np.nextafter(0, 1))

    def __call__(self, images: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the mixed images, in their dtype, and the mixed labels in float32."""
        images, labels = _batch(images, labels, "MixUpBatch")
        draw = generator()
        share, order = draw.beta(self.alpha, self.alpha), draw.permutation(len(images))
        mixed = share * images.astype(np.float32) + (1 - share) * images[order].astype(np.float32)
        return mixed.astype(images.dtype), _mixed_labels(labels, labels[order], share)


class CutMixBatch:
    """Transform that pastes a rectangle of another image of the batch into each image.

    Labels are weighted by area.

    Args:
        image_batch_format (ImageBatchFormat): order of the axes of the batch: NHWC or NCHW.
        alpha (float, optional): parameter of the distribution Beta(alpha, alpha), from which the area of the
            rectangle is drawn. Default: ``1.0``.
        prob (float, optional): probability of mixing each image of the batch. Default: ``1.0``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> cutmix = vision.CutMixBatch(vision.ImageBatchFormat.NHWC)
    >>> images, labels = cutmix(np.ones((2, 4, 4, 3), np.float32), np.eye(2))
    >>> images.shape, labels.sum(1).round(5).tolist()
    ((2, 4, 4, 3), [1.0, 1.0])
    """

    def __init__(self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0) -> None:
        self.format = choice(image_batch_format, ImageBatchFormat, "CutMixBatch", "image_batch_format")
        self.alpha = number(alpha, "CutMixBatch", "alpha", np.nextafter(0, 1))
        self.prob = probability(prob, "CutMixBatch")

    def __call__(self, images: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the mixed images, in their dtype, and the mixed labels in float32."""
        images, labels = _batch(images, labels, "CutMixBatch")
        draw = generator()
        rows_axis = 1 if self.format == ImageBatchFormat.NHWC else 2
        height, width = images.shape[rows_axis : rows_axis + 2]
        mixed, targets = images.copy(), labels.astype(np.float32)
        for i, other in enumerate(draw.permutation(len(images))):
            if draw.random() >= self.prob:
                continue
            side = math.sqrt(1 - draw.beta(self.alpha, self.alpha))
            centers = draw.integers([height, width])
            slices = []
            for center, size in zip(centers.tolist(), (height, width), strict=True):
                half = int(size * side) // 2
                slices.append(slice(max(center - half, 0), min(center + half, size)))
            region = (..., *slices, slice(None)) if rows_axis == 1 else (..., *slices)
            mixed[i][region] = images[other][region]
            area = math.prod(part.stop - part.start for part in slices)
            targets[i] = _mixed_labels(labels[i], labels[other], 1 - area / (height * width))
        return mixed, targets


class MixUp:
    """Transform that averages each image of a batch with another; labels are classes.

    Args:
        batch_size (int): number of images in a batch.
        alpha (float): parameter of the distribution Beta(alpha, alpha) of the random weight of an image.
        is_single (bool, optional): whether the other images are from the same batch. ``False``: from the
            previous batch. Default: ``True``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> images, labels = vision.MixUp(2, 1.0)(np.ones((2, 4, 4, 3), np.float32), np.eye(2))
    >>> images.shape, labels.shape
    ((2, 4, 4, 3), (2, 2))
    """

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True) -> None:
        self.batch_size = whole_number(batch_size, "MixUp", "batch_size", 1)
        self.alpha = number(alpha, "MixUp", "alpha", np.nextafter(0, 1))
        self.is_single = bool(is_single)
        self.before: tuple[np.ndarray, np.ndarray] | None = None

    def __call__(self, images: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the mixed images and labels."""
        images, labels = _arrays(images, labels)
        if len(images) != self.batch_size or len(labels) != self.batch_size:
            raise RuntimeError(
                f"For 'MixUp', 'batch_size' is {self.batch_size}, but there are {len(images)} images and "
                f"{len(labels)} labels."
            )
        draw = generator()
        share, order = draw.beta(self.alpha, self.alpha), draw.permutation(len(images))
        others = (images[order], labels[order])
        if not self.is_single:
            others, self.before = self.before or (images, labels), (images, labels)
        return tuple(
            share * own + (1 - share) * other for own, other in zip((images, labels), others, strict=True)
        )  # type: ignore[return-value]
