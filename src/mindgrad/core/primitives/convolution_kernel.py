"""NumPy kernel of ``conv``: matrix products of windows and weights.

In the gradient of a convolution with strides, the input of the transposed convolution has zeros between its
elements. The kernel skips these zeros. It divides the output into *phases*: the positions that are equal
modulo the dilation of the input. Within a phase, only every z-th weight multiplies an element of the input,
where z depends on the dilation; all other weights multiply inserted zeros. A phase is therefore a convolution
without inserted zeros, and all phases together need as many operations as the forward convolution. Windows
are copied in blocks of at most ``HOST.window_elements`` elements.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.rules import Array
from mindgrad.core.ir.types import Shape
from mindgrad.core.primitives.static_slices import pad

__all__ = ["Padding", "convolve", "dilated", "output_sizes"]

Padding = tuple[tuple[int, int], ...]

_WINDOW_ELEMENTS = HOST.window_elements


def dilated(sizes: Shape, dilation: Shape) -> Shape:
    """Return ``sizes`` after inserting ``dilation − 1`` zeros between neighbors."""
    return tuple(n and (n - 1) * d + 1 for n, d in zip(sizes, dilation, strict=True))


def output_sizes(
    x: Shape, w: Shape, strides: Shape, padding: Padding, lhs_dilation: Shape, rhs_dilation: Shape
) -> Shape:
    """Return the size of the output (the number of windows) along each axis."""
    spatial = x[len(x) - len(padding) :]
    padded = (n + low + high for n, (low, high) in zip(dilated(spatial, lhs_dilation), padding, strict=True))
    windows = dilated(w[2:], rhs_dilation)
    return tuple(max((n - k) // s + 1, 0) for n, k, s in zip(padded, windows, strides, strict=True))


def convolve(
    x: Array,
    w: Array,
    strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    groups: int,
) -> Array:
    """Convolve ``x`` of shape (N, C, …) with ``w`` of shape (O, C / groups, …)."""
    sizes = output_sizes(x.shape, w.shape, strides, padding, lhs_dilation, rhs_dilation)
    if not (x.size and w.size and math.prod(sizes)):
        return np.zeros((x.shape[0], w.shape[0], *sizes), x.dtype)
    if all(d == 1 for d in lhs_dilation):
        return _without_zeros(x, w, sizes, strides, padding, rhs_dilation, groups)
    y = np.zeros((x.shape[0], w.shape[0], *sizes), x.dtype)
    each = zip(x.shape[2:], w.shape[2:], sizes, strides, padding, lhs_dilation, rhs_dilation, strict=True)
    for phases in itertools.product(*[list(_phases(*axis)) for axis in each]):
        positions, taps, parts, steps, margins, distances = zip(*phases, strict=True)
        y[(..., *positions)] = _without_zeros(x, w[(..., *taps)], parts, steps, margins, distances, groups)
    return y


class _Phase(NamedTuple):
    """A phase along one axis: its output positions, and the weights that they use."""

    positions: slice[int, int, int]
    weights: slice[int, int, int]
    size: int
    stride: int
    padding: tuple[int, int]
    rhs_dilation: int


def _phases(
    n: int, window: int, size: int, stride: int, padding: tuple[int, int], zeros: int, distance: int
) -> Iterator[_Phase]:
    """Yield the phases whose windows contain input elements. All other outputs are 0.

    At output position p, weight k is multiplied by the element at index
    ``p · stride + k · distance − before`` of the dilated input, where ``before`` is ``padding[0]``. This
    element is an inserted zero unless the index is a multiple of ``zeros``, the dilation of the input.
    """
    many, apart = zeros // math.gcd(stride, zeros), zeros // math.gcd(distance, zeros)
    for p in range(min(many, size)):
        in_front = p * stride - padding[0]
        first = next((k for k in range(min(apart, window)) if (in_front + k * distance) % zeros == 0), None)
        if first is None:
            continue
        parts, taps = len(range(p, size, many)), len(range(first, window, apart))
        start, step, between = (
            (in_front + first * distance) // zeros, many * stride // zeros, apart * distance // zeros,
        )  # fmt: skip
        end = start + (parts - 1) * step + (taps - 1) * between + 1
        yield _Phase(slice(p, None, many), slice(first, None, apart), parts, step, (-start, end - n), between)


def _without_zeros(
    x: Array, w: Array, sizes: Shape, strides: Shape, padding: Padding, rhs_dilation: Shape, groups: int
) -> Array:
    """Convolve an input that has no zeros inserted between its elements."""
    (count, channels), outputs, rank = x.shape[:2], w.shape[0], len(sizes)
    rows, inner = math.prod(sizes), math.prod(w.shape[1:])
    low, high = zip(*padding, strict=True) if padding else ((), ())
    x = pad.numpy(x, low=(0, 0, *low), high=(0, 0, *high), interior=(0, 0, *(0 for _ in low)))
    # view of all windows; axes: (count, groups, channels, output position…, kernel position…)
    windows = np.lib.stride_tricks.as_strided(
        x,
        (count, groups, channels // groups, *sizes, *w.shape[2:]),
        (
            x.strides[0],
            x.strides[1] * (channels // groups),
            x.strides[1],
            *(n * s for n, s in zip(x.strides[2:], strides, strict=True)),
            *(n * d for n, d in zip(x.strides[2:], rhs_dilation, strict=True)),
        ),
        writeable=False,
    )
    positions, kernel = tuple(range(3, 3 + rank)), tuple(range(3 + rank, 3 + 2 * rank))
    windows = windows.transpose((1, 0, *positions, 2, *kernel))
    weights = w.reshape((groups, outputs // groups, inner)).transpose((0, 2, 1))
    elements = groups * count * rows * inner
    if not rank or elements <= _WINDOW_ELEMENTS:
        y = np.matmul(windows.reshape((groups, -1, inner)), weights)
    else:
        y = np.empty((groups, count, sizes[0], rows // sizes[0], outputs // groups), x.dtype)
        block = max(1, _WINDOW_ELEMENTS * sizes[0] // elements)
        for start in range(0, sizes[0], block):
            at = slice(start, start + block)
            part = windows[:, :, at]
            y[:, :, at] = np.matmul(part.reshape((groups, -1, inner)), weights).reshape(y[:, :, at].shape)
    y = y.reshape((groups, count, rows, outputs // groups)).transpose((1, 0, 3, 2))
    return y.reshape((count, outputs, *sizes))
