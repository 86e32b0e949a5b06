"""A graph made anew, some of its equations in another way.

rebuilt(G, f) = G with f(equation, operands) in place of each equation for which f gives something
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.build import Builder, building
from mindgrad.core.graph import Equation, Graph, Variable

__all__ = ["rebuilt"]


def rebuilt(graph: Graph, replace: Callable[[Equation, tuple[Any, ...]], Any]) -> Graph:
    """``graph`` with what ``replace(equation, operands)`` emits; ``None`` leaves an equation as it is.

    ``operands`` are the atoms of the new graph, in which a rewrite can look at what they are made by.
    """
    builder = Builder()
    values: dict[Variable, Any] = {v: builder.input(v.type, tainted=v.tainted) for v in graph.inputs}
    with building(builder):
        for equation in graph.equations:
            builder.source = equation.source
            operands = tuple([values[x] if type(x) is Variable else x for x in equation.inputs])
            result = replace(equation, operands)
            if result is None:
                result = builder.emit(equation.primitive, operands, equation.parameters)
            if equation.primitive.multiple:
                values.update(zip(equation.outputs, result, strict=True))
            else:
                values[equation.outputs[0]] = result
        builder.source = None
    return builder.close([values[x] if type(x) is Variable else x for x in graph.outputs])
