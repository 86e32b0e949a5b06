"""Image transforms derive from a class that applies them to arrays and to images of Pillow.

A transform of several columns draws its random numbers once, so that an image and its mask are cropped alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.dataset import pillow
from mindgrad.ir.tensor import Tensor

__all__ = ["ImageTransform", "height_width", "image_axes", "refuse_image"]


def refuse_image(name: str, requirement: str, image: np.ndarray) -> RuntimeError:
    """The error about an image that a transform cannot take."""
    return RuntimeError(
        f"For '{name}', the image must {requirement}, but got {image.dtype} of shape {image.shape}."
    )


def image_axes(image: np.ndarray) -> tuple[int, int]:
    """The axes of height and width of an image of shape (H, W) or (..., H, W, C)."""
    return (0, 1) if image.ndim == 2 else (image.ndim - 3, image.ndim - 2)


def height_width(image: Any) -> tuple[int, int]:
    """Height and width of an array or of an image of Pillow."""
    if pillow.is_pillow(image):
        return image.height, image.width
    rows, columns = image_axes(image)
    return image.shape[rows], image.shape[columns]


class ImageTransform:
    """Base class of transforms of images: arrays to arrays, PIL images to PIL images.

    Subclasses define ``array``, and ``pillow`` where Pillow has the transform itself; ``parameters`` draws
    what is random in it.
    """

    #: how many axes arrays have at least
    least_axes = 2
    #: whether ``array`` takes one image only; of a stack each is transformed by itself
    takes_one = False

    def parameters(self, image: Any) -> tuple[Any, ...]:
        """Return the random numbers for one row, drawn for its first image."""
        return ()

    def array(self, image: np.ndarray, *parameters: Any) -> Any:
        """Return the transform of an array."""
        raise NotImplementedError

    def pillow(self, image: Any, *parameters: Any) -> Any:
        """Return the transform of an image."""
        result = self.array(np.asarray(image), *parameters)
        return pillow.from_array(result, type(self).__name__) if isinstance(result, np.ndarray) else result

    def as_array(self, image: Any, *parameters: Any) -> Any:
        """Return the transform of an image as an array: for what Pillow's users are not offered."""
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
                f"For '{name}', the image must be an array or an image of Pillow, but got "
                f"{type(value).__name__}."
            )
        if value.ndim < self.least_axes:
            raise refuse_image(name, f"have at least {self.least_axes} axes", np.asarray(value))
        return np.asarray(value)

    def __call__(self, *images: Any) -> Any:
        """Return the transformed images."""
        if not images:
            raise TypeError(f"{type(self).__name__} takes an image, but got none")
        values = [self._image(image) for image in images]
        parameters = self.parameters(values[0])
        results = tuple(self._result(value, parameters) for value in values)
        return results if len(results) > 1 else results[0]
