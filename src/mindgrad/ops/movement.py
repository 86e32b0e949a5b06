"""Data movement: broadcast, flip, roll, rotate, and narrow tensors."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import static_slices
from mindgrad.ops.arguments import axes_in_order, axis_in_range, one_or_more, sizes, whole_number
from mindgrad.ops.define import also_named
from mindgrad.ops.layout import ravel, reshaped, swapaxes
from mindgrad.ops.operands import broadcast_to as broadcast
from mindgrad.ops.operands import operand
from mindgrad.ops.registry import public

__all__ = ["broadcast_to", "expand", "expand_as", "flip", "fliplr", "flipud", "narrow", "roll", "rot90"]


@public(
    "Tensor mint",
    "BroadcastTo(shape: integers)(x)",
    "Tensor.expand_as(other)(shape=other.shape) >>> Tensor([1.0, 2.0]).expand_as(ops.ones((3, "
    "2))).shape => (3, 2)",
    "numpy.broadcast_to(array, shape)",
)
def broadcast_to(input: Any, shape: Any) -> Tensor:
    """Broadcast a tensor to a shape by NumPy's rules.

    Args:
        input (Tensor): tensor to broadcast. Compared from the last axis, each of its sizes is 1 or equal to
            the size in ``shape``.
        shape (tuple or list of int): shape of the result. −1 means the size of the axis of ``input``.

    Returns:
        Tensor of shape ``shape``.

    Raises:
        TypeError: If an entry of ``shape`` is not an int.
        ValueError: If ``input`` does not broadcast to ``shape``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.broadcast_to(Tensor([1.0, 2.0]), (2, -1)))
    [[1. 2.]
     [1. 2.]]
    """
    x = operand(input, "BroadcastTo")
    target = sizes(shape, "BroadcastTo", "shape", least=-1)
    offset = len(target) - x.ndim
    filled = tuple(x.shape[i - offset] if n == -1 and i >= offset else n for i, n in enumerate(target))
    fits = offset >= 0 and all(n in (1, m) for n, m in zip(x.shape, filled[max(offset, 0) :], strict=True))
    if not fits or -1 in filled:
        raise ValueError(
            f"For 'BroadcastTo', an input of shape {x.shape} cannot be broadcast to the shape {target}: "
            "counted from the right, each size of the input must be 1 or the size in the new shape."
        )
    return broadcast(x, filled)


@also_named(input_x="input")
def expand(input: Any, size: Any) -> Tensor:
    """Broadcast a tensor to a shape; another name of :func:`broadcast_to`.

    {as broadcast_to}

    >>> from mindgrad import Tensor, ops
    >>> ops.expand(Tensor([1.0, 2.0]), (3, -1)).shape
    (3, 2)
    """
    return broadcast_to(input, size)


def expand_as(input: Any, other: Any) -> Tensor:
    """Broadcast a tensor to the shape of another tensor.

    Args:
        input (Tensor): input tensor.
        other (Tensor): tensor that determines the shape of the result.

    Returns:
        Tensor of the same shape as ``other``.

    >>> from mindgrad import Tensor, ops
    >>> ops.expand_as(Tensor([1.0, 2.0]), ops.ones((3, 2))).shape
    (3, 2)
    """
    return broadcast_to(input, operand(other, "ExpandAs").shape)


@public("mint", "ReverseV2(axis: integers)(x)(dims=self.axis)")
def flip(input: Any, dims: Any) -> Tensor:
    """Reverse the order of elements along axes.

    Args:
        input (Tensor): input tensor.
        dims (int or tuple of int): axes along which to reverse the elements.

    Returns:
        Tensor of the same shape as ``input``.

    Raises:
        TypeError: If an axis is not an int.
        ValueError: If an axis is out of range or repeated.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.flip(Tensor([[1.0, 2.0], [3.0, 4.0]]), (0,)))
    [[3. 4.]
     [1. 2.]]
    """
    x = operand(input, "Flip")
    axes = axes_in_order(dims, x.ndim, "Flip", "dims")
    return apply(static_slices.reverse, x, axes=axes) if axes else x


@public("Tensor", "numpy.fliplr(m)")
def fliplr(input: Any) -> Tensor:
    """Reverse the order of elements along the second axis.

    Args:
        input (Tensor): tensor with at least two axes.

    Returns:
        Tensor of the same shape as ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.fliplr(Tensor([[1.0, 2.0]])))
    [[2. 1.]]
    """
    return flip(input, (1,))


@public("Tensor", "numpy.flipud(m)")
def flipud(input: Any) -> Tensor:
    """Reverse the order of elements along the first axis.

    Args:
        input (Tensor): tensor with at least one axis.

    Returns:
        Tensor of the same shape as ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.flipud(Tensor([1.0, 2.0])))
    [2. 1.]
    """
    return flip(input, (0,))


def slice_axis(x: Tensor, axis: int, start: int, limit: int, step: int = 1) -> Tensor:
    """Select every ``step``-th element from ``start`` to ``limit`` along ``axis``."""
    if start == 0 and limit == x.shape[axis] and step == 1:
        return x
    return apply(
        static_slices.slice,
        x,
        start=tuple(start if i == axis else 0 for i in range(x.ndim)),
        limit=tuple(limit if i == axis else n for i, n in enumerate(x.shape)),
        strides=tuple(step if i == axis else 1 for i in range(x.ndim)),
    )


@public(
    "Tensor mint",
    "Roll(shift: integers, axis: integers)(x)(shifts=self.shift, dims=self.axis) >>> ops.Roll(1, 0)"
    "(Tensor([1.0, 2.0, 3.0])) => [3. 1. 2.]",
    "numpy.roll(a, shift, axis=None)(dims=axis)",
)
def roll(input: Any, shifts: Any, dims: Any = None) -> Tensor:
    """Shift elements cyclically along axes.

    Args:
        input (Tensor): tensor of any shape.
        shifts (int or tuple of int): number of positions to shift, for each axis in ``dims``.
        dims (int, tuple of int, or None): axes along which to shift. ``None`` shifts the flattened tensor.

    Returns:
        Tensor of the same shape as ``input``.

    Raises:
        TypeError: If a shift or an axis is not an int.
        ValueError: If an axis is out of range, or ``shifts`` and ``dims`` differ in length.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.roll(Tensor([1.0, 2.0, 3.0]), 1))
    [3. 1. 2.]
    """
    x = operand(input, "Roll")
    if dims is None:
        return reshaped(roll(ravel(x), shifts, 0), x.shape)
    axes = [axis_in_range(each, x.ndim, "Roll", "dims") for each in one_or_more(dims)]
    steps = sizes(shifts, "Roll", "shifts")
    if len(steps) == 1:
        steps *= len(axes)
    if len(axes) == 1:
        axes *= len(steps)
    if len(steps) != len(axes):
        raise ValueError(f"For 'Roll', pass one shift per axis, but got 'shifts' {shifts} and 'dims' {dims}.")
    for axis, step in zip(axes, steps, strict=True):
        count = x.shape[axis]
        place = -step % count if count else 0
        if place:
            parts = slice_axis(x, axis, place, count), slice_axis(x, axis, 0, place)
            x = apply(static_slices.concatenate, *parts, axis=axis)
    return x


@public("Tensor", "numpy.rot90(a, k=1, axes=(0, 1))(dims=axes)")
def rot90(input: Any, k: int, dims: Any) -> Tensor:
    """Rotate a tensor by 90 degrees ``k`` times in the plane of two axes.

    The rotation is from the first axis of ``dims`` towards the second axis.

    Args:
        input (Tensor): input tensor.
        k (int): number of rotations by 90 degrees.
        dims (tuple or list of int): two axes that span the plane of rotation.

    Returns:
        Rotated tensor.

    Raises:
        TypeError: If ``k`` or an axis is not an int.
        ValueError: If ``dims`` does not contain two different axes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.rot90(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, (0, 1)))
    [[2. 4.]
     [1. 3.]]
    """
    x = operand(input, "Rot90")
    axes = axes_in_order(dims, x.ndim, "Rot90", "dims")
    if len(axes) != 2:
        raise ValueError(f"For 'Rot90', the 'dims' must name two axes, but got {dims}.")
    turns = whole_number(k, "Rot90", "k") % 4
    if turns == 0:
        return x
    if turns == 2:
        return flip(x, axes)
    if turns == 1:
        return swapaxes(flip(x, axes[1]), *axes)
    return flip(swapaxes(x, *axes), axes[1])


@public("Tensor", "mint.narrow(input, dim, start, length)")
def narrow(input: Any, axis: int, start: int, length: int) -> Tensor:
    """Return ``length`` elements along an axis, beginning at ``start``.

    Args:
        input (Tensor): input tensor.
        axis (int): axis along which to select elements.
        start (int): index of the first selected element.
        length (int): number of selected elements.

    Returns:
        Tensor with the shape of ``input``, except that ``axis`` has the size ``length``.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If ``axis`` is out of range, or the selected elements are not all inside ``axis``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.narrow(Tensor([1.0, 2.0, 3.0]), 0, 1, 2))
    [2. 3.]
    """
    x = operand(input, "Narrow")
    axis = axis_in_range(axis, x.ndim, "Narrow")
    count = x.shape[axis]
    first = whole_number(start, "Narrow", "start")
    first += count if first < 0 else 0
    length = whole_number(length, "Narrow", "length", least=0)
    if not 0 <= first <= first + length <= count:
        raise ValueError(
            f"For 'Narrow', the elements {first} to {first + length} do not lie inside axis {axis} of "
            f"the input of shape {x.shape}."
        )
    return slice_axis(x, axis, first, first + length)
