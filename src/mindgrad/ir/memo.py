"""Memoization of what is computed from graphs: it lives as long as its graph, and keeps nothing else alive.

    memoized(f)(graph, …) = f(graph, …), computed once
    interned(a) is interned(b)  ⟺  a.key() == b.key()

A global cache would keep graphs alive, and the large arrays among their constants with them.

Cost: one lookup. Limits: what is memoized may depend on its arguments only.
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

#: graphs that are retained though nobody refers to them
_RETAINED = 256


def memoized(function: Callable[..., Result]) -> Callable[..., Result]:
    """``function(graph, …)``, computed once for each graph and kept with it."""

    @wraps(function)
    def once(graph: Graph, *arguments: Any, **options: Any) -> Result:
        key = (function, arguments, *options.items()) if options else (function, arguments)
        if key not in graph.derived:
            graph.derived[key] = function(graph, *arguments, **options)
        return graph.derived[key]

    return once


def interned(graph: Graph) -> Graph:
    """The one graph that stands for all that are written like ``graph``, as long as it lives.

    Each call of a function under a derivative is traced for itself; so their derivatives are seen to be those
    of one program.
    """
    return _graphs.setdefault(graph.key(), graph)


def retained(graph: Graph) -> Graph:
    """:func:`interned`; the graph lives on for the next call that traces an equal one."""
    return _retained(interned(graph))


def forget() -> None:
    """Forget what was computed of interned graphs, and that they are the ones."""
    for graph in list(_graphs.values()):
        graph.derived.clear()
    _graphs.clear()
    _retained.cache_clear()


@lru_cache(maxsize=_RETAINED)
def _retained(graph: Graph) -> Graph:
    return graph
