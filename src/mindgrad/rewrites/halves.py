"""Sums over the first axes in halves.

    Σ_{k<K} x_k = Σ_{k<K/2} (x_k + x_{k+K/2})        (+ the last one where K is odd)

Proof: addition is associative and commutative but for rounding, of which there is less: log K additions one
after another instead of K.

**When it pays** (jax 0.10.2, CPU). Slices and additions are pointwise, so that XLA makes one pass of all of
them and of what stands before them, in vectors and on all threads. Of a sum over the first axis it makes a
pass of its own, over a copy of what it is given, or hands it to a library whose kernels are slow where the
result is wide. CPU time in µs of ``(x * x).sum(0)`` for K × N elements, with the library, without, in halves:

    N            1024            4096             16384              65536
    K = 3     10 / 11 / 10    15 / 13 / 13     92 / 11 / 11     1556 /   31 /   34
    K = 10    13 / 11 / 11    18 / 11 / 11     47 / 58 / 23     5752 /  124 /  114
    K = 64    24 / 32 / 13    66 / 129 / 50   358 / 662 / 317  36409 / 5307 / 2144
    K = 256   64 / 92 / 78   301 / 704 / 536  2102 / 3377 / 3362

From 16 to 128 terms halves are the fastest or nearly so; a Laplacian of 64 directions takes 17.6 ms instead
of 20.4 ms, its gradient 59 ms instead of 64 ms. For fewer terms it is enough to compile without the library,
as ``backend.options`` does, and a program of ten terms a sum would get twice the equations and memory. On
other devices nothing is done. Sums of half precision are left alone: they are made in single precision,
which halves would not be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindgrad.core import settings
from mindgrad.core.graph import Equation, Graph
from mindgrad.core.rewriting import Rewrite
from mindgrad.primitives.reduction import reduce_sum
from mindgrad.primitives.structural import concatenate, reshape, slice
from mindgrad.rewrites.rebuilding import inside, rebuilt

__all__ = ["halved"]

HALVES = Rewrite(
    "halves", "Σ_k x_k = Σ_k (x_k + x_{k + K/2}) over half as many k, for sums over the first axes"
)

#: terms of a sum, and results side by side
_FEWEST, _MOST, _WIDE = 16, 128, 1024


def halved(graph: Graph) -> Graph:
    """``graph`` with its wide sums over first axes in halves; ``graph`` itself where there are none."""
    if settings.get("device_target") != "CPU":
        return graph
    graph = inside(graph, halved)
    return rebuilt(graph, _replaced) if any(map(_pays, graph.equations)) else graph


def _pays(equation: Equation) -> bool:
    if equation.primitive is not reduce_sum:
        return False
    (x,), axes = equation.inputs, equation.parameters["axes"]
    if not x.dtype.is_inexact or x.dtype.itemsize < 4 or axes != tuple(range(len(axes))):
        return False
    terms, wide = math.prod(x.shape[: len(axes)]), math.prod(x.shape[len(axes) :])
    return _FEWEST <= terms <= _MOST and wide >= _WIDE


def _replaced(equation: Equation, read: Callable[[Any], Any]) -> Any:
    if _pays(equation):
        HALVES.fired()
        return _sum(read(equation.inputs[0]), equation.outputs[0].shape)
    return None


def _sum(x: Any, shape: tuple[int, ...]) -> Any:
    """The sum over the axes in front of ``shape``."""
    x = reshape(x, shape=(math.prod(x.shape) // math.prod(shape), *shape))
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        total = _part(x, 0, half) + _part(x, half, 2 * half)
        if x.shape[0] % 2:
            total = concatenate(total, _part(x, 2 * half, x.shape[0]), axis=0)
        x = total
    return reshape(x, shape=shape)


def _part(x: Any, start: int, limit: int) -> Any:
    rest = x.shape[1:]
    still = (0,) * len(rest)
    return slice(x, start=(start, *still), limit=(limit, *rest), strides=(1,) * len(x.shape))
