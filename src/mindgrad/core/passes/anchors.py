"""Anchored values: values that have the axis order of the inputs and outputs.

``passes.layout`` calls this module to decide where to transpose. The operands and the result of a
pointwise equation must have the same axis order. Therefore pointwise equations connect values into groups
that share one order. A group may contain two kinds of values:

1. inputs and outputs of the graph, such as weights, moments, and their updates. Their order is fixed.
2. operands and results of equations that prefer a different order (``Axes.preferred``), such as convolutions.

If a group has more values of the first kind, its values are *anchored*: they have the order of the inputs and
outputs. Then each value of the second kind is transposed, because transposing the inputs and outputs would
need more transposes.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.graph import Equation, Graph, Variable
from mindgrad.core.ir.index_map import Uniform

__all__ = ["anchored_values"]


def anchored_values(graph: Graph, turned: set[Equation]) -> set[Variable]:
    """Find the anchored values of a graph.

    Args:
        graph: the graph to search.
        turned: equations whose operators prefer operands in a different order of axes.
    """
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
