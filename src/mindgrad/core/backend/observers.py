"""Observers of compilation: functions that receive each graph before compilation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.settings import options

__all__ = ["OBSERVERS", "observe"]

#: maps the name of an option to a function ``observer(name, graph, references)``. If the option is set, the
#: function is called before each graph is compiled
OBSERVERS: dict[str, Callable[[str, Graph, Sequence[Any]], None]] = {}


def observe(name: str, graph: Graph, parameters: Sequence[object]) -> None:
    """Call each observer whose context option, such as ``save_graphs``, is set.

    Args:
        name: name of the compiled function.
        graph: the graph that will be compiled.
        parameters: the references (``trace.references``) that the graph reads.
    """
    for option, observer in OBSERVERS.items():
        if options.get(option):
            observer(name, graph, parameters)
