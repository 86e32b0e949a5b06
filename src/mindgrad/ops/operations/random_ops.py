"""Random numbers and dropout as operator classes, with seeds of each operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import float32, int32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, dropping, ordering, random
from mindgrad.ops.operands import broadcast_to, cast, choose, operand
from mindgrad.ops.operations.base import Attribute, classes, element_type, integer, operation
from mindgrad.ops.registry import public
from mindgrad.ops.rng_bits import fractions, seeds_of, shape_of

public(
    "UniformReal(seed=0, seed2=0)(shape)"
    " -> fractions('UniformReal', shape_of('UniformReal', shape), float32,"
    " seeds_of('UniformReal', (self.seed, self.seed2)))"
    " >>> ops.UniformReal(seed=2)((2, 3)).shape => (2, 3)"
)(random.rand)


def _keep_prob(name: str, open_below: bool) -> Attribute:
    def check(value: Any) -> float:
        return dropping.probability(name, "keep_prob", value, open_below)

    return Attribute(check, "a float", 0.5)


def _dropped(self: Any, x: Any) -> tuple[Tensor, Tensor]:
    found, kept = dropping.masked("Dropout", x, self.keep_prob, seeds_of("Dropout", (self.Seed0, self.Seed1)))
    return found, cast(kept, found.dtype)


def _channels_dropped(self: Any, x: Any, axes: int) -> tuple[Tensor, Tensor]:
    name = type(self).__name__
    return dropping.channels_masked(name, dropping.with_axes(name, x, (axes + 2,)), self.keep_prob, axes)


_PAIR = "Tuple of two tensors with the shape of ``x``: the result, and the mask of kept elements."
Dropout = operation(
    __name__, "Dropout", dropping.dropout,
    attributes={"keep_prob": _keep_prob("Dropout", True), "Seed0": integer(0), "Seed1": integer(0)},
    run=_dropped,
    meaning=f"Set random elements to zero, and divide the kept ones by ``keep_prob``. | {_PAIR}",
    example="ops.Dropout(keep_prob=1.0)(Tensor([3.0, 4.0]))[1]", prints="[1. 1.]",
)  # fmt: skip
Dropout2D = operation(
    __name__, "Dropout2D", dropping.dropout2d, attributes={"keep_prob": _keep_prob("Dropout2D", False)},
    run=lambda self, x: _channels_dropped(self, x, 2),
    meaning=f"Set random channels of images to zero, and divide others by ``keep_prob``. | {_PAIR}",
    example="ops.Dropout2D(keep_prob=1.0)(Tensor([[[[3.0, 4.0]]]]))[1]", prints="[[[[ True  True]]]]",
)  # fmt: skip
Dropout3D = operation(
    __name__, "Dropout3D", dropping.dropout3d, attributes={"keep_prob": _keep_prob("Dropout3D", False)},
    run=lambda self, x: _channels_dropped(self, x, 3),
    meaning=f"Set random channels of volumes to zero, and divide others by ``keep_prob``. | {_PAIR}",
    example="ops.Dropout3D(keep_prob=1.0)(Tensor([[[[[3.0, 4.0]]]]]))[1]",
    prints="[[[[[ True  True]]]]]",
)  # fmt: skip


def _permuted(self: Any, n: Any) -> Tensor:
    """Return a random permutation of the integers below ``n``, padded.

    Args:
        n (Tensor or int): number of integers to permute, at most ``max_length``.
        max_length (int): length of the result.
        pad (int): value of the elements after the permutation.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of shape (max_length,).
    """
    count = operand(n, "Randperm")
    places = Tensor(np.arange(self.max_length))
    keys = fractions("Randperm", (self.max_length,), float32, seeds_of("Randperm", None))
    is_one = places < count  # type: ignore[operator]
    order = ordering.argsort(choose(broadcast_to(is_one, keys.shape), keys, 2.0))
    return choose(broadcast_to(is_one, order.shape), cast(order, self.dtype), self.pad)


Randperm = operation(
    __name__, "Randperm", _permuted,
    attributes={"max_length": integer(1), "pad": integer(-1), "dtype": element_type(int32)}, run=_permuted,
    example="ops.Randperm(3, -1)(Tensor([1]))", prints="[ 0 -1 -1]",
)  # fmt: skip

# the mask has one Boolean for each element, whereas MindSpore's mask has one bit for each element
DropoutGenMask = operation(
    __name__, "DropoutGenMask", dropping.dropout, attributes={"Seed0": integer(0), "Seed1": integer(0)},
    meaning="Draw a random mask of the elements to keep. | Boolean tensor of the given shape.",
    run=lambda self, shape, keep_prob: fractions(
        "DropoutGenMask", shape_of("DropoutGenMask", shape), float32,
        seeds_of("DropoutGenMask", (self.Seed0, self.Seed1)),
    ) < keep_prob,
    example="ops.operations.DropoutGenMask()((2,), Tensor(1.0))", prints="[ True  True]",
)  # fmt: skip
DropoutDoMask = operation(
    __name__, "DropoutDoMask", dropping.dropout,
    meaning="Apply a mask of ``DropoutGenMask``, and divide by the keep probability. "
    "| Tensor with the shape of ``input_x``.",
    run=lambda self, input_x, mask, keep_prob: choose(
        mask, arithmetic.div(operand(input_x, "DropoutDoMask"), keep_prob), 0.0
    ),
    example="ops.operations.DropoutDoMask()(Tensor([1.0, 2.0]), Tensor([True, False]), Tensor(0.5))",
    prints="[2. 0.]",
)  # fmt: skip

__all__ = list(classes(globals()))
