"""Operator class that updates a cache of embeddings."""

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
    """Write rows of a Parameter; ignore indices outside ``[0, max_num)``.

    Args:
        input_x: Parameter of shape (rows, …).
        indices: integers of any shape.
        updates: new rows, of shape (number of indices, …).
        max_num: exclusive upper bound of the indices, an int or integer tensor.

    Returns:
        A tensor ``[0]``, as in MindSpore; the result is the new value of the Parameter.

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If the shape of ``updates`` does not match.
    """
    x = operand(input_x, "UpdateCache")
    index, rows = layout.ravel(operand(indices, "UpdateCache")), x.shape[0]
    inside = comparison.logical_and(comparison.greater_equal(index, 0), comparison.less(index, max_num))
    # write the updates with ignored indices to an additional row, which is removed afterwards
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
