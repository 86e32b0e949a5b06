"""Shape functions: reshape, transpose, squeeze, and flatten tensors."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from mindgrad._base.checks import one_of
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives import structural as primitives
from mindgrad.ops.arguments import axes_in_order, axis_in_range, filled_shape, one_or_more, sizes
from mindgrad.ops.axes import is_plain
from mindgrad.ops.define import also_named
from mindgrad.ops.operands import operand
from mindgrad.ops.registry import public

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "expand_dims", "flatten", "moveaxis", "movedim", "permute",
    "rank", "ravel", "reshape", "shape", "size", "squeeze", "swapaxes", "swapdims", "transpose",
    "unsqueeze", "view",
]  # fmt: skip


# --- shape, size, and rank -------------------------------------------------------------------------


@public("Shape")
def shape(input_x: Any) -> tuple[int, ...]:
    """Return the shape of a tensor as a tuple of ints, also at compile time.

    Args:
        input_x (Tensor): input tensor.

    Returns:
        Tuple with the size of each axis.

    >>> from mindgrad import Tensor, ops
    >>> ops.shape(Tensor([[1.0, 2.0]]))
    (1, 2)
    """
    return operand(input_x, "Shape").shape


@public("Size")
def size(input_x: Any) -> int:
    """Return the number of elements of a tensor.

    Args:
        input_x (Tensor): input tensor.

    Returns:
        int.

    >>> from mindgrad import Tensor, ops
    >>> ops.size(Tensor([[1.0, 2.0]]))
    2
    """
    return operand(input_x, "Size").size


@public("Rank")
def rank(input_x: Any) -> int:
    """Return the number of axes of a tensor.

    Args:
        input_x (Tensor): input tensor.

    Returns:
        int.

    >>> from mindgrad import Tensor, ops
    >>> ops.rank(Tensor([[1.0, 2.0]]))
    2
    """
    return operand(input_x, "Rank").ndim


# --- reshaping and flattening ----------------------------------------------------------------------


@public("Reshape mint", "numpy.reshape(x, new_shape)")
def reshape(input: Any, shape: Any) -> Tensor:
    """Change the shape of a tensor; the elements keep their row-major order.

    Args:
        input (Tensor): tensor of any dtype.
        shape (tuple or list of int): new shape. One size may be −1, which is replaced by the size that
            matches the number of elements.

    Returns:
        Tensor of shape ``shape``.

    Raises:
        TypeError: If an entry of ``shape`` is not an int.
        ValueError: If ``shape`` does not have the same number of elements as ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.reshape(Tensor([1.0, 2.0, 3.0, 4.0]), (2, -1)))
    [[1. 2.]
     [3. 4.]]
    """
    x = operand(input, "Reshape")
    if is_plain(shape):
        return reshaped(x, _filled(x.type, shape))
    return reshaped(x, filled_shape(x.type, sizes(shape, "Reshape", "shape"), "Reshape"))


@lru_cache(maxsize=4096)
def _filled(x: TensorType, shape: tuple[int, ...]) -> tuple[int, ...]:
    return filled_shape(x, shape, "Reshape")


def reshaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Reshape ``x``; the number of elements must match."""
    return x if x.type.shape == shape else apply(primitives.reshape, x, shape=shape)


def view(input: Any, *shape: Any) -> Tensor:
    """Change the shape of a tensor; the sizes can be separate arguments.

    Args:
        input (Tensor): tensor of any dtype.
        *shape (int or tuple of int): new shape, as ``view(x, 2, 3)`` or ``view(x, (2, 3))``.
            One size may be −1, which is computed from the number of elements.

    Returns:
        Tensor of the new shape.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.view(Tensor([1.0, 2.0, 3.0, 4.0]), 2, 2))
    [[1. 2.]
     [3. 4.]]
    """
    return reshape(input, shape[0] if len(shape) == 1 else shape)


@public("Tensor mint", "numpy.ravel(x)")
def ravel(input: Any) -> Tensor:
    """Flatten a tensor to one axis in row-major order.

    Args:
        input (Tensor): tensor of any shape.

    Returns:
        1-D tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.ravel(Tensor([[1.0, 2.0], [3.0, 4.0]])))
    [1. 2. 3. 4.]
    """
    x = operand(input, "Ravel")
    return reshaped(x, (x.size,))


@public(
    "Flatten",
    "mint.flatten(input, start_dim=0, end_dim=-1) >>> mint.flatten(mint.ones((2, 3, 4)), 1).shape => (2, 12)",
    "mint.nn.functional.flatten(input, start_dim=0, end_dim=-1)"
    " >>> mint.nn.functional.flatten(ops.ones((2, 3)), 0).shape => (6,)",
)
def flatten(input: Any, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Merge axes of a tensor into one.

    Args:
        input (Tensor): tensor of any shape; a 0-D tensor becomes a tensor of shape (1,).
        order (str): ``"C"`` for row-major order; ``"F"`` reverses the axes first.
        start_dim (int): first axis to merge. A tensor with fewer axes is returned unchanged.
        end_dim (int): last axis to merge.

    Returns:
        Tensor with the elements of ``input``, in which one axis replaces the merged axes.

    Raises:
        ValueError: If ``order`` is neither ``"C"`` nor ``"F"``, or an axis is out of range.

    >>> from mindgrad import Tensor, ops
    >>> ops.flatten(ops.ones((2, 3, 4))).shape
    (2, 12)
    """
    x = operand(input, "Flatten")
    one_of(order, ("C", "F"), "Flatten", "order")
    if order == "F":
        x = permuted(x, tuple(reversed(range(x.ndim))))
    if x.ndim == 0:
        return reshaped(x, (1,))
    if x.ndim == 1:
        return x
    first = axis_in_range(start_dim, x.ndim, "Flatten", "start_dim")
    last = axis_in_range(end_dim, x.ndim, "Flatten", "end_dim")
    if last < first:
        raise ValueError(
            f"For 'Flatten', the 'start_dim' must not be after the 'end_dim', but got {start_dim} "
            f"and {end_dim}."
        )
    merged = math.prod(x.shape[first : last + 1])
    return reshaped(x, (*x.shape[:first], merged, *x.shape[last + 1 :]))


@public("ExpandDims Tensor")
def expand_dims(input_x: Any, axis: int) -> Tensor:
    """Insert an axis of size 1.

    Args:
        input_x (Tensor): input tensor.
        axis (int): index of the new axis in the result.

    Returns:
        Tensor with one axis more than ``input_x``.

    Raises:
        TypeError: If ``axis`` is not an int.
        ValueError: If ``axis`` is outside [−rank − 1, rank].

    >>> from mindgrad import Tensor, ops
    >>> print(ops.expand_dims(Tensor([1.0, 2.0]), -1))
    [[1.]
     [2.]]
    """
    x = operand(input_x, "ExpandDims")
    place = axis_in_range(axis, x.ndim + 1, "ExpandDims")
    return apply(primitives.reshape, x, shape=(*x.shape[:place], 1, *x.shape[place:]))


@public("Tensor mint")
def unsqueeze(input: Any, dim: int) -> Tensor:
    """Insert an axis of size 1; another name of :func:`expand_dims`.

    {as expand_dims}

    >>> from mindgrad import Tensor, ops
    >>> ops.unsqueeze(Tensor([1.0, 2.0]), 0).shape
    (1, 2)
    """
    return expand_dims(input, dim)


@public(
    "Tensor",
    "numpy.squeeze(a, axis=None)",
    "Squeeze(axis: integers=())(x)(axis=None if self.axis == () else self.axis) >>> ops.Squeeze(0)"
    "(Tensor([[1.0, 2.0]])) => [1. 2.]",
)
def squeeze(input: Any, axis: Any = None) -> Tensor:
    """Remove axes of size 1.

    Args:
        input (Tensor): tensor of any shape.
        axis (int, tuple of int, list of int, or None): axes to remove, whose sizes must be 1.
            ``None`` and ``()`` remove all axes of size 1.

    Returns:
        Tensor with the elements of ``input`` and without the removed axes.

    Raises:
        TypeError: If ``axis`` is not an int.
        ValueError: If ``axis`` is out of range, or the size of that axis is not 1.

    >>> from mindgrad import Tensor, ops
    >>> ops.squeeze(ops.ones((1, 2, 1))).shape, ops.squeeze(ops.ones((1, 2, 1)), 0).shape
    ((2,), (2, 1))
    """
    x = operand(input, "Squeeze")
    if axis is None or (isinstance(axis, (tuple, list)) and not axis):
        return reshaped(x, tuple(n for n in x.shape if n != 1))
    axes = axes_in_order(axis, x.ndim, "Squeeze")
    for dim in axes:
        if x.shape[dim] != 1:
            raise ValueError(
                f"For 'Squeeze', the axis {dim} of the input of shape {x.shape} has size "
                f"{x.shape[dim]}. Only an axis of size 1 can be removed."
            )
    return reshaped(x, tuple(n for i, n in enumerate(x.shape) if i not in axes))


def _at_least(x: Any, operator: str, count: int) -> Tensor:
    x = operand(x, operator)
    if x.ndim >= count:
        return x
    if count == 3:
        shapes = {0: (1, 1, 1), 1: (1, *x.shape, 1), 2: (*x.shape, 1)}
        return reshaped(x, shapes[x.ndim])
    return reshaped(x, (1,) * (count - x.ndim) + x.shape)


def atleast_1d(inputs: Any) -> Any:
    """Convert 0-D tensors to 1-D tensors.

    Args:
        inputs (Tensor, number, or tuple or list of these): one or several tensors to convert.

    Returns:
        Tensor with at least one axis, or a tuple of such tensors for several inputs.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.atleast_1d(Tensor(2.0)))
    [2.]
    """
    return _each_at_least(inputs, "AtLeast1D", 1)


def atleast_2d(inputs: Any) -> Any:
    """Add leading axes of size 1 until there are two axes.

    Args:
        inputs (Tensor, number, or tuple or list of these): one or several tensors to convert.

    Returns:
        Tensor with at least two axes, or a tuple of such tensors for several inputs.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.atleast_2d(Tensor([2.0, 3.0])))
    [[2. 3.]]
    """
    return _each_at_least(inputs, "AtLeast2D", 2)


def atleast_3d(inputs: Any) -> Any:
    """Add axes of size 1 until there are three axes.

    Shape (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1).

    Args:
        inputs (Tensor, number, or tuple or list of these): one or several tensors to convert.

    Returns:
        Tensor with at least three axes, or a tuple of such tensors for several inputs.

    >>> from mindgrad import Tensor, ops
    >>> ops.atleast_3d(Tensor([2.0, 3.0])).shape
    (1, 2, 1)
    """
    return _each_at_least(inputs, "AtLeast3D", 3)


def _each_at_least(inputs: Any, operator: str, count: int) -> Any:
    if isinstance(inputs, (tuple, list)) and any(isinstance(x, Tensor) for x in inputs):
        return tuple(_at_least(x, operator, count) for x in inputs)
    return _at_least(inputs, operator, count)


# --- permuting axes --------------------------------------------------------------------------------


def permuted(x: Tensor, order: tuple[int, ...]) -> Tensor:
    """Permute the axes of ``x``; ``order`` contains each nonnegative axis once."""
    if order == tuple(range(len(order))):
        return x
    return apply(primitives.transpose, x, permutation=order)


@public("Transpose")
@also_named(input_perm="dims")
def transpose(input: Any, dims: Any) -> Tensor:
    """Permute the axes: axis i of the result is axis ``dims[i]``.

    Args:
        input (Tensor): tensor of any shape.
        dims (tuple or list of int): permutation of the axes of ``input``. Negative axes count from the end.

    Returns:
        Tensor with permuted axes.

    Raises:
        TypeError: If an entry of ``dims`` is not an int.
        ValueError: If ``dims`` does not contain each axis once.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.transpose(Tensor([[1.0, 2.0]]), (1, 0)))
    [[1.]
     [2.]]
    """
    x = operand(input, "Transpose")
    return permuted(x, (_order if is_plain(dims) else _order.__wrapped__)(dims, x.type.shape))


@lru_cache(maxsize=4096)
def _order(dims: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return ``dims``, a permutation of the axes of ``shape``, as nonnegative numbers."""
    rank = len(shape)
    order = axes_in_order(dims, rank, "Transpose", "dims") if rank or one_or_more(dims) else ()
    if len(order) != rank:
        raise ValueError(
            f"For 'Transpose', the 'dims' must name each of the {rank} axes of the input of shape "
            f"{shape} once, but got {dims}."
        )
    return order


@public("mint.permute(input, dims)(axis=tuple(dims))")
def permute(input: Any, axis: Any) -> Tensor:
    """Permute the axes; another name of :func:`transpose`.

    {as transpose}

    >>> from mindgrad import Tensor, ops
    >>> ops.permute(ops.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return transpose(input, axis)


@public("Tensor mint", "mint.transpose(input, dim0, dim1)", "numpy.swapaxes(x, axis1, axis2)(axis0=axis1)")
def swapaxes(input: Any, axis0: int, axis1: int) -> Tensor:
    """Swap two axes.

    Args:
        input (Tensor): input tensor.
        axis0, axis1 (int): axes to swap.

    Returns:
        Tensor with swapped axes.

    Raises:
        TypeError: If an axis is not an int.
        ValueError: If an axis is out of range.

    >>> from mindgrad import Tensor, ops
    >>> ops.swapaxes(ops.ones((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """
    x = operand(input, "SwapAxes")
    first = axis_in_range(axis0, x.ndim, "SwapAxes", "axis0")
    second = axis_in_range(axis1, x.ndim, "SwapAxes", "axis1")
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return permuted(x, tuple(order))


@public("Tensor")
def swapdims(input: Any, dim0: int, dim1: int) -> Tensor:
    """Swap two axes; another name of :func:`swapaxes`.

    {as swapaxes}

    >>> from mindgrad import Tensor, ops
    >>> ops.swapdims(ops.ones((2, 3)), 0, 1).shape
    (3, 2)
    """
    return swapaxes(input, dim0, dim1)


@public("Tensor", "numpy.moveaxis(a, source, destination)")
def moveaxis(x: Any, source: Any, destination: Any) -> Tensor:
    """Move axes to new positions; the other axes keep their order.

    Args:
        x (Tensor): input tensor.
        source (int or tuple of int): axes to move.
        destination (int or tuple of int): index in the result of each axis in ``source``.

    Returns:
        Tensor with moved axes.

    Raises:
        TypeError: If an axis is not an int.
        ValueError: If an axis is out of range or repeated, or ``source`` and ``destination`` differ in
            length.

    >>> from mindgrad import Tensor, ops
    >>> ops.moveaxis(ops.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    tensor = operand(x, "MoveAxis")
    sources = axes_in_order(source, tensor.ndim, "MoveAxis", "source")
    places = axes_in_order(destination, tensor.ndim, "MoveAxis", "destination")
    if len(sources) != len(places):
        raise ValueError(
            f"For 'MoveAxis', the 'source' and the 'destination' must name the same number of axes, but "
            f"got {source} and {destination}."
        )
    order = [axis for axis in range(tensor.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return permuted(tensor, tuple(order))


@public("Tensor")
def movedim(x: Any, source: Any, destination: Any) -> Tensor:
    """Move axes to new positions; another name of :func:`moveaxis`.

    {as moveaxis}

    >>> from mindgrad import Tensor, ops
    >>> ops.movedim(ops.ones((2, 3, 4)), (0, 1), (1, 2)).shape
    (4, 2, 3)
    """
    return moveaxis(x, source, destination)
