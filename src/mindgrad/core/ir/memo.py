"""Memoization of functions of graphs.

    memoized(f)(graph, …) = f(graph, …), computed once
    interned(a) is interned(b)  ⟺  a.key() == b.key()

The results are stored in the graph itself. When the graph is deleted, they are deleted too. A global cache
would keep graphs alive, with the large arrays among their constants.

A memoized function must depend only on its arguments. A repeated call costs one lookup in a dict. A graph
stores a limited number of results, because one argument can be a new function in each call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Graph

__all__ = ["forget", "interned", "memoized", "retained"]

P = ParamSpec("P")
Result = TypeVar("Result")

_graphs: WeakValueDictionary[Hashable, Graph] = WeakValueDictionary()

#: number of most recent graphs that :func:`retained` keeps alive
_RETAINED = 256
#: largest number of results that one graph stores
_RESULTS = 1024
_MISSING: Any = object()  # type: ignore[explicit-any]  # stands for a result of any type


def memoized(function: Callable[Concatenate[Graph, P], Result]) -> Callable[Concatenate[Graph, P], Result]:
    """Decorator that computes ``function(graph, …)`` once and stores it in the graph."""

    @wraps(function)
    def once(graph: Graph, *arguments: P.args, **options: P.kwargs) -> Result:
        key = (function, arguments, *options.items()) if options else (function, arguments)
        result: Result = graph.derived.get(key, _MISSING)
        if result is _MISSING:
            result = function(graph, *arguments, **options)
            if len(graph.derived) >= _RESULTS:
                graph.derived.clear()
            graph.derived[key] = result
        return result

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
