"""Conversion between complex tensors and their real and imaginary parts."""

from __future__ import annotations

import math as _math
from typing import Any

from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import comparisons, complexes
from mindgrad.ops.define import also_named
from mindgrad.ops.math import atan2
from mindgrad.ops.operands import binary, choose, full_tensor, inexact, operand
from mindgrad.ops.registry import public
from mindgrad.ops.rounding import isnan

__all__ = ["angle", "complex", "conj", "imag", "real"]


@public("Real Tensor", "mint.real(input)")
@also_named(input="x")
def real(x: Any) -> Tensor:
    """Return the real part of a tensor; a real tensor is returned unchanged.

    Args:
        x (Tensor or number): values of any shape.

    Returns:
        Tensor of the same shape as ``x``: float32 for complex64, float64 for complex128.

    Raises:
        TypeError: If ``x`` is neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.real(Tensor([1 + 2j])))
    [1.]
    """
    x = operand(x, "Real")
    return apply(complexes.real, x) if x.dtype.kind == "complex" else x


@public("Imag Tensor", "mint.imag(input)")
@also_named(input="x")
def imag(x: Any) -> Tensor:
    """Return the imaginary part of a tensor; it is 0 for a real tensor.

    {as real}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.imag(Tensor([1 + 2j])))
    [2.]
    """
    x = operand(x, "Imag")
    return apply(complexes.imag, x) if x.dtype.kind == "complex" else full_tensor(0, x.dtype, x.shape)


@public("Conj Tensor")
@also_named(input="x")
def conj(x: Any) -> Tensor:
    """Return the complex conjugate; a real tensor is returned unchanged.

    Returns:
        Tensor of the same shape and dtype as ``x``.

    {as real}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.conj(Tensor([1 + 2j])))
    [1.-2.j]
    """
    x = operand(x, "Conj")
    return apply(complexes.conj, x) if x.dtype.kind == "complex" else x


@public("Complex")
def complex(real: Any, imag: Any) -> Tensor:
    """Create complex numbers real + i imag from two parts.

    Args:
        real, imag (Tensor or number): float32 or float64 operands whose shapes broadcast.

    Returns:
        Tensor with the broadcast shape: complex64 for float32 parts, complex128 for float64 parts.

    Raises:
        TypeError: If a part is neither a tensor nor a number, or is not float32 or float64.
        ValueError: If the shapes of the operands do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.complex(Tensor([1.0]), Tensor([2.0])))
    [1.+2.j]
    """
    return binary(complexes.complex, "Complex", real, imag, float_only=True)


@public("Angle Tensor")
@also_named(input="x")
def angle(x: Any) -> Tensor:
    """Return the angle atan2(imag, real) of each element in radians.

    It is 0 or π for real elements.

    Args:
        x (Tensor or number): values of any shape; integers are converted to float32.

    Returns:
        Real tensor of the same shape as ``x``.

    Raises:
        TypeError: If ``x`` is neither a tensor nor a number.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.angle(Tensor(1j)):.4f}")
    1.5708
    """
    x = inexact(operand(x, "Angle"))
    if x.dtype.kind == "complex":
        return atan2(imag(x), real(x))
    turned = choose(binary(comparisons.less, "Angle", x, 0), _math.pi, full_tensor(0, x.dtype, x.shape))
    return choose(isnan(x), x, turned)
