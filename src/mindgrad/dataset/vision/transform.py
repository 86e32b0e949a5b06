"""``ImageTransform``, the base class of image transforms.

The base class applies a transform to arrays and to PIL images. If there are several columns, random numbers
are drawn once for all of them, so that an image and its mask are cropped in the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.tensor import Tensor
from mindgrad.dataset import pillow

__all__ = ["ImageTransform", "height_width", "image_axes", "refuse_image"]


def refuse_image(name: str, requirement: str, image: np.ndarray) -> RuntimeError:
    """Return the error about an image that a transform does not support."""
    return RuntimeError(
        f"For '{name}', the image must {requirement}, but got {image.dtype} of shape {image.shape}."
    )


def image_axes(image: np.ndarray) -> tuple[int, int]:
    """Return the axes of height and width of an image (H, W) or (..., H, W, C)."""
    return (0, 1) if image.ndim == 2 else (image.ndim - 3, image.ndim - 2)


def height_width(image: Any) -> tuple[int, int]:
    """Return the height and width of an array or PIL image."""
    if pillow.is_pillow(image):
        return image.height, image.width
    rows, columns = image_axes(image)
    return image.shape[rows], image.shape[columns]


class ImageTransform:
    """Base class of transforms of images: arrays to arrays, PIL images to PIL images.

    A subclass defines ``array``. It defines ``pillow`` if Pillow has the transform, and ``parameters`` if the
    transform draws random numbers.
    """

    #: minimum number of axes of an image array
    least_axes = 2
    #: whether the method ``array`` accepts only a single image. If so, it is called once for each image of a
    #: stack
    takes_one = False

    def parameters(self, image: Any) -> tuple[Any, ...]:
        """Draw the random parameters for one sample. ``image`` is its first image."""
        return ()

    def array(self, image: np.ndarray, *parameters: Any) -> Any:
        """Transform an array, with the result of :meth:`parameters` for the sample."""
        raise NotImplementedError

    def pillow(self, image: Any, *parameters: Any) -> Any:
        """Transform a PIL image and return a PIL image."""
        result = self.array(np.asarray(image), *parameters)
        return pillow.from_array(result, type(self).__name__) if isinstance(result, np.ndarray) else result

    def as_array(self, image: Any, *parameters: Any) -> Any:
        """Transform a PIL image and return an array, for transforms without PIL results."""
        return self.array(np.asarray(image), *parameters)

    def _result(self, value: Any, parameters: tuple[Any, ...]) -> Any:
        if pillow.is_pillow(value):
            return self.pillow(value, *parameters)
        if self.takes_one and value.ndim > 3:
            return np.stack([self._result(image, parameters) for image in value])
        return self.array(value, *parameters)

    def _image(self, value: Any) -> Any:
        if pillow.is_pillow(value):
            return value
        if isinstance(value, Tensor):
            value = value.asnumpy()
        name = type(self).__name__
        if not isinstance(value, (np.ndarray, np.generic)):
            raise TypeError(
                f"For '{name}', the image must be an array or a PIL image, but got {type(value).__name__}."
            )
        if value.ndim < self.least_axes:
            raise refuse_image(name, f"have at least {self.least_axes} axes", np.asarray(value))
        return np.asarray(value)

    def __call__(self, *images: Any) -> Any:
        """Transform one or several images, all with the same parameters."""
        if not images:
            raise TypeError(f"{type(self).__name__} takes an image, but got none")
        values = [self._image(image) for image in images]
        parameters = self.parameters(values[0])
        results = tuple(self._result(value, parameters) for value in values)
        return results if len(results) > 1 else results[0]
