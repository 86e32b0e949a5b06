"""Methods of Tensor that change the shape.

They accept the arguments of MindSpore r1.x and 2.x: ``x.reshape(2, 3)`` and ``x.reshape((2, 3))``.
"""

from __future__ import annotations

import math
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import creation, joining, layout, matrices, movement, repeating
from mindgrad.ops.arguments import sizes, varargs
from mindgrad.ops.operands import operand
from mindgrad.ops.reduction import whole_as_int64
from mindgrad.ops.registry import public

__all__: list[str] = []


@public("Tensor")
def reshape(self: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """Change the shape: ``x.reshape(2, -1)`` or ``x.reshape((2, -1))``.

    Args:
        *sizes (int or tuple of int): the new shape. One size may be −1; it is computed from the number of
            elements.
        shape (tuple of int or None): the new shape, if it is passed by keyword.

    Returns:
        Tensor with the elements in row-major order.

    Raises:
        TypeError: If no shape is passed, or a size is not an int.
        ValueError: If the new shape does not have the number of elements of the tensor.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).reshape(2, -1))
    [[1.]
     [2.]]
    """
    if shape is not None:
        sizes = (*sizes, shape)
    elif not sizes:
        raise TypeError("reshape() missing 1 required positional argument: shape.")
    return layout.reshape(self, varargs(sizes))


@public("Tensor Tensor.view_as")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Change the shape to the shape of another tensor.

    Args:
        other (Tensor): tensor whose shape is used.

    Returns:
        Tensor with the shape of ``other``.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0, 2.0]).reshape_as(Tensor([[1.0], [1.0]])).shape
    (2, 1)
    """
    return layout.reshape(self, other.shape)


@public("Tensor")
def resize(self: Tensor, *new_shape: Any) -> Tensor:
    """Change the shape, and drop elements or append zeros if the size changes.

    Args:
        *new_shape (int or tuple of int): the new shape.

    Returns:
        Tensor of the new shape.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0, 3.0]).resize(2, 2))
    [[1. 2.]
     [3. 0.]]
    """
    if not new_shape:
        return self
    shape = sizes(varargs(new_shape), "Resize", "new_shape", least=0)
    flat, count = layout.ravel(self), math.prod(shape)
    elements = movement.slice_axis(flat, 0, 0, min(count, flat.size))
    if count > flat.size:
        elements = joining.concat([elements, creation.zeros(count - flat.size, self.dtype)])
    return layout.reshape(elements, shape)


@public("Tensor")
def transpose(self: Tensor, *axes: Any, **dims: Any) -> Tensor:
    """Swap two axes, or permute all axes; without arguments reverse them.

    Two ints, also as ``dim0`` and ``dim1``, are the axes to swap. A tuple or list, or another number of
    ints, is the order of all axes.

    Args:
        *axes (int or tuple of int): the two axes to swap, or the new order of all axes.
        **dims (int): the two axes to swap, passed as the keywords ``dim0`` and ``dim1``.

    Returns:
        Tensor with permuted axes.

    Raises:
        TypeError: If an axis is not an int.
        ValueError: If an axis is out of range, or the new order does not contain each axis exactly once.

    >>> from mindgrad import ops
    >>> x = ops.ones((2, 3, 4))
    >>> x.transpose(0, 2).shape, x.transpose((2, 0, 1)).shape, x.transpose(1, 0, 2).shape, x.transpose().shape
    ((4, 3, 2), (4, 2, 3), (3, 2, 4), (4, 3, 2))
    """
    if dims or (len(axes) == 2 and not isinstance(axes[0], (tuple, list))):
        return _exchanged(self, *axes, **dims)
    order = varargs(axes) if axes else None
    return transposed(self) if order is None else layout.transpose(self, order)


def _exchanged(self: Tensor, dim0: Any, dim1: Any) -> Tensor:
    return layout.swapaxes(self, dim0, dim1)


@public("Tensor")
def permute(self: Tensor, *axes: Any, dims: Any = None) -> Tensor:
    """Permute the axes: ``x.permute(1, 0)`` or ``x.permute((1, 0))``.

    Args:
        *axes (int or tuple of int): the new order of all axes.
        dims (tuple of int or None): the new order of all axes, if it is passed by keyword.

    Returns:
        Tensor with permuted axes.

    >>> from mindgrad import ops
    >>> ops.ones((2, 3)).permute(1, 0).shape
    (3, 2)
    """
    return layout.transpose(self, varargs(axes if dims is None else (*axes, dims)))


def transposed(self: Tensor) -> Tensor:
    """Return the tensor with its axes in reverse order.

    >>> from mindgrad import Tensor
    >>> print(Tensor([[1.0, 2.0]]).T)
    [[1.]
     [2.]]
    """
    x = operand(self, "Transpose")
    return layout.permuted(x, tuple(range(x.type.rank - 1, -1, -1)))


def matrix_transposed(self: Tensor) -> Tensor:
    """Return the tensor with its last two axes swapped.

    >>> from mindgrad import ops
    >>> ops.ones((2, 3, 4)).mT.shape
    (2, 4, 3)
    """
    return layout.swapaxes(self, -2, -1)


@public("Tensor")
def t(self: Tensor) -> Tensor:
    """Transpose a matrix; a vector is returned unchanged.

    Returns:
        The transposed matrix, or the vector.

    Raises:
        ValueError: If the tensor has more than two axes.

    >>> from mindgrad import ops
    >>> ops.ones((2, 3)).t().shape
    (3, 2)
    """
    if self.ndim > 2:
        raise ValueError(f"For 't', the tensor must have at most two axes, but its shape is {self.shape}.")
    return transpose(self)


@public("Tensor")
def expand(self: Tensor, *size: Any) -> Tensor:
    """Broadcast the tensor to a shape; see :func:`mindgrad.ops.broadcast_to`.

    Args:
        *size (int or tuple of int): shape of the result; −1 keeps the size of an axis.

    Returns:
        Tensor with the broadcast shape.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0, 2.0]).expand(3, -1).shape
    (3, 2)
    """
    return movement.broadcast_to(self, varargs(size))


@public("Tensor Tensor.reverse")
def flip(self: Tensor, *dims: Any) -> Tensor:
    """Reverse the elements along axes: ``x.flip(0, 1)`` or ``x.flip((0, 1))``.

    Args:
        *dims (int or tuple of int): axes to reverse.

    Returns:
        Tensor of the same shape with reversed axes.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).flip(0))
    [2. 1.]
    """
    return movement.flip(self, varargs(dims))


@public("Tensor")
def tile(self: Tensor, *dims: Any) -> Tensor:
    """Repeat the tensor along axes: ``x.tile(2, 1)`` or ``x.tile((2, 1))``.

    Args:
        *dims (int or tuple of int): numbers of repetitions for the trailing axes.

    Returns:
        Tensor of the repeated elements.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).tile(2))
    [1. 2. 1. 2.]
    """
    return repeating.tile(self, varargs(dims))


@public("Tensor")
def trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """Sum a diagonal, of integers as int64; see :func:`mindgrad.ops.trace`.

    Args:
        offset (int): index of the diagonal. 0 is the main diagonal; positive diagonals are above it.
        axis1, axis2 (int): axes of the rows and of the columns of the matrices.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means int64 for integers and the
            dtype of the tensor otherwise.

    Returns:
        Tensor of the sums, without ``axis1`` and ``axis2``.

    >>> from mindgrad import Tensor
    >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]).trace())
    5.0
    """
    return matrices.trace(whole_as_int64(self, "Trace", dtype), offset, axis1, axis2)
