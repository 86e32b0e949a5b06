"""Unfold and fold (im2col, col2im): windows of images as columns, and back.

Each axis is processed separately, so that a window of h × w elements needs only h + w slices.
"""

from __future__ import annotations

from typing import Any

from mindgrad._base.checks import one_of
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import static_slices
from mindgrad.ops.arguments import check_axes, one_or_more, sizes
from mindgrad.ops.joining import stack
from mindgrad.ops.layout import reshape
from mindgrad.ops.layout import transpose as reordered
from mindgrad.ops.movement import slice_axis
from mindgrad.ops.operands import operand
from mindgrad.ops.padding import padded
from mindgrad.ops.reduction import sum as sum_of
from mindgrad.ops.registry import public

__all__ = ["fold", "patches", "unfold"]


def _pair(value: Any, operator: str, name: str, least: int) -> tuple[int, int]:
    pair = sizes(one_or_more(value), operator, name, least)
    if len(pair) not in (1, 2):
        raise ValueError(f"For '{operator}', the '{name}' must be an int or two ints, but got {value}.")
    return pair[0], pair[-1]


def _margins(value: Any, operator: str) -> tuple[int, int, int, int]:
    margins = sizes(one_or_more(value), operator, "padding", 0)
    if len(margins) not in (1, 2, 4):
        raise ValueError(f"For '{operator}', the 'padding' must be 1, 2 or 4 ints, but got {value}.")
    if len(margins) == 4:
        return margins[0], margins[1], margins[2], margins[3]
    return margins[0], margins[0], margins[-1], margins[-1]


def _count(operator: str, size: int, kernel: int, dilation: int, stride: int) -> int:
    """Return the number of windows that fit into an axis of ``size`` elements."""
    reach = (kernel - 1) * dilation + 1
    if reach > size:
        raise ValueError(
            f"For '{operator}', the window covers {reach} elements, but the padded image has only {size}."
        )
    return (size - reach) // stride + 1


def _windows(x: Tensor, axis: int, kernel: int, dilation: int, stride: int, count: int) -> Tensor:
    """Replace ``axis`` with two axes: the position in a window, and the window."""
    starts, reach = range(0, kernel * dilation, dilation), (count - 1) * stride + 1
    return stack([slice_axis(x, axis, start, start + reach, stride) for start in starts], axis)


def _laid_out(x: Tensor, axis: int, dilation: int, stride: int, size: int) -> Tensor:
    """Apply the transpose of :func:`_windows`: sum the elements of each position."""
    kernel, count = x.shape[axis], x.shape[axis + 1]
    parts = []
    for k in range(kernel):
        part = reshape(slice_axis(x, axis, k, k + 1), (*x.shape[:axis], *x.shape[axis + 1 :]))
        before = k * dilation
        behind = size - before - ((count - 1) * stride + 1)
        parts.append(
            apply(
                static_slices.pad,
                part,
                low=tuple(before if i == axis else 0 for i in range(part.ndim)),
                high=tuple(behind if i == axis else 0 for i in range(part.ndim)),
                interior=tuple(stride - 1 if i == axis else 0 for i in range(part.ndim)),
            )
        )
    return sum_of(stack(parts, 0), 0) if len(parts) > 1 else parts[0]


@public("Tensor mint.nn.functional")
def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Extract the windows of images as columns.

    Each column contains the elements of one window, channel by channel.

    Args:
        input (Tensor): images of shape (n, c, h, w).
        kernel_size (int or tuple of int): height and width of a window.
        dilation (int or tuple of int): spacing between neighboring elements of a window.
        padding (int or tuple of int): number of zeros around an image: one int for all sides, two ints (for
            rows and columns), or four ints (top, bottom, left, right).
        stride (int or tuple of int): step between neighboring windows.

    Returns:
        Tensor of shape (n, c · kernel height · kernel width, number of windows).

    Raises:
        TypeError: If ``input`` is not a tensor, or another argument is not an int or tuple of int.
        ValueError: If ``input`` is not 4-D, or the window does not fit into the image.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.unfold(Tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]), (2, 2)))
    [[[1. 2.]
      [2. 3.]
      [4. 5.]
      [5. 6.]]]
    """
    columns = _spread("Unfold", input, kernel_size, dilation, padding, stride)
    n, c, high, rows, wide, cols = columns.shape
    columns = reordered(columns, (0, 1, 2, 4, 3, 5))
    return reshape(columns, (n, c * high * wide, rows * cols))


def _spread(operator: str, input: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    """Extract the windows of images.

    The result has the shape (n, c, row in window, window row, column in window, window column).
    """
    x = operand(input, operator)
    check_axes(x, "(n, c, h, w)", operator)
    top, bottom, left, right = _margins(padding, operator)
    high, wide = _pair(kernel, operator, "kernel_size", 1)
    apart, steps = _pair(dilation, operator, "dilation", 1), _pair(stride, operator, "stride", 1)
    x = padded(x, [(0, 0), (0, 0), (top, bottom), (left, right)], "constant")
    rows = _count(operator, x.shape[2], high, apart[0], steps[0])
    cols = _count(operator, x.shape[3], wide, apart[1], steps[1])
    x = _windows(x, 2, high, apart[0], steps[0], rows)
    return _windows(x, 4, wide, apart[1], steps[1], cols)


def patches(input: Any, kernel_size: Any, stride: Any, rate: Any, pad_mode: str = "valid") -> Tensor:
    """Extract the windows of images as channels.

    The channels are ordered by row in the window, column in the window, and channel of the image.

    Args:
        input: images of shape (n, c, h, w).
        kernel_size: height and width of a window.
        stride: row and column distances between neighboring windows.
        rate: row and column distances between neighboring elements of a window.
        pad_mode: ``"valid"`` adds no padding, ``"same"`` adds zeros so that there are ⌈size / stride⌉
            windows.

    Returns:
        Tensor of shape (n, kernel height · kernel width · c, windows in a column, windows in a row).

    Raises:
        ValueError: If ``pad_mode`` is not supported, or ``input`` is not 4-D.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.im2col import patches
    >>> patches(Tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]), (2, 2), 1, 1).shape
    (1, 4, 1, 2)
    """
    one_of(pad_mode, ("valid", "same"), "Unfold", "padding")
    x = operand(input, "Unfold")
    margins = [0, 0, 0, 0]
    if pad_mode == "same" and x.ndim == 4:
        kernel, apart = _pair(kernel_size, "Unfold", "ksizes", 1), _pair(rate, "Unfold", "rates", 1)
        steps = _pair(stride, "Unfold", "strides", 1)
        for i, size in enumerate(x.shape[2:]):
            wanted = -(-size // steps[i])
            more = max((wanted - 1) * steps[i] + (kernel[i] - 1) * apart[i] + 1 - size, 0)
            margins[2 * i : 2 * i + 2] = [more // 2, more - more // 2]
    columns = _spread("Unfold", x, kernel_size, rate, tuple(margins), stride)
    n, c, high, rows, wide, cols = columns.shape
    columns = reordered(columns, (0, 2, 4, 1, 3, 5))
    return reshape(columns, (n, high * wide * c, rows, cols))


@public("Tensor mint.nn.functional")
def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Sum columns into images: the transpose of :func:`unfold`.

    An element that is in several windows is the sum of its values in these windows.

    Args:
        input (Tensor): columns of shape (n, c · kernel height · kernel width, number of windows).
        output_size (int, tuple of int, or Tensor): height and width of the images.
        kernel_size, dilation, padding, stride (int or tuple of int): window parameters,
            as for :func:`unfold`.

    Returns:
        Tensor of shape (n, c, height, width).

    Raises:
        TypeError: If ``input`` is not a tensor, or another argument is not an int or tuple of int.
        ValueError: If the shape of ``input`` does not match the number and size of the windows.

    >>> from mindgrad import Tensor, ops
    >>> x = Tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]])
    >>> print(ops.fold(ops.unfold(x, (2, 2)), (2, 3), (2, 2)))
    [[[[ 1.  4.  3.]
       [ 4. 10.  6.]]]]
    """
    x = operand(input, "Fold")
    top, bottom, left, right = _margins(padding, "Fold")
    high, wide = _pair(kernel_size, "Fold", "kernel_size", 1)
    apart, steps = _pair(dilation, "Fold", "dilation", 1), _pair(stride, "Fold", "stride", 1)
    tall, broad = _pair(output_size, "Fold", "output_size", 1)
    height, width = tall + top + bottom, broad + left + right
    rows = _count("Fold", height, high, apart[0], steps[0])
    cols = _count("Fold", width, wide, apart[1], steps[1])
    if x.ndim != 3 or x.shape[1] % (high * wide) or x.shape[2] != rows * cols:
        raise ValueError(
            f"For 'Fold', the input must have the shape (n, c · {high * wide}, {rows * cols}), but its "
            f"shape is {x.shape}."
        )
    x = reshape(x, (x.shape[0], x.shape[1] // (high * wide), high, wide, rows, cols))
    x = reordered(x, (0, 1, 2, 4, 3, 5))
    x = _laid_out(x, 4, apart[1], steps[1], width)
    x = _laid_out(x, 2, apart[0], steps[0], height)
    return padded(x, [(0, 0), (0, 0), (-top, -bottom), (-left, -right)], "constant")
