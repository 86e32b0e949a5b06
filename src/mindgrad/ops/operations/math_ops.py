"""Arithmetic, elementwise functions, comparisons, reductions and matrix products, as classes."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import int32
from mindgrad.ops import comparison, contraction, conversion, math, reduction
from mindgrad.ops.operations.base import boolean, classes, operation, text

# --- arithmetic --------------------------------------------------------------------------------------


# --- elementwise functions ---------------------------------------------------------------------------


# --- comparisons, logic, bits ------------------------------------------------------------------------

EqualCount = operation(
    __name__, "EqualCount", comparison.equal,
    run=lambda self, x, y: reduction.reduce_sum(conversion.cast(comparison.equal(x, y), int32)),
    example="ops.EqualCount()(Tensor([1, 2, 3]), Tensor([1, 2, 4]))", prints="2",
)  # fmt: skip

# --- reductions --------------------------------------------------------------------------------------

_KEEP = {"keep_dims": boolean(False)}
_TABLE = "Tensor([[1.0, 2.0], [3.0, 4.0]]), 1"

ReduceSum = operation(
    __name__, "ReduceSum", reduction.reduce_sum, attributes={**_KEEP, "skip_mode": boolean(False)},
    run=lambda self, x, axis=(): _without_axes(self, x, axis),
    example=f"ops.ReduceSum(keep_dims=True)({_TABLE})", prints="[[3.]\n [7.]]",
)  # fmt: skip


def _without_axes(self: Any, x: Any, axis: Any) -> Any:
    if self.skip_mode and isinstance(axis, (tuple, list)) and not axis:
        return x  # in this mode no axes mean no reduction
    return reduction.reduce_sum(x, axis, self.keep_dims)


SquareSumAll = operation(
    __name__, "SquareSumAll", reduction.reduce_sum,
    run=lambda self, x, y: (reduction.reduce_sum(math.square(x)), reduction.reduce_sum(math.square(y))),
    example="ops.SquareSumAll()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))[1]", prints="25.0",
)  # fmt: skip

# --- matrix products ---------------------------------------------------------------------------------

_TRANSPOSES = {"transpose_a": boolean(False), "transpose_b": boolean(False)}


MatMul = operation(
    __name__, "MatMul", contraction.mm, attributes=_TRANSPOSES,
    run=lambda self, x, y: contraction.matrix_product(
        "MatMul", x, y, self.transpose_a, self.transpose_b, batched=False
    ),
    example="ops.MatMul(transpose_b=True)(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]))", prints="[[11.]]",
)  # fmt: skip
BatchMatMul = operation(
    __name__, "BatchMatMul", contraction.bmm, attributes=_TRANSPOSES,
    run=lambda self, x, y: contraction.matrix_product(
        "BatchMatMul", x, y, self.transpose_a, self.transpose_b
    ),
    example="ops.BatchMatMul(transpose_b=True)(Tensor([[[1.0, 2.0]]]), Tensor([[[3.0, 4.0]]]))",
    prints="[[[11.]]]",
)  # fmt: skip
Einsum = operation(
    __name__, "Einsum", contraction.einsum, attributes={"equation": text()},
    run=lambda self, inputs: contraction.einsum(self.equation, inputs),
    example='ops.Einsum("ij,j->i")((Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0])))', prints="[11.]",
)  # fmt: skip

__all__ = list(classes(globals()))
