"""Discrete Fourier transforms: ``fft``, and for real data ``rfft`` and ``irfft``.

The matrix exp(±2πi jk / n) is symmetric, and cotangents pair with tangents without conjugation (see
``primitives.complexes``). Therefore ``fft`` and its inverse are each their own transpose. For real numbers,
only half of the spectrum is computed, which halves the cost. The transpose of ``rfft`` is ``irfft`` with
weights, and the transpose of ``irfft`` is ``rfft`` with weights:

    rfftᵀ ct = n irfft(s ∘ conj ct)        irfftᵀ ct = conj rfft(ct) / (n s)        s = (1, ½, …, ½, 1)

The first weight is 1. If n is even, the last weight is also 1; otherwise it is ½.
"""

from __future__ import annotations

import math

import numpy as np

from mindgrad.core.ir.dtype import complex64, complex128, float32, float64
from mindgrad.core.ir.graph import Atom, Constant, Equation
from mindgrad.core.ir.index_map import OPAQUE
from mindgrad.core.ir.rules import Array, Module
from mindgrad.core.ir.types import TensorType
from mindgrad.core.ir.work import by
from mindgrad.core.primitives.axes import Along
from mindgrad.core.primitives.complexes import conj
from mindgrad.core.primitives.kinds import linear
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.structural import broadcast_in_dim

__all__ = ["fft", "irfft", "rfft"]


def _type_rule(x: TensorType, axes: tuple[int, ...], inverse: bool) -> TensorType:
    if x.dtype.kind != "complex":
        raise TypeError(f"For 'fft', the input must be a complex tensor, but got {x.dtype}.")
    if len(set(axes)) != len(axes) or any(not 0 <= axis < x.rank or not x.shape[axis] for axis in axes):
        raise ValueError(
            f"For 'fft', the axes {axes} must be distinct and nonempty axes of the input of shape {x.shape}."
        )
    return x


def _numpy(x: Array, axes: tuple[int, ...], inverse: bool) -> Array:
    transform = np.fft.ifftn if inverse else np.fft.fftn
    return transform(x, axes=axes).astype(x.dtype, copy=False) if axes else x


def _xla(jax: Module, x: Array, axes: tuple[int, ...], inverse: bool) -> Array:
    for axis in axes:  # one by one, because XLA supports at most three axes in one call
        x = (jax.numpy.fft.ifft if inverse else jax.numpy.fft.fft)(x, axis=axis)
    return x


def _flops(equation: Equation) -> float:
    x = equation.inputs[0]
    return 5 * x.type.size * sum(math.log2(max(x.shape[axis], 1)) for axis in equation.parameters["axes"])


#: ``fft(x, axes, inverse)``: y_k = Σ_j x_j exp(−2πi jk/n) along each axis in ``axes``. If ``inverse`` is
#: true, the exponent is positive, and the sum is divided by n
fft = linear(
    "fft",
    work=by(_flops),
    type_rule=_type_rule,
    numpy=_numpy,
    xla=_xla,
    transpose=lambda ct, x, axes, inverse: fft(ct, axes=axes, inverse=inverse),
    axes=Along("axes", OPAQUE, keeps=True, stays_last=True),
    samples=[
        case(reals()[2, 5, 3], axes=(1,), inverse=False, accepts="complex"),
        case(reals()[4, 2, 3], axes=(0, 2), inverse=True, accepts="complex"),
        case(reals()[1], axes=(0,), inverse=False, accepts="complex"),
    ],
)


# --- real numbers ----------------------------------------------------------------------------------

_SPECTRUM = {float32: complex64, float64: complex128}
_SIGNAL = {spectrum: signal for signal, spectrum in _SPECTRUM.items()}


def _real_type(x: TensorType, axis: int) -> TensorType:
    if x.dtype not in _SPECTRUM:
        raise TypeError(f"For 'rfft', the input must be of type Float32 or Float64, but got {x.dtype}.")
    if not 0 <= axis < x.rank or not x.shape[axis]:
        raise ValueError(
            f"For 'rfft', the axis {axis} must be a nonempty axis of the input of shape {x.shape}."
        )
    return _sized(x.with_dtype(_SPECTRUM[x.dtype]), axis, x.shape[axis] // 2 + 1)


def _half_type(x: TensorType, axis: int, length: int) -> TensorType:
    if x.dtype not in _SIGNAL:
        raise TypeError(f"For 'irfft', the input must be a complex tensor, but got {x.dtype}.")
    if not 0 <= axis < x.rank or length < 1 or x.shape[axis] != length // 2 + 1:
        raise ValueError(
            f"For 'irfft', a result of {length} elements along axis {axis} requires {length // 2 + 1} "
            f"frequencies, "
            f"but got an input of shape {x.shape}."
        )
    return _sized(x.with_dtype(_SIGNAL[x.dtype]), axis, length)


def _sized(type: TensorType, axis: int, size: int) -> TensorType:
    return type.with_shape((*type.shape[:axis], size, *type.shape[axis + 1 :]))


def _weighted(spectrum: Atom, axis: int, length: int, inverse: bool) -> Atom:
    """Multiply a half spectrum by n / 2, and its first and last frequency by n.

    n is ``length``. If n is odd, the last frequency is also multiplied by n / 2. If ``inverse`` is true,
    divide instead of multiplying.
    """
    weights = np.full(length // 2 + 1, length / 2)
    weights[0] = length
    if length % 2 == 0:
        weights[-1] = length
    weights = (1 / weights if inverse else weights).astype(spectrum.dtype.numpy)
    return spectrum * broadcast_in_dim(Constant(weights), shape=spectrum.shape, dims=(axis,))


def _half_flops(equation: Equation) -> float:
    x, y, axis = equation.inputs[0].type, equation.outputs[0].type, equation.parameters["axis"]
    return 2.5 * max(x.size, y.size) * math.log2(max(x.shape[axis], y.shape[axis]))


#: ``rfft(x, axis)``: the first n // 2 + 1 elements of the Fourier transform of n real numbers
rfft = linear(
    "rfft",
    work=by(_half_flops),
    type_rule=_real_type,
    numpy=lambda x, axis: np.fft.rfft(x, axis=axis).astype(np.result_type(x.dtype, np.complex64), copy=False),
    xla=lambda jax, x, axis: jax.numpy.fft.rfft(x, axis=axis),
    transpose=lambda ct, x, axis: irfft(
        _weighted(conj(ct), axis, x.shape[axis], False), axis=axis, length=x.shape[axis]
    ),
    axes=Along("axis", OPAQUE, keeps=True, stays_last=True),
    samples=[
        case(reals()[shape], axis=axis, accepts="float")
        for shape, axis in (((2, 5, 3), 1), ((3, 4), 1), ((1,), 0))
    ],
)

#: ``irfft(y, axis, length)``: the ``length`` real numbers whose ``rfft`` is y
irfft = linear(
    "irfft",
    work=by(_half_flops),
    type_rule=_half_type,
    numpy=lambda y, axis, length: np.fft.irfft(y, n=length, axis=axis).astype(y.real.dtype, copy=False),
    xla=lambda jax, y, axis, length: jax.numpy.fft.irfft(y, n=length, axis=axis),
    transpose=lambda ct, y, axis, length: conj(_weighted(rfft(ct, axis=axis), axis, length, True)),
    axes=Along("axis", OPAQUE, keeps=True, stays_last=True),
    samples=[
        case(reals()[2, 3, 3], axis=1, length=5, accepts="complex"),
        case(reals()[3, 3], axis=1, length=4, accepts="complex"),
        case(reals()[1], axis=0, length=1, accepts="complex"),
    ],
)
