"""Groups, parts of Parameters, rearranged space, sequences and bands of matrices, as classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.dtype import float32, int32
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import (
    affine,
    assigning,
    creation,
    diagonals,
    divisors,
    factorisation,
    flow,
    joining,
    layout,
    matrix_bands,
    movement,
    padding,
    quantiles,
    scattering,
    segments,
    sequences,
    shuffling,
    signs,
    statistics,
    tuples,
    vectors,
)
from mindgrad.ops.arguments import axis_in_range
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import (
    anything,
    boolean,
    classes,
    element_type,
    integer,
    integers,
    number,
    operation,
    text,
)

# --- vectors -----------------------------------------------------------------------------------------

Cross = operation(
    __name__, "Cross", vectors.cross, attributes={"dim": integer(-65530)},
    run=lambda self, x, y: vectors.cross(x, y, None if self.dim == -65530 else self.dim),
    example="ops.Cross()(Tensor([1.0, 0.0, 0.0]), Tensor([0.0, 1.0, 0.0]))", prints="[0. 0. 1.]",
)  # fmt: skip
Cdist = operation(
    __name__, "Cdist", vectors.cdist, attributes={"p": number(2.0)},
    run=lambda self, x, y: vectors.cdist(x, y, self.p),
    example="ops.Cdist()(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]]))", prints="[[5.]]",
)  # fmt: skip
Renorm = operation(
    __name__, "Renorm", vectors.renorm,
    attributes={"p": number(), "dim": integer(), "maxnorm": number()},
    run=lambda self, x: vectors.renorm(x, self.p, self.dim, self.maxnorm),
    example="ops.Renorm(2, 0, 1.0)(Tensor([[3.0, 4.0]]))", prints="[[0.6 0.8]]",
)  # fmt: skip
EuclideanNorm = operation(
    __name__, "EuclideanNorm", statistics.norm, attributes={"keep_dims": boolean(False)},
    run=lambda self, x, axes=None: statistics.norm(x, None, axes, self.keep_dims),
    example="ops.EuclideanNorm()(Tensor([3.0, 4.0]))", prints="5.0",
)  # fmt: skip
Polar = operation(__name__, "Polar", signs.polar)
Gcd = operation(__name__, "Gcd", divisors.gcd)
Lcm = operation(__name__, "Lcm", divisors.lcm)
Lstsq = operation(__name__, "Lstsq", factorisation.lstsq)
Dense = operation(__name__, "Dense", affine.dense)


def _running_logsumexp(x: Any, axis: Any, exclusive: bool, reverse: bool) -> Tensor:
    """The running sum, from the end with ``reverse``; before each element with ``exclusive``."""
    tensor = operand(x, "CumulativeLogsumexp")
    dim = axis_in_range(axis, tensor.ndim, "CumulativeLogsumexp")
    turned = movement.flip(tensor, (dim,)) if reverse else tensor
    sums = quantiles.logcumsumexp(turned, dim)
    if exclusive and sums.shape[dim]:
        first = creation.full_like(movement.narrow(sums, dim, 0, 1), np.finfo(sums.dtype.numpy).min.item())
        sums = joining.concat((first, movement.narrow(sums, dim, 0, sums.shape[dim] - 1)), dim)
    return movement.flip(sums, (dim,)) if reverse else sums


CumulativeLogsumexp = operation(
    __name__, "CumulativeLogsumexp", quantiles.logcumsumexp,
    attributes={"exclusive": boolean(False), "reverse": boolean(False)},
    run=lambda self, x, axis: _running_logsumexp(x, axis, self.exclusive, self.reverse),
    example="ops.CumulativeLogsumexp()(Tensor([0.0]), 0)", prints="[0.]",
)  # fmt: skip

# --- groups and scattered updates ----------------------------------------------------------------------

UnsortedSegmentSum = operation(__name__, "UnsortedSegmentSum", segments.unsorted_segment_sum)
UnsortedSegmentMax = operation(__name__, "UnsortedSegmentMax", segments.unsorted_segment_max)
UnsortedSegmentMin = operation(__name__, "UnsortedSegmentMin", segments.unsorted_segment_min)
UnsortedSegmentProd = operation(__name__, "UnsortedSegmentProd", segments.unsorted_segment_prod)
TensorScatterMax = operation(__name__, "TensorScatterMax", scattering.tensor_scatter_max)
TensorScatterMin = operation(__name__, "TensorScatterMin", scattering.tensor_scatter_min)
TensorScatterMul = operation(__name__, "TensorScatterMul", scattering.tensor_scatter_mul)
TensorScatterDiv = operation(__name__, "TensorScatterDiv", scattering.tensor_scatter_div)


def _assigning(name: str, function: Any, index: str, prints: str, locked: bool = False) -> Any:
    def run(self: Any, input_x: Any, indices: Any, updates: Any) -> Any:
        return function(input_x, indices, updates)

    return operation(
        __name__, name, function, attributes={"use_locking": boolean(locked)}, run=run,
        example=f'ops.{name}()(Parameter(Tensor([1.0, 2.0]), name="w"), Tensor({index}), Tensor([4.0]))',
        prints=prints,
    )  # fmt: skip


ScatterSub = _assigning("ScatterSub", assigning.scatter_sub, "[1]", "[ 1. -2.]")
ScatterMul = _assigning("ScatterMul", assigning.scatter_mul, "[1]", "[1. 8.]")
ScatterDiv = _assigning("ScatterDiv", assigning.scatter_div, "[1]", "[1.  0.5]")
ScatterMax = _assigning("ScatterMax", assigning.scatter_max, "[1]", "[1. 4.]")
ScatterMin = _assigning("ScatterMin", assigning.scatter_min, "[1]", "[1. 2.]")
ScatterNdUpdate = _assigning("ScatterNdUpdate", assigning.scatter_nd_update, "[[1]]", "[1. 4.]", True)
ScatterNdAdd = _assigning("ScatterNdAdd", assigning.scatter_nd_add, "[[1]]", "[1. 6.]")
ScatterNdSub = _assigning("ScatterNdSub", assigning.scatter_nd_sub, "[[1]]", "[ 1. -2.]")
ScatterNdMul = _assigning("ScatterNdMul", assigning.scatter_nd_mul, "[[1]]", "[1. 8.]")
ScatterNdDiv = _assigning("ScatterNdDiv", assigning.scatter_nd_div, "[[1]]", "[1.  0.5]")
ScatterNdMax = _assigning("ScatterNdMax", assigning.scatter_nd_max, "[[1]]", "[1. 4.]")
ScatterNdMin = _assigning("ScatterNdMin", assigning.scatter_nd_min, "[[1]]", "[1. 2.]")
ScatterNonAliasingAdd = operation(
    __name__, "ScatterNonAliasingAdd", assigning.scatter_nd_add,
    run=lambda self, input_x, indices, updates: assigning.scatter_nd_add(input_x, indices, updates),
    example="ops.ScatterNonAliasingAdd()(Tensor([1.0, 2.0]), Tensor([[1]]), Tensor([4.0]))", prints="[1. 6.]",
)  # fmt: skip


def _inplace(name: str, function: Any, prints: str) -> Any:
    return operation(
        __name__, name, function, attributes={"indices": integers()},
        run=lambda self, x, input_v: function(x, input_v, self.indices),
        example=f"ops.{name}(1)(Tensor([1.0, 2.0]), Tensor([5.0]))", prints=prints,
    )  # fmt: skip


InplaceAdd = _inplace("InplaceAdd", assigning.inplace_add, "[1. 7.]")
InplaceSub = _inplace("InplaceSub", assigning.inplace_sub, "[ 1. -3.]")
InplaceUpdate = _inplace("InplaceUpdate", assigning.inplace_update, "[1. 5.]")
InplaceUpdateV2 = operation(
    __name__, "InplaceUpdateV2", assigning.inplace_update,
    run=lambda self, x, indices, v: assigning.inplace_update(x, v, indices),
    example="ops.InplaceUpdateV2()(Tensor([1.0, 2.0]), (1,), Tensor([5.0]))", prints="[1. 5.]",
)  # fmt: skip
IndexFill = operation(__name__, "IndexFill", scattering.index_fill)

# --- space, channels, batch ------------------------------------------------------------------------------

_BLOCK = {"block_size": integer()}
_PIXELS = "Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])"
_PAIRS = anything("a pair of ints for each axis of space")

SpaceToDepth = operation(
    __name__, "SpaceToDepth", shuffling.space_to_depth, attributes=_BLOCK,
    run=lambda self, x: shuffling.space_to_depth(x, self.block_size),
    example=f"ops.SpaceToDepth(2)({_PIXELS}).shape", prints="(1, 4, 1, 1)",
)  # fmt: skip
DepthToSpace = operation(
    __name__, "DepthToSpace", shuffling.depth_to_space, attributes=_BLOCK,
    run=lambda self, x: shuffling.depth_to_space(x, self.block_size),
    example="ops.DepthToSpace(2)(ops.ones((1, 4, 1, 1))).shape", prints="(1, 1, 2, 2)",
)  # fmt: skip
SpaceToBatch = operation(
    __name__, "SpaceToBatch", shuffling.space_to_batch_nd, attributes={**_BLOCK, "paddings": _PAIRS},
    run=lambda self, x: shuffling.space_to_batch_nd(x, self.block_size, self.paddings),
    example=f"ops.SpaceToBatch(2, [[0, 0], [0, 0]])({_PIXELS}).shape", prints="(4, 1, 1, 1)",
)  # fmt: skip
BatchToSpace = operation(
    __name__, "BatchToSpace", shuffling.batch_to_space_nd, attributes={**_BLOCK, "crops": _PAIRS},
    run=lambda self, x: shuffling.batch_to_space_nd(x, self.block_size, self.crops),
    example="ops.BatchToSpace(2, [[0, 0], [0, 0]])(ops.ones((4, 1, 1, 1))).shape", prints="(1, 1, 2, 2)",
)  # fmt: skip
SpaceToBatchND = operation(
    __name__, "SpaceToBatchND", shuffling.space_to_batch_nd,
    attributes={"block_shape": integers(), "paddings": _PAIRS},
    run=lambda self, x: shuffling.space_to_batch_nd(x, self.block_shape, self.paddings),
    example=f"ops.SpaceToBatchND([2, 2], [[0, 0], [0, 0]])({_PIXELS}).shape", prints="(4, 1, 1, 1)",
)  # fmt: skip
BatchToSpaceND = operation(
    __name__, "BatchToSpaceND", shuffling.batch_to_space_nd,
    attributes={"block_shape": integers(), "crops": _PAIRS},
    run=lambda self, x: shuffling.batch_to_space_nd(x, self.block_shape, self.crops),
    example="ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]])(ops.ones((4, 1, 1, 1))).shape",
    prints="(1, 1, 2, 2)",
)  # fmt: skip


def _mirrored(self: Any, x: Any, paddings: Any) -> Any:
    pairs = paddings.asnumpy().tolist() if hasattr(paddings, "asnumpy") else paddings
    flat = [int(n) for pair in reversed([tuple(pair) for pair in pairs]) for n in pair]
    return padding.pad(x, flat, self.mode.lower())


MirrorPad = operation(
    __name__, "MirrorPad", padding.pad, attributes={"mode": text("REFLECT")}, run=_mirrored,
    example="ops.MirrorPad()(Tensor([1.0, 2.0, 3.0]), [[1, 1]])", prints="[2. 1. 2. 3. 2.]",
)  # fmt: skip

# --- sequences and shapes ----------------------------------------------------------------------------------

ReverseSequence = operation(
    __name__, "ReverseSequence", sequences.reverse_sequence,
    attributes={"seq_dim": integer(), "batch_dim": integer(0)},
    run=lambda self, x, seq_lengths: sequences.reverse_sequence(x, seq_lengths, self.seq_dim, self.batch_dim),
    example="ops.ReverseSequence(1)(Tensor([[1.0, 2.0, 3.0]]), Tensor([2]))", prints="[[2. 1. 3.]]",
)  # fmt: skip
InvertPermutation = operation(__name__, "InvertPermutation", sequences.invert_permutation)
InTopK = operation(
    __name__, "InTopK", sequences.intopk, attributes={"k": integer()},
    run=lambda self, x1, x2: sequences.intopk(x1, x2, self.k),
    example="ops.InTopK(1)(Tensor([[1.0, 5.0]]), Tensor([1]))", prints="[ True]",
)  # fmt: skip
Bucketize = operation(
    __name__, "Bucketize", sequences.bucketize, attributes={"boundaries": anything("a list of numbers")},
    run=lambda self, x: sequences.bucketize(x, self.boundaries, right=True),
    example="ops.Bucketize([1.0, 2.0])(Tensor([0.5, 1.5]))", prints="[0 1]",
)  # fmt: skip
UnravelIndex = operation(__name__, "UnravelIndex", sequences.unravel_index)
UniqueWithPad = operation(__name__, "UniqueWithPad", sequences.unique_with_pad)
UniqueConsecutive = operation(
    __name__, "UniqueConsecutive", sequences.unique_consecutive,
    attributes={
        "return_idx": boolean(False),
        "return_counts": boolean(False),
        "axis": anything("an int or None", None),
    },
    run=lambda self, x: sequences.unique_consecutive(x, self.return_idx, self.return_counts, self.axis),
    example="ops.UniqueConsecutive()(Tensor([1, 1, 2]))", prints="[1 2]",
)  # fmt: skip
SplitV = operation(
    __name__, "SplitV", joining.split,
    attributes={"size_splits": integers(), "split_dim": integer(), "num_split": integer()},
    run=lambda self, x: joining.split(x, list(self.size_splits), self.split_dim),
    example="ops.SplitV([1, 2], 0, 2)(Tensor([1.0, 2.0, 3.0]))[1]", prints="[2. 3.]",
)  # fmt: skip
ParallelConcat = operation(
    __name__, "ParallelConcat", joining.concat, run=lambda self, values: joining.concat(values, 0),
    example="ops.ParallelConcat()((Tensor([1.0]), Tensor([2.0])))", prints="[1. 2.]",
)  # fmt: skip
IdentityN = operation(
    __name__, "IdentityN", flow.identity, run=lambda self, xs: tuple(flow.identity(x) for x in xs),
    example="ops.IdentityN()((Tensor([1.0]),))[0]", prints="[1.]",
)  # fmt: skip
TensorShape = operation(
    __name__, "TensorShape", layout.shape, run=lambda self, x: creation.tuple_to_array(layout.shape(x)),
    example="ops.TensorShape()(Tensor([[1.0, 2.0]]))", prints="[1 2]",
)  # fmt: skip
Padding = operation(
    __name__, "Padding", padding.widened_to, attributes={"pad_dim_size": integer(8)},
    run=lambda self, x: padding.widened_to(x, self.pad_dim_size),
    example="ops.Padding(3)(Tensor([[1.0], [2.0]]))", prints="[[1. 0. 0.]\n [2. 0. 0.]]",
)  # fmt: skip
TensorToTuple = operation(
    __name__,
    "TensorToTuple",
    tuples.tensor_to_tuple,
    example="ops.TensorToTuple()(Tensor([1, 2]))",
    prints="(1, 2)",
)
DynamicShape = operation(
    __name__, "DynamicShape", layout.shape, run=lambda self, x: creation.tuple_to_array(layout.shape(x)),
    example="ops.DynamicShape()(Tensor([[1.0, 2.0]]))", prints="[1 2]",
)  # fmt: skip
ScalarToArray = operation(
    __name__, "ScalarToArray", creation.scalar_to_tensor, run=lambda self, x: creation.scalar_to_tensor(x),
    example="ops.ScalarToArray()(1.0)", prints="1.0",
)  # fmt: skip
LogSpace = operation(
    __name__, "LogSpace", creation.logspace,
    attributes={"steps": integer(10), "base": integer(10), "dtype": element_type(float32)},
    run=lambda self, start, end: creation.logspace(start, end, self.steps, self.base, dtype=self.dtype),
    example="ops.LogSpace(3)(0.0, 2.0)", prints="[  1.  10. 100.]",
)  # fmt: skip

# --- matrices -------------------------------------------------------------------------------------------

MatrixBandPart = operation(__name__, "MatrixBandPart", matrix_bands.matrix_band_part)
_ALIGNMENT = {"align": text("RIGHT_LEFT")}
MatrixDiagV3 = operation(
    __name__, "MatrixDiagV3", diagonals.matrix_diag, attributes=_ALIGNMENT,
    run=lambda self, x, k=0, num_rows=-1, num_cols=-1, padding_value=0: diagonals.matrix_diag(
        x, k, num_rows, num_cols, padding_value, self.align
    ),
    example="ops.MatrixDiagV3()(Tensor([1.0, 2.0]))", prints="[[1. 0.]\n [0. 2.]]",
)  # fmt: skip
MatrixDiagPartV3 = operation(
    __name__, "MatrixDiagPartV3", diagonals.matrix_diag_part, attributes=_ALIGNMENT,
    run=lambda self, x, k=0, padding_value=0: diagonals.matrix_diag_part(x, k, padding_value, self.align),
    example="ops.MatrixDiagPartV3()(Tensor([[1.0, 2.0], [3.0, 4.0]]))", prints="[1. 4.]",
)  # fmt: skip
MatrixSetDiagV3 = operation(
    __name__, "MatrixSetDiagV3", diagonals.matrix_set_diag, attributes=_ALIGNMENT,
    run=lambda self, x, diagonal, k=0: diagonals.matrix_set_diag(x, diagonal, k, self.align),
    example="ops.MatrixSetDiagV3()(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([0.0, 0.0]))",
    prints="[[0. 2.]\n [3. 0.]]",
)  # fmt: skip
FillDiagonal = operation(
    __name__, "FillDiagonal", matrix_bands.fill_diagonal,
    attributes={"fill_value": number(), "wrap": boolean(False)},
    run=lambda self, x: matrix_bands.fill_diagonal(x, self.fill_value, self.wrap),
    example="ops.FillDiagonal(0.0)(Tensor([[1.0, 2.0], [3.0, 4.0]]))", prints="[[0. 2.]\n [3. 0.]]",
)  # fmt: skip
_INDICES = {"row": integer(), "col": integer(), "offset": integer(0), "dtype": element_type(int32)}
TrilIndices = operation(
    __name__, "TrilIndices", creation.tril_indices, attributes=_INDICES,
    run=lambda self: creation.tril_indices(self.row, self.col, self.offset, dtype=self.dtype),
    example="ops.TrilIndices(2, 2)()", prints="[[0 1 1]\n [0 0 1]]",
)  # fmt: skip
TriuIndices = operation(
    __name__, "TriuIndices", creation.triu_indices, attributes=_INDICES,
    run=lambda self: creation.triu_indices(self.row, self.col, self.offset, dtype=self.dtype),
    example="ops.TriuIndices(2, 2)()", prints="[[0 0 1]\n [0 1 1]]",
)  # fmt: skip

__all__ = list(classes(globals()))
