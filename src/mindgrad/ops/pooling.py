"""Pooling functions: maximum or average of windows over one, two, or three axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.pool_windows import adaptive_avg, adaptive_max, avg_pooled, max_pooled, pool_windows
from mindgrad.ops.registry import public

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d",
    "max_pool2d", "max_pool3d",
]  # fmt: skip

_WORDS = ("", "one axis", "two axes", "three axes")
_LETTERS = ("", "w", "h, w", "d, h, w")

_MAX = """Return the largest element of each window over {words}.

    The derivative flows to the first of equal elements.

    Args:
        x (Tensor): real tensor of shape (n, c, {letters}), or (c, {letters}).
        kernel_size (int or tuple of int): size of a window: one int for all axes, or one for each axis.
        stride (int, tuple of int, or None): step between neighboring windows. ``None`` means
            ``kernel_size``.
        padding (int or tuple of int): number of −∞ elements to add around the input, at most half
            a window.
        dilation (int or tuple of int): spacing between the elements of a window.
        return_indices (bool): whether to also return the flat index of each maximum over the pooled axes.
        ceil_mode (bool): whether the last window may extend past the edge.

    Returns:
        Tensor of the maxima. With ``return_indices``, a tuple of this tensor and the int64 tensor of indices.

    Raises:
        TypeError: If ``x`` is complex or not a tensor, or an argument has the wrong type.
        ValueError: If ``x`` has a different number of axes, an argument is out of range, or no window fits.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.max_pool{axes}d(ops.arange(8).astype("float32").reshape({shape}), 2).flatten())
    {prints}
    """

_AVG = """Average the elements of each window over {words}.

    Args:
        input_x (Tensor): real tensor of shape (n, c, {letters}), or (c, {letters}).
        kernel_size (int or tuple of int): size of a window: one int for all axes, or one for each axis.
        stride (int or tuple of int): step between neighboring windows.
        padding (int or tuple of int): number of zeros to add around the input, at most half a
            window.
        ceil_mode (bool): whether the last window may extend past the edge.
        count_include_pad (bool): whether the zeros of the padding count as elements of the average.
        divisor_override (int): divisor to use instead of the number of elements in the window; 0 means no
            override.

    Returns:
        Tensor of the averages.

    Raises:
        TypeError: If ``input_x`` is complex or not a tensor, or an argument has the wrong type.
        ValueError: If ``input_x`` has a different number of axes, an argument is out of range, or no window
            fits.

    >>> from mindgrad import Tensor, ops
    >>> x = ops.arange(8).astype("float32").reshape({shape})
    >>> print(ops.avg_pool{axes}d(x, 2, 2).flatten())
    {prints}
    """

_ADAPTIVE = """Return the {what} of each of ``output_size`` windows over {words}.

    The i-th of m windows over n elements begins at ⌊i n / m⌋ and ends before ⌈(i + 1) n / m⌉.

    Args:
        input (Tensor): real tensor of shape (n, c, {letters}), or (c, {letters}).
        output_size (int, tuple of int, or None): number of windows, one for all axes or one for
            each. ``None`` means one window for each element.{more}

    Returns:
        Tensor of the {whats}{also}.

    Raises:
        TypeError: If ``input`` is complex or not a tensor, or a size is not an int.
        ValueError: If ``input`` has a different number of axes, or a size is not positive.

    >>> from mindgrad import Tensor, ops
    >>> x = ops.arange({count}).astype("float32").reshape({shape})
    >>> print(ops.adaptive_{kind}_pool{axes}d(x, 2).flatten())
    {prints}
    """

_INDICES = """
        return_indices (bool): whether to also return the flat index of each maximum over the pooled axes."""


def _named(function: Callable[..., Any], name: str, doc: str, **words: Any) -> Callable[..., Any]:
    axes = int(name[-2])
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc.format(axes=axes, words=_WORDS[axes], letters=_LETTERS[axes], **words)
    return function


def _max_pool(axes: int, shape: Any, prints: str) -> Callable[..., Any]:
    operator = f"MaxPool{axes}D"

    def function(
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> Any:
        return max_pooled(
            operator,
            axes,
            x,
            lambda shape: pool_windows(
                operator, axes, shape, kernel_size, stride, "pad", padding, dilation, ceil_mode
            ),
            return_indices,
        )

    return _named(function, f"max_pool{axes}d", _MAX, shape=shape, prints=prints)


def _avg_pool(axes: int, shape: Any, prints: str) -> Callable[..., Tensor]:
    def function(
        input_x: Any,
        kernel_size: Any = 1,
        stride: Any = 1,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int = 0,
    ) -> Tensor:
        return avg_pooled(
            f"AvgPool{axes}D", axes, input_x, kernel_size, stride, "pad", padding, ceil_mode,
            count_include_pad, divisor_override,
        )  # fmt: skip

    return _named(function, f"avg_pool{axes}d", _AVG, shape=shape, prints=prints)


def _adaptive_avg(axes: int, count: int, shape: Any, prints: str) -> Callable[..., Tensor]:
    def function(input: Any, output_size: Any) -> Tensor:
        return adaptive_avg(f"AdaptiveAvgPool{axes}D", axes, input, output_size)

    return _named(
        function, f"adaptive_avg_pool{axes}d", _ADAPTIVE, what="average", whats="averages", more="", also="",
        kind="avg", count=count, shape=shape, prints=prints,
    )  # fmt: skip


def _adaptive_max(axes: int, count: int, shape: Any, prints: str) -> Callable[..., Any]:
    def function(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        return adaptive_max(f"AdaptiveMaxPool{axes}D", axes, input, output_size, return_indices)

    return _named(
        function, f"adaptive_max_pool{axes}d", _ADAPTIVE, what="largest element", whats="maxima",
        more=_INDICES, also=". With ``return_indices``, a tuple of this tensor and their int64 indices",
        kind="max", count=count, shape=shape, prints=prints,
    )  # fmt: skip


max_pool1d = _max_pool(1, (1, 1, 8), "[1. 3. 5. 7.]")
max_pool2d = public(
    "mint.nn.functional.max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, "
    "return_indices=False)"
)(_max_pool(2, (1, 1, 2, 4), "[5. 7.]"))
max_pool3d = _max_pool(3, (1, 1, 2, 2, 2), "[7.]")
avg_pool1d = _avg_pool(1, (1, 1, 8), "[0.5 2.5 4.5 6.5]")
avg_pool2d = _avg_pool(2, (1, 1, 2, 4), "[2.5 4.5]")
avg_pool3d = _avg_pool(3, (1, 1, 2, 2, 2), "[3.5]")
adaptive_avg_pool1d = public("mint.nn.functional")(_adaptive_avg(1, 5, (1, 1, 5), "[1. 3.]"))
adaptive_avg_pool2d = public("mint.nn.functional")(_adaptive_avg(2, 6, (1, 1, 2, 3), "[0.5 1.5 3.5 4.5]"))
adaptive_avg_pool3d = public("mint.nn.functional")(
    _adaptive_avg(3, 8, (1, 1, 2, 2, 2), "[0. 1. 2. 3. 4. 5. 6. 7.]")
)
adaptive_max_pool1d = _adaptive_max(1, 5, (1, 1, 5), "[2. 4.]")
adaptive_max_pool2d = _adaptive_max(2, 6, (1, 1, 2, 3), "[1. 2. 4. 5.]")
adaptive_max_pool3d = _adaptive_max(3, 8, (1, 1, 2, 2, 2), "[0. 1. 2. 3. 4. 5. 6. 7.]")
