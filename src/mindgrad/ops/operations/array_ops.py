"""Operators that make, move, join and look up elements, as classes."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import int32, int64
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import joining, layout, ordering, repeating, slices
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.operations.base import (
    anything,
    boolean,
    classes,
    element_type,
    integer,
    operation,
    text,
)

_TABLE = "Tensor([[1.0, 2.0], [3.0, 4.0]])"

# --- creation ----------------------------------------------------------------------------------------


# --- shape -------------------------------------------------------------------------------------------

DType = operation(
    __name__, "DType", layout.shape, run=lambda self, x: x.dtype,
    example="ops.DType()(Tensor([1.0]))", prints="Float32",
)  # fmt: skip
TransposeView = operation(
    __name__, "TransposeView", layout.transpose,
    example="ops.operations.TransposeView()(Tensor([[1.0, 2.0]]), (1, 0))", prints="[[1.]\n [2.]]",
)  # fmt: skip

# --- joining and splitting ---------------------------------------------------------------------------

_AXIS = {"axis": integer(0)}

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

# --- matrices and order ------------------------------------------------------------------------------

_DIAGONAL = {"diagonal": integer(0)}

SearchSorted = operation(
    __name__, "SearchSorted", ordering.searchsorted,
    attributes={"dtype": element_type(int64), "right": boolean(False), "out_int32": boolean(False)},
    run=lambda self, sequence, values: ordering.searchsorted(
        sequence, values, out_int32=self.out_int32 or self.dtype is int32, right=self.right
    ),
    example="ops.SearchSorted()(Tensor([1.0, 3.0]), Tensor([2.0]))", prints="[1]",
)  # fmt: skip

__all__ = list(classes(globals()))
