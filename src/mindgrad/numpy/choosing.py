"""Selection functions as in NumPy, such as ``np.where`` and ``np.take``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import int32, int64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.numpy.arranging import expand_dims
from mindgrad.numpy.coercion import tensor, tensors, truth
from mindgrad.ops import indexing, joining, layout, movement, ordering, sequences, storage
from mindgrad.ops.arguments import axis_in_range, one_or_more, sizes, whole_number
from mindgrad.ops.operands import broadcast_shapes

__all__ = [
    "apply_along_axis", "apply_over_axes", "argwhere", "choose", "intersect1d", "piecewise", "select",
    "setdiff1d", "take_along_axis", "unique", "unravel_index", "where",
]  # fmt: skip

# --- selection of elements ---


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Choose elements from two tensors, or find the indices of true elements.

    Args:
        condition (Tensor or array_like): Boolean tensor.
        x (Tensor, array_like, or None): values where the condition is true.
        y (Tensor, array_like, or None): values where the condition is false.

    Returns:
        Tensor of the chosen elements. If only ``condition`` is passed, a tuple of index tensors of its true
        elements, one for each axis.

    >>> import mindgrad.numpy as np
    >>> print(np.where([True, False], 1.0, [2.0, 3.0]), np.where([False, True])[0])
    [1. 3.] [1]
    """
    mask = truth(tensor(condition, "where"))
    if x is None and y is None:
        return ordering.nonzero(mask, as_tuple=True)
    if x is None or y is None:
        raise ValueError("For 'where', both or neither of 'x' and 'y' must be given.")
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        x = tensor(x, "where")
    pair = [each if isinstance(each, (bool, int, float)) else tensor(each, "where") for each in (x, y)]
    return indexing.where(mask, *pair)


def take_along_axis(arr: Any, indices: Any, axis: int | None) -> Tensor:
    """Select one element per index along an axis.

    Args:
        arr (Tensor or array_like): tensor with at least one axis.
        indices (Tensor or array_like): integer tensor with as many axes as ``arr``.
        axis (int or None): axis of ``arr`` to which ``indices`` refer. ``None`` flattens ``arr`` first.

    Returns:
        Tensor with the shape of ``indices``.

    >>> import mindgrad.numpy as np
    >>> print(np.take_along_axis([[3, 1]], [[1, 0]], 1))
    [[1 3]]
    """
    x, index = tensor(arr, "take_along_axis"), tensor(indices, "take_along_axis")
    if axis is None:
        return indexing.gather_elements(layout.ravel(x), 0, index)
    dim = axis_in_range(axis, x.ndim, "take_along_axis")
    shape = broadcast_shapes(
        "take_along_axis", *[(*operand.shape[:dim], 1, *operand.shape[dim + 1 :]) for operand in (x, index)]
    )
    x, index = (
        movement.broadcast_to(operand, (*shape[:dim], operand.shape[dim], *shape[dim + 1 :]))
        for operand in (x, index)
    )
    return indexing.gather_elements(x, dim, index)


def choose(a: Any, choices: Any, mode: str = "clip") -> Tensor:
    """Choose elements from several tensors by index.

    Args:
        a (Tensor or array_like): integer tensor of indices into ``choices``.
        choices (tuple or list of Tensor or array_like): tensors to choose from, whose shapes broadcast.
        mode (str): how to treat an index out of range: ``"clip"`` uses the nearest choice, ``"wrap"`` the
            index modulo the number of choices.

    Returns:
        Tensor with the broadcast shape.

    >>> import mindgrad.numpy as np
    >>> print(np.choose([1, 0], [[1, 2], [3, 4]]))
    [3 2]
    """
    given = tensors(choices, "choose")
    return storage.choose(tensor(a, "choose"), given, mode)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """Choose elements by the first condition that is true.

    Args:
        condlist (list of Tensor or array_like): conditions, as Boolean tensors.
        choicelist (list of Tensor or array_like): values to choose for each condition.
        default (Tensor or array_like): value of elements for which all conditions are false.

    Returns:
        Tensor of the chosen elements.

    >>> import mindgrad.numpy as np
    >>> print(np.select([[True, False], [True, True]], [[1, 2], [3, 4]]))
    [1 4]
    """
    conditions, choices = tensors(condlist, "select"), tensors(choicelist, "select")
    if len(conditions) != len(choices) or not conditions:
        raise ValueError(
            f"For 'select', pass one choice for each condition, but got {len(choices)} choices and "
            f"{len(conditions)} conditions."
        )
    result: Any = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = indexing.where(truth(condition), choice, result)
    return result


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Tensor:
    """Evaluate a piecewise function; the last true condition determines the value.

    Args:
        x (Tensor or array_like): tensor whose elements are passed to the functions.
        condlist (list of Tensor or array_like): conditions, as Boolean tensors.
        funclist (list of callable or number): functions or numbers, one for each condition. One more entry,
            if given, is used for elements that satisfy no condition; otherwise, these elements are 0.
        *args, **kw (object): further arguments of the functions.

    Returns:
        Tensor with the shape of ``x``.

    >>> import mindgrad.numpy as np
    >>> x = np.array([-1.0, 2.0])
    >>> print(np.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x * x]))
    [1. 4.]
    """
    points = tensor(x, "piecewise")
    conditions = tensors(condlist if isinstance(condlist, (list, tuple)) else [condlist], "piecewise")
    functions = list(funclist)
    if len(functions) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"For 'piecewise', pass as many functions as conditions, {len(conditions)}, or one "
            f"more, but got {len(functions)}."
        )
    values = [each(points, *args, **kw) if callable(each) else each for each in functions]
    result: Any = values.pop() if len(values) > len(conditions) else 0
    for condition, value in zip(conditions, values, strict=True):
        result = indexing.where(condition, value, result)
    return movement.broadcast_to(tensor(result, "piecewise", points.dtype), points.shape)


# --- indices and sets ---


def _values(x: Any, operator: str) -> np.ndarray:
    """Return known values of ``x``, which determine the shape of the result."""
    values = known(tensor(x, operator))
    if values is None:
        raise RuntimeError(
            f"For '{operator}', the shape of the result depends on values that are not known at compile "
            "time. Run the function in PYNATIVE_MODE: set_context(mode=PYNATIVE_MODE)."
        )
    return values


def argwhere(a: Any) -> Tensor:
    """Return the indices of nonzero elements, one row for each.

    Args:
        a (Tensor or array_like): tensor whose values are known at compile time.

    Returns:
        Integer tensor of shape (number of nonzero elements, number of axes).

    >>> import mindgrad.numpy as np
    >>> print(np.argwhere([[0, 3], [5, 0]]))
    [[0 1]
     [1 0]]
    """
    return Tensor(np.argwhere(_values(a, "argwhere")), int64)


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the distinct elements that two tensors share, in ascending order.

    Args:
        ar1, ar2 (Tensor or array_like): tensors, which are flattened. Their values must be known at compile
            time.
        assume_unique (bool): whether the elements of each tensor are known to be distinct.
        return_indices (bool): whether to also return the first index of each common element in ``ar1`` and in
            ``ar2``.

    Returns:
        1-D tensor of the common elements, or a tuple of this tensor and two index tensors.

    Raises:
        RuntimeError: If the values of ``ar1`` or ``ar2`` are unknown at compile time.

    >>> import mindgrad.numpy as np
    >>> print(np.intersect1d([3, 1, 2], [2, 3, 3]))
    [2 3]
    """
    x, y = layout.ravel(tensor(ar1, "intersect1d")), tensor(ar2, "intersect1d")
    _, first, second = np.intersect1d(
        _values(x, "intersect1d"), _values(y, "intersect1d"), assume_unique, return_indices=True
    )
    elements = indexing.gather(x, Tensor(first, int32), 0)
    return (elements, Tensor(first, int32), Tensor(second, int32)) if return_indices else elements


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """Return the distinct elements of ``ar1`` that are not in ``ar2``.

    Args:
        ar1, ar2 (Tensor or array_like): tensors, which are flattened. Their values must be known at compile
            time.
        assume_unique (bool): whether the elements of each tensor are known to be distinct. If it is true, the
            result is not sorted.

    Returns:
        1-D tensor of the remaining elements.

    Raises:
        RuntimeError: If the values of ``ar1`` or ``ar2`` are unknown at compile time.

    >>> import mindgrad.numpy as np
    >>> print(np.setdiff1d([3, 1, 2, 3], [2]))
    [1 3]
    """
    elements = layout.ravel(tensor(ar1, "setdiff1d"))
    values = _values(elements, "setdiff1d")
    indices = np.flatnonzero(~np.isin(values, _values(ar2, "setdiff1d")))
    if not assume_unique:
        indices = indices[np.unique(values[indices], return_index=True)[1]]
    return indexing.gather(elements, Tensor(indices, int32), 0)


def unique(x: Any, return_inverse: bool = False) -> Any:
    """Return the distinct elements of the flattened tensor in ascending order.

    Args:
        x (Tensor or array_like): tensor whose values are known at compile time.
        return_inverse (bool): whether to also return the index of each element of ``x`` among the distinct
            elements.

    Returns:
        1-D tensor of the distinct elements, or a tuple of this tensor and the inverse indices.

    Raises:
        RuntimeError: If the values of ``x`` are unknown at compile time.

    >>> import mindgrad.numpy as np
    >>> print(np.unique([3, 1, 3]))
    [1 3]
    """
    flat = layout.ravel(tensor(x, "unique"))
    values = _values(flat, "unique")
    _, first, which = np.unique(values, return_index=True, return_inverse=True)
    elements = indexing.gather(flat, Tensor(first, int32), 0)
    return (elements, Tensor(which, int32)) if return_inverse else elements


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Tensor, ...]:
    """Convert flat indices to coordinates in a shape.

    Args:
        indices (Tensor or array_like): integer tensor of flat indices.
        shape (tuple of int): shape of the tensor that the flat indices address.
        order (str): ``"C"`` if the last axis varies fastest, ``"F"`` if the first does.

    Returns:
        Tuple of integer tensors, one with the coordinates along each axis.

    >>> import mindgrad.numpy as np
    >>> print(np.unravel_index(5, (2, 3)))
    (Tensor(shape=[], dtype=Int32, value= 1), Tensor(shape=[], dtype=Int32, value= 2))
    """
    one_of(order, ("C", "F"), "unravel_index", "order")
    wanted = sizes(shape, "unravel_index", "shape", least=1)
    coordinates: Any = sequences.unravel_index(
        tensor(indices, "unravel_index"), wanted if order == "C" else wanted[::-1]
    )
    return tuple(coordinates) if order == "C" else tuple(coordinates)[::-1]


# --- functions along axes ---


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Apply a function to each vector along an axis.

    Args:
        func1d (callable): function of a 1-D tensor; it is called as ``func1d(vector, *args, **kwargs)``.
        axis (int): axis of the vectors.
        arr (Tensor or array_like): tensor with at least one axis.
        *args, **kwargs (object): further arguments of the function.

    Returns:
        Tensor of the results. The axes of one result of ``func1d`` replace ``axis``.

    >>> import mindgrad.numpy as np
    >>> print(np.apply_along_axis(lambda v: v.sum(), 1, np.array([[1, 2], [3, 4]])))
    [3 7]
    """
    x = tensor(arr, "apply_along_axis")
    dim = axis_in_range(axis, x.ndim, "apply_along_axis")
    moved = layout.moveaxis(x, dim, -1)
    front = moved.shape[:-1]
    rows = layout.reshape(moved, (-1, moved.shape[-1]))
    made = [tensor(func1d(rows[k], *args, **kwargs), "apply_along_axis") for k in range(rows.shape[0])]  # type: ignore[index]
    shape = made[0].shape
    stacked = layout.reshape(joining.stack(made, 0), (*front, *shape))
    count = len(shape)
    return layout.moveaxis(
        stacked, tuple(range(len(front), len(front) + count)), tuple(range(dim, dim + count))
    )


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Tensor:
    """Apply a function of a tensor and an axis to several axes, one after another.

    Args:
        func (callable): function that is called as ``func(tensor, axis)``.
        a (Tensor or array_like): tensor with at least one axis.
        axes (int or tuple of int): axes that are passed to ``func``, one after another.

    Returns:
        Tensor with as many axes as ``a``.

    >>> import mindgrad.numpy as np
    >>> print(np.apply_over_axes(np.sum, [[1, 2], [3, 4]], (0, 1)))
    [[10]]
    """
    x = tensor(a, "apply_over_axes")
    for axis in one_or_more(axes):
        reduced = tensor(func(x, whole_number(axis, "apply_over_axes", "axes")), "apply_over_axes")
        if reduced.ndim != x.ndim:
            reduced = expand_dims(reduced, axis)
        if reduced.ndim != x.ndim:
            raise ValueError(
                "For 'apply_over_axes', 'func' must return an array with the same number of axes as its "
                "input, or one axis less."
            )
        x = reduced
    return x
