"""The ``fft`` primitive is the discrete Fourier transform: one row for both directions.

The matrix exp(±2πi jk / n) is symmetric, and cotangents pair with tangents without conjugation (see
``rows.complexes``), so the transform is its own transpose, whatever its direction and factor.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindgrad.ir.index_map import OPAQUE
from mindgrad.ir.types import TensorType
from mindgrad.ir.work import by
from mindgrad.rows.axes import Along
from mindgrad.rows.kinds import linear
from mindgrad.rows.samples import case, reals

__all__ = ["fft"]


def _type_rule(x: TensorType, axes: tuple[int, ...], inverse: bool) -> TensorType:
    if x.dtype.kind != "complex":
        raise TypeError(f"For 'fft', the input must be a complex tensor, but got {x.dtype}.")
    if len(set(axes)) != len(axes) or any(not 0 <= axis < x.rank or not x.shape[axis] for axis in axes):
        raise ValueError(f"For 'fft', the axes {axes} do not fit an input of shape {x.shape}.")
    return x


def _numpy(x: Any, axes: tuple[int, ...], inverse: bool) -> Any:
    transform = np.fft.ifftn if inverse else np.fft.fftn
    return transform(x, axes=axes).astype(x.dtype, copy=False) if axes else x


def _xla(jax: Any, x: Any, axes: tuple[int, ...], inverse: bool) -> Any:
    for axis in axes:  # one after the other: XLA transforms three axes at most together
        x = (jax.numpy.fft.ifft if inverse else jax.numpy.fft.fft)(x, axis=axis)
    return x


def _flops(equation: Any) -> float:
    x = equation.inputs[0]
    return 5 * x.type.size * sum(math.log2(max(x.shape[axis], 1)) for axis in equation.parameters["axes"])


#: ``fft(x, axes, inverse)``: y_k = Σ_j x_j exp(−2πi jk/n) along each of ``axes``; +, and / n, if inverse
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
