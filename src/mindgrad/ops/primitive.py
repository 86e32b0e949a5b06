"""Names that MindSpore programs import from ``mindspore.ops.primitive``."""

from mindgrad.ops.flow import constexpr
from mindgrad.ops.operations.primitive import (
    Primitive,
    PrimitiveWithCheck,
    PrimitiveWithInfer,
    prim_attr_register,
)

__all__ = ["Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "constexpr", "prim_attr_register"]

# MindSpore 2.x's name for a ``constexpr`` function that may receive tensors but does not read their values
_primexpr = constexpr
