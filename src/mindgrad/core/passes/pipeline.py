"""Pipeline: the order in which the rewrites of whole graphs run.

    rewritten(G)(x) = G(x) up to rounding

``before_derivative`` runs on a graph that is about to be differentiated, and the derivative inherits its
changes. ``before_compilation`` runs once on a complete graph, before XLA compiles it. Each rewrite is a
function from a graph to a graph. A rewrite that changes nothing returns its argument.
"""

from __future__ import annotations

from collections.abc import Callable

from mindgrad.core.ir.graph import Graph, communicates
from mindgrad.core.ir.rewriting import is_rewriting
from mindgrad.core.ir.verify import MalformedGraph
from mindgrad.core.passes.derivative_fusion import fuse_derivatives
from mindgrad.core.passes.distribution import distribute_products
from mindgrad.core.passes.guarded_loops import postpone_guards
from mindgrad.core.passes.layout import (
    remove_transposes,
    transpose_narrow_products,
    transpose_reduced_products,
)
from mindgrad.core.passes.matmul_order import reorder_matmuls
from mindgrad.core.passes.peepholes import (
    drop_bounds_checks,
    share_reciprocals,
    sink_scalar_factors,
    split_sums,
)
from mindgrad.core.passes.tiling import tile_samples
from mindgrad.core.placement import communication

__all__ = ["before_compilation", "before_derivative"]

_BEFORE_DERIVATIVE: list[Callable[[Graph], Graph]] = [distribute_products, reorder_matmuls]
_BEFORE_COMPILATION: list[Callable[[Graph], Graph]] = [
    fuse_derivatives,
    distribute_products,
    reorder_matmuls,
    sink_scalar_factors,
    remove_transposes,
    tile_samples,
    transpose_narrow_products,
    transpose_reduced_products,
    split_sums,
    share_reciprocals,
    postpone_guards,
    drop_bounds_checks,
]


def before_derivative(graph: Graph) -> Graph:
    """Return ``graph`` after the rewrites that make its derivative cheaper."""
    return _passed(_BEFORE_DERIVATIVE, graph)


def before_compilation(graph: Graph) -> Graph:
    """Return ``graph`` after the rewrites that make it cheaper to run."""
    passes = _BEFORE_COMPILATION
    if communicates(graph):
        passes = [*passes, communication().fuse_collectives]
    return _passed(passes, graph)


def _passed(passes: list[Callable[[Graph], Graph]], graph: Graph) -> Graph:
    if is_rewriting():
        for each in passes:
            graph = _checked(each, graph, each(graph))
    return graph


def _checked(rewrite: Callable[[Graph], Graph], before: Graph, after: Graph) -> Graph:
    """Return ``after`` if it has the inputs and outputs of ``before``."""
    if after is before:
        return after
    actual = _signature(after) if type(after) is Graph else repr(after)
    if actual != (expected := _signature(before)):
        raise MalformedGraph(
            f"The rewrite '{rewrite.__name__}' must keep the types of the inputs and outputs of a graph, "
            f"{expected}, but returned {actual}."
        )
    return after


def _signature(graph: Graph) -> str:
    return f"{[v.type for v in graph.inputs]} -> {[y.type for y in graph.outputs]}"
