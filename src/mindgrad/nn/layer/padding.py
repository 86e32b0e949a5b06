"""Padding layers, which add elements around the last axes."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.function_cells import function_cell, function_cells
from mindgrad.ops import padding
from mindgrad.ops.arguments import sizes
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.base import integers, number


def _layer(name: str, axes: int, mode: str, meaning: str, example: str, prints: str) -> Any:
    def run(self: Any, x: Any) -> Tensor:
        x = operand(x, name)
        if x.ndim < axes:
            raise ValueError(
                f"For '{name}', the input must have at least {axes} axes, but its shape is {x.shape}."
            )
        margins = sizes(self.padding, name, "padding")
        margins = margins * (2 * axes) if len(margins) == 1 else margins
        if len(margins) != 2 * axes:
            raise ValueError(
                f"For '{name}', the 'padding' must be one int, or {2 * axes} (before and after each of the "
                f"last {axes} axes, the last axis first), but got {self.padding}."
            )
        value = getattr(self, "value", None)
        return padding.pad(x, margins, mode, value)

    attributes = {"padding": integers()}
    if name.startswith("Constant"):
        attributes["value"] = number()
    return function_cell(
        __name__, name, padding.pad, attributes=attributes, run=run, inputs="x",
        meaning=f"Pad the last {'axis' if axes == 1 else f'{axes} axes'} on both sides with {meaning}.",
        example=example, prints=prints,
    )  # fmt: skip


def family(name: str, mode: str, meaning: str, prints: str, more: str = "", counts: Any = (1, 2, 3)) -> Any:
    """Create padding layers of one kind, one for each number of axes in ``counts``."""
    layers = []
    for axes in counts:
        pairs = ", ".join(["1, 1"] + ["0, 0"] * (axes - 1))
        shape = f"ops.reshape(Tensor([1.0, 2.0, 3.0]), ({'1, ' * axes}3))"
        example = f"nn.{name}{axes}d(({pairs}){more})({shape}).flatten()"
        layers.append(_layer(f"{name}{axes}d", axes, mode, meaning, example, prints))
    return layers


ConstantPad1d, ConstantPad2d, ConstantPad3d = family(
    "ConstantPad", "constant", "a constant", "[9. 1. 2. 3. 9.]", ", 9.0"
)
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = family(
    "ReflectionPad", "reflect", "reflected elements, without the edge",
    "[2. 1. 2. 3. 2.]",
)  # fmt: skip
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = family(
    "ReplicationPad", "edge", "the edge elements", "[1. 1. 2. 3. 3.]"
)
(ZeroPad2d,) = family("ZeroPad", "constant", "zeros", "[0. 1. 2. 3. 0.]", counts=(2,))

__all__ = list(function_cells(globals()))
