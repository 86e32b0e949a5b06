"""Discrete Fourier transforms over one or several axes, and their inverses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad.core.ir.dtype import as_dtype, complex64, complex128, float32, float64
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import fourier as primitives
from mindgrad.ops import arithmetic, complexes, movement, padding
from mindgrad.ops.arguments import axes_in_order, one_or_more, whole_number
from mindgrad.ops.operands import cast, inexact, operand

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn",
    "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq",
    "rfftn",
]  # fmt: skip

_NORMS = ("backward", "ortho", "forward")


def _input(input: Any, operator: str) -> Tensor:
    x = inexact(operand(input, operator))
    return cast(x, float32) if x.dtype.itemsize < 4 else x


def _complex(x: Tensor) -> Tensor:
    return x if x.dtype.kind == "complex" else cast(x, complex128 if x.dtype is float64 else complex64)


def _plan(x: Tensor, s: Any, dim: Any, operator: str) -> tuple[tuple[int, ...], list[int]]:
    """Return the axes to transform, and the number of elements to use along each axis."""
    lengths = None if s is None else [whole_number(n, operator, "n", least=1) for n in one_or_more(s)]
    if dim is None:
        dim = tuple(range(x.ndim)) if lengths is None else tuple(range(-len(lengths), 0))
    axes = axes_in_order(dim, x.ndim, operator, "dim")
    if lengths is None:
        lengths = [x.shape[axis] for axis in axes]
    if len(lengths) != len(axes) or not axes or not all(lengths):
        raise ValueError(
            f"For '{operator}', pass a length of at least 1 for each axis, but got the lengths "
            f"{lengths} for the axes {dim} of an input of shape {x.shape}."
        )
    return axes, lengths


def _taken(x: Tensor, axes: tuple[int, ...], lengths: list[int]) -> Tensor:
    """Truncate each axis to its length in ``lengths``, or pad it with zeros."""
    pairs = [(0, 0)] * x.ndim
    for axis, length in zip(axes, lengths, strict=True):
        pairs[axis] = (0, length - x.shape[axis])
    return padding.padded(x, pairs, "constant") if any(behind for _, behind in pairs) else x


def _transformed(
    x: Tensor, axes: tuple[int, ...], lengths: list[int], norm: Any, inverse: bool, operator: str
) -> Tensor:
    spectrum = apply(primitives.fft, _complex(x), axes=axes, inverse=inverse)
    return _normed(spectrum, math.prod(lengths), norm, inverse, operator)


def _normed(spectrum: Tensor, count: int, norm: Any, inverse: bool, operator: str) -> Tensor:
    """Multiply the transform of ``count`` elements by the factor of its norm."""
    name = "backward" if norm is None else norm
    one_of(name, _NORMS, operator, "norm")
    # factor for ``norm`` in addition to the inverse FFT primitive, which already divides by ``count``
    factor = {"backward": 1.0, "ortho": count**0.5 if inverse else count**-0.5, "forward": 1.0 / count}[name]
    if name == "forward" and inverse:
        factor = float(count)
    return spectrum if factor == 1.0 else arithmetic.mul(spectrum, factor)


def _full(operator: str, input: Any, s: Any, dim: Any, norm: Any, inverse: bool) -> Tensor:
    x = _input(input, operator)
    axes, lengths = _plan(x, s, dim, operator)
    return _transformed(_taken(x, axes, lengths), axes, lengths, norm, inverse, operator)


def _half(operator: str, input: Any, s: Any, dim: Any, norm: Any) -> Tensor:
    x = _input(input, operator)
    if x.dtype.kind == "complex":
        raise TypeError(f"For '{operator}', the input must be real, but its dtype is {x.dtype}; use fft.")
    axes, lengths = _plan(x, s, dim, operator)
    spectrum = apply(primitives.rfft, _taken(x, axes, lengths), axis=axes[-1])
    if axes[:-1]:
        spectrum = apply(primitives.fft, spectrum, axes=axes[:-1], inverse=False)
    return _normed(spectrum, math.prod(lengths), norm, False, operator)


def _from_half(operator: str, input: Any, s: Any, dim: Any, norm: Any) -> Tensor:
    x = _complex(_input(input, operator))
    axes, lengths = _plan(x, s, dim, operator)
    last = axes[-1]
    if s is None:
        lengths[-1] = 2 * (x.shape[last] - 1)
        if not lengths[-1]:
            raise ValueError(
                f"For '{operator}', one frequency means a signal of length 0 by default. Pass the length: "
                "n=1."
            )
    half = lengths[-1] // 2 + 1
    x = _taken(x, axes, [*lengths[:-1], half])
    # transform the last axis at the end, because it contains only half of the spectrum of the real signal
    if axes[:-1]:
        x = apply(primitives.fft, x, axes=axes[:-1], inverse=True)
    signal = apply(primitives.irfft, x, axis=last, length=lengths[-1])
    return _normed(signal, math.prod(lengths), norm, True, operator)


_SEVERAL = (
    "s (int, tuple of int, or None): number of elements to transform along each axis. A shorter axis is "
    "padded with zeros. ``None`` means the sizes of the axes."
)
_WORDS = {
    "": (
        "one axis",
        "n (int or None): number of elements to transform. A shorter axis is padded. ``None`` means all.",
    ),
    "2": ("two axes", _SEVERAL),
    "n": ("several axes", _SEVERAL),
}
_DOC = """{what} over {axes}.

    y_k = Σ_j x_j exp({sign}2πi jk / n){divided}. float16 inputs are computed in float32. The result is
    complex128 for float64, and complex64 otherwise.

    Args:
        input (Tensor): {kind} tensor.
        {length}
        dim ({dim_type}): the {dims} to transform.
        norm (str or None): ``"backward"`` divides the inverse transform by n, ``"forward"`` divides the
            forward transform by n, and ``"ortho"`` divides both by √n. ``None`` means ``"backward"``.

    Returns:
        {result} tensor of the transformed values.

    Raises:
        TypeError: If ``input`` is not a {kind} tensor.
        ValueError: If ``dim`` is out of range, a number of elements is below 1, or ``norm`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> ops.{name}({example}).shape
    {shape}
    """


def _with_arguments(compute: Callable[..., Tensor], name: str, suffix: str) -> Callable[..., Tensor]:
    """Create the function ``name``, which transforms one axis without ``suffix``."""
    dims: Any = {"": -1, "2": (-2, -1), "n": None}[suffix]

    def several(input: Any, s: Any = None, dim: Any = dims, norm: Any = None) -> Tensor:
        return compute(input, s, dim, norm)

    def one(input: Any, n: int | None = None, dim: int = -1, norm: Any = None) -> Tensor:
        return compute(input, n, dim, norm)

    transform: Callable[..., Tensor] = several if suffix else one
    transform.__name__ = transform.__qualname__ = name
    return transform


def _function(kind: str, suffix: str) -> Callable[..., Tensor]:
    name = kind + suffix
    inverse = kind.startswith("i")
    operator = name.upper()
    table = {
        "fft": lambda x, s, dim, norm: _full(operator, x, s, dim, norm, False),
        "ifft": lambda x, s, dim, norm: _full(operator, x, s, dim, norm, True),
        "rfft": lambda x, s, dim, norm: _half(operator, x, s, dim, norm),
        "irfft": lambda x, s, dim, norm: _from_half(operator, x, s, dim, norm),
    }
    transform = _with_arguments(table[kind], name, suffix)
    meaning = (
        "Compute the discrete Fourier transform" if not inverse else "Compute the inverse Fourier transform"
    )
    if kind == "rfft":
        meaning = "Compute the nonnegative half of a real signal's spectrum"
    if kind == "irfft":
        meaning = "Compute a real signal from one half of its spectrum"
    shape = (2, {"rfft": 3}.get(kind, 4))
    axes, length = _WORDS[suffix]
    transform.__doc__ = _DOC.format(
        what=meaning, axes=axes, sign="+" if inverse else "−", divided=" / n" if inverse else "",
        kind="real" if kind == "rfft" else "real or complex", length=length,
        dims="axis" if not suffix else "axes", dim_type="int" if not suffix else "tuple of int or None",
        result="Real" if kind == "irfft" else "Complex",
        name=name, example="ops.ones((2, 3))" if kind == "irfft" else "ops.ones((2, 4))", shape=shape,
    )  # fmt: skip
    return transform


fft, fft2, fftn = (_function("fft", suffix) for suffix in ("", "2", "n"))
ifft, ifft2, ifftn = (_function("ifft", suffix) for suffix in ("", "2", "n"))
rfft, rfft2, rfftn = (_function("rfft", suffix) for suffix in ("", "2", "n"))
irfft, irfft2, irfftn = (_function("irfft", suffix) for suffix in ("", "2", "n"))


# --- transforms of real tensors: rfft, irfft, hfft, ihfft ---


_OTHER_NORM = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
_REAL_DOC = """{what} over {axes}.

    The function is :func:`{other}` with the complex argument or result conjugated, and the opposite
    normalization.

    Args:
        input (Tensor): {kind} tensor.
        {length}
        dim ({dim_type}): the {dims} to transform.
        norm (str or None): normalization as for :func:`fft`. ``None`` means ``"backward"``.

    Returns:
        {result} tensor of the transformed values.

    Raises:
        TypeError: If ``input`` is not a {kind} tensor.
        ValueError: If ``dim`` is out of range, a number of elements is below 1, or ``norm`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> ops.{name}({example}).shape
    {shape}
    """


def _real_spectrum(name: str, suffix: str) -> Callable[..., Tensor]:
    """Create ``hfft`` or ``ihfft``, in which signal and spectrum exchange their roles."""
    operator, inverse = (name + suffix).upper(), name == "ihfft"

    def compute(input: Any, s: Any, dim: Any, norm: Any) -> Tensor:
        one_of("backward" if norm is None else norm, _NORMS, operator, "norm")
        if inverse:
            return complexes.conj(_half(operator, input, s, dim, _OTHER_NORM[norm]))
        return _from_half(operator, complexes.conj(_input(input, operator)), s, dim, _OTHER_NORM[norm])

    transform = _with_arguments(compute, name + suffix, suffix)
    axes, length = _WORDS[suffix]
    meaning = "Compute the real spectrum of a Hermitian signal"
    if inverse:
        meaning = "Compute half a Hermitian signal from its real spectrum"
    transform.__doc__ = _REAL_DOC.format(
        what=meaning,
        axes=axes, other=("rfft" if inverse else "irfft") + suffix, length=length,
        kind="real" if inverse else "real or complex",
        dims="axis" if not suffix else "axes", dim_type="int" if not suffix else "tuple of int or None",
        result="Complex" if inverse else "Real",
        name=name + suffix, example="ops.ones((2, 4))" if inverse else "ops.ones((2, 3))",
        shape=(2, 3) if inverse else (2, 4),
    )  # fmt: skip
    return transform


hfft, hfft2, hfftn = (_real_spectrum("hfft", suffix) for suffix in ("", "2", "n"))
ihfft, ihfft2, ihfftn = (_real_spectrum("ihfft", suffix) for suffix in ("", "2", "n"))


# --- frequencies of transforms and the order of their elements ---


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = float32) -> Tensor:
    """Return the sample frequencies of :func:`fft`.

    Args:
        n (int): number of samples of the signal.
        d (float): distance between neighboring samples.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        1-D tensor of n frequencies in cycles per unit of ``d``, in the order of :func:`fft`.

    >>> from mindgrad import ops
    >>> print(ops.fftfreq(4))
    [ 0.    0.25 -0.5  -0.25]
    """
    return Tensor(np.fft.fftfreq(whole_number(n, "FFTFreq", "n", least=1), d), as_dtype(dtype))


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = float32) -> Tensor:
    """Return the sample frequencies of :func:`rfft`.

    Args:
        n (int): number of samples of the signal.
        d (float): distance between neighboring samples.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        1-D tensor of n // 2 + 1 nonnegative frequencies in cycles per unit of ``d``.

    >>> from mindgrad import ops
    >>> print(ops.rfftfreq(4))
    [0.   0.25 0.5 ]
    """
    return Tensor(np.fft.rfftfreq(whole_number(n, "RFFTFreq", "n", least=1), d), as_dtype(dtype))


def fftshift(input: Any, dim: Any = None) -> Tensor:
    """Move the zero frequency to the center of each axis.

    Args:
        input (Tensor): input tensor.
        dim (int, tuple of int, or None): axes to shift. ``None`` means all axes.

    Returns:
        Tensor of the same shape and dtype as ``input``.

    >>> from mindgrad import ops
    >>> print(ops.fftshift(ops.fftfreq(4)))
    [-0.5  -0.25  0.    0.25]
    """
    x = operand(input, "FFTShift")
    axes = axes_in_order(tuple(range(x.ndim)) if dim is None else dim, x.ndim, "FFTShift", "dim")
    return movement.roll(x, tuple(x.shape[axis] // 2 for axis in axes), axes) if axes else x


def ifftshift(input: Any, dim: Any = None) -> Tensor:
    """Move the zero frequency from the center of each axis to index 0.

    This is the inverse of :func:`fftshift`.

    Args:
        input (Tensor): input tensor.
        dim (int, tuple of int, or None): axes to shift. ``None`` means all axes.

    Returns:
        Tensor of the same shape and dtype as ``input``.

    >>> from mindgrad import ops
    >>> print(ops.ifftshift(ops.fftshift(ops.fftfreq(5))))
    [ 0.   0.2  0.4 -0.4 -0.2]
    """
    x = operand(input, "IFFTShift")
    axes = axes_in_order(tuple(range(x.ndim)) if dim is None else dim, x.ndim, "IFFTShift", "dim")
    return movement.roll(x, tuple(-(x.shape[axis] // 2) for axis in axes), axes) if axes else x
