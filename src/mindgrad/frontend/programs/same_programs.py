"""Comparison of two graphs, in which equal constants may be stored differently.

A constant whose elements are all equal may be stored as one element or as a full array.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape

__all__ = ["difference", "form", "is_equal"]

#: constants with at most this many elements are compared by value, and larger constants by identity
_SMALL = 64


def difference(first: Graph, second: Graph) -> Equation | bool:
    """Return the first equation of ``first`` that differs from ``second``.

    If all equations agree, return a bool: whether the inputs, the outputs, or the numbers of equations
    differ.
    """
    values = dict(zip(first.inputs, second.inputs, strict=False))

    def is_same(x: Any, y: Any) -> bool:
        if type(x) is Variable or type(y) is Variable:
            return values.get(x) is y
        return is_equal(x, y)

    for e, f in zip(first.equations, second.equations, strict=False):
        alike = form(e) == form(f) and len(e.inputs) == len(f.inputs)
        if not alike or not all(map(is_same, e.inputs, f.inputs)):
            return e
        values.update(zip(e.outputs, f.outputs, strict=True))
    are_alike = len(first) == len(second) and len(first.outputs) == len(second.outputs)
    types = [[(x.type, x.tainted) for x in each.inputs] for each in (first, second)]
    return not are_alike or types[0] != types[1] or not all(map(is_same, first.outputs, second.outputs))


def is_equal(x: Constant, y: Constant) -> bool:
    """Return whether two constants are equal. Compare large constants by identity."""
    if x.type is not y.type:
        return False
    return x.key == y.key or (x.type.size <= _SMALL and x.array().tobytes() == y.array().tobytes())


def form(equation: Equation) -> Any:
    """Return a key for the operator and the parameters of an equation.

    A broadcast that repeats no elements has the same key as a reshape, because both compute the same array.
    """
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
