"""Pairwise summation: add the two halves of an axis until one element is left.

    Σ_{k<K} x_k = Σ_{k<K/2} (x_k + x_{k+K/2})        (+ the last term if K is odd)

Proof: addition is associative and commutative up to rounding. The rounding error becomes smaller, because
each term takes part in log K additions instead of up to K.

**When it pays** (measurements: ``docs/decisions/0019-thresholds-of-rewrites.md``). On a CPU, XLA computes a
sum over the first axis as a separate pass over a copy of its operand. Or it calls a library kernel that is
slow for wide results. In contrast, XLA fuses the slices and additions of this rewrite with the preceding
equations, and uses vector instructions and all threads. The rewrite applies to sums over axes that do not
include the last axis. It is fastest for 16 to 128 terms. For fewer terms, it suffices to compile without the
library kernels (``backend.options``). If other axes precede the summed axes, the rewrite pays for small
operands, such as the tiles of ``optimize.tiling``.

**Limits.** The rewrite is only for CPUs. These sums are left unchanged:

- sums in a graph with many such sums, such as a large network with normalizations. XLA compiles the rewritten
  sums slowly, and a call saves little time (``docs/decisions/0029-channels-last.md``);
- sums of float16 and bfloat16, because XLA accumulates a sum in float32, but would round each half to 16
  bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindgrad.ir.cost_model import costs
from mindgrad.ir.graph import Equation, Graph
from mindgrad.ir.partition import is_one_cpu
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.graph_rewriter import inside, rebuilt
from mindgrad.primitives.reduction import reduce_sum
from mindgrad.primitives.static_slices import concatenate, slice_axis
from mindgrad.primitives.structural import reshape

__all__ = ["halved"]

HALVES = Rewrite(
    "halves",
    "Σ_k x_k = Σ_k (x_k + x_{k + K/2}) over half as many k, for sums over axes that are not last",
    "long sums are computed in halves",
)


def halved(graph: Graph) -> Graph:
    """Rewrite the sums of ``graph`` for which pairwise summation pays."""
    if not is_one_cpu():
        return graph
    graph = inside(graph, halved)
    count = sum(map(_pays, graph.equations))
    return rebuilt(graph, _replaced) if 0 < count <= costs().halved_sums else graph


def _pays(equation: Equation) -> bool:
    if equation.primitive is not reduce_sum:
        return False
    (x,), axes = equation.inputs, equation.parameters["axes"]
    if not axes or not x.dtype.is_inexact or x.dtype.itemsize < 4 or axes != (*range(axes[0], axes[-1] + 1),):
        return False
    outer, terms, inner = _sizes(x.shape, axes)
    if outer == 1:
        return terms in costs().halved_terms and inner >= costs().halved_width
    is_long = costs().halved_inner <= terms < costs().halved_terms.stop
    return is_long and inner >= costs().halved_inner and x.type.size in costs().halved_elements


def _sizes(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the number of elements before, along, and after consecutive ``axes``."""
    return (
        math.prod(shape[: axes[0]]),
        math.prod(shape[axes[0] : axes[-1] + 1]),
        math.prod(shape[axes[-1] + 1 :]),
    )


def _replaced(equation: Equation, read: Callable[[Any], Any]) -> Any:
    if _pays(equation):
        HALVES.fired()
        return _sum(read(equation.inputs[0]), equation.parameters["axes"])
    return None


def _sum(x: Any, axes: tuple[int, ...]) -> Any:
    shape, axis = x.shape, axes[0]
    front, behind = shape[:axis], shape[axes[-1] + 1 :]
    x = reshape(x, shape=(*front, _sizes(shape, axes)[1], *behind))
    while (count := x.shape[axis]) > 1:
        half = count // 2
        total = slice_axis(x, axis, 0, half) + slice_axis(x, axis, half, 2 * half)
        x = concatenate(total, slice_axis(x, axis, 2 * half, count), axis=axis) if count % 2 else total
    return reshape(x, shape=(*front, *behind))
