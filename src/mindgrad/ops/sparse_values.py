"""Operators on stored values of sparse tensors, and segment sums of selected rows."""

from __future__ import annotations

from typing import Any

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import int64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, comparison, creation, indexing, joining, layout, math, ordering
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.operands import broadcast_shapes, cast, operand
from mindgrad.ops.registry import public
from mindgrad.ops.segments import unsorted_segment_max, unsorted_segment_sum

__all__ = [
    "segment_of_rows", "sparse_dense_cwise_add", "sparse_dense_cwise_div", "sparse_dense_cwise_mul",
    "sparse_reorder", "sparse_reshape", "sparse_segment_mean", "sparse_softmax",
]  # fmt: skip


def known_sizes(operator: str, shape: Any) -> tuple[int, ...]:
    """Convert a shape, a tuple or a tensor of known values, to ints.

    Raises:
        RuntimeError: If the values are unknown at compile time.
    """
    if not isinstance(shape, Tensor):
        return tuple(int(size) for size in shape)
    values = known(shape)
    if values is None:
        raise RuntimeError(
            f"For '{operator}', the shape is a tensor whose values are not known at compile time; pass a "
            f"tuple of ints."
        )
    return tuple(values.tolist())


def _flat(indices: Any, sizes: Any) -> Tensor:
    """Return the flat index of each element in row-major order."""
    positions: Any = creation.zeros((indices.shape[0],), int64)
    for axis in range(indices.shape[1]):
        positions = positions * sizes[axis] + cast(indices[:, axis], int64)
    return positions  # type: ignore[no-any-return]


# --- functions of one sparse tensor -----------------------------------------------------------------


@public(
    "SparseReorder >>> ops.SparseReorder()(Tensor([[1, 0], [0, 1]]), Tensor([1.0, 2.0]), (2, "
    "2))[1] => [2. 1.]"
)
def sparse_reorder(indices: Any, values: Any, shape: Any) -> tuple[Tensor, Tensor]:
    """Sort the elements of a sparse tensor in row-major order.

    Args:
        indices (Tensor): integers of shape (n, k). Each row holds the k indices of one stored element.
        values (Tensor): values of the n stored elements, of shape (n,).
        shape (tuple of int or Tensor): shape of the sparse tensor, k ints.

    Returns:
        The sorted indices and values.

    Raises:
        TypeError: If an input has the wrong type.
    """
    places, stored = operand(indices, "SparseReorder"), operand(values, "SparseReorder")
    order = ordering.argsort(_flat(places, shape))
    return indexing.gather(places, order, 0), indexing.gather(stored, order, 0)


@public("SparseReshape >>> ops.SparseReshape()(Tensor([[1, 0]]), (2, 3), (3, -1))[0] => [[1 1]]")
def sparse_reshape(indices: Any, shape: Any, new_shape: Any) -> tuple[Tensor, Tensor]:
    """Compute the indices of sparse elements in another shape.

    Args:
        indices (Tensor): integers of shape (n, k). Each row holds the k indices of one stored element.
        shape (tuple of int or Tensor): shape of the sparse tensor, k ints.
        new_shape (tuple of int or Tensor): new shape of the sparse tensor, m ints. One size may be −1 if the
            values are known at compile time.

    Returns:
        The new indices, of shape (n, m), and the new shape, an int64 tensor.

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If ``shape`` and ``new_shape`` have different numbers of elements.
        RuntimeError: If ``new_shape`` is unknown at compile time.
    """
    places = operand(indices, "SparseReshape")
    sizes, new_sizes = (list(known_sizes("SparseReshape", given)) for given in (shape, new_shape))
    count = 1
    for size in sizes:
        count *= size
    others = 1
    for size in new_sizes:
        others *= 1 if size == -1 else size
    new_sizes = [count // max(others, 1) if size == -1 else size for size in new_sizes]
    total = 1
    for size in new_sizes:
        total *= size
    if total != count:
        raise ValueError(
            f"For 'SparseReshape', the shape {tuple(sizes)} has {count} elements, but {tuple(new_sizes)} has "
            f"{total}."
        )
    positions: Any = _flat(places, sizes)
    columns = []
    for size in reversed(new_sizes):
        columns.append(positions % size)
        positions = positions // size
    return joining.stack(columns[::-1], 1), Tensor(new_sizes, int64)


@public(
    "SparseSoftmax >>> ops.SparseSoftmax()(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, 3)) => [1. 1.]"
)
def sparse_softmax(indices: Any, values: Any, shape: Any) -> Tensor:
    """Compute the softmax over the stored elements of each row of the last axis.

    Returns:
        Tensor of the n new values, of shape (n,).

    Raises:
        TypeError: If an input has the wrong type.
        RuntimeError: If ``shape`` is unknown at compile time.

    {Args as sparse_reorder}
    """
    places, stored = operand(indices, "SparseSoftmax"), operand(values, "SparseSoftmax")
    sizes = known_sizes("SparseSoftmax", shape)
    rows = _flat(places[:, :-1], sizes[:-1])  # type: ignore[index]
    count = 1
    for size in sizes[:-1]:
        count *= size
    largest = indexing.gather(unsorted_segment_max(stored, rows, count), rows, 0)
    powers = math.exp(arithmetic.sub(stored, largest))
    return arithmetic.div(powers, indexing.gather(unsorted_segment_sum(powers, rows, count), rows, 0))


# --- sparse tensor and dense tensor -----------------------------------------------------------------


@public(
    "SparseDenseCwiseAdd >>> ops.SparseDenseCwiseAdd()(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, "
    "3), Tensor([1.0, 2.0, 3.0])) => [3. 5.]"
)
def sparse_dense_cwise_add(x1_indices: Any, x1_values: Any, x1_shape: Any, x2: Any) -> Tensor:
    """Add the elements of a dense tensor to stored values at their indices.

    Args:
        x1_shape (tuple of int or Tensor): shape of the sparse tensor, k ints.
        x2 (Tensor or number): dense tensor that broadcasts to ``x1_shape``.

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If the shapes do not match.

    {as sparse_softmax}
    """
    return arithmetic.add(x1_values, _at("SparseDenseCwiseAdd", x1_indices, x1_shape, x2))


@public(
    "SparseDenseCwiseMul >>> ops.SparseDenseCwiseMul()(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, "
    "3), Tensor([1.0, 2.0, 3.0])) => [2. 6.]"
)
def sparse_dense_cwise_mul(x1_indices: Any, x1_values: Any, x1_shape: Any, x2: Any) -> Tensor:
    """Multiply stored values by the elements of a dense tensor at their indices.

    {as sparse_dense_cwise_add}
    """
    return arithmetic.mul(x1_values, _at("SparseDenseCwiseMul", x1_indices, x1_shape, x2))


@public(
    "SparseDenseCwiseDiv >>> ops.SparseDenseCwiseDiv()(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, "
    "3), Tensor([1.0, 2.0, 4.0])) => [0.5 0.5]"
)
def sparse_dense_cwise_div(x1_indices: Any, x1_values: Any, x1_shape: Any, x2: Any) -> Tensor:
    """Divide stored values by the elements of a dense tensor at their indices.

    {as sparse_dense_cwise_add}
    """
    return arithmetic.div(x1_values, _at("SparseDenseCwiseDiv", x1_indices, x1_shape, x2))


def _at(operator: str, indices: Any, shape: Any, dense: Any) -> Tensor:
    places, tensor = operand(indices, operator), operand(dense, operator)
    rank = places.shape[1]
    sizes = shape if isinstance(shape, tuple | list) else known(operand(shape, operator))
    if sizes is not None:
        broadcast_shapes(operator, tensor.shape, tuple(map(int, sizes)))
    if not 0 < tensor.ndim <= rank:
        raise ValueError(
            f"For '{operator}', the dense tensor must have 1 to {rank} axes, as many as the sparse tensor, "
            f"but has {tensor.ndim}."
        )
    columns = [
        places[:, axis] if size > 1 else creation.zeros((places.shape[0],), places.dtype)  # type: ignore[index]
        for axis, size in enumerate(tensor.shape, rank - tensor.ndim)
    ]
    return indexing.gather_nd(tensor, joining.stack(columns, 1))


# --- reductions over segments of rows ---------------------------------------------------------------


def segment_of_rows(
    operator: str, x: Any, indices: Any, segment_ids: Any, num_segments: Any, power: float
) -> Tensor:
    """Sum selected rows over segments, divided by a power of the number of rows.

    Args:
        operator (str): name of the operator in errors.
        x (Tensor): tensor of shape (a, …).
        indices (Tensor): 1-D integer tensor with the indices of the n selected rows of ``x``.
        segment_ids (Tensor): segment of each selected row, n integers in ascending order.
        num_segments (int, Tensor, or None): number of segments. ``None`` means one more than the largest
            segment.
        power (float): each sum of n rows is divided by n to this power: 0 for the sum, ½ for the sum over √n,
            1 for the mean.

    Returns:
        Tensor of shape (number of segments, …). Empty segments are 0.

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If the shapes do not match.
        RuntimeError: If the number of segments is unknown at compile time.
    """
    ids = operand(segment_ids, operator)
    if num_segments is None:
        values = known(ids)
        if values is None:
            raise RuntimeError(
                f"For '{operator}', the number of segments depends on 'segment_ids', which are not known at "
                f"compile time; use '{operator}WithNumSegments' with an int."
            )
        count = int(values[-1]) + 1 if values.size else 0
    elif isinstance(num_segments, Tensor):
        (count,) = known_sizes(operator, layout.reshape(num_segments, (1,)))
    else:
        count = whole_number(num_segments, operator, "num_segments", least=1)
    rows = indexing.gather(operand(x, operator), operand(indices, operator), 0)
    total = unsorted_segment_sum(rows, ids, count)
    if not power:
        return total
    sizes = unsorted_segment_sum(creation.ones(ids.shape, rows.dtype), ids, count)
    scale = arithmetic.pow(indexing.where(comparison.greater(sizes, 0), sizes, 1.0), -power)
    return arithmetic.mul(total, layout.reshape(scale, (count, *(1 for _ in rows.shape[1:]))))


@public(
    "SparseSegmentMean >>> ops.SparseSegmentMean()(Tensor([[1.0], [3.0]]), Tensor([0, 1]), Tensor([0, "
    "0])) => [[2.]]"
)
def sparse_segment_mean(x: Any, indices: Any, segment_ids: Any) -> Tensor:
    """Average selected rows over segments.

    Args:
        x (Tensor): tensor of shape (a, …).
        indices (Tensor): 1-D integer tensor with the indices of the n selected rows of ``x``.
        segment_ids (Tensor): segment of each selected row, n integers in ascending order.

    Returns:
        Tensor of shape (number of segments, …). Empty segments are 0.

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If the shapes do not match.
        RuntimeError: If ``segment_ids`` is unknown at compile time.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.sparse_segment_mean(Tensor([[1.0], [3.0], [5.0]]), Tensor([0, 2, 1]), Tensor([0, 0, 1])))
    [[3.]
     [3.]]
    """
    return segment_of_rows("SparseSegmentMean", x, indices, segment_ids, None, 1.0)
