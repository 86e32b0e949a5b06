"""Logic and bit operators, and tests for NaN and infinity, with derivative zero.

Logical operators accept Bool; bitwise operators accept Bool and integers.
"""

from __future__ import annotations

import numpy as np

from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Array, Kernel, Module
from mindgrad.core.primitives.kinds import pointwise_constant
from mindgrad.core.primitives.samples import booleans, reals

__all__ = [
    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "isfinite", "isinf", "isnan",
    "logical_and", "logical_not", "logical_or", "logical_xor", "shift_left", "shift_right",
]  # fmt: skip


def _question(name: str, numpy: Kernel) -> Primitive:
    return pointwise_constant(
        name, numpy=numpy, xla=lambda jax, x: getattr(jax.numpy, name)(x), result=bool_, samples=reals()
    )


isnan = _question("isnan", np.isnan)
isinf = _question("isinf", np.isinf)
isfinite = _question("isfinite", np.isfinite)


def _logical(name: str, numpy: Kernel, xla: str, symbol: str | None = None, operands: int = 2) -> Primitive:
    return pointwise_constant(
        name, numpy=numpy, xla=xla, operands=operands, symbol=symbol, accepts="bool", samples=booleans()
    )


logical_and = _logical("logical_and", np.logical_and, "bitwise_and", "&")
logical_or = _logical("logical_or", np.logical_or, "bitwise_or", "|")
logical_xor = _logical("logical_xor", np.logical_xor, "bitwise_xor", "^")
logical_not = _logical("logical_not", np.logical_not, "bitwise_not", operands=1)


def _bitwise(name: str, numpy: Kernel, symbol: str | None = None, operands: int = 2) -> Primitive:
    return pointwise_constant(
        name, numpy=numpy, xla=name, operands=operands, symbol=symbol, accepts="bits", samples=reals(0, 100)
    )


bitwise_and = _bitwise("bitwise_and", np.bitwise_and, "&")
bitwise_or = _bitwise("bitwise_or", np.bitwise_or, "|")
bitwise_xor = _bitwise("bitwise_xor", np.bitwise_xor, "^")
bitwise_not = _bitwise("bitwise_not", np.bitwise_not, operands=1)

#: ``shift_left(x, n)``: x · 2ⁿ without the bits that overflow; 0 if n is at least the number of bits
shift_left = pointwise_constant(
    "shift_left",
    numpy=np.left_shift,
    xla="shift_left",
    symbol="<<",
    operands=2,
    accepts="integer",
    samples=(reals(0, 100), reals(0, 9)),
)


def _shift_right_xla(jax: Module, x: Array, n: Array) -> Array:
    keeps_sign = x.dtype.kind == "i"
    return (jax.lax.shift_right_arithmetic if keeps_sign else jax.lax.shift_right_logical)(x, n)


#: ``shift_right(x, n)``: x ÷ 2ⁿ rounded down; signed integers keep their sign
shift_right = pointwise_constant(
    "shift_right",
    numpy=np.right_shift,
    xla=_shift_right_xla,
    operands=2,
    accepts="integer",
    samples=(reals(-100, 100), reals(0, 5)),
)
