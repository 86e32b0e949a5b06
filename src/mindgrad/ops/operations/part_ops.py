"""Groups, parts of Parameters, rearranged space, sequences and bands of matrices, as classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.dtype import int32
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import assigning, creation, flow, joining, layout, movement, padding, quantiles
from mindgrad.ops.arguments import axis_in_range
from mindgrad.ops.operands import operand
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

# --- vectors -----------------------------------------------------------------------------------------


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


def _inplace(name: str, function: Any, prints: str) -> Any:
    return operation(
        __name__, name, function, attributes={"indices": integers()},
        run=lambda self, x, input_v: function(x, input_v, self.indices),
        example=f"ops.{name}(1)(Tensor([1.0, 2.0]), Tensor([5.0]))", prints=prints,
    )  # fmt: skip


InplaceAdd = _inplace("InplaceAdd", assigning.inplace_add, "[1. 7.]")
InplaceSub = _inplace("InplaceSub", assigning.inplace_sub, "[ 1. -3.]")
InplaceUpdate = _inplace("InplaceUpdate", assigning.inplace_update, "[1. 5.]")

# --- space, channels, batch ------------------------------------------------------------------------------

_BLOCK = {"block_size": integer()}
_PIXELS = "Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])"
_PAIRS = anything("a pair of ints for each axis of space")


def _mirrored(self: Any, x: Any, paddings: Any) -> Any:
    pairs = paddings.asnumpy().tolist() if hasattr(paddings, "asnumpy") else paddings
    flat = [int(n) for pair in reversed([tuple(pair) for pair in pairs]) for n in pair]
    return padding.pad(x, flat, self.mode.lower())


MirrorPad = operation(
    __name__, "MirrorPad", padding.pad, attributes={"mode": text("REFLECT")}, run=_mirrored,
    example="ops.MirrorPad()(Tensor([1.0, 2.0, 3.0]), [[1, 1]])", prints="[2. 1. 2. 3. 2.]",
)  # fmt: skip

# --- sequences and shapes ----------------------------------------------------------------------------------

IdentityN = operation(
    __name__, "IdentityN", flow.identity, run=lambda self, xs: tuple(flow.identity(x) for x in xs),
    example="ops.IdentityN()((Tensor([1.0]),))[0]", prints="[1.]",
)  # fmt: skip
TensorShape = operation(
    __name__, "TensorShape", layout.shape, run=lambda self, x: creation.tuple_to_array(layout.shape(x)),
    example="ops.TensorShape()(Tensor([[1.0, 2.0]]))", prints="[1 2]",
)  # fmt: skip
DynamicShape = operation(
    __name__, "DynamicShape", layout.shape, run=lambda self, x: creation.tuple_to_array(layout.shape(x)),
    example="ops.DynamicShape()(Tensor([[1.0, 2.0]]))", prints="[1 2]",
)  # fmt: skip

# --- matrices -------------------------------------------------------------------------------------------

_ALIGNMENT = {"align": text("RIGHT_LEFT")}
_INDICES = {"row": integer(), "col": integer(), "offset": integer(0), "dtype": element_type(int32)}

__all__ = list(classes(globals()))
