"""Exact zeros: zeros of a value that stay zero when the inputs of a derivative move.

    0 · ∞ = 0 if the zero is exact, and NaN otherwise

A derivative multiplies slopes with tangents or cotangents. A zero that a selection made, a factor that does
not depend on the inputs (a mask, a weight, a direction in which nothing moves), or a comparison is zero in a
whole neighborhood: what it multiplies contributes nothing, even an infinite slope. A zero that was computed
from the inputs (``sin(sqrt(x))`` at 0) is zero at one point only. Its product with an infinite slope has a
limit that is not known, and is NaN.

:func:`nonzeros` follows the equations of a value back to where its zeros were made; :func:`product` replaces
infinite elements of a factor by zero where exact zeros of the other factor meet them.

Limits: behind a matrix product or convolution, and in a value that an earlier iteration of a loop computed, a
zero counts as exact if the value can have exact zeros at all.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from mindgrad._base.trampoline import trampolined
from mindgrad.ir.build import Builder, current
from mindgrad.ir.graph import INFINITE, MASKED, Atom, Constant, Equation, Variable
from mindgrad.ir.primitive import Primitive
from mindgrad.rows.arithmetic import add, div, mul, neg, not_equal, select, sub
from mindgrad.rows.kinds import full, zeros
from mindgrad.rows.logic import logical_and, logical_or
from mindgrad.rows.reduction import reduce_any, reduce_sum
from mindgrad.rows.shielding import finite_or, shield
from mindgrad.rows.structural import broadcast_in_dim, convert, reshape, transpose

__all__ = ["nonzeros", "shielded_factors"]

#: a rule: yields the operands whose nonzeros it needs, receives these, and returns those of the result
Steps = Generator[Any, Any, Any]


def nonzeros(atom: Any) -> Any:
    """Where ``atom`` is not exactly zero, a Boolean atom; ``None``: it has no exact zeros."""
    builder = current()
    if not builder.is_differentiating:
        return None
    return trampolined(_nonzeros(builder, atom), lambda wanted: _nonzeros(builder, wanted))


def _nonzeros(builder: Builder, atom: Any) -> Steps:
    if type(atom) is Constant:
        return _of_constant(atom)
    known = builder.nonzeros
    if atom not in known:
        known[atom] = yield from _found(builder, atom)
    return known[atom]


def _of_constant(atom: Constant) -> Any:
    array = np.asarray(atom.value)
    if np.all(array != 0):
        return None
    return not_equal(atom, zeros(atom.type))


def _found(builder: Builder, atom: Variable) -> Steps:
    if not builder.moves(atom):
        return not_equal(atom, zeros(atom.type))
    equation = atom.made_by
    if equation is None:
        return None
    rule = _RULES.get(equation.primitive)
    if rule is not None:
        return (yield from rule(equation))
    return not_equal(atom, zeros(atom.type)) if atom.tainted & MASKED else None


def _same(equation: Equation) -> Steps:
    return (yield equation.inputs[0])


def _view(equation: Equation) -> Steps:
    found = yield equation.inputs[0]
    return None if found is None else equation.primitive(found, **equation.parameters)


def _converted(equation: Equation) -> Steps:
    (x,) = equation.inputs
    return x if x.dtype.kind == "bool" else (yield x)


def _multiplied(equation: Equation) -> Steps:
    a = yield equation.inputs[0]
    b = yield equation.inputs[1]
    if a is None or b is None:
        return b if a is None else a
    return logical_and(a, b)


def _added(equation: Equation) -> Steps:
    a = yield equation.inputs[0]
    if a is None:
        return None
    b = yield equation.inputs[1]
    return None if b is None else logical_or(a, b)


def _selected(equation: Equation) -> Steps:
    condition, *branches = equation.inputs
    found = []
    for branch in branches:
        found.append((yield branch))
    if found[0] is None and found[1] is None:
        return None
    return select(condition, *[full(condition.type, True) if each is None else each for each in found])


def _summed(equation: Equation) -> Steps:
    found = yield equation.inputs[0]
    return None if found is None else reduce_any(found, **equation.parameters)


_RULES: dict[Primitive, Callable[[Equation], Steps]] = {
    neg: _same,
    div: _same,
    convert: _converted,
    reshape: _view,
    transpose: _view,
    broadcast_in_dim: _view,
    mul: _multiplied,
    add: _added,
    sub: _added,
    select: _selected,
    shield: _same,
    reduce_sum: _summed,
}


def shielded_factors(a: Any, b: Any) -> tuple[Any, Any]:
    """The factors of a product of a slope and a tangent, in which exact zeros win over infinite elements."""
    return _shielded(a, b), _shielded(b, a)


def _shielded(x: Any, other: Any) -> Any:
    if not (x.tainted & INFINITE or (other.tainted & MASKED and type(x) is Variable)):
        return x
    mask = nonzeros(other)
    return x if mask is None else finite_or(mask, x)


Atom.operators["shielded_factors"] = shielded_factors
