"""Observers of compilation: functions that receive each graph before compilation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.ir.graph import Graph
from mindgrad.ir.settings import options

__all__ = ["OBSERVERS", "observe"]

#: by option of the context, ``observer(name of the function, graph, Parameters of the graph)``
OBSERVERS: dict[str, Callable[[str, Graph, Sequence[Any]], None]] = {}


def observe(name: str, graph: Graph, parameters: Sequence[Any]) -> None:
    """Call the observers whose option is set, before a graph is compiled."""
    for option, observer in OBSERVERS.items():
        if options.get(option):
            observer(name, graph, parameters)
