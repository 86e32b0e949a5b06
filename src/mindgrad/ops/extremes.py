"""Maxima and minima along axes, and their indices.

Arguments that select axes are the same as for other reductions. If an element is NaN, the maximum or minimum
is NaN. If several elements are equal, ``amax`` and ``amin`` (ReduceMax, ReduceMin) distribute the derivative
evenly among them. ``max`` and ``min`` along an axis, which return an index, assign the derivative to the
first of the equal elements.
"""

from __future__ import annotations

import math as _math
from typing import Any

from mindgrad.core.ir.dtype import int64
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import reduction as primitives
from mindgrad.core.primitives.indexing import gather
from mindgrad.core.primitives.structural import reshape
from mindgrad.ops import clipping
from mindgrad.ops.axes import normalize_axes, normalize_axis
from mindgrad.ops.define import also_named
from mindgrad.ops.operands import (
    accepted,
    broadcast_shapes,
    broadcast_to,
    cast,
    choose,
    full_tensor,
    operand,
    truth,
)
from mindgrad.ops.reduction import flag, reduced, with_reduced_axes
from mindgrad.ops.registry import public

__all__ = [
    "amax", "amin", "argmax", "argmax_with_value", "argmin", "argmin_with_value", "max", "min",
    "reduce_max", "reduce_min",
]  # fmt: skip


@public(
    "Tensor",
    "ReduceMax(keep_dims=False)(x, axis=())",
    "mint.amax(input, dim=(), keepdim=False)(axis=None if dim == () else dim)",
    "numpy.amax(a, axis=None, keepdims=False, initial=None, where=True)"
    "(where=None if where is True else where)",
    "numpy.max(a, axis=None, keepdims=False, initial=None, where=True)"
    "(where=None if where is True else where)",
)
def amax(
    input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> Tensor:
    """Return the largest element along axes; tied elements share the derivative.

    Args:
        input (Tensor or number): real values of any shape.
        axis (int, tuple of int, or None): axis or axes to reduce. ``None`` and ``()`` mean all
            axes.
        keepdims (bool): whether to keep the reduced axes with size 1.
        initial (int, float, or None): additional value that is compared with the elements.
        where (Tensor or None): Boolean tensor that broadcasts with ``input``; elements where ``where``
            is false are ignored. ``where`` requires ``initial``.

    Returns:
        Tensor without the reduced axes; NaN if an element is NaN.

    Raises:
        TypeError: If ``keepdims`` is not a bool, ``axis`` is not an int, or ``input`` is complex or not a
            tensor.
        ValueError: If ``axis`` is out of range or repeats an axis, ``input`` has no elements, or ``where`` is
            given without ``initial``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.amax(Tensor([[1.0, 5.0], [3.0, 4.0]]), 0))
    [3. 5.]
    """
    return _extreme(primitives.reduce_max, "Amax", input, axis, keepdims, initial, where)


@public(
    "Tensor",
    "ReduceMin(keep_dims=False)(x, axis=())",
    "mint.amin(input, dim=(), keepdim=False)(axis=None if dim == () else dim)",
    "numpy.amin(a, axis=None, keepdims=False, initial=None, where=True)"
    "(where=None if where is True else where)",
    "numpy.min(a, axis=None, keepdims=False, initial=None, where=True)"
    "(where=None if where is True else where)",
)
def amin(
    input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> Tensor:
    """Return the smallest element along axes; tied elements share the derivative.

    {as amax}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.amin(Tensor([[1.0, 5.0], [3.0, 4.0]]), 0))
    [1. 4.]
    """
    return _extreme(primitives.reduce_min, "Amin", input, axis, keepdims, initial, where)


def _extreme(
    primitive: Primitive, operator: str, x: Any, axis: Any, keep: Any, initial: Any = None, where: Any = None
) -> Tensor:
    x = _taking_part(operator, operand(x, operator), initial, where)
    if initial is None:
        return reduced(primitive, operator, x, axis, keep, "keepdims")
    axes = normalize_axes(axis, x.ndim, operator)
    shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    if not _math.prod(x.shape[i] for i in axes):
        extreme = full_tensor(initial, x.dtype, shape)
    else:
        extreme = reduced(primitive, operator, x, axes, True)
    limit = clipping.maximum if primitive is primitives.reduce_max else clipping.minimum
    extreme = limit(extreme, initial)
    if flag(keep, operator, "keepdims"):
        return extreme
    return apply(reshape, extreme, shape=tuple(n for i, n in enumerate(x.shape) if i not in axes))


def _taking_part(operator: str, x: Tensor, initial: Any, where: Any) -> Tensor:
    """Replace the elements of ``x`` that ``where`` excludes with ``initial``."""
    if initial is not None and (isinstance(initial, bool) or not isinstance(initial, (int, float))):
        raise TypeError(
            f"For '{operator}', the 'initial' must be a number, but got {type(initial).__name__}."
        )
    if where is None:
        return x
    if initial is None:
        raise ValueError(f"For '{operator}', 'where' requires 'initial', the value of excluded elements.")
    mask = truth(where, operator)
    shape = broadcast_shapes(operator, x.shape, mask.shape)
    return choose(broadcast_to(mask, shape), broadcast_to(x, shape), initial)


@public("Tensor.argmax_with_value(axis=0, keepdims=False)")
def max(
    input: Any, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[Tensor, Tensor]:
    """Return the largest element along an axis, and its index.

    If several elements are equal, the index is the index of the first one.

    Args:
        input (Tensor or number): real values of any shape.
        axis (int or None): axis to reduce. ``None`` means all axes. In this case, the returned index is
            always 0, as in MindSpore; :func:`argmax` returns the true index.
        keepdims (bool): whether to keep the reduced axis with size 1. It has no effect
            if ``axis`` is ``None``, as in MindSpore.
        initial (int, float, or None): additional value that is compared with the elements.
        where (Tensor or None): Boolean tensor that broadcasts with ``input``; elements where ``where``
            is false are ignored. ``where`` requires ``initial``.

    Returns:
        Two tensors: the extreme elements, and their int64 indices. The gradient flows to the element at the
        index. If ``axis`` is ``None``, equal elements share the gradient.

    Raises:
        TypeError: If ``keepdims`` is not a bool, ``axis`` is not an int, or ``input`` is complex or not a
            tensor.
        ValueError: If ``axis`` is out of range, ``input`` has no elements, or ``where`` is given without
            ``initial``.

    >>> from mindgrad import Tensor, ops
    >>> values, places = ops.max(Tensor([[1.0, 5.0], [3.0, 4.0]]), 1)
    >>> print(values, places)
    [5. 4.] [1 1]
    """
    return _extreme_and_place(primitives.reduce_max, "Max", input, axis, keepdims, initial, where)


@public("Tensor.argmin_with_value(axis=0, keepdims=False)")
def min(
    input: Any, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[Tensor, Tensor]:
    """Return the smallest element along an axis, and its index.

    If several elements are equal, the index is the index of the first one.

    {as max}

    >>> from mindgrad import Tensor, ops
    >>> values, places = ops.min(Tensor([[1.0, 5.0], [3.0, 4.0]]), 1)
    >>> print(values, places)
    [1. 3.] [0 0]
    """
    return _extreme_and_place(primitives.reduce_min, "Min", input, axis, keepdims, initial, where)


def _extreme_and_place(
    primitive: Primitive, operator: str, x: Any, axis: Any, keep: Any, initial: Any, where: Any
) -> tuple[Tensor, Tensor]:
    x = operand(x, operator)
    if axis is None or not x.ndim:
        flag(keep, operator, "keepdims")
        found = _extreme(primitive, operator, x, None, False, initial, where)
        return found, full_tensor(0, int64, found.shape)
    x = _taking_part(operator, x, initial, where)
    if initial is not None:
        x = (clipping.maximum if primitive is primitives.reduce_max else clipping.minimum)(x, initial)
    return at_extreme(
        primitives.argmax if primitive is primitives.reduce_max else primitives.argmin,
        operator,
        x,
        axis,
        keep,
    )


def place_of_extreme(primitive: Primitive, operator: str, x: Tensor, axis: int) -> Tensor:
    """Return the int32 index of the extreme along the nonnegative ``axis``."""
    accepted(primitive, operator, x, axis=axis)
    if not x.shape[axis]:
        raise ValueError(
            f"For '{operator}', the searched axis must not be empty, but the input has shape {x.shape} "
            f"and the axis is {axis}."
        )
    return apply(primitive, x, axis=axis)


def at_extreme(primitive: Primitive, operator: str, x: Tensor, axis: Any, keep: Any) -> tuple[Tensor, Tensor]:
    """Return the extremes along ``axis``, and their indices."""
    axis = normalize_axis(axis, x.ndim, operator)
    flag(keep, operator, "keepdims")
    places = place_of_extreme(primitive, operator, x, axis)
    return taken_along(x, places, axis, keep)


def taken_along(x: Tensor, places: Tensor, axis: int, keep: bool) -> tuple[Tensor, Tensor]:
    """Return the elements of ``x`` at indices along ``axis``, and int64 indices.

    ``axis`` is removed from both results, unless ``keep`` is true.
    """
    others = tuple(i for i in range(x.ndim) if i != axis)
    indices = apply(reshape, places, shape=(*places.shape, 1))
    values = apply(gather, x, indices, axes=(axis,), batch=others)
    return with_reduced_axes(values, x.shape, (axis,), keep), with_reduced_axes(
        cast(places, int64), x.shape, (axis,), keep
    )


@public(
    "mint",
    "Tensor.argmax(axis=None, keepdims=False)",
    "numpy.argmax(a, axis=None)",
    "Argmax(axis=-1, output_type=int32)(x)(dim=self.axis) -> cast(_, self.output_type) >>> ops.Argmax()"
    "(Tensor([[1.0, 5.0], [3.0, 4.0]])) => [1 1]",
)
def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the largest element along an axis.

    If several elements are the largest, the result is the first of their indices. If there are NaN, it is
    the index of the first NaN.

    Args:
        input (Tensor or number): real values of any shape.
        dim (int or None): axis to reduce. ``None`` means the flattened tensor.
        keepdim (bool): whether to keep the reduced axis with size 1.

    Returns:
        int64 tensor without the reduced axis.

    Raises:
        TypeError: If ``keepdim`` is not a bool, ``dim`` is not an int, or ``input`` is complex or not a
            tensor.
        ValueError: If ``dim`` is out of range, or ``input`` has no elements.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.argmax(Tensor([[1.0, 5.0], [3.0, 4.0]]), 1))
    [1 1]
    """
    return cast(_place(primitives.argmax, "Argmax", input, dim, keepdim), int64)


@public(
    "Tensor.argmin",
    "mint.argmin(input, dim=None, keepdim=False) -> indices(_)",
    "numpy.argmin(a, axis=None)",
    "Argmin(axis=-1, output_type=int32)(x) -> cast(_, self.output_type) >>> ops.Argmin()(Tensor([[1.0, "
    "5.0], [3.0, 4.0]])) => [0 0]",
)
def argmin(input: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the index of the smallest element along an axis.

    If several elements are the smallest, the result is the first of their indices. If there are NaN, it is
    the index of the first NaN.

    Returns:
        int32 tensor without the reduced axis. (:func:`argmax` returns int64, as in MindSpore.)

    {as argmax}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.argmin(Tensor([[1.0, 5.0], [3.0, 4.0]]), 1))
    [0 0]
    """
    return _place(primitives.argmin, "Argmin", input, axis, keepdims)


def _place(primitive: Primitive, operator: str, x: Any, axis: Any, keep: Any) -> Tensor:
    x = operand(x, operator)
    flag(keep, operator, "keepdims")
    shape = x.shape
    if axis is None or not shape:
        found = place_of_extreme(primitive, operator, apply(reshape, x, shape=(x.size,)), 0)
        return apply(reshape, found, shape=(1,) * len(shape)) if keep else found
    axis = normalize_axis(axis, x.ndim, operator)
    return with_reduced_axes(place_of_extreme(primitive, operator, x, axis), shape, (axis,), keep)


@public("ArgMaxWithValue(axis=0, keep_dims=False)(x)")
def argmax_with_value(input: Any, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the index of the largest element along an axis, and the element.

    Args:
        input (Tensor or number): real values of any shape.
        axis (int): axis to reduce.
        keep_dims (bool): whether to keep the reduced axis with size 1.

    Returns:
        Two tensors: the int64 indices, and the largest elements. :func:`max` returns them in the opposite
        order.

    >>> from mindgrad import Tensor, ops
    >>> places, values = ops.argmax_with_value(Tensor([[1.0, 5.0], [3.0, 4.0]]))
    >>> print(places, values)
    [1 0] [3. 5.]
    """
    values, places = max(input, axis, keep_dims)
    return places, values


@public("ArgMinWithValue(axis=0, keep_dims=False)(x)")
def argmin_with_value(input: Any, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the index of the smallest element along an axis, and the element.

    Args:
        input (Tensor or number): real values of any shape.
        axis (int): axis to reduce.
        keep_dims (bool): whether to keep the reduced axis with size 1.

    Returns:
        Two tensors: the int64 indices, and the smallest elements. :func:`min` returns them in the opposite
        order.

    >>> from mindgrad import Tensor, ops
    >>> places, values = ops.argmin_with_value(Tensor([[1.0, 5.0], [3.0, 4.0]]))
    >>> print(places, values)
    [0 1] [1. 4.]
    """
    values, places = min(input, axis, keep_dims)
    return places, values


# alternative names, as in MindSpore 1.x
reduce_max = also_named(x="input")(amax)
reduce_min = also_named(x="input")(amin)
