"""Names that MindSpore programs import from ``mindspore.ops.primitive``."""

from mindgrad.ops.flow import constexpr
from mindgrad.ops.operations.primitive import (
    Primitive,
    PrimitiveWithCheck,
    PrimitiveWithInfer,
    prim_attr_register,
)

__all__ = ["Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "constexpr", "prim_attr_register"]

# the name of 2.x for a function of constants that may get tensors too, whose values it does not read
_primexpr = constexpr
