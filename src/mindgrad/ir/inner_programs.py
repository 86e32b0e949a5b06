"""Inner programs are the graphs that an equation runs: branches, and the bodies of loops.

A row says which of its graphs run, how often, and on what (``programs``); one that says nothing runs each
once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mindgrad.ir.graph import Equation, Graph

__all__ = ["Inner", "inner_programs"]


class Inner(NamedTuple):
    """A graph that runs within an equation.

    Attributes:
        graph: the graph.
        operands: the operands that its first inputs stand for, in the first run.
        times: how often it runs.
        is_known: whether no trips were assumed.
    """

    graph: Graph
    operands: Sequence[Any]
    times: int = 1
    is_known: bool = True


def inner_programs(equation: Equation, trips: int = 1) -> Iterator[Inner]:
    """The graphs that ``equation`` runs, where a loop whose trip count depends on the data has ``trips``."""
    row = equation.primitive
    if row.programs is not None:
        yield from row.programs(equation, trips)
    elif row.runs_graphs:
        for graph in equation.graphs.values():
            yield Inner(graph, equation.inputs)
