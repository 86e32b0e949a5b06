"""Anchored values: values that keep the axis order of the inputs and outputs.

``passes.layout`` rewrites a graph so that convolutions receive their operands with the channels last. This
module finds the values whose axes should not be reordered. The operands and the result of a pointwise
equation must have the same axis order. Therefore pointwise equations connect values into groups that share
one order. A group may contain two kinds of values:

1. inputs and outputs of the graph, such as weights, the optimizer's moments, and their updates. Their axis
   order is fixed.
2. operands and results of equations that prefer a different axis order (``Axes.preferred``), such as
   convolutions.

If most values of a group are of the first kind, all its values are *anchored*: they have the axis order of
the inputs and outputs. Then only the values of the second kind are transposed, where the convolutions read or
compute them. This needs fewer transposes than the opposite choice.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.graph import Equation, Graph, Variable
from mindgrad.core.ir.index_map import Uniform

__all__ = ["anchored_values"]


def anchored_values(graph: Graph, turned: set[Equation]) -> set[Variable]:
    """Return the values that keep the axis order of the inputs and outputs.

    Args:
        graph: the graph whose values are grouped.
        turned: equations that prefer operands in a different axis order, such as convolutions.
    """
    group_of: dict[Any, Any] = {}

    def group(value: object) -> Any:
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
