"""A rule applied to a closed graph: one derivative is finished before the next one begins.

step(G, rule)(c, x, e) = rule(G(c, ·))(x, e)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.build import Builder, building
from mindgrad.core.graph import Graph

__all__ = ["step"]


def step(graph: Graph, constants: int, rule: Callable[..., list[Any]], given: Sequence[Any] = ()) -> Graph:
    """What ``rule(builder, xs, ys, extras)`` makes of ``graph``, whose inputs are constants and then ``xs``.

    Args:
        graph: the program.
        constants: how many inputs are constants.
        rule: emits into the current builder and gives the outputs.
        given: ``extras`` like these become inputs behind those of the graph.
    """
    builder = Builder()
    with building(builder):
        inputs = [builder.input(variable.type, tainted=variable.tainted) for variable in graph.inputs]
        extras = [builder.input(atom.type) for atom in given]
        return builder.close(rule(builder, inputs[constants:], builder.inline(graph, inputs), extras))
