"""Conversions of images: file formats, PIL images, dtypes, axes, and scaling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.tensor import Tensor
from mindgrad.dataset import pillow
from mindgrad.dataset.vision.arguments import number
from mindgrad.dataset.vision.transform import ImageTransform, refuse_image

__all__ = [
    "HWC2CHW", "Decode", "LinearTransformation", "Normalize", "NormalizePad", "Rescale", "ToNumpy", "ToPIL",
    "ToTensor", "ToType",
]  # fmt: skip


class Decode:
    """Transform that decodes the bytes of an image file (JPEG, PNG, BMP, ...) to RGB.

    This transform requires Pillow.

    Args:
        to_pil (bool, optional): whether to return a PIL image instead of a uint8 array of shape (H, W, 3).
            Default: ``False``.

    Raises:
        TypeError: In a call, if ``data`` is not a 1-D array of bytes.
        RuntimeError: In a call, if ``data`` is not the content of an image file.

    >>> import io
    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> data = vision.encode_png(np.zeros((2, 3, 3), np.uint8))
    >>> vision.Decode()(data).shape
    (2, 3, 3)
    """

    def __init__(self, to_pil: bool = False) -> None:
        if not isinstance(to_pil, bool):
            raise TypeError(f"For 'Decode', 'to_pil' must be a bool, but got {to_pil!r}.")
        self.to_pil = to_pil

    def __call__(self, data: Any) -> Any:
        """Decode the bytes of an image file to an RGB image."""
        if isinstance(data, Tensor):
            data = data.asnumpy()
        if isinstance(data, np.ndarray):
            if data.ndim > 1:
                raise TypeError(
                    f"For 'Decode', encoded images have one axis, but got an array of shape {data.shape}. "
                    "An image that is already decoded does not need Decode."
                )
            data = data.tobytes()
        elif not isinstance(data, (bytes, bytearray)):
            raise TypeError(
                f"For 'Decode', encoded images are arrays of bytes, but got {type(data).__name__}."
            )
        image = pillow.decoded(data, "Decode")
        return image if self.to_pil else np.array(image)


class ToPIL:
    """Transform that converts an array of shape (H, W) or (H, W, C) to a PIL image.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.ToPIL()(np.zeros((2, 3, 3), np.uint8)).size
    (3, 2)
    """

    def __call__(self, image: Any) -> Any:
        """Convert an array to a PIL image."""
        if pillow.is_pillow(image):
            return image
        if isinstance(image, Tensor):
            image = image.asnumpy()
        if not isinstance(image, np.ndarray):
            raise TypeError(f"For 'ToPIL', the image must be an array, but got {type(image).__name__}.")
        return pillow.from_array(image, "ToPIL")


class ToNumpy:
    """Transform that converts a PIL image to an array of shape (H, W) or (H, W, C).

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.ToNumpy()(vision.ToPIL()(np.zeros((2, 3), np.uint8))).shape
    (2, 3)
    """

    def __call__(self, image: Any) -> np.ndarray:
        """Convert a PIL image to an array."""
        return np.array(image)


class HWC2CHW(ImageTransform):
    """Transform that moves the channels to the first axis.

    Arrays of shape (H, W) do not change.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.HWC2CHW()(np.zeros((4, 5, 3))).shape
    (3, 4, 5)
    """

    def array(self, image: np.ndarray) -> np.ndarray:
        """Return the array with its axes in another order."""
        return image if image.ndim == 2 else np.ascontiguousarray(np.moveaxis(image, -1, -3))

    pillow = ImageTransform.as_array


class ToTensor(ImageTransform):
    """Transform that moves the channels to the first axis and scales values by 1/255.

    Values from 0 to 255 become values from 0 to 1.

    Args:
        output_type (DType or numpy.dtype, optional): dtype of the result. Default: ``np.float32``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.ToTensor()(np.full((1, 2, 3), 255, np.uint8)).shape
    (3, 1, 2)
    """

    def __init__(self, output_type: Any = np.float32) -> None:
        if isinstance(output_type, str):
            raise TypeError(f"For 'ToTensor', 'output_type' must be a dtype, but got {output_type!r}.")
        self.output_type = as_dtype(output_type).numpy

    def array(self, image: np.ndarray) -> np.ndarray:
        """Move the channels of an array to the first axis, and multiply it by 1/255."""
        if image.ndim > 3:
            raise refuse_image("ToTensor", "be of shape (H, W) or (H, W, C)", image)
        channels = image[None] if image.ndim == 2 else np.moveaxis(image, -1, 0)
        values = channels.astype(np.float32) * np.float32(1 / 255)
        return np.ascontiguousarray(values.astype(self.output_type))

    pillow = ImageTransform.as_array


class ToType:
    """Transform that converts an array to another dtype.

    Args:
        data_type (DType or numpy.dtype): dtype of the result.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.ToType(np.float32)(np.array([1, 2]))
    array([1., 2.], dtype=float32)
    """

    def __init__(self, data_type: Any) -> None:
        self.data_type = as_dtype(data_type).numpy

    def __call__(self, image: Any) -> np.ndarray:
        """Convert an array to the other dtype."""
        if isinstance(image, Tensor):
            image = image.asnumpy()
        if not isinstance(image, np.ndarray):
            raise TypeError(f"For 'ToType', the image must be an array, but got {type(image).__name__}.")
        return image.astype(self.data_type)


class Rescale(ImageTransform):
    """Transform that computes values · ``rescale`` + ``shift``, in float32.

    Args:
        rescale (float): factor of the values.
        shift (float): number that is added after the multiplication.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Rescale(0.5, -1.0)(np.array([[2, 4]], np.uint8))
    array([[0., 1.]], dtype=float32)
    """

    least_axes = 0

    def __init__(self, rescale: float, shift: float) -> None:
        self.rescale = np.float32(number(rescale, "Rescale", "rescale"))
        self.shift = np.float32(number(shift, "Rescale", "shift"))

    def array(self, image: np.ndarray) -> np.ndarray:
        """Multiply an array by ``rescale``, and add ``shift``."""
        return image.astype(np.float32) * self.rescale + self.shift

    pillow = ImageTransform.as_array


class Normalize(ImageTransform):
    """Transform that computes (x − mean) / std for each channel, in float32.

    Args:
        mean (list or tuple of float): means to subtract, from 0 to 255: one for each channel, or one for all
            channels.
        std (list or tuple of float): standard deviations, one for each element of ``mean``, greater than 0
            and at most 255.
        is_hwc (bool, optional): whether the channels are the last axis. ``False``: the channels are the axis
            before height and width. Default: ``True``.

    Raises:
        ValueError: If an element of ``mean`` or ``std`` is out of range, or ``mean`` and ``std`` differ in
            length.
        RuntimeError: In a call, if the number of channels of the image differs from the length of ``mean``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.Normalize([1.0, 2.0], [2.0, 4.0])(np.array([[[3.0, 6.0]]]))
    array([[[1., 1.]]], dtype=float32)
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], is_hwc: bool = True) -> None:
        name = type(self).__name__
        for values, argument in ((mean, "mean"), (std, "std")):
            if not isinstance(values, (list, tuple)):
                raise TypeError(f"For '{name}', '{argument}' must be a list of numbers, but got {values!r}.")
        if len(mean) != len(std) or not mean:
            raise ValueError(
                f"For '{name}', 'mean' and 'std' must have the same length, but got {len(mean)} "
                f"and {len(std)}."
            )
        self.mean = np.array([number(level, name, "mean", 0, 255) for level in mean], np.float32)
        self.std = np.array([number(level, name, "std", 0, 255) for level in std], np.float32)
        if not self.std.all():
            raise ValueError(f"For '{name}', 'std' must be above 0, but got {std!r}.")
        self.is_hwc = bool(is_hwc)

    def array(self, image: np.ndarray) -> np.ndarray:
        """Normalize each channel of an array."""
        axis = -1 if self.is_hwc else -3
        channels = image.shape[axis] if image.ndim > 2 else 1
        if len(self.mean) not in (1, channels):
            raise refuse_image(
                type(self).__name__,
                f"have {len(self.mean)} channels, one for each number in 'mean', at its "
                f"{'last axis' if self.is_hwc else 'third axis from the end'}",
                image,
            )
        if image.ndim == 2:
            mean, std = self.mean[0], self.std[0]
        else:
            tail = () if self.is_hwc else (1, 1)
            mean, std = self.mean.reshape(-1, *tail), self.std.reshape(-1, *tail)
        return (image.astype(np.float32) - mean) / std

    pillow = ImageTransform.as_array


class NormalizePad(Normalize):
    """:class:`Normalize` with an additional last channel of zeros.

    Args:
        mean (list or tuple of float): means to subtract, one for each channel, from 0 to 255.
        std (list or tuple of float): standard deviations, one for each element of ``mean``, greater than 0
            and at most 255.
        dtype (str, optional): dtype of the result, ``"float32"`` or ``"float16"``. Default: ``"float32"``.
        is_hwc (bool, optional): whether the channels are the last axis. ``False``: the channels are the axis
            before height and width. Default: ``True``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.NormalizePad([1.0], [2.0])(np.full((1, 1, 1), 3.0))
    array([[[1., 0.]]], dtype=float32)
    """

    def __init__(
        self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32", is_hwc: bool = True
    ) -> None:
        super().__init__(mean, std, is_hwc)
        if dtype not in ("float32", "float16"):
            raise ValueError(f"For 'NormalizePad', 'dtype' must be float32 or float16, but got {dtype!r}.")
        self.dtype = np.dtype(dtype)

    def array(self, image: np.ndarray) -> np.ndarray:
        """Normalize each channel of an array, and add a channel of zeros."""
        values = super().array(image if image.ndim > 2 else image[..., None])
        widths = [(0, 0)] * values.ndim
        widths[-1 if self.is_hwc else -3] = (0, 1)
        return np.pad(values, widths).astype(self.dtype)


class LinearTransformation(ImageTransform):
    """Transform that multiplies the flattened image: (x − mean)·M.

    The result has the shape of the image.

    Args:
        transformation_matrix (numpy.ndarray): matrix M of shape (n, n), for an image of n elements.
        mean_vector (numpy.ndarray): vector of shape (n,) that is subtracted from the flattened image.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.LinearTransformation(2 * np.eye(2), np.ones(2))(np.array([[[1.0, 2.0]]]))
    array([[[0., 2.]]])
    """

    def __init__(self, transformation_matrix: np.ndarray, mean_vector: np.ndarray) -> None:
        self.matrix, self.mean = np.asarray(transformation_matrix), np.asarray(mean_vector)
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise ValueError(
                f"For 'LinearTransformation', 'transformation_matrix' must be square, but has the shape "
                f"{self.matrix.shape}."
            )
        if self.mean.shape != self.matrix.shape[:1]:
            raise ValueError(
                f"For 'LinearTransformation', 'mean_vector' must have the shape {self.matrix.shape[:1]}, but "
                f"has {self.mean.shape}."
            )

    def array(self, image: np.ndarray) -> np.ndarray:
        """Multiply the flattened array, minus the mean, by the matrix."""
        if image.size != len(self.mean):
            raise refuse_image("LinearTransformation", f"have {len(self.mean)} values", image)
        return ((image.reshape(-1) - self.mean) @ self.matrix).reshape(image.shape)
