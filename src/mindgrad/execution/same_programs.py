"""Compare two programs equation by equation, in which equal constants may be stored in different ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mindgrad.ir.build import Builder, building
from mindgrad.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.rows.structural import broadcast_in_dim, reshape

__all__ = ["difference", "is_specialized"]

#: primitives whose first operands are the inputs of their program, with the number of operands before these
_OF_PROGRAMS = {"recomputed": 0, "rowwise_gradient": 0, "taylor_coefficients": 0, "cond": 1}
#: constants up to this many elements are compared by value
_SMALL = 64


def difference(first: Graph, second: Graph) -> Equation | bool:
    """The first equation of ``first`` that ``second`` does not have; or whether they differ otherwise."""
    values = dict(zip(first.inputs, second.inputs, strict=False))

    def is_same(x: Any, y: Any) -> bool:
        if type(x) is Variable or type(y) is Variable:
            return values.get(x) is y
        return _is_equal(x, y)

    for e, f in zip(first.equations, second.equations, strict=False):
        alike = _form(e) == _form(f) and len(e.inputs) == len(f.inputs)
        if not alike or not all(map(is_same, e.inputs, f.inputs)):
            return e
        values.update(zip(e.outputs, f.outputs, strict=True))
    are_alike = len(first) == len(second) and len(first.outputs) == len(second.outputs)
    types = [[(x.type, x.tainted) for x in each.inputs] for each in (first, second)]
    return not are_alike or types[0] != types[1] or not all(map(is_same, first.outputs, second.outputs))


def _is_equal(x: Constant, y: Constant) -> bool:
    if x.type is not y.type:
        return False
    return x.key == y.key or (x.type.size <= _SMALL and x.array().tobytes() == y.array().tobytes())


def is_specialized(general: Graph, constants: Mapping[Variable, np.ndarray], special: Graph) -> bool:
    """Whether ``special`` is the program ``general`` with ``constants`` for some of its inputs."""
    return _are_equal(_folded(general, constants), _folded(special, {}))


def _folded(graph: Graph, constants: Mapping[Variable, Any]) -> Graph:
    builder = Builder()
    with building(builder):
        inputs = [
            builder.constant(constants[x]) if x in constants else builder.input(x.type, tainted=x.tainted)
            for x in graph.inputs
        ]
        return builder.close(builder.inline(graph, inputs))


def _are_equal(first: Graph, second: Graph) -> bool:
    """Whether two graphs are equal, if constant operands of inner graphs are constants in these."""
    values = dict(zip(first.inputs, second.inputs, strict=False))

    def is_same(x: Any, y: Any) -> bool:
        if type(x) is Variable or type(y) is Variable:
            return values.get(x) is y
        return _is_equal(x, y)

    lengths = [(len(each), len(each.inputs), len(each.outputs)) for each in (first, second)]
    if lengths[0] != lengths[1]:
        return False
    for e, f in zip(first.equations, second.equations, strict=True):
        if e.primitive is not f.primitive or len(e.outputs) != len(f.outputs):
            return False
        operands: list[Sequence[Any]] = [e.inputs, f.inputs]
        if e.primitive.name in _OF_PROGRAMS:
            (graphs, operands[0]), (others, operands[1]) = map(_absorbed, (e, f))
            plain = [{k: x for k, x in each.parameters.items() if k not in each.graphs} for each in (e, f)]
            if plain[0] != plain[1] or not all(map(_are_equal, graphs, others)):
                return False
        elif _form(e) != _form(f):
            return False
        if len(operands[0]) != len(operands[1]) or not all(map(is_same, *operands)):
            return False
        values.update(zip(e.outputs, f.outputs, strict=True))
    return all(map(is_same, first.outputs, second.outputs))


def _absorbed(equation: Equation) -> tuple[list[Graph], list[Any]]:
    """The graphs of an equation with their constant operands in them, and the other operands."""
    start = _OF_PROGRAMS[equation.primitive.name]
    graphs, operands = list(equation.graphs.values()), equation.inputs
    end = start + len(graphs[0].inputs)
    folded = []
    for graph in graphs:
        pairs = zip(graph.inputs, operands[start:end], strict=True)
        folded.append(_folded(graph, {x: y.array() for x, y in pairs if type(y) is Constant}))
    inner = [x for x in operands[start:end] if type(x) is not Constant]
    return folded, [*operands[:start], *inner, *operands[end:]]


def _form(equation: Equation) -> Any:
    """The operator with its parameters; a repetition that repeats nothing is a reshape."""
    primitive, parameters = equation.primitive, equation.parameters
    is_repetition = primitive is broadcast_in_dim
    if primitive is reshape or (
        is_repetition and equation.inputs[0].type.size == equation.outputs[0].type.size
    ):
        return "reshape", equation.outputs[0].shape
    if primitive.kind == "control":
        return primitive, [(k, _key(v)) for k, v in parameters.items()]
    return primitive, parameters


def _key(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    return value.key() if isinstance(value, Graph) else value
