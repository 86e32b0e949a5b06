"""Move an exit at the start of a loop's body into the loop's condition.

    while True:                  while not p(x):
        if p(x): return x   ->       x = f(x)
        x = f(x)

The new loop body does not need a ``cond``. The compiled form of the left loop has a *flag*: a Bool carry that
an exit sets to end the loop. The exit is moved under two conditions. First, the branch that leaves the loop
changes only the flag. Second, ``p`` consists of few operators on small tensors, because the condition and
``f`` may both have to compute parts of ``p``. The new body does not set the flag. The caller
(``loop_carries``) sets it after the loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mindgrad.core.control.cond import cond
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, live_equations
from mindgrad.core.primitives.logic import logical_and, logical_not

__all__ = ["Leaving", "with_exit_first"]

#: an exit from a loop is moved into the loop condition only if its test ``p`` has at most ``_MOST``
#: operators, and if the operands and results of these operators have at most ``_ELEMENTS`` elements
_MOST, _ELEMENTS = 24, 64


class Leaving(NamedTuple):
    """A loop whose exit has been moved from its body to its condition.

    Attributes:
        condition, body: graphs of the loop.
        flag: index of the carry that contains the flag. The new body does not set the flag, so the caller
            sets it after the loop.
    """

    condition: Graph
    body: Graph
    flag: int


def with_exit_first(condition: Graph, body: Graph, consts: int) -> Leaving | None:
    """Move the first exit of a loop's body into the loop's condition.

    Args:
        condition, body: graphs of the ``while``. Their inputs are loop constants, followed by carries.
        consts: number of loop constants.

    Returns:
        The new loop, or ``None`` if the exit cannot be moved.
    """
    flag = _flag(condition, consts)
    if flag is None or body.has_effect:
        return None
    branches = next((e for e in body.equations if any(y is body.outputs[flag] for y in e.outputs)), None)
    if branches is None or branches.primitive is not cond:
        return None
    decisive = live_equations(body.equations, branches.inputs[:1])
    if len(decisive) > _MOST or not all(map(_is_cheap, decisive)):
        return None
    for side, other in (("true", "false"), ("false", "true")):
        if _leaves(branches, side, body, consts, flag):
            return _rotated(condition, body, branches, decisive, other, flag)
    return None


def _flag(condition: Graph, consts: int) -> int | None:
    """Return the index of the carry ``flag`` if the loop condition is ``not flag``.

    Otherwise, return ``None``.
    """
    if len(condition.equations) != 1 or condition.equations[0].primitive is not logical_not:
        return None
    (operand,) = condition.equations[0].inputs
    carries = condition.inputs[consts:]
    return next((k for k, v in enumerate(carries) if v is operand), None)


def _is_cheap(equation: Equation) -> bool:
    if equation.has_effect or equation.primitive.kind == "control":
        return False
    return all(x.type.size <= _ELEMENTS for x in (*equation.inputs, *equation.outputs))


def _leaves(branches: Equation, side: str, body: Graph, consts: int, flag: int) -> bool:
    """Return whether a branch of a ``cond`` sets the flag and changes no other carry.

    Args:
        branches: the equation of the ``cond``.
        side: the branch, ``"true"`` or ``"false"``.
        body: the loop body, which contains the ``cond``.
        consts: number of loop constants.
        flag: index of the carry that contains the flag.
    """
    graph = branches.parameters[side]
    results: dict[Atom, Atom] = dict(zip(branches.outputs, graph.outputs, strict=True))
    outside = dict(zip(graph.inputs, branches.inputs[1:], strict=True))
    for k, (before, after) in enumerate(zip(body.inputs[consts:], body.outputs, strict=True)):
        inner = results.get(after, after)
        if k == flag:
            if type(inner) is not Constant or not inner.value:
                return False
        elif outside.get(inner, inner) is not before:
            return False
    return True


def _rotated(
    condition: Graph, body: Graph, branches: Equation, decisive: list[Equation], continues: str, flag: int
) -> Leaving:
    test = Builder()
    values: dict[Any, Any] = dict(zip(body.inputs, test.inputs_like(body.inputs), strict=True))
    with building(test):
        for equation in decisive:
            operands = [values.get(x, x) for x in equation.inputs]
            values.update(zip(equation.outputs, test.emit_again(equation, operands), strict=True))
        stays = values.get(branches.inputs[0], branches.inputs[0])
        if continues == "false":
            stays = logical_not(stays)
        before = test.inline(condition, test.inputs)[0]
        again = logical_and(before, stays)
    iteration = Builder()
    values = dict(zip(body.inputs, iteration.inputs_like(body.inputs), strict=True))
    with building(iteration):
        for equation in body.equations:
            operands = [values.get(x, x) for x in equation.inputs]
            if equation is branches:
                results: Any = iteration.inline(equation.parameters[continues], operands[1:])
            else:
                results = iteration.emit_again(equation, operands)
            values.update(zip(equation.outputs, results, strict=True))
    outputs = [values.get(y, y) for y in body.outputs]
    return Leaving(test.close([again]), iteration.close(outputs), flag)
