"""Image metrics (PSNR, SSIM), image gradients, central crops, and windows."""

from __future__ import annotations

import math as _math
from typing import Any

import numpy as np

from mindgrad._base.checks import of_type
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.hyperparameters import positive, positive_int
from mindgrad.ops import arithmetic, math, movement
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import check_axes
from mindgrad.ops.convolution import conv2d
from mindgrad.ops.im2col import patches
from mindgrad.ops.layout import reshape
from mindgrad.ops.losses import operands_of_one_shape
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.padding import padded
from mindgrad.ops.reduction import mean

__all__ = ["PSNR", "SSIM", "CentralCrop", "ImageGradients", "Unfold"]


def _images(owner: str, img1: Any, img2: Any) -> tuple[Tensor, Tensor]:
    first, second = operands_of_one_shape(owner, img1=img1, img2=img2)
    check_axes(first, "(n, c, h, w)", owner, "images")
    if not first.dtype.is_inexact:
        first, second = cast(first, float32), cast(second, float32)
    return first, second


class PSNR(Cell):
    """Peak signal-to-noise ratio of two images in decibels.

    The ratio is 10 log₁₀(max² / mean (x − y)²). For equal images, the ratio and its derivative are infinite.

    Args:
        max_val (float): maximum possible value of a pixel.

    Inputs:
        img1, img2 (Tensor): real tensors of the same shape (n, c, h, w).

    Outputs:
        Tensor of shape (n,).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If the images are not of the same shape (n, c, h, w), or ``max_val`` is not positive.

    >>> from mindgrad import Tensor, nn, ops
    >>> print(f"{nn.PSNR()(ops.zeros((1, 1, 2, 2)), ops.full((1, 1, 2, 2), 0.1))[0]:.2f}")
    20.00
    """

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        self.max_val = positive("PSNR", "max_val", max_val)

    def construct(self, img1: Any, img2: Any) -> Tensor:
        one, two = _images("PSNR", img1, img2)
        noise = mean(math.square(arithmetic.sub(one, two)), (1, 2, 3))
        return arithmetic.mul(math.log10(arithmetic.div(self.max_val**2, noise)), 10.0)


class SSIM(Cell):
    """Structural similarity of two images; 1 if they are equal.

    The similarity (Z. Wang et al., 2004) is computed from means μ and covariances σ of windows::

        SSIM = mean of (2 μₓμᵧ + c₁)(2 σₓᵧ + c₂) / ((μₓ² + μᵧ² + c₁)(σₓ² + σᵧ² + c₂))

    The mean is over channels and windows. Within a window, elements are weighted by a Gaussian,
    and cᵢ = (kᵢ · ``max_val``)².

    Args:
        max_val (float): maximum possible value of a pixel.
        filter_size (int): height and width of a window.
        filter_sigma (float): standard deviation of the Gaussian in pixels.
        k1 (float): constant k₁ in the formula, between 0 and 1.
        k2 (float): constant k₂ in the formula, between 0 and 1.

    Inputs:
        img1, img2 (Tensor): real tensors of the same shape (n, c, h, w), not smaller than a window.

    Outputs:
        Tensor of shape (n,).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, or the images differ in shape or are smaller than a
            window.

    >>> from mindgrad import nn, ops
    >>> x = ops.ones((1, 2, 12, 12))
    >>> print(nn.SSIM()(x, x))
    [1.]
    """

    def __init__(
        self,
        max_val: float = 1.0,
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__()
        self.max_val = positive("SSIM", "max_val", max_val)
        self.filter_size = positive_int("SSIM", "filter_size", filter_size)
        self.filter_sigma = positive("SSIM", "filter_sigma", filter_sigma)
        self.k1, self.k2 = positive("SSIM", "k1", k1), positive("SSIM", "k2", k2)
        if max(self.k1, self.k2) >= 1:
            raise ValueError(f"For 'SSIM', 'k1' and 'k2' must be below 1, but they are {k1} and {k2}.")

    def construct(self, img1: Any, img2: Any) -> Tensor:
        x, y = _images("SSIM", img1, img2)
        side = self.filter_size
        if min(x.shape[2:]) < side:
            raise ValueError(
                f"For 'SSIM', images must not be smaller than the window of {side} × {side}, but their "
                f"shape is {x.shape}."
            )
        square = arithmetic.mul
        first, second = self._blurred(x), self._blurred(y)
        both = square(first, second)
        squares = arithmetic.add(square(first, first), square(second, second))
        covariance = arithmetic.sub(self._blurred(square(x, y)), both)
        variances = arithmetic.sub(self._blurred(arithmetic.add(square(x, x), square(y, y))), squares)
        c1, c2 = (self.k1 * self.max_val) ** 2, (self.k2 * self.max_val) ** 2
        above = square(arithmetic.add(square(both, 2.0), c1), arithmetic.add(square(covariance, 2.0), c2))
        below = square(arithmetic.add(squares, c1), arithmetic.add(variances, c2))
        return mean(arithmetic.div(above, below), (1, 2, 3))

    def _blurred(self, x: Tensor) -> Tensor:
        """Compute the weighted mean of each window, along rows and then columns."""
        n, c, h, w = x.shape
        at = np.arange(self.filter_size) - (self.filter_size - 1) / 2
        weights = np.exp(-0.5 * (at / self.filter_sigma) ** 2)
        weights = cast(Tensor((weights / weights.sum()).astype(np.float64)), x.dtype)
        x = reshape(x, (n * c, 1, h, w))
        x = conv2d(x, reshape(weights, (1, 1, self.filter_size, 1)))
        x = conv2d(x, reshape(weights, (1, 1, 1, self.filter_size)))
        return reshape(x, (n, c, *x.shape[2:]))


class ImageGradients(Cell):
    """Differences of neighboring pixels along height and width.

    Args:
        *args, **kwargs (Any): arguments of :class:`mindgrad.nn.Cell`.

    Inputs:
        images (Tensor): real tensor of shape (n, c, h, w).

    Outputs:
        Two tensors with the shape of ``images``: dy and dx. The last row of dy and the last
        column of dx are 0.

    Raises:
        ValueError: If ``images`` does not have 4 axes.

    >>> from mindgrad import Tensor, nn
    >>> dy, dx = nn.ImageGradients()(Tensor([[[[1.0, 2.0], [4.0, 8.0]]]]))
    >>> print(dy[0, 0], dx[0, 0])
    [[3. 6.]
     [0. 0.]] [[1. 0.]
     [4. 0.]]
    """

    def construct(self, images: Any) -> tuple[Tensor, Tensor]:
        x = real_operand(images, "ImageGradients")
        if x.ndim != 4:
            raise ValueError(
                "For 'ImageGradients', the images must have the shape (n, c, h, w), but their shape is "
                f"{x.shape}."
            )
        gradients = []
        for axis in (2, 3):
            size = x.shape[axis]
            step = arithmetic.sub(
                movement.slice_axis(x, axis, 1, size), movement.slice_axis(x, axis, 0, size - 1)
            )
            gradients.append(padded(step, [(0, int(k == axis)) for k in range(4)], "constant"))
        return gradients[0], gradients[1]


class CentralCrop(Cell):
    """Crop the central part of images.

    Args:
        central_fraction (float): fraction of height and width to keep, in (0, 1].

    Inputs:
        image (Tensor): tensor of shape (c, h, w) or (n, c, h, w).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``central_fraction`` is not in (0, 1], or ``image`` has neither 3 nor 4 axes.

    >>> from mindgrad import nn, ops
    >>> nn.CentralCrop(0.5)(ops.ones((1, 3, 4, 8))).shape
    (1, 3, 2, 4)
    """

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        self.central_fraction = positive("CentralCrop", "central_fraction", central_fraction)
        if self.central_fraction > 1:
            raise ValueError(
                f"For 'CentralCrop', the 'central_fraction' must be at most 1, but got {central_fraction}."
            )

    def construct(self, image: Any) -> Tensor:
        x = operand(image, "CentralCrop")
        if x.ndim not in (3, 4):
            raise ValueError(
                "For 'CentralCrop', the image must have the shape (c, h, w) or (n, c, h, w), but its "
                f"shape is {x.shape}."
            )
        for axis in (x.ndim - 2, x.ndim - 1):
            size = x.shape[axis]
            start = _math.floor((size - size * self.central_fraction) / 2)
            x = movement.slice_axis(x, axis, start, size - start)
        return x


class Unfold(Cell):
    """Extract sliding windows of images as channels.

    Channels are in the order: row of the window, column of the window, input channel.
    :func:`mindgrad.ops.unfold` returns windows as columns, channel by channel.

    Args:
        ksizes (tuple or list of int): ``(1, height, width, 1)``, the size of a window.
        strides (tuple or list of int): ``(1, rows, columns, 1)``, the distances between neighboring windows.
        rates (tuple or list of int): ``(1, rows, columns, 1)``, the distances between neighboring elements of
            a window.
        padding (str): ``"valid"`` (no padding), or ``"same"`` (zeros around the image, so that there are
            ⌈size / stride⌉ windows).

    Inputs:
        input_x (Tensor): tensor of shape (n, c, h, w).

    Outputs:
        Tensor of shape (n, height · width · c, windows in a column, windows in a row).

    Raises:
        TypeError: If an argument is not a tuple or list of ints.
        ValueError: If ``ksizes``, ``strides``, or ``rates`` does not have the documented form, ``padding`` is
            unknown, or ``input_x`` is not of shape (n, c, h, w).

    >>> from mindgrad import nn, ops
    >>> nn.Unfold((1, 2, 2, 1), (1, 2, 2, 1), (1, 1, 1, 1))(ops.ones((1, 3, 4, 6))).shape
    (1, 12, 2, 3)
    """

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid") -> None:
        super().__init__()
        if padding not in ("valid", "same", "VALID", "SAME"):
            raise ValueError(f"For 'Unfold', the 'padding' must be 'valid' or 'same', but got {padding!r}.")
        self.padding = padding.lower()
        self.ksizes = _inner("ksizes", ksizes)
        self.strides = _inner("strides", strides)
        self.rates = _inner("rates", rates)

    def construct(self, input_x: Any) -> Tensor:
        return patches(input_x, self.ksizes, self.strides, self.rates, self.padding)


def _inner(name: str, value: Any) -> tuple[int, int]:
    of_type(value, (tuple, list), "Unfold", name, "a tuple or list")
    if len(value) != 4 or value[0] != 1 or value[3] != 1:
        raise ValueError(
            f"For 'Unfold', the '{name}' must have the form (1, row, column, 1), but got {value}."
        )
    return value[1], value[2]
