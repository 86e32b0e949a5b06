"""Operator classes for arithmetic, comparisons, reductions, and matrix products."""

from __future__ import annotations

from mindgrad.ir.dtype import int32
from mindgrad.ops import comparison, contraction, conversion, math, reduction
from mindgrad.ops.operations.base import classes, operation
from mindgrad.ops.registry import public

# --- comparisons, logical and bitwise functions ------------------------------------------------------

EqualCount = operation(
    __name__, "EqualCount", comparison.equal,
    meaning="Count the equal elements of two tensors. | 0-D tensor with the number of equal elements.",
    run=lambda self, x, y: reduction.reduce_sum(conversion.cast(comparison.equal(x, y), int32)),
    example="ops.EqualCount()(Tensor([1, 2, 3]), Tensor([1, 2, 4]))", prints="2",
)  # fmt: skip

# --- reductions --------------------------------------------------------------------------------------

public(
    "ReduceSum(keep_dims=False, skip_mode=False)(x, axis=())(x=x, axis=axis, keep_dims=self.keep_dims)"
    " -> x if self.skip_mode and isinstance(axis, (tuple, list)) and not axis else _"
    " >>> ops.ReduceSum(keep_dims=True)(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1) => [[3.]\n [7.]]"
)(reduction.reduce_sum)
SquareSumAll = operation(
    __name__, "SquareSumAll", math.square,
    meaning="Sum the squares of the elements of two tensors. | Two 0-D tensors.",
    run=lambda self, x, y: (reduction.reduce_sum(math.square(x)), reduction.reduce_sum(math.square(y))),
    example="ops.SquareSumAll()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))[1]", prints="25.0",
)  # fmt: skip

# --- matrix products ---------------------------------------------------------------------------------

public(
    "MatMul(transpose_a=False, transpose_b=False)(x, y)"
    " -> matrix_product('MatMul', x, y, self.transpose_a, self.transpose_b, batched=False)"
    " >>> ops.MatMul(transpose_b=True)(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])) => [[11.]]"
)(contraction.mm)
public(
    "BatchMatMul(transpose_a=False, transpose_b=False)(x, y)"
    " -> matrix_product('BatchMatMul', x, y, self.transpose_a, self.transpose_b)"
    " >>> ops.BatchMatMul(transpose_b=True)(Tensor([[[1.0, 2.0]]]), Tensor([[[3.0, 4.0]]])) => [[[11.]]]"
)(contraction.bmm)
public(
    "Einsum(equation: text)(inputs) -> einsum(self.equation, inputs)"
    ' >>> ops.Einsum("ij,j->i")((Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0]))) => [11.]'
)(contraction.einsum)

__all__ = list(classes(globals()))
