"""Arithmetic, elementwise functions, comparisons, reductions and matrix products, as classes."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import int32
from mindgrad.ops import (
    arithmetic,
    clipping,
    comparison,
    complexes,
    contraction,
    conversion,
    creation,
    cumulative,
    extremes,
    incomplete,
    math,
    reduction,
    rounding,
    special,
    statistics,
)
from mindgrad.ops.operations.base import (
    boolean,
    classes,
    element_type,
    integer,
    integers,
    number,
    operation,
    text,
)
from mindgrad.rows import cumulative as running_rows

# --- arithmetic --------------------------------------------------------------------------------------

Add = operation(__name__, "Add", arithmetic.add)
TensorAdd = operation(__name__, "TensorAdd", arithmetic.add)
Sub = operation(__name__, "Sub", arithmetic.sub)
Mul = operation(__name__, "Mul", arithmetic.mul)
Div = operation(__name__, "Div", arithmetic.true_divide)
RealDiv = operation(__name__, "RealDiv", arithmetic.true_divide)
DivNoNan = operation(__name__, "DivNoNan", arithmetic.div_no_nan)
MulNoNan = operation(__name__, "MulNoNan", arithmetic.mul_no_nan)
FloorDiv = operation(__name__, "FloorDiv", arithmetic.floor_div)
FloorMod = operation(__name__, "FloorMod", arithmetic.floor_mod)
Mod = operation(__name__, "Mod", arithmetic.fmod)
TruncateDiv = operation(__name__, "TruncateDiv", arithmetic.truncate_div)
TruncateMod = operation(__name__, "TruncateMod", arithmetic.fmod)
Pow = operation(__name__, "Pow", arithmetic.pow)
Neg = operation(__name__, "Neg", arithmetic.neg)
AddN = operation(__name__, "AddN", arithmetic.addn)
AccumulateNV2 = operation(__name__, "AccumulateNV2", arithmetic.addn)
Addcdiv = operation(__name__, "Addcdiv", arithmetic.addcdiv)
Addcmul = operation(__name__, "Addcmul", arithmetic.addcmul)
Lerp = operation(__name__, "Lerp", arithmetic.lerp)
Maximum = operation(__name__, "Maximum", clipping.maximum)
Minimum = operation(__name__, "Minimum", clipping.minimum)

# --- elementwise functions ---------------------------------------------------------------------------

Abs = operation(__name__, "Abs", rounding.abs)
ComplexAbs = operation(__name__, "ComplexAbs", rounding.abs)
ACos = operation(__name__, "ACos", math.acos)
Acosh = operation(__name__, "Acosh", math.acosh)
Angle = operation(__name__, "Angle", complexes.angle)
Asin = operation(__name__, "Asin", math.asin)
Asinh = operation(__name__, "Asinh", math.asinh)
Atan = operation(__name__, "Atan", math.atan)
Atan2 = operation(__name__, "Atan2", math.atan2)
Atanh = operation(__name__, "Atanh", math.atanh)
Ceil = operation(__name__, "Ceil", rounding.ceil)
Complex = operation(__name__, "Complex", complexes.complex)
Conj = operation(__name__, "Conj", complexes.conj)
Cos = operation(__name__, "Cos", math.cos)
Cosh = operation(__name__, "Cosh", math.cosh)
Digamma = operation(__name__, "Digamma", special.digamma)
Erf = operation(__name__, "Erf", special.erf)
Erfc = operation(__name__, "Erfc", special.erfc)
Erfinv = operation(__name__, "Erfinv", special.erfinv)
Exp = operation(__name__, "Exp", math.exp)
Expm1 = operation(__name__, "Expm1", math.expm1)
Floor = operation(__name__, "Floor", rounding.floor)
Heaviside = operation(__name__, "Heaviside", rounding.heaviside)
Hypot = operation(__name__, "Hypot", math.hypot)
Betainc = operation(__name__, "Betainc", incomplete.betainc)
Igamma = operation(__name__, "Igamma", incomplete.igamma)
Igammac = operation(__name__, "Igammac", incomplete.igammac)
Imag = operation(__name__, "Imag", complexes.imag)
Inv = operation(__name__, "Inv", math.inv)
IsFinite = operation(__name__, "IsFinite", rounding.isfinite)
IsInf = operation(__name__, "IsInf", rounding.isinf)
IsNan = operation(__name__, "IsNan", rounding.isnan)
Lgamma = operation(__name__, "Lgamma", special.lgamma)
Log = operation(__name__, "Log", math.log)
Log1p = operation(__name__, "Log1p", math.log1p)
Polygamma = operation(__name__, "Polygamma", special.polygamma)
Real = operation(__name__, "Real", complexes.real)
Reciprocal = operation(__name__, "Reciprocal", math.reciprocal)
Rint = operation(__name__, "Rint", rounding.rint)
Round = operation(__name__, "Round", rounding.rint)
Rsqrt = operation(__name__, "Rsqrt", math.rsqrt)
Sign = operation(__name__, "Sign", rounding.sign)
Sin = operation(__name__, "Sin", math.sin)
Sinc = operation(__name__, "Sinc", math.sinc)
Sinh = operation(__name__, "Sinh", math.sinh)
Sqrt = operation(__name__, "Sqrt", math.sqrt)
Square = operation(__name__, "Square", math.square)
SquaredDifference = operation(__name__, "SquaredDifference", math.squared_difference)
Tan = operation(__name__, "Tan", math.tan)
Tanh = operation(__name__, "Tanh", math.tanh)
Trunc = operation(__name__, "Trunc", rounding.trunc)
Xdivy = operation(__name__, "Xdivy", math.xdivy)
Xlogy = operation(__name__, "Xlogy", math.xlogy)
Logit = operation(
    __name__, "Logit", special.logit, attributes={"eps": number(-1.0)},
    run=lambda self, x: special.logit(x, None if self.eps < 0 else self.eps),
    example='f"{ops.Logit(eps=0.1)(Tensor(0.0)):.4f}"', prints="-2.1972",
)  # fmt: skip
Mvlgamma = operation(
    __name__, "Mvlgamma", special.mvlgamma, attributes={"p": integer()},
    run=lambda self, x: special.mvlgamma(x, self.p),
    example='f"{ops.Mvlgamma(2)(Tensor(3.0)):.4f}"', prints="1.5502",
)  # fmt: skip

# --- comparisons, logic, bits ------------------------------------------------------------------------

Equal = operation(__name__, "Equal", comparison.equal)
NotEqual = operation(__name__, "NotEqual", comparison.not_equal)
Less = operation(__name__, "Less", comparison.less)
LessEqual = operation(__name__, "LessEqual", comparison.less_equal)
Greater = operation(__name__, "Greater", comparison.greater)
GreaterEqual = operation(__name__, "GreaterEqual", comparison.greater_equal)
LogicalAnd = operation(__name__, "LogicalAnd", comparison.logical_and)
LogicalNot = operation(__name__, "LogicalNot", comparison.logical_not)
LogicalOr = operation(__name__, "LogicalOr", comparison.logical_or)
LogicalXor = operation(__name__, "LogicalXor", comparison.logical_xor)
BitwiseAnd = operation(__name__, "BitwiseAnd", comparison.bitwise_and)
BitwiseOr = operation(__name__, "BitwiseOr", comparison.bitwise_or)
BitwiseXor = operation(__name__, "BitwiseXor", comparison.bitwise_xor)
Invert = operation(__name__, "Invert", comparison.bitwise_not)
LeftShift = operation(__name__, "LeftShift", comparison.bitwise_left_shift)
RightShift = operation(__name__, "RightShift", comparison.bitwise_right_shift)
ApproximateEqual = operation(
    __name__, "ApproximateEqual", comparison.approximate_equal, attributes={"tolerance": number(1e-5)},
    run=lambda self, x, y: comparison.approximate_equal(x, y, self.tolerance),
    example="ops.ApproximateEqual(0.1)(Tensor([1.0, 2.0]), Tensor([1.01, 2.5]))", prints="[ True False]",
)  # fmt: skip
IsClose = operation(
    __name__, "IsClose", comparison.isclose,
    attributes={"rtol": number(1e-5), "atol": number(1e-8), "equal_nan": boolean(True)},
    run=lambda self, x, y: comparison.isclose(x, y, self.rtol, self.atol, self.equal_nan),
    example="ops.IsClose(atol=0.1)(Tensor([1.0, 2.0]), Tensor([1.01, 2.5]))", prints="[ True False]",
)  # fmt: skip
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


ReduceMean = operation(
    __name__, "ReduceMean", reduction.mean, attributes=_KEEP,
    run=lambda self, x, axis=(): reduction.mean(x, axis, self.keep_dims),
    example=f"ops.ReduceMean(keep_dims=True)({_TABLE})", prints="[[1.5]\n [3.5]]",
)  # fmt: skip
ReduceProd = operation(
    __name__, "ReduceProd", reduction.reduce_prod, attributes=_KEEP,
    run=lambda self, x, axis=(): reduction.reduce_prod(x, axis, self.keep_dims),
    example=f"ops.ReduceProd(keep_dims=True)({_TABLE})", prints="[[ 2.]\n [12.]]",
)  # fmt: skip
ReduceMax = operation(
    __name__, "ReduceMax", extremes.amax, attributes=_KEEP,
    run=lambda self, x, axis=(): extremes.amax(x, axis, self.keep_dims),
    example=f"ops.ReduceMax(keep_dims=True)({_TABLE})", prints="[[2.]\n [4.]]",
)  # fmt: skip
ReduceMin = operation(
    __name__, "ReduceMin", extremes.amin, attributes=_KEEP,
    run=lambda self, x, axis=(): extremes.amin(x, axis, self.keep_dims),
    example=f"ops.ReduceMin(keep_dims=True)({_TABLE})", prints="[[1.]\n [3.]]",
)  # fmt: skip
ReduceAll = operation(
    __name__, "ReduceAll", reduction.all, attributes=_KEEP,
    run=lambda self, x, axis=(): reduction.all(x, axis, self.keep_dims),
    example="ops.ReduceAll()(Tensor([[True, False], [True, True]]), 1)", prints="[False  True]",
)  # fmt: skip
ReduceAny = operation(
    __name__, "ReduceAny", reduction.any, attributes=_KEEP,
    run=lambda self, x, axis=(): reduction.any(x, axis, self.keep_dims),
    example="ops.ReduceAny()(Tensor([[True, False], [False, False]]), 1)", prints="[ True False]",
)  # fmt: skip
ReduceStd = operation(
    __name__, "ReduceStd", statistics.reduce_std,
    attributes={"axis": integers(()), "unbiased": boolean(True), **_KEEP},
    run=lambda self, x: statistics.reduce_std(x, self.axis, self.unbiased, self.keep_dims),
    example="ops.ReduceStd(axis=1)(Tensor([[1.0, 3.0, 5.0]]))[0]", prints="[2.]",
)  # fmt: skip
LpNorm = operation(
    __name__, "LpNorm", statistics.vector_norm,
    attributes={"axis": integers(), "p": integer(2), **_KEEP, "epsilon": number(1e-12)},
    run=lambda self, x: statistics.vector_norm(x, self.p, self.axis, self.keep_dims),
    example="ops.LpNorm(axis=1)(Tensor([[3.0, 4.0]]))", prints="[5.]",
)  # fmt: skip
Argmax = operation(
    __name__, "Argmax", extremes.argmax,
    attributes={"axis": integer(-1), "output_type": element_type(int32)},
    run=lambda self, x: conversion.cast(extremes.argmax(x, self.axis), self.output_type),
    example="ops.Argmax()(Tensor([[1.0, 5.0], [3.0, 4.0]]))", prints="[1 1]",
)  # fmt: skip
Argmin = operation(
    __name__, "Argmin", extremes.argmin,
    attributes={"axis": integer(-1), "output_type": element_type(int32)},
    run=lambda self, x: conversion.cast(extremes.argmin(x, self.axis), self.output_type),
    example="ops.Argmin()(Tensor([[1.0, 5.0], [3.0, 4.0]]))", prints="[0 0]",
)  # fmt: skip
ArgMaxWithValue = operation(
    __name__, "ArgMaxWithValue", extremes.argmax_with_value, attributes={"axis": integer(0), **_KEEP},
    run=lambda self, x: extremes.argmax_with_value(x, self.axis, self.keep_dims),
    example="ops.ArgMaxWithValue(axis=1)(Tensor([[1.0, 5.0], [3.0, 4.0]]))[1]", prints="[5. 4.]",
)  # fmt: skip
ArgMinWithValue = operation(
    __name__, "ArgMinWithValue", extremes.argmin_with_value, attributes={"axis": integer(0), **_KEEP},
    run=lambda self, x: extremes.argmin_with_value(x, self.axis, self.keep_dims),
    example="ops.ArgMinWithValue(axis=1)(Tensor([[1.0, 5.0], [3.0, 4.0]]))[1]", prints="[1. 3.]",
)  # fmt: skip
SquareSumAll = operation(
    __name__, "SquareSumAll", reduction.reduce_sum,
    run=lambda self, x, y: (reduction.reduce_sum(math.square(x)), reduction.reduce_sum(math.square(y))),
    example="ops.SquareSumAll()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))[1]", prints="25.0",
)  # fmt: skip

# --- running sums ------------------------------------------------------------------------------------

_RUNNING = {"exclusive": boolean(False), "reverse": boolean(False)}

CumSum = operation(
    __name__, "CumSum", cumulative.cumsum, attributes=_RUNNING,
    run=lambda self, x, axis: cumulative.running(
        running_rows.cumsum, "CumSum", x, axis, self.exclusive, self.reverse
    ),
    example="ops.CumSum(exclusive=True)(Tensor([1.0, 2.0, 3.0]), 0)", prints="[0. 1. 3.]",
)  # fmt: skip
CumProd = operation(
    __name__, "CumProd", cumulative.cumprod, attributes=_RUNNING,
    run=lambda self, x, axis: cumulative.running(
        running_rows.cumprod, "CumProd", x, axis, self.exclusive, self.reverse
    ),
    example="ops.CumProd(reverse=True)(Tensor([1.0, 2.0, 3.0]), 0)", prints="[6. 6. 3.]",
)  # fmt: skip
Cummax = operation(
    __name__, "Cummax", cumulative.cummax, attributes={"axis": integer()},
    run=lambda self, x: cumulative.cummax(x, self.axis),
    example="ops.Cummax(0)(Tensor([3.0, 1.0, 4.0]))[0]", prints="[3. 3. 4.]",
)  # fmt: skip
Cummin = operation(
    __name__, "Cummin", cumulative.cummin, attributes={"axis": integer()},
    run=lambda self, x: cumulative.cummin(x, self.axis),
    example="ops.Cummin(0)(Tensor([3.0, 4.0, 1.0]))[0]", prints="[3. 3. 1.]",
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
Ger = operation(__name__, "Ger", contraction.outer)
Einsum = operation(
    __name__, "Einsum", contraction.einsum, attributes={"equation": text()},
    run=lambda self, inputs: contraction.einsum(self.equation, inputs),
    example='ops.Einsum("ij,j->i")((Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0])))', prints="[11.]",
)  # fmt: skip
LinSpace = operation(__name__, "LinSpace", creation.linspace)

__all__ = list(classes(globals()))
