"""Discrete Fourier transforms. If the input is float32, the result is complex64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import complex64, complex128, float64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.numpy.creation import array
from mindgrad.core.numpy.movement import pad, roll, take
from mindgrad.core.numpy.reductions import Axis, axes_of, axis_of
from mindgrad.core.primitives import fourier
from mindgrad.core.trace.operands import applied, cast, inexact, operand

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "ifft", "ifft2", "ifftn", "ifftshift", "irfft", "rfft",
    "rfftfreq",
]  # fmt: skip


def _complex(a: object, name: str) -> Tensor:
    x = inexact(operand(a, name))
    return x if x.dtype.kind == "complex" else cast(x, complex128 if x.dtype is float64 else complex64)


def _sized(x: Tensor, n: int | None, axis: int) -> Tensor:
    """Truncate ``x`` to ``n`` elements along ``axis``, or append zeros."""
    size = x.shape[axis]
    if n is None or n == size:
        return x
    if n < size:
        return take(x, list(range(n)), axis)
    return pad(x, [(0, n - size if k == axis else 0) for k in range(x.ndim)])


def _transformed(name: str, a: object, axes: Axis, inverse: bool, n: int | None = None) -> Any:
    x = _complex(a, name)
    along = axes_of(name, axes, x.ndim)
    if n is not None:
        x = _sized(x, n, along[0])
    return applied(fourier.fft, x, axes=along, inverse=inverse)


def fft(a: object, n: int | None = None, axis: int = -1) -> Any:
    """Compute the Fourier transform along ``axis``.

    The input is truncated or padded with zeros to ``n`` elements.
    """
    return _transformed("fft", a, axis, False, n)


def ifft(a: object, n: int | None = None, axis: int = -1) -> Any:
    """Compute the inverse Fourier transform along ``axis``.

    The input is truncated or padded with zeros to ``n`` elements.
    """
    return _transformed("ifft", a, axis, True, n)


def fft2(a: object, axes: Sequence[int] = (-2, -1)) -> Any:
    """Compute the Fourier transform along the two axes ``axes``."""
    return _transformed("fft2", a, axes, False)


def ifft2(a: object, axes: Sequence[int] = (-2, -1)) -> Any:
    """Compute the inverse Fourier transform along the two axes ``axes``."""
    return _transformed("ifft2", a, axes, True)


def fftn(a: object, axes: Axis = None) -> Any:
    """Compute the Fourier transform along ``axes``; by default, all axes."""
    return _transformed("fftn", a, axes, False)


def ifftn(a: object, axes: Axis = None) -> Any:
    """Compute the inverse Fourier transform along ``axes``; by default, all axes."""
    return _transformed("ifftn", a, axes, True)


def rfft(a: object, n: int | None = None, axis: int = -1) -> Any:
    """Compute the Fourier transform of real input, for nonnegative frequencies only."""
    x = inexact(operand(a, "rfft"))
    axis = axis_of("rfft", axis, x.ndim)
    return applied(fourier.rfft, _sized(x, n, axis), axis=axis)


def irfft(a: object, n: int | None = None, axis: int = -1) -> Any:
    """Invert :func:`rfft`. The result is real and has ``n`` elements along ``axis``."""
    x = _complex(a, "irfft")
    axis = axis_of("irfft", axis, x.ndim)
    n = 2 * (x.shape[axis] - 1) if n is None else n
    return applied(fourier.irfft, _sized(x, n // 2 + 1, axis), axis=axis, length=n)


def fftfreq(n: int, d: float = 1.0) -> Tensor:
    """Return the frequencies of :func:`fft` for ``n`` samples with spacing ``d``."""
    return array(np.fft.fftfreq(n, d), np.float32)


def rfftfreq(n: int, d: float = 1.0) -> Tensor:
    """Return the frequencies of :func:`rfft` for ``n`` samples with spacing ``d``."""
    return array(np.fft.rfftfreq(n, d), np.float32)


def fftshift(x: object, axes: Axis = None) -> Any:
    """Move the zero frequency to the center of each of ``axes``."""
    x = operand(x, "fftshift")
    along = axes_of("fftshift", axes, x.ndim)
    return roll(x, [x.shape[k] // 2 for k in along], along)


def ifftshift(x: object, axes: Axis = None) -> Any:
    """Invert :func:`fftshift`."""
    x = operand(x, "ifftshift")
    along = axes_of("ifftshift", axes, x.ndim)
    return roll(x, [-(x.shape[k] // 2) for k in along], along)
