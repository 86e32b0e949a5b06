"""Data movement repeats, reorders or drops elements: broadcast, flip, roll, narrow."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor
from mindgrad.ops.arguments import axes_in_order, axis_in_range, one_or_more, sizes, whole_number
from mindgrad.ops.define import also_named
from mindgrad.ops.layout import ravel, reshaped, swapaxes
from mindgrad.ops.operands import broadcast_to as broadcast
from mindgrad.ops.operands import operand
from mindgrad.ops.registry import public
from mindgrad.rows import static_slices

__all__ = ["broadcast_to", "expand", "expand_as", "flip", "fliplr", "flipud", "narrow", "roll", "rot90"]


@public(
    "Tensor mint",
    "BroadcastTo(shape: integers)(x)",
    "Tensor.expand_as(other)(shape=other.shape) >>> Tensor([1.0, 2.0]).expand_as(ops.ones((3, "
    "2))).shape => (3, 2)",
    "numpy.broadcast_to(array, shape)",
)
def broadcast_to(input: Any, shape: Any) -> Tensor:
    """``input`` repeated to ``shape`` by NumPy's rules.

    Args:
        input: a tensor whose sizes, from the right, are 1 or those of ``shape``.
        shape: the sizes, a tuple or list of ints; −1 keeps the size of that axis of ``input``.

    Raises:
        TypeError: ``shape`` holds something that is no int.
        ValueError: ``input`` does not broadcast to ``shape``.

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
            f"For 'BroadcastTo', an input of shape {x.shape} cannot be broadcast to the shape "
            f"{target}: from the right, each of its sizes must be 1 or the size asked for."
        )
    return broadcast(x, filled)


@also_named(input_x="input")
def expand(input: Any, size: Any) -> Tensor:
    """``input`` repeated to a shape: :func:`broadcast_to` under another name.

    >>> from mindgrad import Tensor, ops
    >>> ops.expand(Tensor([1.0, 2.0]), (3, -1)).shape
    (3, 2)
    """
    return broadcast_to(input, size)


def expand_as(input: Any, other: Any) -> Tensor:
    """``input`` repeated to the shape of ``other``.

    >>> from mindgrad import Tensor, ops
    >>> ops.expand_as(Tensor([1.0, 2.0]), ops.ones((3, 2))).shape
    (3, 2)
    """
    return broadcast_to(input, operand(other, "ExpandAs").shape)


@public("mint", "ReverseV2(axis: integers)(x)(dims=self.axis)")
def flip(input: Any, dims: Any) -> Tensor:
    """The elements of ``input`` in opposite order along the axes ``dims``.

    Raises:
        TypeError: an axis is no int.
        ValueError: an axis is out of range or named twice.

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
    """:func:`flip` along the second axis.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.fliplr(Tensor([[1.0, 2.0]])))
    [[2. 1.]]
    """
    return flip(input, (1,))


@public("Tensor", "numpy.flipud(m)")
def flipud(input: Any) -> Tensor:
    """:func:`flip` along the first axis.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.flipud(Tensor([1.0, 2.0])))
    [2. 1.]
    """
    return flip(input, (0,))


def slice_axis(x: Tensor, axis: int, start: int, limit: int) -> Tensor:
    """The elements ``start`` to ``limit`` of ``x`` along ``axis``, all inside."""
    if start == 0 and limit == x.shape[axis]:
        return x
    return apply(
        static_slices.slice,
        x,
        start=tuple(start if i == axis else 0 for i in range(x.ndim)),
        limit=tuple(limit if i == axis else n for i, n in enumerate(x.shape)),
        strides=(1,) * x.ndim,
    )


@public(
    "Tensor mint",
    "Roll(shift: integers, axis: integers)(x)(shifts=self.shift, dims=self.axis) >>> ops.Roll(1, 0)"
    "(Tensor([1.0, 2.0, 3.0])) => [3. 1. 2.]",
    "numpy.roll(a, shift, axis=None)(dims=axis)",
)
def roll(input: Any, shifts: Any, dims: Any = None) -> Tensor:
    """``input`` with its elements moved on by ``shifts`` places, those at the end to the front.

    Args:
        input: a tensor of any shape.
        shifts: an int, or one per axis of ``dims``.
        dims: the axes; by default the elements are moved in row-major order.

    Raises:
        TypeError: a shift or an axis is no int.
        ValueError: an axis is out of range, or there are not as many shifts as axes.

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
        raise ValueError(
            f"For 'Roll', there must be one shift per axis, but got 'shifts' {shifts} and 'dims' {dims}."
        )
    for axis, step in zip(axes, steps, strict=True):
        count = x.shape[axis]
        place = -step % count if count else 0
        if place:
            parts = slice_axis(x, axis, place, count), slice_axis(x, axis, 0, place)
            x = apply(static_slices.concatenate, *parts, axis=axis)
    return x


@public("Tensor", "numpy.rot90(a, k=1, axes=(0, 1))(dims=axes)")
def rot90(input: Any, k: int, dims: Any) -> Tensor:
    """``input`` turned ``k`` times by 90 degrees, from the first axis of ``dims`` towards the second.

    Raises:
        TypeError: ``k`` or an axis is no int.
        ValueError: ``dims`` does not name two different axes.

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
    """``length`` elements of ``input`` from ``start`` on, along ``axis``.

    Raises:
        TypeError: an argument is no int.
        ValueError: ``axis`` is out of range, or the elements do not lie inside.

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
