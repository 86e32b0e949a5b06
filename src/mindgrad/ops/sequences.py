"""Functions of sequences: reverse, mask by length, bucketize, and membership."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from mindgrad.ir.dtype import int32
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import (
    arithmetic,
    comparison,
    creation,
    indexing,
    joining,
    layout,
    movement,
    ordering,
    reduction,
)
from mindgrad.ops.arguments import axis_in_range, sizes, whole_number
from mindgrad.ops.class_labels import class_labels
from mindgrad.ops.index_checks import known
from mindgrad.ops.operands import cast, operand, promoted
from mindgrad.ops.registry import public

__all__ = [
    "bucketize", "combinations", "intopk", "invert_permutation", "isin", "reverse", "reverse_sequence",
    "sequence_mask", "unique_consecutive", "unique_with_pad", "unravel_index",
]  # fmt: skip

# --- reversal and permutation -----------------------------------------------------------------------------


def reverse(x: Any, axis: Any) -> Tensor:
    """Reverse the order of elements along axes; another name of ``flip``.

    Args:
        x (Tensor): tensor to reverse.
        axis (int or tuple of int): axis or axes to reverse.

    Returns:
        Tensor of the shape of ``x``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.reverse(Tensor([1.0, 2.0]), [0]))
    [2. 1.]
    """
    return movement.flip(x, axis)


@public("Tensor", "ReverseSequence(seq_dim: integer, batch_dim=0)(x, seq_lengths)")
def reverse_sequence(x: Any, seq_lengths: Any, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """Reverse the first elements of each sample along an axis.

    Args:
        x (Tensor): tensor to reverse.
        seq_lengths (Tensor): 1-D integer tensor with the number of elements to reverse in each sample.
        seq_dim (int): axis along which elements are reversed.
        batch_dim (int): axis along which the samples of the batch are stacked.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        ValueError: If ``seq_lengths`` does not have one element for each sample, or ``seq_dim`` equals
            ``batch_dim``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.reverse_sequence(Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), Tensor([2, 3]), 1))
    [[2. 1. 3.]
     [6. 5. 4.]]
    """
    operator = "ReverseSequence"
    tensor, lengths = operand(x, operator), operand(seq_lengths, operator)
    along, members = (
        axis_in_range(axis, tensor.ndim, operator, name)
        for axis, name in ((seq_dim, "seq_dim"), (batch_dim, "batch_dim"))
    )
    if along == members or lengths.shape != (tensor.shape[members],):
        raise ValueError(
            f"For '{operator}', there must be one length for each of the {tensor.shape[members]} sequences "
            f"along axis {members}, and 'seq_dim' must be a different axis, but got lengths of shape "
            f"{lengths.shape} and 'seq_dim' {seq_dim}."
        )
    positions = creation.arange(tensor.shape[along])
    positions = layout.reshape(positions, tuple(-1 if k == along else 1 for k in range(tensor.ndim)))
    length = layout.reshape(lengths, tuple(-1 if k == members else 1 for k in range(tensor.ndim)))
    mirrored = arithmetic.sub(arithmetic.sub(length, 1), positions)
    source = indexing.where(comparison.less(positions, length), mirrored, positions)
    return indexing.gather_elements(tensor, along, movement.broadcast_to(source, tensor.shape))


def sequence_mask(lengths: Any, maxlen: int | None = None) -> Tensor:
    """Return a mask of the valid elements of padded sequences: k < lengths[…].

    Args:
        lengths (Tensor): integer tensor with the lengths of the sequences, of any shape.
        maxlen (int or None): padded length of the sequences. ``None`` means the largest length, which must
            then be known at compile time.

    Returns:
        Boolean tensor of the shape of ``lengths`` with a trailing axis of size ``maxlen``.

    Raises:
        RuntimeError: If ``maxlen`` is ``None`` and the values of ``lengths`` are unknown at compile time.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.sequence_mask(Tensor([1, 3]), 3))
    [[ True False False]
     [ True  True  True]]
    """
    ends = operand(lengths, "SequenceMask")
    if maxlen is None:
        values = _known(ends, "SequenceMask", "give 'maxlen'")
        maxlen = int(values.max(initial=0))
    places = creation.arange(whole_number(maxlen, "SequenceMask", "maxlen", least=0))
    return comparison.less(places, layout.expand_dims(ends, -1))


def _known(x: Tensor, operator: str, instead: str) -> np.ndarray:
    values = known(x)
    if values is None:
        raise RuntimeError(
            f"For '{operator}', the shape of the result depends on values that are not known at compile "
            f"time; {instead}, or run in PYNATIVE_MODE."
        )
    return values


@public("InvertPermutation")
def invert_permutation(input_x: Any) -> Tensor:
    """Invert a permutation: return q with q[p[k]] = k.

    Args:
        input_x (Tensor or tuple of int): permutation p, a 1-D tensor or tuple of the integers from 0 to n − 1
            in any order.

    Returns:
        Integer tensor of the inverse permutation q, of the same shape.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.invert_permutation(Tensor([2, 0, 1])))
    [1 2 0]
    """
    return ordering.argsort(operand(input_x, "InvertPermutation"))


# --- buckets, membership, and index conversion ------------------------------------------------------------


@public(
    "Tensor",
    "Bucketize(boundaries: anything('a list of numbers'))(x)(right=True) >>> ops.Bucketize([1.0, 2.0])"
    "(Tensor([0.5, 1.5])) => [0 1]",
)
def bucketize(input: Any, boundaries: Any, *, right: bool = False) -> Tensor:
    """Return the index of the interval between boundaries for each element.

    Args:
        input (Tensor): elements to assign to intervals.
        boundaries (tuple of float, list of float, or Tensor): boundaries between the intervals, in ascending
            order.
        right (bool): whether an element that equals a boundary belongs to the interval above the boundary.

    Returns:
        Integer tensor of the shape of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.bucketize(Tensor([0.5, 1.0, 9.0]), [1.0, 2.0]))
    [0 0 2]
    """
    x = operand(input, "Bucketize")
    return cast(ordering.searchsorted(operand(boundaries, "Bucketize", x), x, right=right), int32)


@public("Tensor", "numpy.isin(element, test_elements: tensor, invert=False)")
def isin(elements: Any, test_elements: Any, *, invert: bool = False) -> Tensor:
    """Check whether each element is equal to one of the test elements.

    Args:
        elements (Tensor or number): elements to look for in ``test_elements``.
        test_elements (Tensor or number): tensor of any shape in which to look.
        invert (bool): whether to return true for the elements that are not found.

    Returns:
        Boolean tensor of the shape of ``elements``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.isin(Tensor([1, 2, 3]), Tensor([3, 1])))
    [ True False  True]
    """
    x, y = promoted("IsIn", elements, test_elements, broadcast=False)
    found = reduction.any(comparison.equal(layout.expand_dims(x, -1), layout.ravel(y)), -1)
    return comparison.logical_not(found) if invert else found


@public("InTopK(k: integer)(x1, x2)")
def intopk(x1: Any, x2: Any, k: int) -> Tensor:
    """Check whether a class is among the ``k`` classes with the largest scores.

    Args:
        x1 (Tensor): score of each class for each sample, of shape (batch, classes).
        x2 (Tensor): class index of each sample, of shape (batch,).
        k (int): number of classes with the largest scores to consider.

    Returns:
        Boolean tensor of shape (batch,).

    >>> from mindgrad import Tensor, ops
    >>> print(ops.intopk(Tensor([[1.0, 5.0, 2.0], [4.0, 2.0, 7.0]]), Tensor([2, 1]), 2))
    [ True False]
    """
    x, classes = operand(x1, "InTopK"), operand(x2, "InTopK")
    labels = class_labels(classes, x.shape[1], "InTopK")
    own = indexing.gather_elements(x, 1, layout.expand_dims(labels, 1))
    # The score of an out-of-range class is NaN, and such a class is never in the top k. Therefore count ``not
    # x <= own``, which is true for NaN, instead of ``x > own``.
    worse = reduction.reduce_sum(cast(comparison.less_equal(x, own), int32), 1)
    better = arithmetic.sub(x.shape[1], worse)
    return comparison.less(better, whole_number(k, "InTopK", "k", least=0))


@public("UnravelIndex")
def unravel_index(indices: Any, dims: Any) -> Tensor:
    """Convert flat indices to coordinates in a shape, in row-major order.

    Args:
        indices (Tensor or int): flat indices, integers of any shape.
        dims (tuple of int or Tensor): shape of the tensor that the flat indices address.

    Returns:
        Integer tensor of shape ``(len(dims), *indices.shape)``: the coordinates along each axis.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.unravel_index(Tensor([5, 1]), (2, 3)))
    [[1 0]
     [2 1]]
    """
    left = operand(indices, "UnravelIndex")
    coordinates = []
    for size in reversed(sizes(dims, "UnravelIndex", "dims", least=1)):
        coordinates.append(arithmetic.floor_mod(left, size))
        left = arithmetic.floor_divide(left, size)
    return joining.stack(coordinates[::-1], 0)


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all combinations of ``r`` elements of a vector as rows.

    Args:
        input (Tensor): 1-D tensor.
        r (int): number of elements in a combination.
        with_replacement (bool): whether an element can be chosen more than once.

    Returns:
        Tensor of shape (number of combinations, r).

    Raises:
        ValueError: If ``input`` is not 1-D.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.combinations(Tensor([1, 3, 2])))
    [[1 3]
     [1 2]
     [3 2]]
    """
    x = operand(input, "Combinations")
    if x.ndim != 1:
        raise ValueError(f"For 'Combinations', the input must have one axis, but its shape is {x.shape}.")
    count = whole_number(r, "Combinations", "r", least=0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(np.arange(x.size), count)), np.int32).reshape(-1, count)
    return indexing.gather(x, Tensor(places), 0)


# --- removal of repeated elements -------------------------------------------------------------------------


@public(
    "Tensor mint",
    "UniqueConsecutive(return_idx=False, return_counts=False, axis: anything('an int or None')=None)(x)"
    "(return_inverse=self.return_idx)",
)
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Remove elements that equal the element before them.

    The shape of the result depends on the values of ``input``, so compiled functions cannot call this
    function.

    Args:
        input (Tensor): tensor of any shape.
        return_inverse (bool): whether to return also, for each element of ``input``, its index in the result.
        return_counts (bool): whether to return also the number of consecutive occurrences of each element of
            the result.
        dim (int or None): axis whose slices are compared. ``None`` means all elements in
            row-major order.

    Returns:
        Tensor of the remaining elements, or a tuple of this tensor and the requested results.

    Raises:
        RuntimeError: If the values of ``input`` are unknown at compile time.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.unique_consecutive(Tensor([1, 1, 2, 1])))
    [1 2 1]
    """
    x = operand(input, "UniqueConsecutive")
    values = _known(x, "UniqueConsecutive", "compare neighbors with ops.diff")
    axis = 0 if dim is None else axis_in_range(dim, x.ndim, "UniqueConsecutive", "dim")
    if dim is None:
        x, values = layout.ravel(x), values.ravel()
    rows = np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)
    starts = np.r_[np.ones(min(len(rows), 1), bool), (rows[1:] != rows[:-1]).any(1)]
    first = np.flatnonzero(starts)
    answers: list[Any] = [indexing.gather(x, Tensor(first), axis)]
    if return_inverse:
        places = np.cumsum(starts) - 1
        answers.append(Tensor(places.reshape(operand(input, "").shape) if dim is None else places))
    if return_counts:
        answers.append(Tensor(np.diff(np.append(first, len(rows)))))
    return answers[0] if len(answers) == 1 else tuple(answers)


@public("UniqueWithPad Tensor")
def unique_with_pad(x: Any, pad_num: Any) -> tuple[Tensor, Tensor]:
    """Return the distinct elements, padded to the length of the input.

    Args:
        x (Tensor): 1-D tensor.
        pad_num (Tensor or int): number that fills the result after the distinct elements.

    Returns:
        ``(values, indices)``: the padded distinct elements, and integer indices such that ``values[indices]``
        equals ``x``.

    >>> from mindgrad import Tensor, ops
    >>> values, places = ops.unique_with_pad(Tensor([5, 1, 5]), 0)
    >>> print(values, places)
    [5 1 0] [0 1 0]
    """
    found = operand(x, "UniqueWithPad")
    values, places = ordering.unique(found)
    rest = creation.full((found.size - values.size,), pad_num, dtype=found.dtype)
    return joining.concat((values, rest), 0), places
