"""The order in which whole graphs are rewritten.

    rewritten(G)(x) = G(x) up to rounding

``before`` runs on a program that is about to be differentiated: what it changes, the derivative inherits.
``after`` runs on a finished program, once, before it is compiled. Each is a list of passes Graph → Graph;
a pass that changes nothing gives back the graph that it was given.
"""

from __future__ import annotations

from collections.abc import Callable

from mindgrad.core.graph import Graph
from mindgrad.core.rewriting import is_rewriting
from mindgrad.rewrites.algebra import distributed
from mindgrad.rewrites.blocks import in_blocks
from mindgrad.rewrites.chain import products_ordered
from mindgrad.rewrites.families import joined
from mindgrad.rewrites.halves import halved
from mindgrad.rewrites.layout import narrow_products_turned, transposes_carried
from mindgrad.rewrites.tiles import tiled

__all__ = ["before_compilation", "before_derivative"]

_BEFORE: list[Callable[[Graph], Graph]] = [distributed, products_ordered]
_AFTER: list[Callable[[Graph], Graph]] = [
    joined,
    distributed,
    products_ordered,
    transposes_carried,
    in_blocks,
    tiled,
    narrow_products_turned,
    halved,
]


def before_derivative(graph: Graph) -> Graph:
    """``graph`` as it is best differentiated."""
    return _passed(_BEFORE, graph)


def before_compilation(graph: Graph) -> Graph:
    """``graph`` as it is best run."""
    return _passed(_AFTER, graph)


def _passed(passes: list[Callable[[Graph], Graph]], graph: Graph) -> Graph:
    if is_rewriting():
        for each in passes:
            graph = each(graph)
    return graph
