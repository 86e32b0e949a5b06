"""Power-mean pooling, fractional pooling, and the inverse of maximum pooling."""

from __future__ import annotations

import math as _math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import int64
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.indexing import scatter_set
from mindgrad.ops import arithmetic, rounding
from mindgrad.ops.arguments import one_or_more, whole_number
from mindgrad.ops.convolution import per_axis
from mindgrad.ops.extremes import max as _greatest
from mindgrad.ops.indexing import gather_elements
from mindgrad.ops.layout import expand_dims, reshape
from mindgrad.ops.operands import broadcast_to, cast, choose, operand
from mindgrad.ops.pool_windows import avg_pooled
from mindgrad.ops.random import rand
from mindgrad.ops.reduction import flag

__all__ = [
    "fractional_max_pool2d", "fractional_max_pool3d", "lp_pool1d", "lp_pool2d", "max_unpool1d",
    "max_unpool2d", "max_unpool3d",
]  # fmt: skip

# --- unpooling: the inverse of maximum pooling -----------------------------------------------------------


def _unpooled_sizes(
    operator: str, axes: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[int, ...]:
    kernel = per_axis(kernel_size, axes, operator, "kernel_size", 1)
    unset = stride is None or stride == 0
    steps = kernel if unset else per_axis(stride, axes, operator, "stride", 1)
    around = per_axis(padding, axes, operator, "padding", 0)
    usual = [
        (n - 1) * s - 2 * p + k for n, k, s, p in zip(x.shape[-axes:], kernel, steps, around, strict=True)
    ]
    if output_size is None or output_size == ():
        return tuple(usual)
    if not isinstance(output_size, tuple) or len(output_size) not in (axes, axes + 1, axes + 2):
        raise ValueError(
            f"For '{operator}', the 'output_size' must be a tuple of {axes} ints, or a whole shape, but got "
            f"{output_size!r}."
        )
    sizes = tuple(whole_number(n, operator, "output_size", 1) for n in output_size[-axes:])
    if any(abs(n - m) > s for n, m, s in zip(sizes, usual, steps, strict=True)):
        raise ValueError(
            f"For '{operator}', the 'output_size' may differ by at most one stride per axis from "
            f"{tuple(usual)}, but got {sizes}."
        )
    return sizes


_UNPOOL = """Invert :func:`max_pool{axes}d`: put maxima at their indices, and 0 elsewhere.

    Args:
        x (Tensor): maxima of the windows, of shape (n, c, …) or (c, …).
        indices (Tensor): flat index of each maximum over the pooled axes, as returned by
            :func:`max_pool{axes}d`. Integer tensor with the shape of ``x``.
        kernel_size (int or tuple of int): window size of the pooling to invert.
        stride (int, tuple of int, or None): step between neighboring windows of the pooling to invert.
            ``None`` means ``kernel_size``.
        padding (int or tuple of int): padding of the pooling to invert.
        output_size (tuple of int or None): sizes of the pooled axes of the result, or its whole shape.
            ``None`` means the smallest sizes for which the pooling has as many windows as ``x`` has maxima.

    Returns:
        Tensor with the dtype of ``x``: the maxima at their indices, and 0 elsewhere.

    Raises:
        TypeError: If ``x`` is not a tensor, or ``indices`` is not an integer tensor.
        ValueError: If ``x`` and ``indices`` have different shapes, an argument is out of range, or
            ``output_size`` differs from the default by more than one stride.

    >>> from mindgrad import Tensor, ops
    >>> x = ops.arange(1, {count} + 1).astype("float32").reshape({shape})
    >>> maxima, places = ops.max_pool{axes}d(x, 2, return_indices=True)
    >>> print(ops.max_unpool{axes}d(maxima, places, 2).flatten())
    {prints}
    """


def _max_unpool(axes: int, shape: tuple[int, ...], prints: str) -> Callable[..., Tensor]:
    operator = f"MaxUnpool{axes}D"

    def function(
        x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Tensor:
        x, places = operand(x, operator), operand(indices, operator)
        if places.dtype.kind not in ("int", "uint"):
            raise TypeError(
                f"For '{operator}', the 'indices' must be integers, but the dtype is {places.dtype}."
            )
        if x.shape != places.shape or x.ndim not in (axes + 1, axes + 2):
            raise ValueError(
                f"For '{operator}', the input must have {axes + 2} axes (or {axes + 1}, without a batch) and "
                f"the shape of the 'indices', but the shapes are {x.shape} and {places.shape}."
            )
        sizes = _unpooled_sizes(operator, axes, x, kernel_size, stride, padding, output_size)
        first = x.shape[:-axes]
        count = _math.prod(first)
        zeros = Tensor(np.zeros((count, _math.prod(sizes)), x.dtype.numpy))
        written = apply(
            scatter_set,
            zeros,
            reshape(places, (count, -1, 1)),
            reshape(x, (count, -1)),
            axes=(1,),
            batch=(0,),
        )
        return reshape(written, (*first, *sizes))

    function.__name__ = function.__qualname__ = f"max_unpool{axes}d"
    function.__doc__ = _UNPOOL.format(axes=axes, count=_math.prod(shape), shape=shape, prints=prints)
    return function


max_unpool1d = _max_unpool(1, (1, 1, 4), "[0. 2. 0. 4.]")
max_unpool2d = _max_unpool(2, (1, 1, 2, 4), "[0. 0. 0. 0. 0. 6. 0. 8.]")
max_unpool3d = _max_unpool(3, (1, 1, 2, 2, 2), "[0. 0. 0. 0. 0. 0. 0. 8.]")

# --- power pooling ---------------------------------------------------------------------------------------

_POWER = """Compute the power sum (Σ xᵖ)^(1/p) of each window, with p = ``norm_type``.

    Args:
        x (Tensor): real tensor of shape (n, c, …), or (c, …).
        norm_type (int or float): the power p, not zero; an odd power requires nonnegative elements.
        kernel_size (int or tuple of int): size of a window.
        stride (int, tuple of int, or None): step between neighboring windows. ``None`` means
            ``kernel_size``.
        ceil_mode (bool): whether the last window may extend past the edge. The sum
            of a truncated window is scaled to ``kernel_size``.

    Returns:
        Tensor with the dtype of ``x``.

    Raises:
        TypeError: If ``x`` is not a real tensor, or ``norm_type`` is not a number.
        ValueError: If ``norm_type`` is 0, or no window fits.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.lp_pool{axes}d({example}, 1, 2).flatten())
    {prints}
    """


def _lp_pool(axes: int, example: str, prints: str) -> Callable[..., Tensor]:
    operator = f"LPPool{axes}D"

    def function(
        x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Tensor:
        if isinstance(norm_type, bool) or not isinstance(norm_type, (int, float)):
            raise TypeError(f"For '{operator}', the 'norm_type' must be a number, but got {norm_type!r}.")
        if norm_type == 0:
            raise ValueError(f"For '{operator}', the 'norm_type' must not be 0.")
        kernel = per_axis(kernel_size, axes, operator, "kernel_size", 1)
        powers = arithmetic.pow(operand(x, operator), float(norm_type))
        mean = avg_pooled(operator, axes, powers, kernel, stride, "pad", 0, ceil_mode)
        return arithmetic.pow(arithmetic.mul(mean, float(_math.prod(kernel))), 1.0 / norm_type)

    function.__name__ = function.__qualname__ = f"lp_pool{axes}d"
    function.__doc__ = _POWER.format(axes=axes, example=example, prints=prints)
    return function


lp_pool1d = _lp_pool(1, "Tensor([[[1.0, 2.0, 3.0, 4.0]]])", "[3. 7.]")
lp_pool2d = _lp_pool(2, "Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])", "[10.]")

# --- fractional pooling: windows at random positions -------------------------------------------------------

_FRACTIONAL = """Return the largest element of each of several windows at random positions.

    A random number u is drawn for each axis. If an axis of n elements has m windows of k elements, window i
    begins at ⌊(i + u) a⌋ − ⌊u a⌋ with a = (n − k) / (m − 1), and the last window begins at n − k (B. Graham,
    "Fractional max-pooling", 2014).

    Args:
        input (Tensor): real tensor of shape (n, c, …), or (c, …).
        kernel_size (int or tuple of int): size of a window, one for all axes or one for each.
        output_size (int, tuple of int, or None): number of windows.
        output_ratio (float, tuple of float, or None): number of windows divided by the number of
            elements of the axis, an alternative to ``output_size``.
        return_indices (bool): whether to also return the index of each maximum in the pooled
            axes.
        _random_samples (Tensor or None): u, between 0 and 1, of shape (n, c, {axes}). ``None``
            draws them.

    Returns:
        Tensor of the maxima. With ``return_indices``, a tuple of this tensor and the int64 tensor of indices.

    Raises:
        TypeError: If ``input`` is not a tensor, or an argument has the wrong type.
        ValueError: If ``input`` has a different number of axes, windows do not fit, or neither
            ``output_size`` nor ``output_ratio`` is given.

    >>> from mindgrad import ops
    >>> ops.fractional_max_pool{axes}d(ops.ones({shape}), 2, output_size=3).shape
    {prints}
    """


def _starts(u: Any, size: int, kernel: int, count: int) -> Tensor:
    """Return the starts of the windows of one axis, of shape (n, c, count)."""
    if count == 1:
        return cast(arithmetic.add(arithmetic.mul(u.expand_dims(-1), 0.0), float(size - kernel)), int64)
    step = (size - kernel) / (count - 1)
    number = Tensor(np.arange(count), u.dtype)
    wave: Any = rounding.floor(u * step)
    places = arithmetic.sub(rounding.floor((number + u.expand_dims(-1)) * step), wave.expand_dims(-1))
    last = Tensor(np.arange(count) == count - 1)
    return cast(choose(last, Tensor(size - kernel, u.dtype), places), int64)


def _fractional(axes: int, shape: tuple[int, ...], prints: str) -> Callable[..., Any]:
    operator = f"FractionalMaxPool{axes}D"

    def function(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        x = operand(input, operator)
        if x.ndim not in (axes + 1, axes + 2):
            raise ValueError(
                f"For '{operator}', the input must have {axes + 2} axes, but its shape is {x.shape}."
            )
        sizes, first = x.shape[-axes:], x.shape[:-axes]
        kernel = per_axis(kernel_size, axes, operator, "kernel_size", 1)
        if output_size is None and output_ratio is None:
            raise ValueError(f"For '{operator}', 'output_size' or 'output_ratio' must be given.")
        if output_size is None:
            ratios = one_or_more(output_ratio)
            ratios = ratios * axes if len(ratios) == 1 else ratios
            output_size = tuple(int(n * ratio) for n, ratio in zip(sizes, ratios, strict=True))
        counts = per_axis(output_size, axes, operator, "output_size", 1)
        if any(m + k - 1 > n for m, k, n in zip(counts, kernel, sizes, strict=True)):
            raise ValueError(
                f"For '{operator}', {counts} windows of {kernel} elements do not fit into an input of shape "
                f"{x.shape}."
            )
        batch = (1,) * (2 - len(first)) + tuple(first)
        u: Any = rand(*batch, axes) if _random_samples is None else operand(_random_samples, operator)
        u = broadcast_to(u, (*batch, axes))
        places: Any = 0
        for k in range(axes):
            starts: Any = expand_dims(_starts(u[:, :, k], sizes[k], kernel[k], counts[k]), -1)
            steps: Any = starts + Tensor(np.arange(kernel[k]))
            # the output axes come before the window axes in the broadcast
            spread = [1] * (2 * axes)
            spread[k], spread[axes + k] = counts[k], kernel[k]
            places = places * sizes[k] + reshape(steps, (*batch, *spread))
        whole = (*batch, *counts, *kernel)
        places = reshape(broadcast_to(places, whole), (*first, _math.prod(counts), _math.prod(kernel)))
        flat = reshape(x, (*first, -1))
        windows = gather_elements(flat, flat.ndim - 1, reshape(places, (*first, -1)))
        values, best = _greatest(reshape(windows, places.shape), places.ndim - 1)
        maxima = reshape(values, (*first, *counts))
        if not flag(return_indices, operator, "return_indices"):
            return maxima
        chosen = gather_elements(places, places.ndim - 1, expand_dims(cast(best, int64), -1))
        return maxima, reshape(chosen, (*first, *counts))

    function.__name__ = function.__qualname__ = f"fractional_max_pool{axes}d"
    function.__doc__ = _FRACTIONAL.format(axes=axes, shape=shape, prints=prints)
    return function


fractional_max_pool2d = _fractional(2, (1, 2, 7, 7), "(1, 2, 3, 3)")
fractional_max_pool3d = _fractional(3, (1, 2, 7, 7, 7), "(1, 2, 3, 3, 3)")
