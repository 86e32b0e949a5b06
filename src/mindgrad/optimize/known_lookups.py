"""Lookups at known positions inside of an array are compiled without a test of each position.

    select(0 ≤ i < n, x[i], NaN) = x[i]        for constant i with 0 ≤ i < n

A position outside reads NaN or 0 (``rows.indexing``), for which XLA compares all positions and selects among
all elements that are read; its fusions do so again in every reader of the lookup. Positions that a program
has as constants, such as those of sparse matrices, of cameras and of triangles, are compared once, here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.ir.graph import Constant, Equation, Graph
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.graph_rewriter import inside, rebuilt
from mindgrad.rows.indexing import gather

__all__ = ["known_lookups_untested"]

UNTESTED = Rewrite(
    "untested lookups",
    "select(0 ≤ i < n, x[i], NaN) = x[i] for constant i with 0 ≤ i < n",
    "lookups at known positions are not tested for positions outside",
)


def known_lookups_untested(graph: Graph) -> Graph:
    """``graph`` with the lookups marked whose positions are constants inside of what they read."""
    graph = inside(graph, known_lookups_untested)
    untested = {e for e in graph.equations if e.primitive is gather and _is_inside(e)}
    if not untested:
        return graph
    UNTESTED.fired(len(untested))

    def replaced(equation: Equation, read: Callable[[Any], Any]) -> Any:
        if equation not in untested:
            return None
        return gather(*map(read, equation.inputs), **{**equation.parameters, "inside": True})

    return rebuilt(graph, replaced)


def _is_inside(lookup: Equation) -> bool:
    """Whether all positions of a lookup, the last axis of its indices, are known to lie inside."""
    x, indices = lookup.inputs
    if type(indices) is not Constant or lookup.parameters.get("inside") or not indices.type.size:
        return False
    positions = indices.smallest() if not indices.is_splat else indices.value
    sizes = np.array([x.shape[axis] for axis in lookup.parameters["axes"]])
    return bool(np.all(positions >= 0) and np.all(positions < sizes))
