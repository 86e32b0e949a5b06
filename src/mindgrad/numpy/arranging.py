"""Shape functions as in NumPy, such as ``np.reshape`` and ``np.transpose``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.numpy.coercion import tensor
from mindgrad.ops import layout, movement
from mindgrad.ops.arguments import axes_in_order, axis_in_range, one_or_more
from mindgrad.ops.operands import broadcast_shapes

__all__ = [
    "array_str", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "expand_dims", "flip",
    "rollaxis", "size", "transpose",
]  # fmt: skip

# --- shape and axes ---


def expand_dims(a: Any, axis: Any) -> Tensor:
    """Insert axes of size 1 at given indices of the result.

    Args:
        a (Tensor or array_like): tensor of any shape.
        axis (int or tuple of int): indices of the new axes in the result.

    Returns:
        Tensor with the elements of ``a`` and the new axes.

    >>> import mindgrad.numpy as np
    >>> np.expand_dims([1, 2], (0, 2)).shape
    (1, 2, 1)
    """
    x = tensor(a, "expand_dims")
    places = axes_in_order(axis, x.ndim + len(one_or_more(axis)), "expand_dims")
    shape = list(x.shape)
    for place in sorted(places):
        shape.insert(place, 1)
    return layout.reshape(x, tuple(shape))


def transpose(a: Any, axes: Any = None) -> Tensor:
    """Permute the axes of a tensor; by default, reverse their order.

    Args:
        a (Tensor or array_like): tensor of any shape.
        axes (tuple of int or None): new order of the axes. ``None`` reverses the axes.

    Returns:
        Tensor with permuted axes.

    >>> import mindgrad.numpy as np
    >>> print(np.transpose([[1, 2]]))
    [[1]
     [2]]
    """
    x = tensor(a, "transpose")
    return layout.transpose(x, tuple(range(x.ndim))[::-1] if axes is None else axes)


def rollaxis(x: Any, axis: int, start: int = 0) -> Tensor:
    """Move an axis before another axis.

    Args:
        x (Tensor or array_like): tensor of any shape.
        axis (int): axis to move.
        start (int): axis before which ``axis`` is moved.

    Returns:
        Tensor with permuted axes.

    >>> import mindgrad.numpy as np
    >>> np.rollaxis(np.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    values = tensor(x, "rollaxis")
    dim = axis_in_range(axis, values.ndim, "rollaxis")
    before = start + values.ndim if start < 0 else start
    if not 0 <= before <= values.ndim:
        raise ValueError(
            f"For 'rollaxis', the 'start' must be from {-values.ndim} to {values.ndim}, but got {start}."
        )
    return layout.moveaxis(values, dim, before - 1 if dim < before else before)


def broadcast_arrays(*args: Any) -> list[Tensor]:
    """Broadcast tensors to their common shape.

    Args:
        *args (Tensor or array_like): tensors to broadcast.

    Returns:
        List of the broadcast tensors.

    >>> import mindgrad.numpy as np
    >>> [x.shape for x in np.broadcast_arrays([1, 2], [[1], [2]])]
    [(2, 2), (2, 2)]
    """
    given = [tensor(x, "broadcast_arrays") for x in args]
    shape = broadcast_shapes("broadcast_arrays", *[x.shape for x in given])
    return [movement.broadcast_to(x, shape) for x in given]


def _each(function: Callable[[Any], Any], name: str, arrays: tuple[Any, ...]) -> Any:
    found = [function(tensor(x, name)) for x in arrays]
    return found[0] if len(found) == 1 else found


def atleast_1d(*arys: Any) -> Any:
    """Convert 0-D tensors to 1-D tensors.

    Args:
        *arys (Tensor or array_like): tensors to convert.

    Returns:
        The converted tensor, or a list of tensors if several are passed.

    >>> import mindgrad.numpy as np
    >>> np.atleast_1d(3).shape
    (1,)
    """
    return _each(layout.atleast_1d, "atleast_1d", arys)


def atleast_2d(*arys: Any) -> Any:
    """Add axes of size 1 until there are two axes.

    Args:
        *arys (Tensor or array_like): tensors to convert.

    Returns:
        The converted tensor, or a list of tensors if several are passed.

    >>> import mindgrad.numpy as np
    >>> np.atleast_2d([1, 2]).shape
    (1, 2)
    """
    return _each(layout.atleast_2d, "atleast_2d", arys)


def atleast_3d(*arys: Any) -> Any:
    """Add axes of size 1 until there are three axes.

    Args:
        *arys (Tensor or array_like): tensors to convert.

    Returns:
        The converted tensor, or a list of tensors if several are passed.

    >>> import mindgrad.numpy as np
    >>> np.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    return _each(layout.atleast_3d, "atleast_3d", arys)


def size(a: Any, axis: int | None = None) -> int:
    """Return the number of elements, or the size of an axis.

    Args:
        a (Tensor or array_like): tensor of any shape.
        axis (int or None): axis whose size is returned. ``None`` counts all elements.

    Returns:
        int: the number of elements.

    >>> import mindgrad.numpy as np
    >>> np.size([[1, 2]]), np.size([[1, 2]], 0)
    (2, 1)
    """
    x = tensor(a, "size")
    return x.size if axis is None else x.shape[axis_in_range(axis, x.ndim, "size")]


def array_str(a: Any) -> str:
    """Return the elements as a string.

    Args:
        a (Tensor or array_like): tensor of any shape.

    Returns:
        str: the formatted elements.

    >>> import mindgrad.numpy as np
    >>> np.array_str([1, 2])
    '[1 2]'
    """
    return str(tensor(a, "array_str"))


# --- reversal of elements ---


def flip(m: Any, axis: Any = None) -> Tensor:
    """Reverse the elements along axes.

    Args:
        m (Tensor or array_like): tensor of any shape.
        axis (int, tuple of int, or None): axis or axes to reverse. ``None`` means all axes.

    Returns:
        Tensor of the shape of ``m``.

    >>> import mindgrad.numpy as np
    >>> print(np.flip([1, 2, 3]))
    [3 2 1]
    """
    x = tensor(m, "flip")
    return movement.flip(x, tuple(range(x.ndim)) if axis is None else axis)
