"""Operators that make, move, join and look up elements, as classes."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import int32, int64
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import (
    conversion,
    creation,
    flow,
    indexing,
    joining,
    layout,
    matrices,
    movement,
    ordering,
    repeating,
    scattering,
    slices,
)
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.operations.base import (
    anything,
    boolean,
    classes,
    element_type,
    integer,
    integers,
    operation,
    text,
)

_TABLE = "Tensor([[1.0, 2.0], [3.0, 4.0]])"

# --- creation ----------------------------------------------------------------------------------------

Cast = operation(__name__, "Cast", conversion.cast)
Eye = operation(__name__, "Eye", creation.eye)
Fill = operation(__name__, "Fill", creation.fill)
Ones = operation(__name__, "Ones", creation.ones)
OnesLike = operation(__name__, "OnesLike", creation.ones_like)
Range = operation(
    __name__, "Range", creation.range, attributes={"maxlen": integer(1000000)},
    run=lambda self, start, limit, delta: creation.range(start, limit, delta, self.maxlen),
    example="ops.Range()(Tensor(0), Tensor(6), Tensor(2))", prints="[0 2 4]",
)  # fmt: skip
ScalarToTensor = operation(__name__, "ScalarToTensor", creation.scalar_to_tensor)
TupleToArray = operation(__name__, "TupleToArray", creation.tuple_to_array)
Zeros = operation(__name__, "Zeros", creation.zeros)
ZerosLike = operation(__name__, "ZerosLike", creation.zeros_like)
Identity = operation(__name__, "Identity", flow.identity)

# --- shape -------------------------------------------------------------------------------------------

Shape = operation(__name__, "Shape", layout.shape)
Size = operation(__name__, "Size", layout.size)
Rank = operation(__name__, "Rank", layout.rank)
DType = operation(
    __name__, "DType", layout.shape, run=lambda self, x: x.dtype,
    example="ops.DType()(Tensor([1.0]))", prints="Float32",
)  # fmt: skip
Reshape = operation(__name__, "Reshape", layout.reshape)
Transpose = operation(__name__, "Transpose", layout.transpose)
TransposeView = operation(
    __name__, "TransposeView", layout.transpose,
    example="ops.operations.TransposeView()(Tensor([[1.0, 2.0]]), (1, 0))", prints="[[1.]\n [2.]]",
)  # fmt: skip
ExpandDims = operation(__name__, "ExpandDims", layout.expand_dims)
Squeeze = operation(
    __name__, "Squeeze", layout.squeeze, attributes={"axis": integers(())},
    run=lambda self, x: layout.squeeze(x, None if self.axis == () else self.axis),
    example="ops.Squeeze(0)(Tensor([[1.0, 2.0]]))", prints="[1. 2.]",
)  # fmt: skip
BroadcastTo = operation(
    __name__, "BroadcastTo", movement.broadcast_to, attributes={"shape": integers()},
    run=lambda self, x: movement.broadcast_to(x, self.shape),
    example="ops.BroadcastTo((2, 2))(Tensor([1.0, 2.0]))", prints="[[1. 2.]\n [1. 2.]]",
)  # fmt: skip
ReverseV2 = operation(
    __name__, "ReverseV2", movement.flip, attributes={"axis": integers()},
    run=lambda self, x: movement.flip(x, self.axis),
    example="ops.ReverseV2(0)(Tensor([1.0, 2.0]))", prints="[2. 1.]",
)  # fmt: skip
Roll = operation(
    __name__, "Roll", movement.roll, attributes={"shift": integers(), "axis": integers()},
    run=lambda self, x: movement.roll(x, self.shift, self.axis),
    example="ops.Roll(1, 0)(Tensor([1.0, 2.0, 3.0]))", prints="[3. 1. 2.]",
)  # fmt: skip
Tile = operation(__name__, "Tile", repeating.tile)

# --- joining and splitting ---------------------------------------------------------------------------

_AXIS = {"axis": integer(0)}

Concat = operation(
    __name__, "Concat", joining.concat, attributes=_AXIS,
    run=lambda self, tensors: joining.concat(tensors, self.axis),
    example="ops.Concat()((Tensor([1.0]), Tensor([2.0])))", prints="[1. 2.]",
)  # fmt: skip
Stack = operation(
    __name__, "Stack", joining.stack, attributes=_AXIS,
    run=lambda self, tensors: joining.stack(tensors, self.axis),
    example="ops.Stack()((Tensor([1.0]), Tensor([2.0])))", prints="[[1.]\n [2.]]",
)  # fmt: skip
Pack = operation(
    __name__, "Pack", joining.stack, attributes=_AXIS,
    run=lambda self, tensors: joining.stack(tensors, self.axis),
    example="ops.Pack()((Tensor([1.0]), Tensor([2.0])))", prints="[[1.]\n [2.]]",
)  # fmt: skip
_UNSTACKED = {"axis": integer(0), "num": anything("an int or None", None)}


def _unstack(self: Any, x: Any) -> Any:
    parts = joining.unstack(x, self.axis)
    if self.num not in (None, len(parts)):
        raise ValueError(
            f"For '{type(self).__name__}', the 'num' must be {len(parts)}, the size of the axis, but got "
            f"{self.num}."
        )
    return parts


Unstack = operation(
    __name__, "Unstack", joining.unstack, attributes=_UNSTACKED, run=_unstack,
    example=f"ops.Unstack()({_TABLE})[1]", prints="[3. 4.]",
)  # fmt: skip
Unpack = operation(
    __name__, "Unpack", joining.unstack, attributes=_UNSTACKED, run=_unstack,
    example=f"ops.Unpack()({_TABLE})[1]", prints="[3. 4.]",
)  # fmt: skip


def _split(self: Any, x: Any) -> Any:
    if not isinstance(x, Tensor):
        raise TypeError(f"For 'Split', the input must be a tensor, but got {type(x).__name__}.")
    axis = normalize_axis(self.axis, x.ndim, "Split")
    size = x.shape[axis] if x.ndim else 0
    if self.output_num < 1 or not x.ndim or size % self.output_num:
        raise ValueError(
            f"For 'Split', the 'output_num' must divide the size {size} of the axis, but got "
            f"{self.output_num}."
        )
    return joining.split(x, size // self.output_num, axis)


Split = operation(
    __name__, "Split", joining.split, attributes={"axis": integer(0), "output_num": integer(1)}, run=_split,
    example=f"ops.Split(1, 2)({_TABLE})[1]", prints="[[2.]\n [4.]]",
)  # fmt: skip
Meshgrid = operation(
    __name__, "Meshgrid", repeating.meshgrid, attributes={"indexing": text("xy")},
    run=lambda self, inputs: repeating.meshgrid(*inputs, indexing=self.indexing),
    example="ops.Meshgrid()((Tensor([1.0, 2.0]), Tensor([3.0])))[0]", prints="[[1. 2.]]",
)  # fmt: skip

# --- lookups -----------------------------------------------------------------------------------------

_BATCH = {"batch_dims": integer(0)}

Gather = operation(
    __name__, "Gather", indexing.gather, attributes=_BATCH,
    run=lambda self, x, indices, axis: indexing.gather(x, indices, axis, self.batch_dims),
    example=f"ops.Gather()({_TABLE}, Tensor([1]), 0)", prints="[[3. 4.]]",
)  # fmt: skip
GatherV2 = operation(
    __name__, "GatherV2", indexing.gather,
    run=lambda self, x, indices, axis: indexing.gather(x, indices, axis),
    example=f"ops.GatherV2()({_TABLE}, Tensor([1]), 0)", prints="[[3. 4.]]",
)  # fmt: skip
SparseGatherV2 = operation(
    __name__, "SparseGatherV2", indexing.gather,
    run=lambda self, x, indices, axis: indexing.gather(x, indices, axis),
    example=f"ops.SparseGatherV2()({_TABLE}, Tensor([1]), 0)", prints="[[3. 4.]]",
)  # fmt: skip
GatherD = operation(__name__, "GatherD", indexing.gather_d)
GatherNd = operation(__name__, "GatherNd", indexing.gather_nd)
Select = operation(__name__, "Select", indexing.select)
MaskedFill = operation(__name__, "MaskedFill", indexing.masked_fill)
MaskedSelect = operation(__name__, "MaskedSelect", indexing.masked_select)
Slice = operation(__name__, "Slice", slices.slice)
StridedSlice = operation(
    __name__, "StridedSlice", slices.strided_slice,
    attributes={
        f"{name}_mask": integer(0) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    },
    run=lambda self, x, begin, end, strides: slices.strided_slice(
        x, begin, end, strides, *(getattr(self, name) for name in self.attributes)
    ),
    example="ops.StridedSlice()(Tensor([1.0, 2.0, 3.0]), (0,), (3,), (2,))", prints="[1. 3.]",
)  # fmt: skip
ScatterNd = operation(__name__, "ScatterNd", scattering.scatter_nd)
TensorScatterUpdate = operation(__name__, "TensorScatterUpdate", scattering.tensor_scatter_update)
TensorScatterAdd = operation(__name__, "TensorScatterAdd", scattering.tensor_scatter_add)
TensorScatterSub = operation(__name__, "TensorScatterSub", scattering.tensor_scatter_sub)
ScatterUpdate = operation(
    __name__, "ScatterUpdate", scattering.scatter_update, attributes={"use_locking": boolean(True)},
    run=lambda self, x, indices, updates: scattering.scatter_update(x, indices, updates),
    example="ops.ScatterUpdate()(Tensor([1.0, 2.0]), Tensor([1]), Tensor([9.0]))", prints="[1. 9.]",
)  # fmt: skip
ScatterAdd = operation(
    __name__, "ScatterAdd", scattering.scatter_add, attributes={"use_locking": boolean(False)},
    run=lambda self, x, indices, updates: scattering.scatter_add(x, indices, updates),
    example="ops.ScatterAdd()(Tensor([1.0, 2.0]), Tensor([1]), Tensor([9.0]))", prints="[ 1. 11.]",
)  # fmt: skip
IndexAdd = operation(
    __name__, "IndexAdd", scattering.index_add,
    attributes={"axis": integer(), "use_lock": boolean(True), "check_index_bound": boolean(True)},
    run=lambda self, x, indices, y: scattering.index_add(x, indices, y, self.axis),
    example="ops.IndexAdd(0)(Tensor([1.0, 2.0]), Tensor([1]), Tensor([9.0]))", prints="[ 1. 11.]",
)  # fmt: skip

# --- matrices and order ------------------------------------------------------------------------------

_DIAGONAL = {"diagonal": integer(0)}

Diag = operation(__name__, "Diag", matrices.diag)
DiagPart = operation(
    __name__, "DiagPart", matrices.diagonal, run=lambda self, x: matrices.diagonal(x),
    example=f"ops.DiagPart()({_TABLE})", prints="[1. 4.]",
)  # fmt: skip
Tril = operation(
    __name__, "Tril", matrices.tril, attributes=_DIAGONAL,
    run=lambda self, x: matrices.tril(x, self.diagonal),
    example=f"ops.Tril()({_TABLE})", prints="[[1. 0.]\n [3. 4.]]",
)  # fmt: skip
Triu = operation(
    __name__, "Triu", matrices.triu, attributes=_DIAGONAL,
    run=lambda self, x: matrices.triu(x, self.diagonal),
    example=f"ops.Triu()({_TABLE})", prints="[[1. 2.]\n [0. 4.]]",
)  # fmt: skip
Sort = operation(
    __name__, "Sort", ordering.sort, attributes={"axis": integer(-1), "descending": boolean(False)},
    run=lambda self, x: ordering.sort(x, self.axis, self.descending),
    example="ops.Sort()(Tensor([3.0, 1.0, 2.0]))[1]", prints="[1 2 0]",
)  # fmt: skip
NonZero = operation(__name__, "NonZero", ordering.nonzero)
Unique = operation(__name__, "Unique", ordering.unique)
SearchSorted = operation(
    __name__, "SearchSorted", ordering.searchsorted,
    attributes={"dtype": element_type(int64), "right": boolean(False), "out_int32": boolean(False)},
    run=lambda self, sequence, values: ordering.searchsorted(
        sequence, values, out_int32=self.out_int32 or self.dtype is int32, right=self.right
    ),
    example="ops.SearchSorted()(Tensor([1.0, 3.0]), Tensor([2.0]))", prints="[1]",
)  # fmt: skip

__all__ = list(classes(globals()))
