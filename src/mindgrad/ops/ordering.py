"""Sorting and search operators: sort, topk, nonzero, unique, and searchsorted.

Sorted values are looked up with the sorting indices, so their derivative is the derivative of the lookup.
Equal elements keep their order, and NaN is larger than every number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import int32, int64
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.primitives import arithmetic, comparisons, reduction, sorting, structural
from mindgrad.ops.arguments import axis_in_range, whole_number
from mindgrad.ops.indexing import gather_elements
from mindgrad.ops.movement import slice_axis
from mindgrad.ops.operands import broadcast_to, cast, operand, promoted
from mindgrad.ops.registry import public

__all__ = [
    "argsort", "argwhere", "bincount", "msort", "nonzero", "searchsorted", "sort", "topk", "unique",
]  # fmt: skip


# --- sorting and largest elements --------------------------------------------------------------------


def _ranked(x: Tensor, axis: Any, descending: bool, operator: str) -> tuple[Tensor, int]:
    dim = axis_in_range(axis, x.ndim, operator)
    if x.dtype.kind == "complex":
        raise TypeError(f"For '{operator}', complex numbers have no order, but the input is {x.dtype}.")
    return apply(sorting.argsort, x, axis=dim, descending=bool(descending)), dim


@public(
    "Sort(axis=-1, descending=False)(x)",
    "mint.sort(input, *, dim=-1, descending=False, stable: unused=False) -> pair(_)",
    "ops.auto_generate.SortExt()(x, dim=-1, descending=False, stable: unused=False) -> pair(_)",
)
def sort(input_x: Any, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Sort a tensor along an axis, and return the original indices too.

    Args:
        input_x (Tensor): real tensor.
        axis (int): axis along which to sort.
        descending (bool): whether to sort in descending order.

    Returns:
        Two tensors with the shape of ``input_x``: the sorted elements, and their int32 indices
        along ``axis``.

    Raises:
        TypeError: If ``axis`` is not an int, or the tensor to sort is complex.
        ValueError: If ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> values, places = ops.sort(Tensor([3.0, 1.0, 2.0]))
    >>> print(values, places)
    [1. 2. 3.] [1 2 0]
    """
    x = operand(input_x, "Sort")
    order, place = _ranked(x, axis, descending, "Sort")
    return gather_elements(x, place, order), order


@public(
    "Tensor.argsort(axis=-1, descending=False, *, stable: unused=True)",
    "mint.argsort(input, dim=-1, descending=False, stable: unused=False) -> indices(_)",
)
def argsort(input: Any, axis: int = -1, descending: bool = False) -> Tensor:
    """Return the indices that sort a tensor along an axis.

    Args:
        input (Tensor): real tensor.
        axis (int): axis along which to sort.
        descending (bool): whether to sort in descending order.

    Returns:
        int32 tensor of the indices, with the shape of ``input``.

    {Raises as sort}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.argsort(Tensor([3.0, 1.0, 2.0]), descending=True))
    [0 2 1]
    """
    return _ranked(operand(input, "Argsort"), axis, descending, "Argsort")[0]


@public("Tensor")
def msort(input: Any) -> Tensor:
    """Sort a tensor along its first axis.

    Args:
        input (Tensor): real tensor.

    Returns:
        Tensor with the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.msort(Tensor([3.0, 1.0, 2.0])))
    [1. 2. 3.]
    """
    return sort(input, 0)[0]


@public(
    "Tensor Tensor.top_k",
    "TopK(sorted=True)(x, k)",
    "mint.topk(input, k, dim=-1, largest=True, sorted=True) -> pair(_)",
)
def topk(
    input: Any, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """Return the ``k`` largest elements along an axis, and their indices.

    Args:
        input (Tensor): real tensor.
        k (int): number of elements to return along the axis.
        dim (int or None): axis along which to search. ``None`` means the last axis.
        largest (bool): whether to return the largest elements instead of the smallest.
        sorted (bool): whether the returned elements are sorted. If it is false and ``k`` is the size of the
            axis, the elements keep their original order.

    Returns:
        Two tensors of size ``k`` along the axis: the elements, and their int32 indices.

    Raises:
        TypeError: If ``k`` or ``dim`` is not an int, or ``input`` is complex.
        ValueError: If ``dim`` is out of range, or ``k`` is not between 0 and the size of axis ``dim``.

    >>> from mindgrad import Tensor, ops
    >>> values, places = ops.topk(Tensor([3.0, 1.0, 2.0]), 2)
    >>> print(values, places)
    [3. 2.] [0 2]
    """
    x = operand(input, "TopK")
    order, along = _ranked(x, -1 if dim is None else dim, largest, "TopK")
    count = whole_number(k, "TopK", "k")
    if not 0 <= count <= x.shape[along]:
        raise ValueError(
            f"For 'TopK', the 'k' must be in range [0, {x.shape[along]}], the size of axis {along}, but got "
            f"{k}."
        )
    if not sorted and count == x.shape[along]:
        shape = [-1 if axis == along else 1 for axis in range(x.ndim)]
        return x, broadcast_to(make_tensor(np.arange(count, dtype=np.int32).reshape(shape)), x.shape)
    order = slice_axis(order, along, 0, count)
    return gather_elements(x, along, order), order


# --- functions whose result shape depends on the values ------------------------------------------------


def _values(x: Tensor, operator: str) -> np.ndarray:
    values = known(x)
    if values is None:
        raise RuntimeError(
            f"For '{operator}', the shape of the result depends on the values of the input, which are "
            f"not known at compile time. Use ops.where, which keeps the shape, or run "
            f"in PYNATIVE_MODE: set_context(mode=PYNATIVE_MODE)."
        )
    return values


@public("NonZero Tensor mint")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Return the indices of nonzero elements.

    Args:
        input (Tensor): tensor with at least one axis.
        as_tuple (bool): whether to return one tensor of indices for each axis.

    Returns:
        int64 tensor of shape (number of nonzero elements, number of axes), or with ``as_tuple`` a tuple of
        int64 tensors, each of shape (number of nonzero elements,).

    Raises:
        ValueError: If ``input`` is 0-D.
        RuntimeError: If the values of ``input`` are unknown at compile time.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.nonzero(Tensor([[1.0, 0.0], [0.0, 2.0]])))
    [[0 0]
     [1 1]]
    """
    x = operand(input, "NonZero")
    if not x.ndim:
        raise ValueError("For 'NonZero', the input must have at least one axis, but it has none.")
    coordinates = [places.astype(np.int64) for places in np.nonzero(_values(x, "NonZero"))]
    if as_tuple:
        return tuple(make_tensor(places) for places in coordinates)
    return make_tensor(np.stack(coordinates, axis=-1))


@public("Tensor")
def argwhere(input: Any) -> Tensor:
    """Return the indices of nonzero elements; NumPy's name of :func:`nonzero`.

    Args:
        input (Tensor): tensor with at least one axis.

    Returns:
        int64 tensor of shape (number of nonzero elements, number of axes).

    {Raises as nonzero}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.argwhere(Tensor([0.0, 3.0])))
    [[1]]
    """
    return nonzero(input)


@public("Unique")
def unique(input: Any) -> tuple[Tensor, Tensor]:
    """Return the distinct elements in order of appearance, and the inverse indices.

    Args:
        input (Tensor): tensor of any shape.

    Returns:
        Two tensors: the distinct elements, 1-D, and the index of each element of ``input`` among them, of the
        shape of ``input``. The indices have dtype int32, or int64 if ``input`` is int64.

    Raises:
        RuntimeError: If the values of ``input`` are unknown at compile time.

    >>> from mindgrad import Tensor, ops
    >>> elements, which = ops.unique(Tensor([3, 1, 3, 2]))
    >>> print(elements, which)
    [3 1 2] [0 1 0 2]
    """
    x = operand(input, "Unique")
    values = _values(x, "Unique").ravel()
    _, first, which = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    flat = apply(structural.reshape, x, shape=(x.size,))
    wide = int64 if x.dtype is int64 else int32
    elements = gather_elements(flat, 0, make_tensor(first[order].astype(np.int32)))
    return elements, make_tensor(ranks[which].reshape(x.shape).astype(wide.numpy))


# --- searchsorted and bincount ---------------------------------------------------------------------------


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Tensor:
    """Return the indices at which values keep a sequence sorted.

    Args:
        sorted_sequence (Tensor): 1-D tensor in ascending order, or a tensor that is sorted along its last
            axis and whose leading dimensions equal the leading dimensions of ``values``.
        values (Tensor or number): values to look up.
        out_int32 (bool): whether the result has dtype int32 instead of int64.
        right (bool): whether to return the index after equal elements instead of the index before
            them.
        side (str or None): ``"left"`` or ``"right"``, as an alternative to ``right``.
        sorter (Tensor or None): integer tensor of the same shape as ``sorted_sequence`` whose
            entries sort it in ascending order. Required if ``sorted_sequence`` is not sorted.

    Returns:
        Integer tensor of insertion indices, with the shape of ``values``.

    Raises:
        ValueError: If the leading dimensions of ``sorted_sequence`` and ``values`` differ, or ``side`` is
            unknown or contradicts ``right``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.searchsorted(Tensor([1.0, 2.0, 3.0]), Tensor([0.5, 2.0, 9.0])))
    [0 1 3]
    """
    if side not in (None, "left", "right") or (side == "left" and right):
        raise ValueError(
            "For 'SearchSorted', the 'side' must be 'left' or 'right' and must not contradict the "
            f"argument 'right', but got side={side!r} and right={right}."
        )
    if sorter is not None:
        sorted_sequence = gather_elements(sorted_sequence, -1, sorter)
    sequence, needles = promoted("SearchSorted", sorted_sequence, values, broadcast=False)
    if not sequence.ndim or (sequence.ndim > 1 and sequence.shape[:-1] != needles.shape[:-1]):
        raise ValueError(
            f"For 'SearchSorted', the sequence must be a vector, or match the shape of the values except "
            f"for the last axis, but got the shapes {sequence.shape} and {needles.shape}."
        )
    # the insertion index of a value is the number of smaller (or equal) elements of the sequence
    count = sequence.shape[-1]
    shape = (*needles.shape, count)
    spread = apply(structural.broadcast_in_dim, needles, shape=shape, dims=tuple(range(needles.ndim)))
    if sequence.ndim > 1:
        sequence = apply(structural.reshape, sequence, shape=(*sequence.shape[:-1], 1, count))
    row = comparisons.less_equal if right or side == "right" else comparisons.less
    before = apply(row, broadcast_to(sequence, shape), spread)
    counted = cast(before, int32 if out_int32 else int64)
    return apply(reduction.reduce_sum, counted, axes=(needles.ndim,))


@public("Tensor mint")
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Tensor:
    """Count the occurrences of 0, 1, …, or sum their weights.

    Args:
        input (Tensor): nonnegative integers, 1-D.
        weights (Tensor or None): weight of each element of ``input``, in the same shape. ``None`` means 1.
        minlength (int): minimum size of the result.

    Returns:
        1-D float32 tensor whose element i counts the occurrences of i. With ``weights``, the sums have the
        dtype of ``weights``.

    Raises:
        TypeError: If ``input`` is not an integer tensor.
        ValueError: If ``input`` is not 1-D or has a negative element, or ``weights`` does not have the shape
            of ``input``.
        RuntimeError: If the values of ``input`` are unknown at compile time.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.bincount(Tensor([1, 1, 3])))
    [0. 2. 0. 1.]
    """
    x = operand(input, "Bincount")
    if x.dtype.kind not in ("int", "uint"):
        raise TypeError(f"For 'Bincount', the input must contain integers, but its dtype is {x.dtype}.")
    values = _values(x, "Bincount")
    if x.ndim != 1 or (values.size and values.min() < 0):
        raise ValueError(
            f"For 'Bincount', the input must be a vector of nonnegative integers, but its shape is {x.shape} "
            f"and its smallest element is {values.min(initial=0)}."
        )
    size = max(whole_number(minlength, "Bincount", "minlength", least=0), int(values.max(initial=-1)) + 1)
    weight = make_tensor(np.ones(x.shape, np.float32)) if weights is None else operand(weights, "Bincount")
    if weight.shape != x.shape:
        raise ValueError(
            f"For 'Bincount', the 'weights' must have the shape {x.shape} of the input, but their shape is "
            f"{weight.shape}."
        )
    hits = values[:, None] == np.arange(size)
    spread = apply(structural.broadcast_in_dim, weight, shape=hits.shape, dims=(0,))
    nothing = broadcast_to(make_tensor(np.zeros((), weight.dtype.numpy)), hits.shape)
    chosen = apply(arithmetic.select, make_tensor(hits), spread, nothing)
    return apply(reduction.reduce_sum, chosen, axes=(0,))
