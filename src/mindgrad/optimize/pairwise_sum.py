"""Pairwise summation halves sums over axes that stand in front of others.

    Σ_{k<K} x_k = Σ_{k<K/2} (x_k + x_{k+K/2})        (+ the last one where K is odd)

Proof: addition is associative and commutative but for rounding, of which there is less: log K additions one
after another instead of K.

**When it pays** (CPU; measurements: ``docs/decisions/0019-thresholds-of-rewrites.md``). Slices and additions
are pointwise, so that XLA fuses all of them with the equations before them, in vectors and on all threads. A
sum over the first axis is a pass of its own over a copy of its operand, or a call of a library whose kernels
are slow where the result is wide. From 16 to 128 terms halves are the fastest; for fewer terms it suffices to
compile without the library (``backend.options``). Where other axes stand in front, halves pay for small
operands, such as the stacks in ``optimize.tiling``.

Limits: nothing is done on other devices, nor where a program has many such sums (those of each normalisation
of a large network): XLA compiles one in halves slowly, and a call saves little by it (decision 29).
Sums of half precision are left alone: they are accumulated in single precision, which halves would not be.
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
from mindgrad.rows.reduction import reduce_sum
from mindgrad.rows.static_slices import concatenate, slice_axis
from mindgrad.rows.structural import reshape

__all__ = ["halved"]

HALVES = Rewrite(
    "halves",
    "Σ_k x_k = Σ_k (x_k + x_{k + K/2}) over half as many k, for sums over axes in front of others",
    "long sums were added up in halves",
)


def halved(graph: Graph) -> Graph:
    """``graph`` with its wide sums over axes in front in halves; ``graph`` itself where there are none."""
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
    """The elements in front of ``axes``, along them, and behind."""
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
