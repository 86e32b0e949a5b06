"""Derivative rules of an operator as formulas: its tangent, and its cotangents.

    dy = f(y, x1, x2, dx1, dx2)        cotangent of x1 = g(x1, x2, ct)

The rule is called with variables, as by a graph transformation, and the equations that it creates are written
as expressions. A value that is used more than once gets a separate line with a letter as its name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import complex64, float32, float64, int32
from mindgrad.core.ir.graph import Equation, Graph, Variable
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.types import type_of
from mindgrad.core.primitives.samples import draw

__all__ = ["cotangent_rule", "expressions", "tangent_rule"]

#: precedence of Python's binary operators, from which the need for parentheses follows
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 4}
_CALL, _NEGATION = 9, 3
_LETTERS = "abcefghijklmnopqrstuvw"
#: parameter values that the text of a rule omits
_EMPTY: tuple[Any, ...] = ((), ((), ()))
#: maximum number of characters of a subexpression; a longer one gets its own line
_LONGEST = 90


def tangent_rule(primitive: Primitive) -> list[str]:
    """Write the forward rule of an operator as lines of formulas.

    The list is empty if the operator has no such rule, or no sample arguments to call it with.
    """
    if primitive.jvp is None:
        return []
    for types, parameters, out in _calls(primitive):
        with building(Builder()) as builder:
            xs = [builder.input(type) for type in types]
            ts = [builder.input(type) if type.dtype.is_inexact else None for type in types]
            ys = [builder.input(type) for type in out]
            names = _numbered("x", xs) | _numbered("dx", ts) | _numbered("y", ys)
            tangents = primitive.jvp(tuple(ys) if primitive.multiple else ys[0], xs, ts, **parameters)
            tangents = tangents if primitive.multiple else (tangents,)
            labels = list(_numbered("dy", list(tangents), distinct=True).values())
            return _lines(builder, list(tangents), labels, names)
    return []


def cotangent_rule(primitive: Primitive) -> list[str]:
    """Write the reverse rule of an operator as lines of formulas.

    The list is empty if reverse mode transposes the operators of the forward rule instead.
    """
    for types, parameters, out in _calls(primitive):
        has_rule = primitive.transpose is not None or (primitive.pointwise and primitive.jvp is not None)
        if primitive.multiple or not out[0].dtype.is_inexact or not has_rule:
            return []
        active = [k for k, type in enumerate(types) if type.dtype.is_inexact]
        at_once = primitive.transpose is not None and "multilinear" not in primitive.kind
        with building(Builder()) as builder:
            xs = [builder.input(type) for type in types]
            y, ct = builder.input(out[0]), builder.input(out[0])
            names = _numbered("x", xs) | {y: "y", ct: "ct"}
            cotangents: list[Any] = [None] * len(xs)
            for group in [active] if at_once else [[k] for k in active]:
                pulled = _pulled(primitive, group, xs, y, ct, parameters)
                cotangents = [
                    new if new is not None else old for old, new in zip(cotangents, pulled, strict=True)
                ]
            labels = [f"cotangent of {names[x]}" for x in xs]
            nonzero = [
                (label, value) for label, value in zip(labels, cotangents, strict=True) if value is not None
            ]
            return _lines(builder, [value for _, value in nonzero], [label for label, _ in nonzero], names)
    return []


def _pulled(
    primitive: Primitive, group: Sequence[int], xs: Sequence[Any], y: Any, ct: Any, parameters: dict[str, Any]
) -> Sequence[Any]:
    """Compute the cotangents of the operands in ``group``, and ``None`` for others."""
    # elementwise operator: its forward and reverse rules multiply by the same factor
    if primitive.transpose is None:
        assert primitive.jvp is not None
        slopes = [
            primitive.jvp(y, xs, [ct if i == k else None for i in range(len(xs))], **parameters)
            for k in group
        ]
        return [slopes[group.index(i)] if i in group else None for i in range(len(xs))]
    for k in group:
        xs[k].linear = True
    pulled = primitive.transpose(ct, *xs, **parameters)
    for k in group:
        xs[k].linear = False
    return pulled


def _calls(primitive: Primitive) -> Iterator[tuple[list[Any], dict[str, Any], list[Any]]]:
    """Yield operand types, parameters and result types of one sample call per dtype."""
    if primitive.samples is None:
        return
    for dtype in (float32, float64, complex64, int32):
        calls = []
        for arrays, parameters in draw(primitive, dtype):
            types = [type_of(np.asarray(array)) for array in arrays]
            with suppress(TypeError, ValueError):
                out = primitive.type_rule(*types, **parameters)
                calls.append((types, parameters, list(out) if primitive.multiple else [out]))
        # choose the call with the largest operands, because a rule for one-element matrices shows little of
        # the general rule
        if calls:
            yield max(calls, key=lambda call: sum(math.prod(type.shape) for type in call[0]))


def _numbered(letter: str, values: Sequence[Any], distinct: bool = False) -> dict[Any, str]:
    keys = range(len(values)) if distinct else values
    names = [letter] if len(values) == 1 else [f"{letter}{k + 1}" for k in range(len(values))]
    return {key: name for key, name in zip(keys, names, strict=True) if key is not None}


def _lines(
    builder: Builder, outputs: Sequence[Any], labels: Sequence[str], names: Mapping[Any, str]
) -> list[str]:
    nonzero = [(label, out) for label, out in zip(labels, outputs, strict=True) if out is not None]
    zero = [f"{label} = 0" for label, out in zip(labels, outputs, strict=True) if out is None]
    equations = [*builder.equations, *builder.linear_equations]
    made = {y for equation in equations for y in equation.outputs}
    order = sorted(equations, key=lambda e: _depth(e, made))
    graph = Graph(list(names), order, [out for _, out in nonzero])
    return expressions(graph, [label for label, _ in nonzero], names) + zero


def _depth(equation: Equation, made: set[Variable]) -> int:
    below = [x.made_by for x in equation.inputs if type(x) is Variable and x in made and x.made_by]
    return 1 + max((_depth(e, made) for e in below), default=0)


def expressions(graph: Graph, labels: Sequence[str], names: Mapping[Any, str]) -> list[str]:
    """Write a program without control flow as lines ``label = expression``.

    Args:
        graph: program without control flow.
        labels: name of each output.
        names: name of each input.
    """
    uses = Counter(x for equation in graph.equations for x in equation.inputs)
    uses.update(graph.outputs)
    letters = (
        letter for letter in [*_LETTERS, *[f"v{k}" for k in range(999)]] if letter not in names.values()
    )
    text: dict[Any, tuple[str, int]] = {v: (name, _CALL) for v, name in names.items()}
    needed = set(graph.outputs)
    for equation in reversed(graph.equations):
        if needed & set(equation.outputs):
            needed |= set(equation.inputs)
    lines = []
    for equation in graph.equations:
        if not needed & set(equation.outputs):
            continue
        written, binds = _expression(equation, text)
        first = equation.outputs[0]
        is_alone = len(equation.outputs) == 1
        if is_alone and (uses[first] <= 1 or first in graph.outputs) and len(written) <= _LONGEST:
            text[first] = written, binds
            continue
        if is_alone and graph.outputs.count(first) == 1 and uses[first] == 1:
            text[first] = written, binds
            continue
        own = [next(letters) for _ in equation.outputs]
        lines.append(f"{', '.join(own)} = {written}")
        text.update({y: (letter, _CALL) for y, letter in zip(equation.outputs, own, strict=True)})
    return lines + [
        f"{label} = {_operand(y, text)[0]}" for label, y in zip(labels, graph.outputs, strict=True)
    ]


def _operand(atom: Any, text: Mapping[Any, tuple[str, int]]) -> tuple[str, int]:
    if isinstance(atom, Variable):
        return text[atom]
    if not atom.is_splat:
        return f"constant{list(atom.shape)}", _CALL
    number = atom.value.item()
    written = f"{number:.6g}" if isinstance(number, float) else str(number)
    return written, _NEGATION if written.startswith("-") else _CALL


def _expression(equation: Equation, text: Mapping[Any, tuple[str, int]]) -> tuple[str, int]:
    operands = [_operand(x, text) for x in equation.inputs]
    sign = equation.primitive.symbol
    if sign in _BINDS and len(operands) == 2:
        binds = _BINDS[sign]
        (left, tight), (right, behind) = operands
        left = left if tight >= binds else f"({left})"
        right = right if behind > binds or (sign in "+*" and behind == binds) else f"({right})"
        return f"{left} {sign} {right}", binds
    if sign is not None and len(operands) == 1:
        inner, binds = operands[0]
        return f"{sign}{inner if binds >= _NEGATION else f'({inner})'}", _NEGATION
    parameters = [f"{k}={_parameter(v)}" for k, v in equation.parameters.items() if v not in _EMPTY]
    return f"{equation.primitive.name}({', '.join([inner for inner, _ in operands] + parameters)})", _CALL


def _parameter(value: Any) -> str:
    if isinstance(value, Graph):
        return f"program of {len(value)} equations"
    return str(getattr(value, "name", value)) if not isinstance(value, str) else repr(value)
