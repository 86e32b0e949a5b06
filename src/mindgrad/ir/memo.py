"""Memoization of results computed from graphs.

    memoized(f)(graph, …) = f(graph, …), computed once
    interned(a) is interned(b)  ⟺  a.key() == b.key()

A result lives as long as its graph and keeps no other graph alive. A global cache would keep graphs alive,
with the large arrays among their constants.

Cost: one lookup. Limits: a memoized result may depend only on its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from mindgrad.ir.graph import Graph

__all__ = ["forget", "interned", "memoized", "retained"]

Result = TypeVar("Result")

_graphs: WeakValueDictionary[Any, Graph] = WeakValueDictionary()

#: number of graphs that stay alive without other references
_RETAINED = 256


def memoized(function: Callable[..., Result]) -> Callable[..., Result]:
    """Compute ``function(graph, …)`` once for each graph, which stores the result."""

    @wraps(function)
    def once(graph: Graph, *arguments: Any, **options: Any) -> Result:
        key = (function, arguments, *options.items()) if options else (function, arguments)
        if key not in graph.derived:
            graph.derived[key] = function(graph, *arguments, **options)
        return graph.derived[key]

    return once


def interned(graph: Graph) -> Graph:
    """Return the living graph that is structurally equal to ``graph``.

    Each call of a function under a derivative is traced separately. With interned graphs, the derivatives of
    these traces are shared.
    """
    return _graphs.setdefault(graph.key(), graph)


def retained(graph: Graph) -> Graph:
    """Intern ``graph`` and keep it alive for the next trace of an equal graph."""
    return _retained(interned(graph))


def forget() -> None:
    """Delete the memoized results of interned graphs, and the graphs from the table."""
    for graph in list(_graphs.values()):
        graph.derived.clear()
    _graphs.clear()
    _retained.cache_clear()


@lru_cache(maxsize=_RETAINED)
def _retained(graph: Graph) -> Graph:
    return graph
