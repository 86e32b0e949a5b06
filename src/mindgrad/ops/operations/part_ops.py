"""Operator classes for cumulative logsumexp, mirror padding, and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import creation, flow, joining, layout, movement, padding, quantiles
from mindgrad.ops.arguments import axis_in_range
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import (
    classes,
    operation,
    text,
)
from mindgrad.ops.registry import public


@public(
    "CumulativeLogsumexp(exclusive=False, reverse=False)(...)"
    " >>> ops.CumulativeLogsumexp()(Tensor([0.0]), 0) => [0.]"
)
def running_logsumexp(x: Any, axis: Any, exclusive: bool, reverse: bool) -> Tensor:
    """Compute the cumulative logsumexp log Σ_{j ≤ i} exp x_j along an axis.

    Args:
        x (Tensor): real tensor.
        axis (int): axis along which to sum.
        exclusive (bool): whether to exclude each element from its own result.
        reverse (bool): whether to start from the end.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        ValueError: If ``axis`` is out of range.
    """
    tensor = operand(x, "CumulativeLogsumexp")
    dim = axis_in_range(axis, tensor.ndim, "CumulativeLogsumexp")
    turned = movement.flip(tensor, (dim,)) if reverse else tensor
    sums = quantiles.logcumsumexp(turned, dim)
    if exclusive and sums.shape[dim]:
        first = creation.full_like(movement.narrow(sums, dim, 0, 1), np.finfo(sums.dtype.numpy).min.item())
        sums = joining.concat((first, movement.narrow(sums, dim, 0, sums.shape[dim] - 1)), dim)
    return movement.flip(sums, (dim,)) if reverse else sums


def _mirrored(self: Any, x: Any, paddings: Any) -> Any:
    pairs = paddings.asnumpy().tolist() if hasattr(paddings, "asnumpy") else paddings
    flat = [int(n) for pair in reversed([tuple(pair) for pair in pairs]) for n in pair]
    return padding.pad(x, flat, self.mode.lower())


MirrorPad = operation(
    __name__, "MirrorPad", padding.pad, attributes={"mode": text("REFLECT")}, run=_mirrored,
    example="ops.MirrorPad()(Tensor([1.0, 2.0, 3.0]), [[1, 1]])", prints="[2. 1. 2. 3. 2.]",
)  # fmt: skip

# --- sequences, shapes, and other functions ----------------------------------------------------------------

public("IdentityN()(xs) -> tuple(map(identity, xs)) >>> ops.IdentityN()((Tensor([1.0]),))[0] => [1.]")(
    flow.identity
)
TensorShape = operation(
    __name__, "TensorShape", layout.shape, run=lambda self, x: creation.tuple_to_array(layout.shape(x)),
    meaning="Return the shape of a tensor as a tensor of integers. | 1-D integer tensor.",
    example="ops.TensorShape()(Tensor([[1.0, 2.0]]))", prints="[1 2]",
)  # fmt: skip
DynamicShape = operation(
    __name__, "DynamicShape", layout.shape, run=lambda self, x: creation.tuple_to_array(layout.shape(x)),
    meaning="Return the shape of a tensor as a tensor of integers. | 1-D integer tensor.",
    example="ops.DynamicShape()(Tensor([[1.0, 2.0]]))", prints="[1 2]",
)  # fmt: skip

__all__ = list(classes(globals()))
