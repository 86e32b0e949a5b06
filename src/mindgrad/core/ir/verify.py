"""Graph verifier: check that a graph is well formed.

A graph is well formed if

- every variable is defined once, before its uses, in the graph itself;
- the outputs of each equation have the types that the type rule of its primitive returns;
- a result that can be infinite according to the ``taint`` rules of the primitives has a mark;
- the results of an equation that depends on a tangent are marked as linear.

If a graph transformation builds a malformed graph, wrong results may appear far from its code. In the tests
of mindgrad, and with ``MINDGRAD_VERIFY=1`` in the environment, every graph is verified when it is built.
"""

from __future__ import annotations

import os
from typing import Any

from mindgrad.core.ir.build import is_tainted
from mindgrad.core.ir.graph import INFINITE, Constant, Equation, Graph, Variable

__all__ = ["VARIABLE", "MalformedGraph", "always", "verify"]

#: the environment variable that turns on verification of every graph
VARIABLE = "MINDGRAD_VERIFY"


class MalformedGraph(AssertionError):
    """A graph transformation built an ill-formed graph. This is a bug in mindgrad."""


def always(switch: bool) -> None:
    """Turn the verification of each new graph on (``True``) or off."""
    Graph.verifier = verify if switch else None


def verify(graph: Graph) -> None:
    """Check that ``graph`` is well formed. Its inner graphs were checked when they were built.

    Raises:
        MalformedGraph: If an invariant is violated. The message contains the equation and the graph.

    >>> import mindgrad as ms
    >>> from mindgrad.frontend.programs.compiled import trace
    >>> graph = trace(lambda x: ms.ops.sin(x) * x, ms.Tensor([1.0, 2.0]))
    >>> verify(graph)
    >>> verify(Graph(graph.inputs, graph.equations[1:], graph.outputs))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mindgrad.core.ir.verify.MalformedGraph: operand 0 of equation 0, 'mul', is not defined before it:
    ...
    """
    defined: set[Variable] = set()
    # values that can be infinite, computed again from the `taint` rules. The marks of operands are not used,
    # because a variable may get a mark after other values were computed from it
    infinite: set[Any] = set()
    for position, variable in enumerate(graph.inputs):
        if variable in defined:
            raise _malformed(graph, f"input {position} is an input twice")
        defined.add(variable)
    for index, equation in enumerate(graph.equations):
        where = f"equation {index}, '{equation.primitive.name}'"
        for position, atom in enumerate(equation.inputs):
            if type(atom) is not Constant and atom not in defined:
                raise _malformed(graph, f"operand {position} of {where}, is not defined before it")
        _verify_types(graph, equation, where)
        _verify_marks(graph, equation, infinite, where)
        for variable in equation.outputs:
            if variable in defined:
                raise _malformed(graph, f"{where}, defines a variable that is defined already")
            defined.add(variable)
    for position, atom in enumerate(graph.outputs):
        if type(atom) is not Constant and atom not in defined:
            raise _malformed(graph, f"output {position} is not defined in the graph")


def _verify_types(graph: Graph, equation: Equation, where: str) -> None:
    primitive = equation.primitive
    operands = [atom.type for atom in equation.inputs]
    try:
        types: Any = primitive.type_rule(*operands, **equation.parameters)
    except Exception as error:
        shown = ", ".join(map(str, operands))
        raise _malformed(graph, f"{where}, does not accept operands of the types {shown}: {error}") from error
    expected = tuple(types) if primitive.multiple else (types,)
    actual = tuple([variable.type for variable in equation.outputs])
    if actual != expected:
        raise _malformed(
            graph, f"{where}, returns {_types(expected)}, but its variables are {_types(actual)}"
        )


def _verify_marks(graph: Graph, equation: Equation, infinite: set[Any], where: str) -> None:
    passed = any(x in infinite or (type(x) is Constant and x.tainted & INFINITE) for x in equation.inputs)
    if is_tainted(equation.primitive, equation.inputs, equation.parameters, passed):
        infinite.update(equation.outputs)
        for place, variable in enumerate(equation.outputs):
            if not (variable.tainted or variable.linear):
                raise _malformed(graph, f"output {place} of {where}, can be infinite and is not marked so")
    if any(atom.linear for atom in equation.inputs) and not all(y.linear for y in equation.outputs):
        raise _malformed(graph, f"{where}, depends on a tangent and is not marked as linear")


def _types(types: tuple[Any, ...]) -> str:
    return f"({', '.join(map(str, types))})"


def _malformed(graph: Graph, reason: str) -> MalformedGraph:
    return MalformedGraph(f"{reason}:\n{graph}")


always(bool(os.environ.get(VARIABLE)))
