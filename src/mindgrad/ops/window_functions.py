"""Window functions of signal processing, and Vandermonde matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import as_dtype, float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import creation, cumulative, joining, layout, movement
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.operands import operand
from mindgrad.ops.registry import public

__all__ = [
    "bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window", "vander",
]  # fmt: skip


def _window(
    length: Any, periodic: bool, dtype: Any, shape: Callable[[np.ndarray], np.ndarray], name: str
) -> Tensor:
    """Evaluate ``shape`` at equidistant points from −1 to 1.

    A periodic window of n elements is the window of n + 1 elements without the last element.
    """
    count = whole_number(length, name, "window_length", least=0)
    if count < 2:
        return creation.ones((count,), dtype)
    places = np.linspace(-1, 1, count + 1 if periodic else count)[:count]
    return Tensor(shape(places), as_dtype(dtype))


@public(
    "BartlettWindow(periodic=True, dtype=float32)(length)",
    "numpy.bartlett(M: count)(periodic=False) >>> numpy.bartlett(3).shape => (3,)",
)
def bartlett_window(window_length: int, periodic: bool = True, *, dtype: Any = float32) -> Tensor:
    """Return a Bartlett window, the triangle 1 − |t| for t from −1 to 1.

    Args:
        window_length (int): number of elements of the window.
        periodic (bool): whether to return a periodic window, which omits the last element, because it equals
            the first element of the next period.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of shape (window_length,).

    >>> from mindgrad import ops
    >>> print(ops.bartlett_window(5, False))
    [0.  0.5 1.  0.5 0. ]
    """
    return _window(window_length, periodic, dtype, lambda t: 1 - np.abs(t), "BartlettWindow")


@public("numpy.hanning(M: count)(periodic=False) >>> numpy.hanning(3).shape => (3,)")
def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = float32) -> Tensor:
    """Return a Hann window, ½ + ½ cos πt for t from −1 to 1.

    {as bartlett_window}

    >>> from mindgrad import ops
    >>> print(ops.hann_window(5, False))
    [0.  0.5 1.  0.5 0. ]
    """
    return _window(window_length, periodic, dtype, lambda t: 0.5 + 0.5 * np.cos(np.pi * t), "HannWindow")


@public(
    "HammingWindow(periodic=True, alpha=0.54, beta=0.46, dtype=float32)(length)",
    "numpy.hamming(M: count)(periodic=False) >>> numpy.hamming(3).shape => (3,)",
)
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = float32,
) -> Tensor:
    """Return a Hamming window, alpha + beta · cos πt for t from −1 to 1.

    Args:
        alpha, beta (float): coefficients of alpha + beta · cos πt.

    {as bartlett_window}

    >>> from mindgrad import ops
    >>> print(ops.hamming_window(3, False))
    [0.08 1.   0.08]
    """
    return _window(
        window_length, periodic, dtype, lambda t: alpha + beta * np.cos(np.pi * t), "HammingWindow"
    )


@public(
    "BlackmanWindow(periodic=True, dtype=float32)(length)",
    "numpy.blackman(M: count)(periodic=False) >>> numpy.blackman(3).shape => (3,)",
)
def blackman_window(window_length: int, periodic: bool = True, *, dtype: Any = float32) -> Tensor:
    """Return a Blackman window, 0.42 + ½ cos πt + 0.08 cos 2πt for t from −1 to 1.

    {as bartlett_window}

    >>> from mindgrad import ops
    >>> print(ops.blackman_window(4).round(decimals=2))
    [-0.    0.34  1.    0.34]
    """

    def shape(t: np.ndarray) -> np.ndarray:
        return 0.42 + 0.5 * np.cos(np.pi * t) + 0.08 * np.cos(2 * np.pi * t)

    return _window(window_length, periodic, dtype, shape, "BlackmanWindow")


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = float32
) -> Tensor:
    """Return a Kaiser window, I₀(beta √(1 − t²)) / I₀(beta) for t from −1 to 1.

    Args:
        beta (float): shape parameter of the window. Larger values give a narrower window.

    {as bartlett_window}

    >>> from mindgrad import ops
    >>> print(ops.kaiser_window(3, False, 0.0))
    [1. 1. 1.]
    """
    return _window(
        window_length,
        periodic,
        dtype,
        lambda t: np.i0(beta * np.sqrt(1 - t * t)) / np.i0(beta),
        "KaiserWindow",
    )


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the Vandermonde matrix: row i contains the powers of x[i].

    Args:
        x (Tensor): 1-D tensor.
        N (int or None): number of powers, which is the number of columns. ``None`` means the number of
            elements of ``x``.
        increasing (bool): whether the powers increase from left to right.

    Returns:
        Tensor of shape (n, N), where n is the number of elements of ``x``.

    Raises:
        ValueError: If ``x`` is not 1-D.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.vander(Tensor([2.0, 3.0]), 3))
    [[4. 2. 1.]
     [9. 3. 1.]]
    """
    values = operand(x, "Vander")
    if values.ndim != 1:
        raise ValueError(f"For 'Vander', the input must have one axis, but its shape is {values.shape}.")
    count = values.size if N is None else whole_number(N, "Vander", "N", least=0)
    if not count:
        return creation.zeros((values.size, 0), values.dtype)
    column = layout.expand_dims(values, 1)
    ones = creation.ones_like(column)
    factors = joining.concat((ones, movement.broadcast_to(column, (values.size, count - 1))), 1)
    powers = cumulative.cumprod(factors, 1)
    return powers if increasing else movement.flip(powers, (1,))
