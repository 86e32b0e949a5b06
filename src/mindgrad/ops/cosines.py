"""Orthonormal discrete cosine transforms of type 2, and their inverses.

    y_k = s_k Σ_j x_j cos(π k (2j + 1) / 2n),     s_0 = √(1/n),  s_k = √(2/n)

The transform is the Fourier transform of the reordered elements: the elements with even indices, followed by
the elements with odd indices in reverse order (J. Makhoul, "A fast cosine transform in one and two
dimensions", 1980).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import complex64, complex128, float32, float64
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import fourier as primitives
from mindgrad.ops import arithmetic, complexes, indexing, joining, movement, padding
from mindgrad.ops.arguments import axes_in_order, one_or_more, whole_number
from mindgrad.ops.layout import moveaxis
from mindgrad.ops.operands import cast, operand

__all__ = ["dct", "dctn", "idct", "idctn"]

_TAKEN = ("int", "float", "complex")


def _input(x: Any, operator: str) -> Tensor:
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{operator}', the input must be a tensor, but got {type(x).__name__}.")
    x = operand(x, operator)
    if x.dtype.kind not in _TAKEN:
        raise TypeError(f"For '{operator}', the input must be numeric, but its dtype is {x.dtype}.")
    return x if x.dtype in (float64, complex64, complex128) else cast(x, float32)


def _check(operator: str, type: Any, norm: Any) -> None:
    if type != 2:
        raise ValueError(f"For '{operator}', the 'type' must be 2, but got {type!r}.")
    if norm not in (None, "ortho"):
        raise ValueError(f"For '{operator}', the 'norm' must be 'ortho', but got {norm!r}.")


def _taken(x: Tensor, length: int) -> Tensor:
    """Truncate the last axis to ``length`` elements, or pad it with zeros."""
    size = x.shape[-1]
    if length < size:
        return movement.narrow(x, -1, 0, length)
    return (
        padding.padded(x, [(0, 0)] * (x.ndim - 1) + [(0, length - size)], "constant") if length > size else x
    )


def _phases(n: int, dtype: Any) -> np.ndarray:
    """Return √(2/n) exp(−πi k / 2n) for k > 0, and √(1/n) for k = 0."""
    k = np.arange(n)
    scale = np.where(k == 0, np.sqrt(1 / n), np.sqrt(2 / n))
    return (scale * np.exp(-0.5j * np.pi * k / n)).astype(dtype.numpy)


def _order(n: int) -> np.ndarray:
    return np.concatenate([np.arange(0, n, 2), np.arange(1, n, 2)[::-1]])


def _complex_type(x: Tensor) -> Any:
    return complex128 if x.dtype is float64 else complex64


def _forward(x: Tensor) -> Tensor:
    n, kind = x.shape[-1], _complex_type(x)
    arranged = indexing.gather(x, Tensor(_order(n)), x.ndim - 1)
    spectrum = apply(primitives.fft, cast(arranged, kind), axes=(x.ndim - 1,), inverse=False)
    return complexes.real(arithmetic.mul(spectrum, Tensor(_phases(n, kind))))


def _backward(y: Tensor) -> Tensor:
    n, kind = y.shape[-1], _complex_type(y)
    # the FFT of the reordered elements is Y_k − i Y_{n−k} times a complex factor, where Y is the cosine
    # transform and Y_n = 0
    mirrored = joining.concat(
        [
            arithmetic.mul(movement.narrow(y, -1, 0, 1), 0.0),
            movement.flip(movement.narrow(y, -1, 1, n - 1), (-1,)),
        ],
        -1,
    )
    k = np.arange(n)
    turn = np.exp(0.5j * np.pi * k / n) * np.where(k == 0, np.sqrt(n), np.sqrt(n / 2))
    whole = arithmetic.sub(cast(y, kind), arithmetic.mul(cast(mirrored, kind), 1j))
    spectrum = arithmetic.mul(whole, Tensor(turn.astype(kind.numpy)))
    arranged = complexes.real(apply(primitives.fft, spectrum, axes=(y.ndim - 1,), inverse=True))
    return indexing.gather(arranged, Tensor(np.argsort(_order(n))), y.ndim - 1)


def _along(operator: str, x: Tensor, axis: int, length: int, transform: Any) -> Tensor:
    last = _taken(moveaxis(x, axis, -1), whole_number(length, operator, "n", 1))
    if last.dtype.kind == "complex":
        both = transform(complexes.real(last)), transform(complexes.imag(last))
        transformed = complexes.complex(*both)
    else:
        transformed = transform(last)
    return moveaxis(transformed, -1, axis)


def _one(operator: str, x: Any, type: Any, n: Any, axis: Any, norm: Any, transform: Any) -> Tensor:
    x = _input(x, operator)
    _check(operator, type, norm)
    (place,) = axes_in_order(axis, x.ndim, operator, "axis")
    return _along(operator, x, place, x.shape[place] if n is None else n, transform)


def _several(operator: str, x: Any, type: Any, s: Any, axes: Any, norm: Any, transform: Any) -> Tensor:
    x = _input(x, operator)
    _check(operator, type, norm)
    lengths: Any = None if s is None else one_or_more(s)
    if axes is None:
        axes = tuple(range(x.ndim)) if lengths is None else tuple(range(-len(lengths), 0))
    places = axes_in_order(axes, x.ndim, operator, "axes")
    if lengths is None:
        lengths = [x.shape[axis_] for axis_ in places]
    if len(lengths) != len(places):
        raise ValueError(
            f"For '{operator}', pass one length for each axis, but got the lengths {s} and the axes {axes}."
        )
    for axis_, length in zip(places, lengths, strict=True):
        x = _along(operator, x, axis_, length, transform)
    return x


def dct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Compute the orthonormal cosine transform along one axis.

    Args:
        x (Tensor): tensor of any shape. Integers, float16, and bfloat16 are converted to float32. Real and
            imaginary parts are transformed separately.
        type (int, optional): must be 2. Default: ``2``.
        n (int, optional): number of elements to transform. A longer axis is truncated, and a shorter axis is
            padded with zeros. Default: the size of the axis.
        axis (int, optional): axis to transform. Default: ``-1``.
        norm (str, optional): ``"ortho"`` or ``None``; both mean the orthonormal transform. Default: ``None``.

    Returns:
        Tensor: the cosine transform of ``x``.

    Raises:
        TypeError: If ``x`` is not a tensor of numbers.
        ValueError: If ``type`` or ``norm`` is not supported, ``axis`` is out of range, or ``n`` is below 1.

    >>> from mindgrad import Tensor
    >>> from mindgrad.scipy.fft import dct, idct
    >>> print(idct(dct(Tensor([1.0, 2.0, 4.0]))).round(decimals=4))
    [1. 2. 4.]
    """
    return _one("DCT", x, type, n, axis, norm, _forward)


def idct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Compute the inverse of :func:`dct`, with the same arguments.

    >>> from mindgrad import Tensor
    >>> from mindgrad.scipy.fft import idct
    >>> print(idct(Tensor([2.0, 0.0, 0.0, 0.0])).round(decimals=4))
    [1. 1. 1. 1.]
    """
    return _one("IDCT", x, type, n, axis, norm, _backward)


def dctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """Compute the orthonormal cosine transform along several axes.

    Args:
        x, type, norm: as for :func:`dct`.
        s (tuple of int, optional): number of elements to transform along each axis. Default: the sizes of the
            axes.
        axes (tuple of int, optional): axes to transform. Default: the last ``len(s)`` axes, or all axes
            without ``s``.

    Returns:
        Tensor: the cosine transform of ``x``.

    Raises:
        TypeError: If ``x`` is not a tensor of numbers.
        ValueError: If ``type`` or ``norm`` is not supported, an axis is out of range, or ``s`` and ``axes``
            differ in length.

    >>> from mindgrad import ops
    >>> from mindgrad.scipy.fft import dctn
    >>> print(dctn(ops.ones((2, 2))).round(decimals=4))
    [[2. 0.]
     [0. 0.]]
    """
    return _several("DCTN", x, type, s, axes, norm, _forward)


def idctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """Compute the inverse of :func:`dctn`, with the same arguments.

    >>> from mindgrad import Tensor
    >>> from mindgrad.scipy.fft import idctn
    >>> print(idctn(Tensor([[2.0, 0.0], [0.0, 0.0]])).round(decimals=4))
    [[1. 1.]
     [1. 1.]]
    """
    return _several("IDCTN", x, type, s, axes, norm, _backward)
