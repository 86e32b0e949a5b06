"""Complex numbers: combine real and imaginary parts, split them, and conjugate.

These primitives are linear over the real numbers, but not over the complex numbers. The pairing of a
cotangent and a tangent is ``Re(Σ ct · t)``, without conjugation. With this choice, the transpose of a
multiplication is a multiplication by the same factor, as for real numbers. The gradient ``∂/∂Re + i ∂/∂Im``
that mindgrad returns to users is the conjugate of a cotangent.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mindgrad.core.ir.dtype import complex64, complex128, float32, float64
from mindgrad.core.ir.rules import Array
from mindgrad.core.ir.types import TensorType
from mindgrad.core.ir.work import VIEW
from mindgrad.core.primitives.arithmetic import neg
from mindgrad.core.primitives.kinds import pointwise_linear, zeros
from mindgrad.core.primitives.samples import reals

__all__ = ["complex", "conj", "imag", "real"]

_PART = {complex64: float32, complex128: float64}
_WHOLE = {part: whole for whole, part in _PART.items()}


def _part_type(name: str) -> Callable:
    def type_rule(x: TensorType) -> TensorType:
        if x.dtype not in _PART:
            raise TypeError(f"For '{name}', the input must be a complex tensor, but got {x.dtype}.")
        return x.with_dtype(_PART[x.dtype])

    return type_rule


def _whole_type(re: TensorType, im: TensorType) -> TensorType:
    if re is not im or re.dtype not in _WHOLE:
        raise TypeError(
            f"For 'complex', both parts must have the same dtype, Float32 or Float64, but got {re} and {im}."
        )
    return re.with_dtype(_WHOLE[re.dtype])


def _whole_numpy(re: Array, im: Array) -> Array:
    whole = np.empty(np.broadcast_shapes(re.shape, im.shape), np.result_type(re.dtype, np.complex64))
    whole.real, whole.imag = re, im
    return whole


#: ``real(x)``: the real part. Its transpose converts ct to complex: ct · Re(t) = Re((ct + 0i) · t)
real = pointwise_linear(
    "real",
    work=VIEW,
    type_rule=_part_type("real"),
    numpy=np.real,
    xla="real",
    transpose=lambda ct, x: complex(ct, zeros(ct.type)),
    accepts="complex",
    samples=reals(),
)

#: ``imag(x)``: the imaginary part. Its transpose multiplies by −i: ct · Im(t) = Re(−i ct · t)
imag = pointwise_linear(
    "imag",
    work=VIEW,
    type_rule=_part_type("imag"),
    numpy=np.imag,
    xla="imag",
    transpose=lambda ct, x: complex(zeros(ct.type), neg(ct)),
    accepts="complex",
    samples=reals(),
)

#: ``conj(x)``: the complex conjugate
conj = pointwise_linear(
    "conj", numpy=np.conj, xla="conj", transpose=lambda ct, x: conj(ct), accepts="complex", samples=reals()
)

#: ``complex(re, im)`` = re + i im
complex = pointwise_linear(
    "complex",
    work=VIEW,
    type_rule=_whole_type,
    numpy=_whole_numpy,
    xla="complex",
    transpose=lambda ct, re, im: [real(ct) if re.linear else None, neg(imag(ct)) if im.linear else None],
    operands=2,
    accepts="float",
    samples=reals(),
)
