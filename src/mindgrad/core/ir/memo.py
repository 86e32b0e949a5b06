"""Memoization of functions of graphs.

    memoized(f)(graph, …) = f(graph, …), computed once
    interned(a) is interned(b)  ⟺  a.key() == b.key()

The results are stored in the graph itself. When the graph is deleted, they are deleted too. A global cache
would keep graphs alive, with the large arrays among their constants.

A memoized function must depend only on its arguments. A repeated call costs one lookup in a dict.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Graph

__all__ = ["forget", "interned", "memoized", "retained"]

Result = TypeVar("Result")

_graphs: WeakValueDictionary[Any, Graph] = WeakValueDictionary()

#: number of graphs that :func:`retained` keeps alive
_RETAINED = 256


def memoized(function: Callable[..., Result]) -> Callable[..., Result]:
    """Decorator that computes ``function(graph, …)`` once and stores it in the graph."""

    @wraps(function)
    def once(graph: Graph, *arguments: Any, **options: Any) -> Result:
        key = (function, arguments, *options.items()) if options else (function, arguments)
        if key not in graph.derived:
            graph.derived[key] = function(graph, *arguments, **options)
        return graph.derived[key]

    return once


def interned(graph: Graph) -> Graph:
    """Return the first graph with the same key as ``graph`` that is still alive.

    If a differentiated function calls another function several times, each call is traced, and the traces are
    equal graphs. Because this function returns one graph for all of them, the memoized derivatives of the
    graph are computed once.
    """
    return _graphs.setdefault(graph.key(), graph)


def retained(graph: Graph) -> Graph:
    """Intern ``graph``, and keep it alive so that a later equal trace can reuse it."""
    return _retained(interned(graph))


def forget() -> None:
    """Forget all interned graphs, and delete their memoized results."""
    for graph in list(_graphs.values()):
        graph.derived.clear()
    _graphs.clear()
    _retained.cache_clear()


@lru_cache(maxsize=_RETAINED)
def _retained(graph: Graph) -> Graph:
    return graph
