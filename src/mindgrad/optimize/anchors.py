"""Anchored values keep the order of axes that the program's inputs and outputs have.

Pointwise equations need their operands in one order, so that the values that they join form groups of one
order. A group holds inputs and outputs of the program (weights, moments and their new values), whose order
is given, and operands and results of equations that take another (``Axes.preferred``). Where there are more
of the first, values that are computed for the group are turned once, on the way into it, not each member.
"""

from __future__ import annotations

from typing import Any

from mindgrad.ir.graph import Equation, Graph, Variable
from mindgrad.ir.index_map import Uniform

__all__ = ["anchored_values"]


def anchored_values(graph: Graph, turned: set[Equation]) -> set[Variable]:
    """The values of groups with more inputs and outputs of ``graph`` than ends of equations ``turned``."""
    group_of: dict[Any, Any] = {}

    def group(value: Any) -> Any:
        while (parent := group_of.get(value, value)) is not value:
            group_of[value] = group_of.get(parent, parent)
            value = parent
        return value

    for equation in graph.equations:
        if isinstance(equation.primitive.axes, Uniform) and not equation.primitive.multiple:
            result = equation.outputs[0]
            for operand in equation.inputs:
                if type(operand) is Variable and operand.shape == result.shape:
                    group_of[group(operand)] = group(result)
    weights: dict[Any, int] = {}
    for value in (*graph.inputs, *graph.outputs):
        weights[group(value)] = weights.get(group(value), 0) + 1
    for equation in turned:
        for value in (*equation.inputs, *equation.outputs):
            weights[group(value)] = weights.get(group(value), 0) - 1
    values = [*graph.inputs, *[y for equation in graph.equations for y in equation.outputs]]
    return {value for value in values if weights.get(group(value), 0) > 0}
