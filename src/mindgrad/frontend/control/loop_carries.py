"""Remove loop carries whose values can be computed from other carries.

In the trace of a loop, the body also computes the test of the next iteration. ``break`` and ``return`` become
assignments to *flags*, Bool variables that end the loop (``python.jumps``). Two kinds of carries can be
removed:

The test of the loop, in ``while c(x): x = f(x)``:
    If at most a few scalar operators compute the test from carries, they become the condition of the
    ``while``. The loop then does not carry the result of the test.
The returned value, in ``if c: return x``:
    If it equals the carry of the variable ``x`` on every path that sets the flag, the loop does not carry the
    returned value. After the loop, it is read from ``x``.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping, Sequence
from typing import Any

import numpy as np

from mindgrad.core.control.cond import cond
from mindgrad.core.control.while_ import while_
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.evaluate import inline
from mindgrad.core.ir.graph import Constant, Equation, Graph, Variable, live_equations
from mindgrad.core.ir.scope import apply, identity
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.control.carries import Carry
from mindgrad.frontend.control.loop_exits import with_exit_first
from mindgrad.frontend.control.predicates import known_truth
from mindgrad.frontend.control.traced import Traced
from mindgrad.frontend.control.variables import FLAGS, HANDED_ON
from mindgrad.frontend.python.loop_exits import LEAVE

__all__ = ["agree_where", "doubles", "looped"]

#: a test that the loop body computes is moved into the condition of the ``while`` only if it has at most this
#: many operators
_MOST = 8


def looped(body: Graph, consts: int, operands: Sequence[Tensor], first: Tensor) -> list[Tensor]:
    """Emit a ``while``, and return the final values of its carries.

    Args:
        body: graph of one iteration. Its inputs are the loop constants, the carries, and an unused Bool. Its
            outputs are the next carries, and a Bool that is true if another iteration follows.
        consts: number of loop constants.
        operands: the loop constants, and the carries before the loop.
        first: scalar Bool tensor that is true if the loop runs a first iteration.
    """
    condition = _condition_of(body, consts)
    if condition is None or not _holds_at(condition, operands, first):
        inputs = [Variable(v.type) for v in body.inputs]
        condition = Graph(inputs, (), inputs[-1:])
        return apply(while_, *operands, first, condition=condition, body=body, consts=consts)[:-1]
    body = Graph(body.inputs[:-1], live_equations(body.equations, body.outputs[:-1]), body.outputs[:-1])
    leaving = with_exit_first(condition, body, consts)
    if leaving is None:
        return list(apply(while_, *operands, condition=condition, body=body, consts=consts))
    condition, body, flag = leaving
    at_start, after_iteration = operands[consts + flag], body.outputs[flag]
    is_unset = not at_start.is_traced and not bool(at_start)
    if is_unset and type(after_iteration) is Constant and not after_iteration.value:
        operands = [*operands[: consts + flag], *operands[consts + flag + 1 :]]
        condition = _with_false(condition, consts + flag, condition.outputs)
        body = _with_false(body, consts + flag, [y for k, y in enumerate(body.outputs) if k != flag])
        results = apply(while_, *operands, condition=condition, body=body, consts=consts)
        return [*results[:flag], known_truth(True), *results[flag:]]
    results = apply(while_, *operands, condition=condition, body=body, consts=consts)
    return [*results[:flag], known_truth(True), *results[flag + 1 :]]


def _with_false(graph: Graph, position: int, outputs: Sequence[Any]) -> Graph:
    """Replace the input of ``graph`` at index ``position`` by the constant False.

    The new graph has the given ``outputs``.
    """
    builder = Builder()
    false = builder.constant(np.asarray(False))
    inputs = [false if k == position else builder.inputs_like([v])[0] for k, v in enumerate(graph.inputs)]
    return builder.close(builder.inline(Graph(graph.inputs, graph.equations, outputs), inputs))


def _condition_of(body: Graph, consts: int) -> Graph | None:
    """Build the graph of a loop condition that computes the test from the carries.

    Args:
        body, consts: see :func:`looped`.

    Returns:
        The graph, or ``None`` if the test requires more than a few scalar operators.
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


def _holds_at(condition: Graph, operands: Sequence[Tensor], first: Tensor) -> bool:
    """Return whether ``condition`` equals ``first``, the test before the loop.

    ``operands`` contains the loop constants, and the carries before the loop.
    """
    (at_start,) = inline(condition, operands)
    if at_start.is_traced or first.is_traced:
        return identity(at_start) == identity(first)
    return bool(at_start) == bool(first)


def doubles(
    names: Sequence[str], places: Sequence[Sequence[Carry | None]], moving: Sequence[Carry], body: Traced
) -> dict[Carry, Carry]:
    """Find redundant carries, which equal another carry when the loop exits.

    For example, ``return x`` in a loop sets a flag, and assigns ``x`` to a carry for the returned value.
    Whenever the flag is set, the carry for the returned value equals the carry of ``x``, so the loop does not
    need both. A value that ``break`` passes out of the loop is treated in the same way.

    Args:
        names: names of the loop's variables.
        places: for each variable, its carries.
        moving: carries that an iteration changes.
        body: the traced iteration.

    Returns:
        A dict that maps each redundant carry to the carry that has the same value.
    """
    by_name = {name: carries[0] for name, carries in zip(names, places, strict=True) if len(carries) == 1}
    sources = {y: equation for equation in body.scope.builder.equations for y in equation.outputs}
    others = [
        carry
        for name, carries in zip(names, places, strict=True)
        if not name.startswith(FLAGS)
        for carry in carries
        if carry is not None and carry in moving
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
    """Return the name of the flag that is set when the variable ``name`` is assigned.

    ``name`` must be a variable for a returned value, or for a value that a ``break`` passes out of the loop.
    """
    return f"broke__{name.split('__')[1]}" if name.startswith(LEAVE) else "returned__"


def agree_where(
    flag: Any,
    a: Any,
    b: Any,
    sources: MutableMapping[Any, Equation],
    outside: MutableMapping[Any, Any] | None = None,
) -> bool:
    """Return whether ``a`` and ``b`` are certainly equal whenever ``flag`` is true.

    If a ``cond`` computes ``a`` and ``b``, both of its branches are checked recursively.

    Args:
        flag, a, b: variables or constants of a graph.
        sources: maps each variable to the equation that computes it.
        outside: maps each input of the present branch of a ``cond`` to the corresponding variable outside the
            ``cond``.
    """
    if a is b or (type(a) is Constant and type(b) is Constant and a.key == b.key):
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
        if not agree_where(seen[0], seen[1], seen[2], ChainMap(inside, sources), atoms):
            return False
    return True
