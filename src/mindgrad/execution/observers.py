"""Observers of compilation: functions that receive each graph before compilation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.ir.graph import Graph
from mindgrad.ir.settings import options

__all__ = ["OBSERVERS", "observe"]

#: maps the name of a context option to the function ``observer(name, graph, Parameters)`` that it enables
OBSERVERS: dict[str, Callable[[str, Graph, Sequence[Any]], None]] = {}


def observe(name: str, graph: Graph, parameters: Sequence[Any]) -> None:
    """Call the observers whose context option, such as ``save_graphs``, is set.

    Args:
        name: name of the compiled function.
        graph: the graph that will be compiled.
        parameters: the Parameters that the graph reads.
    """
    for option, observer in OBSERVERS.items():
        if options.get(option):
            observer(name, graph, parameters)
