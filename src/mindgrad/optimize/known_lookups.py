"""Known lookups: gather at constant in-range indices without bounds checks.

    select(0 ≤ i < n, x[i], NaN) = x[i]        for constant i with 0 ≤ i < n

A lookup at an out-of-range index returns NaN or 0 (``primitives.indexing``). Therefore a compiled lookup
compares each index with the size of the axis, and selects NaN or the element. If XLA fuses the lookup into
its readers, every reader repeats these comparisons. This rewrite checks constant indices once, at compile
time, and then marks the lookup as in range. Examples are the pattern of a sparse matrix or the triangles of a
mesh.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.ir.graph import Constant, Equation, Graph
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.graph_rewriter import inside, rebuilt
from mindgrad.primitives.indexing import gather

__all__ = ["known_lookups_untested"]

UNTESTED = Rewrite(
    "unchecked lookups",
    "select(0 ≤ i < n, x[i], NaN) = x[i] for constant i with 0 ≤ i < n",
    "constant indices are checked at compile time instead of at each lookup",
)


def known_lookups_untested(graph: Graph) -> Graph:
    """Mark the lookups of ``graph`` whose indices are constant and in range."""
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
    """Whether all indices of a lookup are constant and in range."""
    x, indices = lookup.inputs
    if type(indices) is not Constant or lookup.parameters.get("inside") or not indices.type.size:
        return False
    positions = indices.smallest() if not indices.is_splat else indices.value
    sizes = np.array([x.shape[axis] for axis in lookup.parameters["axes"]])
    return bool(np.all(positions >= 0) and np.all(positions < sizes))
