"""Joining functions as in NumPy, such as ``np.concatenate`` and ``np.split``."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.numpy.coercion import common, tensor
from mindgrad.ops import joining, layout, repeating
from mindgrad.ops.arguments import axis_in_range, sizes

__all__ = ["append", "concatenate", "dsplit", "hsplit", "split", "tile", "vsplit"]

# --- joining and splitting ---


def concatenate(arrays: Any, axis: int | None = 0) -> Tensor:
    """Join tensors along an axis.

    Args:
        arrays (tuple or list of Tensor or array_like): tensors to concatenate.
        axis (int or None): axis along which to concatenate. ``None`` flattens the tensors first.

    Returns:
        Tensor of the joined elements.

    >>> import mindgrad.numpy as np
    >>> print(np.concatenate(([1, 2], [3.0])))
    [1. 2. 3.]
    """
    parts = common(arrays, "concatenate")
    if axis is None:
        return joining.concat([layout.ravel(x) for x in parts], 0)
    return joining.concat(parts, axis)


def append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    """Append values to a tensor along an axis.

    Args:
        arr, values (Tensor or array_like): tensor, and the values to append to it.
        axis (int or None): axis along which to append. ``None`` flattens both tensors first.

    Returns:
        Tensor of the joined elements.

    >>> import mindgrad.numpy as np
    >>> print(np.append([1, 2], [[3]]))
    [1 2 3]
    """
    return concatenate((arr, values), axis)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor along an axis into equal parts, or at indices.

    Args:
        x (Tensor or array_like): tensor to split.
        indices_or_sections (int or tuple of int): number of equal parts, or indices at which the second and
            all later parts begin.
        axis (int): axis to split.

    Returns:
        Tuple of the parts.

    Raises:
        ValueError: If ``indices_or_sections`` is an int that does not divide the size of the axis.

    >>> import mindgrad.numpy as np
    >>> [part.shape for part in np.split([1, 2, 3], [1])]
    [(1,), (2,)]
    """
    values = tensor(x, "split")
    if isinstance(indices_or_sections, int):
        count = values.shape[axis_in_range(axis, values.ndim, "split")]
        if indices_or_sections < 1 or count % indices_or_sections:
            raise ValueError(
                f"For 'split', the {count} elements along axis {axis} cannot be divided into "
                f"{indices_or_sections} equal parts. Use array_split."
            )
    return tuple(joining.tensor_split(values, indices_or_sections, axis))


def hsplit(x: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split a tensor along its second axis, or its only axis.

    Args:
        x (Tensor or array_like): tensor to split.
        indices_or_sections (int or tuple of int): number of equal parts, or indices at which the second and
            all later parts begin.

    Returns:
        Tuple of the parts.

    >>> import mindgrad.numpy as np
    >>> len(np.hsplit([1, 2], 2))
    2
    """
    found = tensor(x, "hsplit")
    return split(found, indices_or_sections, 1 if found.ndim > 1 else 0)


def vsplit(x: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split a tensor along its first axis.

    Args:
        x (Tensor or array_like): tensor to split.
        indices_or_sections (int or tuple of int): number of equal parts, or indices at which the second and
            all later parts begin.

    Returns:
        Tuple of the parts.

    >>> import mindgrad.numpy as np
    >>> len(np.vsplit([[1], [2]], 2))
    2
    """
    return split(x, indices_or_sections, 0)


def dsplit(x: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split a tensor along its third axis.

    Args:
        x (Tensor or array_like): tensor to split.
        indices_or_sections (int or tuple of int): number of equal parts, or indices at which the second and
            all later parts begin.

    Returns:
        Tuple of the parts.

    >>> import mindgrad.numpy as np
    >>> len(np.dsplit(np.ones((1, 1, 2)), 2))
    2
    """
    return split(x, indices_or_sections, 2)


def tile(a: Any, reps: Any) -> Tensor:
    """Repeat a tensor along its axes.

    Args:
        a (Tensor or array_like): tensor to repeat.
        reps (int or tuple of int): number of repetitions for each axis.

    Returns:
        Tensor of the repeated elements.

    >>> import mindgrad.numpy as np
    >>> print(np.tile([1, 2], 2))
    [1 2 1 2]
    """
    x, times = tensor(a, "tile"), sizes(reps, "tile", "reps", least=0)
    return repeating.tile(x, (*(1 for _ in range(x.ndim - len(times))), *times))
