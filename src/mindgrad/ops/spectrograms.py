"""Short-time Fourier transform: the spectrum of a signal over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, complexes, fourier
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.indexing import gather
from mindgrad.ops.joining import stack
from mindgrad.ops.layout import reshape, swapaxes
from mindgrad.ops.operands import inexact, operand
from mindgrad.ops.padding import padded
from mindgrad.ops.reduction import flag
from mindgrad.ops.registry import public

__all__ = ["stft"]


@public(
    "STFT(n_fft: integer, hop_length: integer, win_length: integer, normalized=False, onesided=True, "
    "return_complex=True)(signal, window)(center=False, pad_mode='REFLECT')"
    " >>> ops.STFT(4, 2, 4, False, True, True)(ops.ones((6,)), ops.ones((4,))).shape => (3, 2)"
)
def stft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "REFLECT",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """Compute the short-time Fourier transform.

        X[k, m] = Σⱼ window[j] · x[m · hop + j] · exp(−2πi k j / n_fft)

    Args:
        x (Tensor): a signal of shape (t,), or signals of shape (n, t).
        n_fft (int): length of a frame, and number of frequencies of its spectrum.
        hop_length (int or None): step between neighboring frames. ``None`` means a quarter of
            ``n_fft``.
        win_length (int or None): length of the window, at most ``n_fft``. ``None`` means
            ``n_fft``.
        window (Tensor or None): weights of the elements of a frame, of shape (win_length,). Zeros on both
            sides extend them to ``n_fft`` elements. ``None`` means that all weights are 1.
        center (bool): whether to pad the signal by ``n_fft // 2`` elements at both ends, so that the center
            of frame m is x[m · hop].
        pad_mode (str): padding mode for ``center``: ``"REFLECT"``, ``"CONSTANT"`` (zeros), ``"EDGE"``, or
            ``"SYMMETRIC"``.
        normalized (bool): whether to divide the spectrum by the square root of ``n_fft``.
        onesided (bool or None): whether to omit the frequencies above n_fft / 2, which are redundant for real
            signals. ``None`` omits them if signal and window are real.
        return_complex (bool or None): whether the result is complex. ``None`` means complex if
            the signal or the window is complex.

    Returns:
        Complex tensor of shape (n, frequencies, frames). If the result is not complex, a real tensor with a
        trailing axis of size 2 for the real and imaginary part.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of range, or the signal is too short.

    >>> from mindgrad import Tensor, ops
    >>> y = ops.stft(Tensor([1.0, 1.0, 1.0, 1.0, 0.0, 0.0]), 4, 2, center=False)
    >>> print(y.shape, y[0, :, 0])
    (3, 2, 2) [4. 2.]
    """
    signal = inexact(operand(x, "STFT"))
    if signal.ndim not in (1, 2):
        raise ValueError(
            f"For 'STFT', the 'x' must have the shape (t,) or (n, t), but its shape is {signal.shape}."
        )
    length = whole_number(n_fft, "STFT", "n_fft", 1)
    hop = length // 4 if hop_length is None else hop_length
    hop = whole_number(hop, "STFT", "hop_length", 1)
    width = length if win_length is None else whole_number(win_length, "STFT", "win_length", 1)
    if width > length:
        raise ValueError(f"For 'STFT', the 'win_length' must be at most n_fft = {length}, but got {width}.")
    weights = None if window is None else _window(window, width, length)
    is_complex = signal.dtype.kind == "complex" or (weights is not None and weights.dtype.kind == "complex")
    half = not is_complex if onesided is None else flag(onesided, "STFT", "onesided")
    if half and is_complex:
        raise ValueError(
            "For 'STFT', 'onesided' must be False if the signal or window is complex, because its "
            "spectrum is not symmetric."
        )
    pieces = reshape(signal, (-1, signal.shape[-1]))
    if flag(center, "STFT", "center"):
        pieces = padded(pieces, [(0, 0), (length // 2, length // 2)], _mode(pad_mode))
    if pieces.shape[-1] < length:
        raise ValueError(
            f"For 'STFT', the signal must have at least n_fft = {length} elements, but it has "
            f"{pieces.shape[-1]}."
        )
    count = (pieces.shape[-1] - length) // hop + 1
    places = np.arange(count)[:, None] * hop + np.arange(length)[None]
    pieces = gather(pieces, Tensor(places.astype(np.int32), int32), 1)
    if weights is not None:
        pieces = arithmetic.mul(pieces, weights)
    elif width < length:
        pieces = arithmetic.mul(pieces, _window(np.ones(width, pieces.dtype.numpy), width, length))
    spectrum = (fourier.rfft if half else fourier.fft)(pieces)
    if flag(normalized, "STFT", "normalized"):
        spectrum = arithmetic.mul(spectrum, length**-0.5)
    spectrum = swapaxes(spectrum, 1, 2)
    spectrum = spectrum if signal.ndim == 2 else reshape(spectrum, spectrum.shape[1:])
    if is_complex if return_complex is None else flag(return_complex, "STFT", "return_complex"):
        return spectrum
    return stack([complexes.real(spectrum), complexes.imag(spectrum)], -1)


def _mode(pad_mode: Any) -> str:
    modes = {"REFLECT": "reflect", "CONSTANT": "constant", "EDGE": "replicate", "SYMMETRIC": "symmetric"}
    padding_mode = modes.get(pad_mode.upper()) if isinstance(pad_mode, str) else None
    if padding_mode is None:
        raise ValueError(
            f"For 'STFT', the 'pad_mode' must be one of {', '.join(modes)}, but got {pad_mode!r}."
        )
    return padding_mode


def _window(window: Any, width: int, length: int) -> Tensor:
    taper = inexact(operand(Tensor(window) if isinstance(window, np.ndarray) else window, "STFT"))
    if taper.shape != (width,):
        raise ValueError(
            f"For 'STFT', the 'window' must have the shape ({width},), but its shape is {taper.shape}."
        )
    before = (length - width) // 2
    return padded(taper, [(before, length - width - before)], "constant")
