"""The update of a cache of embeddings, as a class."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import int32
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import comparison, indexing, joining, layout, scattering
from mindgrad.ops.creation import zeros
from mindgrad.ops.flow import assign
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import operation

__all__ = ["UpdateCache"]


def update_cache(input_x: Any, indices: Any, updates: Any, max_num: Any) -> Tensor:
    """Rows of a Parameter written at those indices that are inside of ``[0, max_num)``, and at no others.

    Args:
        input_x: a Parameter of shape (rows, …).
        indices: integers of any shape.
        updates: the rows, of shape (number of indices, …).
        max_num: an int or integer tensor.

    Returns:
        A tensor ``[0]``, of no use; the Parameter is assigned.

    Raises:
        TypeError: an input is of another type.
        ValueError: the shape of ``updates`` does not fit.
    """
    x = operand(input_x, "UpdateCache")
    index, rows = layout.ravel(operand(indices, "UpdateCache")), x.shape[0]
    inside = comparison.logical_and(comparison.greater_equal(index, 0), comparison.less(index, max_num))
    # what is left out is written to one row more, which is dropped
    spare = joining.concat([x, zeros((1, *x.shape[1:]), x.dtype)])
    target = layout.expand_dims(indexing.where(inside, index, rows), 1)
    new = scattering.tensor_scatter_update(spare, target, updates)
    assign(input_x, new[:rows])  # type: ignore[index]
    return zeros((1,), int32)


UpdateCache = operation(
    __name__, "UpdateCache", update_cache,
    example="ops.operations._embedding_cache_ops.UpdateCache()("
    'Parameter(Tensor([[1.0], [2.0]]), name="w"), Tensor([-1, 1]), Tensor([[5.0], [6.0]]), 9)',
    prints="[0]",
)  # fmt: skip
