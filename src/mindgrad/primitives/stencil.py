"""Stencils: convolutions whose output channels depend on one input channel each.

    y[n, o, p] = Σ_k x̃[n, ⌊o / m⌋, p · stride + k · dilation] · w[o, k]

Here each input channel has m output channels. XLA's CPU compiler runs such a convolution channel by channel,
which is slow (``docs/decisions/0029-channels-last.md``). Therefore it is compiled as a sum over the window of
products of a shifted input and a weight. This sum is one loop, which XLA fuses with the surrounding
operators.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from mindgrad.ir.cost_model import costs
from mindgrad.ir.types import Shape

__all__ = ["is_stencil", "stencil"]


def is_stencil(x: Any, w: Any, groups: int, channels_last: bool) -> bool:
    """Whether a convolution is a stencil that is faster as a sum of products."""
    window, (outputs, channels) = w.shape[2:], w.shape[:2]
    if channels_last:
        window, (channels, outputs) = w.shape[:-2], w.shape[-2:]
    return (
        channels == 1 < groups
        and math.prod(window) <= costs().stencil_taps
        and outputs <= costs().stencil_outputs * groups
        and x.dtype == w.dtype
        and str(x.dtype) in ("float32", "float64")
        and 0 not in x.shape
    )


def stencil(jax: Any, x: Any, w: Any, strides: Shape, groups: int, channels_last: bool, **window: Any) -> Any:
    """Convolve ``x``, which has one sample axis, by a sum of shifted products."""
    spatial = len(strides)
    channel, first = (spatial + 1, 1) if channels_last else (1, 2)
    sizes = w.shape[:spatial] if channels_last else w.shape[2:]
    outputs = w.shape[-1] if channels_last else w.shape[0]
    around = [(0, 0, 0)] * x.ndim
    around[first : first + spatial] = [
        (low, high, dilation - 1)
        for (low, high), dilation in zip(window["padding"], window["lhs_dilation"], strict=True)
    ]
    x = jax.lax.pad(x, jax.numpy.zeros((), x.dtype), around)
    if 1 < groups < outputs:
        x = jax.numpy.repeat(x, outputs // groups, axis=channel)
    dilations = window["rhs_dilation"]
    lengths = [
        max((n - (k - 1) * dilation - 1) // stride + 1, 0)
        for n, k, dilation, stride in zip(
            x.shape[first : first + spatial], sizes, dilations, strides, strict=True
        )
    ]
    total: Any = None
    for tap in itertools.product(*map(range, sizes)):
        low, high, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
        for axis, (k, dilation, stride, count) in enumerate(
            zip(tap, dilations, strides, lengths, strict=True), first
        ):
            low[axis], steps[axis] = k * dilation, stride
            high[axis] = k * dilation + max((count - 1) * stride + 1, 0)
        weight = w[(*tap, 0)] if channels_last else w[(slice(None), 0, *tap)].reshape((-1, *[1] * spatial))
        term = jax.lax.slice(x, low, high, steps) * weight
        total = term if total is None else total + term
    return total
