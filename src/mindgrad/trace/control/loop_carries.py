"""Loops need not carry what other carries say: the result of their test, and a value that a jump hands on.

while c(x): x = f(x)    a test of a few numbers that the loop carries is the condition of the ``while``
if c: return x          the value returned is what ``x`` is behind the loop, where on all ways on which
                        the flag is set the trip leaves it in ``x``
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any

from mindgrad.control.cond import cond
from mindgrad.ir.build import Builder
from mindgrad.ir.evaluate import inline
from mindgrad.ir.graph import Constant, Equation, Graph, Variable, live_equations
from mindgrad.ir.scope import identity
from mindgrad.ir.tensor import Tensor
from mindgrad.trace.control.carries import Carry
from mindgrad.trace.control.traced import Traced
from mindgrad.trace.control.variables import FLAGS, HANDED_ON
from mindgrad.trace.python.loop_exits import LEAVE

__all__ = ["agree_where", "condition_of", "doubles", "holds_at"]

#: the operators that a condition may have
_MOST = 8


def condition_of(body: Graph, consts: int) -> Graph | None:
    """The graph from constants and carries to the last output of ``body``, if a few numbers decide it.

    Args:
        body: from constants and carries, of which the last one is the test, to the next carries.
        consts: the number of its constants.
    """
    *carries, test = body.outputs
    builder = Builder()
    inputs = [builder.input(v.type) for v in body.inputs[:-1]]
    values: dict[Any, Any] = dict(zip(body.inputs[:consts], inputs, strict=False))
    values |= {atom: x for atom, x in zip(carries, inputs[consts:], strict=True) if type(atom) is Variable}
    others = [e for e in body.equations if not e.has_effect and values.keys().isdisjoint(e.outputs)]
    equations = live_equations(others, [test])
    if len(equations) > _MOST:
        return None
    for equation in equations:
        is_at_hand = all(type(x) is Constant or x in values for x in equation.inputs)
        if not is_at_hand or not equation.primitive.pointwise or equation.outputs[0].type.shape:
            return None
        operands = [x if type(x) is Constant else values[x] for x in equation.inputs]
        values.update(zip(equation.outputs, builder.emit_again(equation, operands), strict=True))
    if type(test) is Variable and test not in values:
        return None
    return builder.close([values.get(test, test)])


def holds_at(condition: Graph, operands: Sequence[Tensor], first: Tensor) -> bool:
    """Whether a condition says of the operands of a loop what ``first`` says."""
    (at_start,) = inline(condition, operands)
    if at_start.is_traced or first.is_traced:
        return identity(at_start) == identity(first)
    return bool(at_start) == bool(first)


def doubles(
    names: Sequence[str], places: Sequence[Sequence[Carry | None]], moving: Sequence[Carry], body: Traced
) -> dict[Carry, Carry]:
    """The carries that hand on a value at a jump, with others that have it behind the loop.

    Args:
        names, places: the variables of the loop, and the carries of each.
        moving: the carries that a trip changes.
        body: the trip.
    """
    by_name = {name: carries[0] for name, carries in zip(names, places, strict=True) if len(carries) == 1}
    sources = {y: equation for equation in body.scope.builder.equations for y in equation.outputs}
    others = [
        carry
        for name, carries in zip(names, places, strict=True)
        if not name.startswith(FLAGS)
        for carry in carries
        if carry in moving
    ]
    same: dict[Carry, Carry] = {}
    for name, carries in zip(names, places, strict=True):
        flag = by_name.get(_flag_of(name)) if name.startswith(HANDED_ON) else None
        if flag is None or flag not in moving:
            continue
        is_left = body.atom(flag.after, flag.type)
        for carry in carries:
            if carry is None or carry not in moving:
                continue
            value = body.atom(carry.after, carry.type)
            for other in others:
                if other.type is carry.type and agree_where(
                    is_left, value, body.atom(other.after, other.type), sources
                ):
                    same[carry] = other
                    break
    return same


def _flag_of(name: str) -> str:
    """The flag that says whether a variable hands on a value."""
    return f"broke__{name.split('__')[1]}" if name.startswith(LEAVE) else "returned__"


def agree_where(
    flag: Any, a: Any, b: Any, sources: Mapping[Any, Equation], outside: Mapping[Any, Any] | None = None
) -> bool:
    """Whether two atoms have one value wherever the atom ``flag`` is true, by the branches that make them.

    Args:
        flag, a, b: the atoms.
        sources: the equation of each atom that one computes.
        outside: of the inputs of branches the atoms that they stand for.
    """
    if _is_same(a, b):
        return True
    if type(flag) is Constant:
        return not flag.value
    branches = sources.get(flag)
    if branches is None or branches.primitive is not cond:
        return False
    outer = outside or {}
    operands = [outer.get(x, x) for x in branches.inputs[1:]]
    for side in ("true", "false"):
        graph = branches.parameters[side]
        inside = {y: equation for equation in graph.equations for y in equation.outputs}
        atoms = ChainMap(dict(zip(graph.inputs, operands, strict=True)), outer)  # type: ignore[arg-type]
        made = dict(zip(branches.outputs, graph.outputs, strict=True))
        seen = [atoms.get(made.get(x, x), made.get(x, x)) for x in (flag, a, b)]
        if not agree_where(*seen, ChainMap(inside, sources), atoms):  # type: ignore[arg-type]
            return False
    return True


def _is_same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is Constant and type(b) is Constant and a.key == b.key)
