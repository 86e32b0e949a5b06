"""Operator classes that create, move, join, split, and look up elements."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import joining, layout, ordering, repeating, slices
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.operations.base import (
    anything,
    classes,
    integer,
    operation,
)
from mindgrad.ops.registry import public

_TABLE = "Tensor([[1.0, 2.0], [3.0, 4.0]])"

public("DType()(x) -> x.dtype >>> ops.DType()(Tensor([1.0])) => Float32")(layout.shape)
public("TransposeView >>> ops.operations.TransposeView()(Tensor([[1.0, 2.0]]), (1, 0)) => [[1.]\n [2.]]")(
    layout.transpose
)

# --- splitting of tensors ----------------------------------------------------------------------------

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
public(
    "Meshgrid(indexing='xy')(inputs) -> meshgrid(*inputs, indexing=self.indexing)"
    " >>> ops.Meshgrid()((Tensor([1.0, 2.0]), Tensor([3.0])))[0] => [[1. 2.]]"
)(repeating.meshgrid)

# --- lookups by index --------------------------------------------------------------------------------

public(
    "StridedSlice(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)"
    "(x, begin, end, strides) >>> ops.StridedSlice()(Tensor([1.0, 2.0, 3.0]), (0,), (3,), (2,)) => [1. 3.]"
)(slices.strided_slice)

public(
    "SearchSorted(dtype=int64, right=False, out_int32=False)(sequence, values)"
    "(out_int32=self.out_int32 or self.dtype is int32)"
    " >>> ops.SearchSorted()(Tensor([1.0, 3.0]), Tensor([2.0])) => [1]"
)(ordering.searchsorted)

__all__ = list(classes(globals()))
