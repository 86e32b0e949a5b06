"""Observers of compilation: functions that look at each program that is compiled, while an option is set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.ir.graph import Graph
from mindgrad.ir.settings import options

__all__ = ["OBSERVERS", "observe"]

#: for an option of the context, ``observer(name of the function, graph, its Parameters)``
OBSERVERS: dict[str, Callable[[str, Graph, Sequence[Any]], None]] = {}


def observe(name: str, graph: Graph, parameters: Sequence[Any]) -> None:
    """Show a program that is about to be compiled to the observers whose option is set."""
    for option, observer in OBSERVERS.items():
        if options.get(option):
            observer(name, graph, parameters)
