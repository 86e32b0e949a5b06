"""Numerical analysis as in NumPy: differences, interpolation, convolution."""

from __future__ import annotations

import math as _math
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.core.ir.dtype import int32, promote
from mindgrad.core.ir.tensor import Tensor
from mindgrad.numpy.coercion import converted, floating, tensor, tensors
from mindgrad.ops import (
    arithmetic,
    clipping,
    comparison,
    indexing,
    joining,
    layout,
    movement,
    ordering,
    reduction,
    rounding,
    vectors,
)
from mindgrad.ops.arguments import axes_in_order, axis_in_range
from mindgrad.ops.operands import promoted

__all__ = [
    "clip", "convolve", "corrcoef", "correlate", "cov", "diff", "digitize", "divmod", "ediff1d",
    "gradient", "interp", "promote_types", "ravel_multi_index", "result_type", "searchsorted",
    "unwrap",
]  # fmt: skip


def _pair(a: Any, b: Any, name: str) -> list[Tensor]:
    return promoted(name, tensor(a, name), tensor(b, name), broadcast=False)


# --- elementwise functions ---


def clip(x: Any, xmin: Any, xmax: Any, dtype: Any = None) -> Tensor:
    """Clip values to the interval from ``xmin`` to ``xmax``.

    Args:
        x (Tensor or array_like): values to clip.
        xmin, xmax (Tensor, array_like, or None): lower and upper bound, which broadcast with ``x``. One of
            them may be ``None``, which means no bound.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the promoted dtype.

    Returns:
        Tensor of the clipped values, with the broadcast shape.

    >>> import mindgrad.numpy as np
    >>> print(np.clip([1, 5, 9], 2, 6))
    [2 5 6]
    """
    if xmin is None and xmax is None:
        raise ValueError("For 'clip', at least one of 'xmin' and 'xmax' must be given.")
    bounds = [b if b is None or isinstance(b, (int, float)) else tensor(b, "clip") for b in (xmin, xmax)]
    return converted(clipping.clamp(tensor(x, "clip"), *bounds), dtype)


def divmod(x1: Any, x2: Any, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """Return the quotient rounded down and the remainder with the sign of ``x2``.

    Args:
        x1, x2 (Tensor or array_like): dividend and divisor, whose shapes broadcast.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the promoted dtype.

    Returns:
        Tuple of two tensors: the quotient and the remainder.

    >>> import mindgrad.numpy as np
    >>> quotient, remainder = np.divmod([7, -7], 2)
    >>> print(quotient, remainder)
    [ 3 -4] [1 1]
    """
    x, y = tensor(x1, "divmod"), tensor(x2, "divmod")
    return converted(arithmetic.floor_divide(x, y), dtype), converted(arithmetic.floor_mod(x, y), dtype)


def unwrap(p: Any, discont: float = _math.pi, axis: int = -1) -> Tensor:
    """Unwrap angles: remove jumps between neighbors by adding multiples of 2π.

    Args:
        p (Tensor or array_like): angles in radians.
        discont (float): smallest jump between neighboring angles that is removed.
        axis (int): axis along which to operate.

    Returns:
        Tensor with the shape of ``p``.

    >>> import mindgrad.numpy as np
    >>> print(np.around(np.unwrap([0.0, 6.0]), 2))
    [ 0.   -0.28]
    """
    x = floating(p, "unwrap")
    dim = axis_in_range(axis, x.ndim, "unwrap")
    step = vectors.diff(x, axis=dim)
    turned = arithmetic.sub(arithmetic.floor_mod(arithmetic.add(step, _math.pi), 2 * _math.pi), _math.pi)
    up = comparison.logical_and(comparison.equal(turned, -_math.pi), comparison.greater(step, 0))
    turned = indexing.where(up, _math.pi, turned)
    change = arithmetic.sub(turned, step)
    change = indexing.where(comparison.less(rounding.abs(step), discont), 0, change)
    first = movement.narrow(x, dim, 0, 1)
    rest = movement.narrow(x, dim, 1, x.shape[dim] - 1)
    return joining.concat((first, arithmetic.add(rest, change.cumsum(dim))), dim)  # type: ignore[attr-defined]


# --- differences and gradients ---


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Compute the differences of neighboring elements along an axis.

    Args:
        a (Tensor or array_like): tensor with at least one axis.
        n (int): order of the differences; 2 computes differences of differences.
        axis (int): axis along which to operate.
        prepend, append (Tensor, array_like, or None): values that are joined before and after ``a`` before
            the differences are computed.

    Returns:
        Tensor of the differences, with ``n`` fewer elements along ``axis``.

    >>> import mindgrad.numpy as np
    >>> print(np.diff([1, 4, 9]))
    [3 5]
    """
    if n == 0:
        return tensor(a, "diff")
    ends = [each if each is None else tensor(each, "diff") for each in (prepend, append)]
    return vectors.diff(tensor(a, "diff"), n, axis, *ends)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """Compute the differences of neighboring elements of the flattened tensor.

    Args:
        ary (Tensor or array_like): tensor of any shape, which is flattened.
        to_end, to_begin (Tensor, array_like, or None): numbers to add after and before the differences.

    Returns:
        1-D tensor of the differences.

    >>> import mindgrad.numpy as np
    >>> print(np.ediff1d([1, 4, 9], to_end=0))
    [3 5 0]
    """
    x = layout.ravel(tensor(ary, "ediff1d"))
    parts = [to_begin, vectors.diff(x), to_end]
    return joining.concat(
        [layout.ravel(tensor(each, "ediff1d", x.dtype)) for each in parts if each is not None], 0
    )


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Compute derivatives by central differences, one-sided at the edges.

    Args:
        f (Tensor or array_like): values of a function on a regular grid.
        *varargs (int or float): spacing of the grid points, one number for all axes or one for each axis.
        axis (int, tuple of int, or None): axis or axes along which to differentiate. ``None`` means all axes.
        edge_order (int): order of the differences at the edges; only 1 is supported.

    Returns:
        Tensor of the derivatives along one axis, or a list of such tensors for several axes.

    >>> import mindgrad.numpy as np
    >>> print(np.gradient([1.0, 4.0, 9.0]))
    [3. 4. 5.]
    """
    if edge_order != 1:
        raise ValueError(f"For 'gradient', the 'edge_order' must be 1, but got {edge_order}.")
    x = floating(f, "gradient")
    axes = axes_in_order(tuple(range(x.ndim)) if axis is None else axis, x.ndim, "gradient")
    steps = list(varargs) or [1.0]
    steps = steps * len(axes) if len(steps) == 1 else steps
    if len(steps) != len(axes):
        raise ValueError(
            f"For 'gradient', pass one distance or {len(axes)} distances, one for each axis, but got "
            f"{len(steps)}."
        )
    gradients = []
    for dim, step in zip(axes, steps, strict=True):
        count = x.shape[dim]
        if count < 2:
            raise ValueError(
                f"For 'gradient', axis {dim} must have at least two elements, but it has {count}."
            )
        apart = vectors.diff(x, axis=dim)
        ends = [movement.narrow(apart, dim, k, 1) for k in (0, count - 2)]
        inside = arithmetic.mul(
            0.5,
            arithmetic.add(
                movement.narrow(apart, dim, 0, count - 2), movement.narrow(apart, dim, 1, count - 2)
            ),
        )
        gradients.append(arithmetic.true_divide(joining.concat((ends[0], inside, ends[1]), dim), step))
    return gradients[0] if len(gradients) == 1 else gradients


# --- bins, interpolation, and flat indices ---


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Return the indices at which values keep a vector sorted.

    Args:
        a (Tensor or array_like): 1-D tensor in ascending order.
        v (Tensor or array_like): values to look up.
        side (str): ``"left"`` for the index before equal elements, ``"right"`` for the index
            after them.
        sorter (Tensor or None): integer indices that sort ``a`` in ascending order. ``None`` means that ``a``
            is sorted.

    Returns:
        Integer tensor of insertion indices, with the shape of ``v``.

    >>> import mindgrad.numpy as np
    >>> print(np.searchsorted([1.0, 2.0, 3.0], [0.5, 2.0]))
    [0 1]
    """
    x = tensor(a, "searchsorted")
    if sorter is not None:
        x = indexing.gather(x, tensor(sorter, "searchsorted"), 0)
    return ordering.searchsorted(x, tensor(v, "searchsorted"), out_int32=True, side=side)


def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """Return the index of the interval that contains each element.

    Args:
        x (Tensor or array_like): elements to assign to intervals.
        bins (Tensor or array_like): bounds of the intervals, a 1-D tensor in ascending or descending order.
        right (bool): whether an interval includes its upper bound instead of its lower one.

    Returns:
        Integer tensor of interval indices, with the shape of ``x``.

    >>> import mindgrad.numpy as np
    >>> print(np.digitize([0.5, 1.0, 9.0], [1.0, 2.0]))
    [0 1 2]
    """
    values, edges = tensor(x, "digitize"), tensor(bins, "digitize")
    if edges.ndim != 1:
        raise ValueError(f"For 'digitize', the bins must have one axis, but their shape is {edges.shape}.")
    side = "left" if right else "right"
    rising = ordering.searchsorted(edges, values, out_int32=True, side=side)
    if edges.size < 2:
        return rising
    flipped = movement.flip(edges, (0,))
    falling = arithmetic.sub(edges.size, ordering.searchsorted(flipped, values, out_int32=True, side=side))
    down = comparison.less(edges[-1], edges[0])  # type: ignore[index]
    return converted(indexing.where(down, falling, rising), int32)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Tensor:
    """Interpolate linearly between given points, differentiable in all arguments.

    Args:
        x (Tensor or array_like): x-coordinates at which to interpolate.
        xp (Tensor or array_like): x-coordinates of the given points, in ascending order.
        fp (Tensor or array_like): y-coordinates of the given points, with the shape of ``xp``.
        left, right (number or None): results for ``x`` below the first and above the last point. ``None``
            means the values ``fp`` of these points.

    Returns:
        Tensor with the shape of ``x``.

    >>> import mindgrad.numpy as np
    >>> print(np.interp([0.5, 3.0], [0.0, 1.0, 2.0], [0.0, 10.0, 20.0]))
    [ 5. 20.]
    """
    at = floating(x, "interp")
    places, values = floating(xp, "interp"), floating(fp, "interp")
    if places.ndim != 1 or places.shape != values.shape:
        raise ValueError(
            "For 'interp', 'xp' and 'fp' must be vectors of the same length, but got the shapes "
            f"{places.shape} and {values.shape}."
        )
    count = places.size
    if count == 1:
        inside = movement.broadcast_to(values, at.shape) if at.ndim else values[0]  # type: ignore[index]
    else:
        above = clipping.clamp(ordering.searchsorted(places, at, out_int32=True, right=True), 1, count - 1)
        below = arithmetic.sub(above, 1)
        x0, x1, y0, y1 = (indexing.gather(each, k, 0) for each in (places, values) for k in (below, above))
        share = arithmetic.true_divide(arithmetic.sub(at, x0), arithmetic.sub(x1, x0))
        inside = arithmetic.add(y0, arithmetic.mul(share, arithmetic.sub(y1, y0)))
    first, last = (values[k] if end is None else end for k, end in ((0, left), (-1, right)))  # type: ignore[index]
    found = indexing.where(comparison.less(at, places[0]), first, inside)  # type: ignore[index]
    return indexing.where(comparison.greater(at, places[-1]), last, found)  # type: ignore[index]


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "clip", order: str = "C") -> Tensor:
    """Convert coordinates to flat indices.

    Args:
        multi_index (tuple of Tensor or array_like): index tensors, one with the coordinates along each axis.
        dims (tuple of int): shape of the tensor that the coordinates address.
        mode (str): how to treat a coordinate out of range. ``"clip"`` uses the nearest valid coordinate,
            ``"wrap"`` the coordinate modulo the size of the axis.
        order (str): memory order of the flat indices: ``"C"`` if the last axis varies fastest, ``"F"`` if the
            first axis varies fastest.

    Returns:
        Integer tensor of flat indices.

    >>> import mindgrad.numpy as np
    >>> print(np.ravel_multi_index([[1, 0], [2, 1]], (2, 3)))
    [5 1]
    """
    one_of(mode, ("clip", "wrap"), "ravel_multi_index", "mode")
    one_of(order, ("C", "F"), "ravel_multi_index", "order")
    pairs = list(zip(tensors(multi_index, "ravel_multi_index"), dims, strict=True))
    index: Any = 0
    for coordinate, count in pairs if order == "C" else pairs[::-1]:
        inside = (
            clipping.clamp(coordinate, 0, count - 1)
            if mode == "clip"
            else arithmetic.floor_mod(coordinate, count)
        )
        index = arithmetic.add(arithmetic.mul(index, count), inside)
    return index


# --- convolution and correlation ---


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """Compute the convolution Σ_j a[j] v[k − j] of two vectors.

    Args:
        a, v (Tensor or array_like): 1-D tensors.
        mode (str): part of the result. ``"full"`` returns all overlaps, ``"same"`` the central part with the
            size of the longer vector, and ``"valid"`` only complete overlaps.

    Returns:
        1-D tensor of the convolution.

    >>> import mindgrad.numpy as np
    >>> print(np.convolve([1, 2, 3], [0, 1]))
    [0 1 2 3]
    """
    x, y = _pair(a, v, "convolve")
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ValueError(
            f"For 'convolve', the inputs must be nonempty vectors, but their shapes are {x.shape} and "
            f"{y.shape}."
        )
    one_of(mode, ("full", "same", "valid"), "convolve", "mode")
    if x.size < y.size:
        x, y = y, x
    n, m = x.size, y.size
    # result[k] is the dot product of the reversed y and the window of x that ends at index first + k
    first, count = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}[mode]
    places = np.arange(first, first + count)[:, None] + np.arange(m) - (m - 1)
    inside = (places >= 0) & (places < n)
    window = indexing.gather(x, Tensor(np.where(inside, places, 0)), 0)
    window = indexing.where(Tensor(inside), window, 0)
    return reduction.sum(arithmetic.mul(window, movement.flip(y, (0,))), 1)


def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    """Compute the correlation Σ_j a[j + k] conj(v[j]) of two vectors.

    Args:
        a, v (Tensor or array_like): 1-D tensors.
        mode (str): part of the result: ``"full"``, ``"same"``, or ``"valid"``, as for :func:`convolve`.

    Returns:
        1-D tensor of the correlation.

    >>> import mindgrad.numpy as np
    >>> print(np.correlate([1, 2, 3], [0, 1]))
    [2 3]
    """
    x, y = _pair(a, v, "correlate")
    if x.size < y.size and mode != "full":
        return movement.flip(convolve(y, movement.flip(x, (0,)), mode), (0,))
    return convolve(x, movement.flip(y, (0,)), mode)


# --- covariance and promotion of dtypes ---


def _variables(m: Any, y: Any, rowvar: bool, name: str) -> Tensor:
    x = floating(m, name)
    x = layout.reshape(x, (1, -1)) if x.ndim < 2 else x if rowvar else layout.swapaxes(x, 0, 1)
    if y is None:
        return x
    return joining.concat(promoted(name, x, _variables(y, None, rowvar, name), broadcast=False), 0)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Tensor:
    """Compute the covariance matrix of variables.

    Args:
        m (Tensor or array_like): observations of the variables. Each row is a variable, unless ``rowvar`` is
            false.
        y (Tensor, array_like, or None): observations of further variables, in the form of the first argument.
        rowvar (bool): whether the variables are rows instead of columns.
        bias (bool): whether to divide by the number n of observations instead of n − 1.
        ddof (int or None): number to subtract from the number of observations in the divisor. ``None`` means
            0 if ``bias`` is true, and 1 otherwise.
        fweights, aweights (Tensor, array_like, or None): number of repetitions and weight of each
            observation. ``None`` means 1.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of the input.

    Returns:
        Tensor of shape (variables, variables), or 0-D for one variable.

    >>> import mindgrad.numpy as np
    >>> print(np.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    [[ 1. -1.]
     [-1.  1.]]
    """
    x = _variables(m, y, rowvar, "cov")
    correction = (0 if bias else 1) if ddof is None else ddof
    weights = [None if w is None else tensor(w, "cov") for w in (fweights, aweights)]
    found = vectors.cov(x, correction=correction, fweights=weights[0], aweights=weights[1])
    return converted(layout.squeeze(found) if found.size == 1 else found, dtype)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Tensor:
    """Compute the correlation coefficients between variables.

    Args:
        x (Tensor or array_like): observations of the variables. Each row is a variable, unless ``rowvar`` is
            false.
        y (Tensor, array_like, or None): observations of further variables, in the form of the first argument.
        rowvar (bool): whether the variables are rows instead of columns.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of the input.

    Returns:
        Tensor of shape (variables, variables), or 0-D for one variable.

    >>> import mindgrad.numpy as np
    >>> print(np.corrcoef([[0.0, 1.0, 2.0], [4.0, 2.0, 0.0]]))
    [[ 1. -1.]
     [-1.  1.]]
    """
    found = vectors.corrcoef(_variables(x, y, rowvar, "corrcoef"))
    return converted(layout.squeeze(found) if found.size == 1 else found, dtype)


def promote_types(type1: Any, type2: Any) -> Any:
    """Return the dtype to which two dtypes are promoted.

    Args:
        type1, type2 (mindgrad.dtype): dtypes to promote.

    Returns:
        The promoted dtype.

    >>> import mindgrad.numpy as np
    >>> np.promote_types(np.float32, np.float64)
    mindspore.float64
    """
    return promote(tensor(0, "promote_types", type1).dtype, tensor(0, "promote_types", type2).dtype)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the dtype of a result of tensors, numbers, and dtypes.

    Args:
        *arrays_and_dtypes (Tensor, array_like, or mindgrad.dtype): operands of the operation, or their
            dtypes.

    Returns:
        The promoted dtype.

    >>> import mindgrad.numpy as np
    >>> np.result_type(np.array([1]), np.float16)
    mindspore.float16
    """
    kinds = [
        value.dtype
        if isinstance(value, Tensor)
        else tensor(value, "result_type").dtype
        if isinstance(value, (bool, int, float, complex, list, tuple, np.ndarray))
        else tensor(0, "result_type", value).dtype
        for value in arrays_and_dtypes
    ]
    if not kinds:
        raise ValueError("For 'result_type', pass at least one argument.")
    dtype = kinds[0]
    for kind in kinds[1:]:
        dtype = promote(dtype, kind)
    return dtype
