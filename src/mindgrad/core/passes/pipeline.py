"""Pipeline of the rewrites of whole graphs.

    rewritten(G)(x) = G(x) up to rounding

``before_derivative`` runs on a graph that is about to be differentiated, and the derivative inherits its
changes. ``before_compilation`` runs once on a complete graph, before XLA compiles it. Each rewrite is a
function from a graph to a graph. If it changes nothing, it returns its argument.
"""

from __future__ import annotations

from collections.abc import Callable

from mindgrad.core.ir.graph import Graph, communicates
from mindgrad.core.ir.rewriting import is_rewriting
from mindgrad.core.passes.derivative_fusion import joined
from mindgrad.core.passes.distribution import distributed
from mindgrad.core.passes.guarded_loops import guards_postponed
from mindgrad.core.passes.known_lookups import known_lookups_untested
from mindgrad.core.passes.layout import narrow_products_turned, reduced_products_turned, transposes_carried
from mindgrad.core.passes.matmul_order import products_ordered
from mindgrad.core.passes.pairwise_sum import halved
from mindgrad.core.passes.quotients import quotients_joined
from mindgrad.core.passes.scalar_factors import factors_moved
from mindgrad.core.passes.tiling import tiled
from mindgrad.core.placement import communication

__all__ = ["before_compilation", "before_derivative"]

_BEFORE_DERIVATIVE: list[Callable[[Graph], Graph]] = [distributed, products_ordered]
_BEFORE_COMPILATION: list[Callable[[Graph], Graph]] = [
    joined,
    distributed,
    products_ordered,
    factors_moved,
    transposes_carried,
    tiled,
    narrow_products_turned,
    reduced_products_turned,
    halved,
    quotients_joined,
    guards_postponed,
    known_lookups_untested,
]


def before_derivative(graph: Graph) -> Graph:
    """Apply the rewrites that make the derivative of ``graph`` cheaper."""
    return _passed(_BEFORE_DERIVATIVE, graph)


def before_compilation(graph: Graph) -> Graph:
    """Apply the rewrites that make ``graph`` cheaper to run."""
    passes = _BEFORE_COMPILATION
    if communicates(graph):
        passes = [*passes, communication().with_fused_collectives]
    return _passed(passes, graph)


def _passed(passes: list[Callable[[Graph], Graph]], graph: Graph) -> Graph:
    if is_rewriting():
        for each in passes:
            graph = each(graph)
    return graph
