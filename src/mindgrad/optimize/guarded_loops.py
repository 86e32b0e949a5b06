"""Shields of small loops are postponed: iterations have plain products, and shielded ones only after a NaN.

    shield(a, keep) · b = a · b                        unless a · b is NaN
    while(c, x; body) = while(c, x; plain body)        unless a product of its iterations is NaN

A slope that can be infinite is shielded where exact zeros meet it (``rows.exact_zeros``). In the derivative
of a loop over a few numbers, which XLA compiles to one piece of machine code, the comparisons take a third
of the time: they are between the products of a long chain. Here an iteration has plain products and its
carry a flag, whether one of them is NaN. The flag ends the loop, and then the loop as it was runs from its
start.

A NaN stays one in sums, differences, products and quotients of floats. So the flag checks the last values of
such chains only. Up to the sign of a zero the results are the same.

Cost: the loop is twice in the machine code; a NaN in iteration n costs n iterations. It is for ``while``
loops over small tensors, with several shields, and without loops, branches, effects or messages in an
iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from mindgrad.control.cond import cond
from mindgrad.control.while_ import while_
from mindgrad.ir.build import Builder, building
from mindgrad.ir.cost_model import costs
from mindgrad.ir.dtype import bool_
from mindgrad.ir.graph import Equation, Graph, Variable
from mindgrad.ir.index_map import PARALLEL, REDUCED, index_map
from mindgrad.ir.rewriting import Rewrite
from mindgrad.ir.types import tensor_type
from mindgrad.optimize.graph_rewriter import inside, rebuilt
from mindgrad.rows.arithmetic import mul, not_equal
from mindgrad.rows.exact_zeros import shield
from mindgrad.rows.kinds import full
from mindgrad.rows.logic import logical_and, logical_not, logical_or
from mindgrad.rows.reduction import reduce_sum

__all__ = ["guards_postponed"]

PLAIN_FIRST = Rewrite(
    "plain products first",
    "while(x; shield(a, keep) · b) = while(x; a · b) unless a · b is NaN",
    "a loop ran without the shields of its products, and with them only if one was NaN",
)

_FLAG = tensor_type(bool_, ())


def guards_postponed(graph: Graph) -> Graph:
    """``graph`` with plain products in its small loops, which run again as they were if one is NaN."""
    graph = inside(graph, guards_postponed)
    if not any(equation.primitive is while_ and _is_worth(equation) for equation in graph.equations):
        return graph

    def replaced(equation: Equation, read: Callable[[Any], Any]) -> Any:
        return _postponed(equation, [*map(read, equation.inputs)]) if _is_worth(equation) else None

    return rebuilt(graph, replaced)


def _is_worth(equation: Equation) -> bool:
    """Whether an equation is a loop over small tensors with several guards, and without loops or branches."""
    if equation.primitive is not while_ or equation.parameters.get("slots"):
        return False
    body, limits = equation.parameters["body"], costs()
    trip, shields = body.equations, _shields(body)
    if len(shields) < limits.postponed_guards or not _only_multiplied(body, shields):
        return False
    return not any(
        inner.graphs
        or inner.has_effect
        or inner.primitive.communicates
        or inner.primitive.unique
        or any(y.type.size > limits.guarded_elements for y in inner.outputs)
        for inner in (*trip, *equation.parameters["condition"].equations)
    )


def _shields(body: Graph) -> set[Any]:
    return {inner.outputs[0] for inner in body.equations if inner.primitive is shield}


def _only_multiplied(body: Graph, values: set[Any]) -> bool:
    """Whether ``values`` are used as factors only."""
    if not values.isdisjoint(body.outputs):
        return False
    return all(inner.primitive is mul or values.isdisjoint(inner.inputs) for inner in body.equations)


def _postponed(equation: Equation, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a loop that runs with plain products first."""
    parameters = equation.parameters
    condition, body, consts = parameters["condition"], parameters["body"], parameters["consts"]
    start = full(_FLAG, False)
    *results, is_wrong = while_(
        *operands, start, condition=_unless_wrong(condition), body=_plain(body), consts=consts
    )
    PLAIN_FIRST.fired()
    again, passing = Builder(), Builder()
    with building(again):
        inputs = again.inputs_like([*body.inputs, *results])
        guarded = again.close(while_(*inputs[: len(operands)], **parameters))
    with building(passing):
        inputs = passing.inputs_like([*body.inputs, *results])
        passed = passing.close(inputs[len(operands) :])
    return tuple(cond(is_wrong, *operands, *results, true=guarded, false=passed))


def _unless_wrong(condition: Graph) -> Graph:
    """The condition, and that nothing was NaN."""
    builder = Builder()
    with building(builder):
        inputs, flag = builder.inputs_like(condition.inputs), builder.input(_FLAG)
        (test,) = builder.inline(condition, inputs)
        return builder.close([logical_and(test, logical_not(flag))])


def _plain(body: Graph) -> Graph:
    """A trip with plain products, and whether one of them was NaN."""
    builder = Builder()
    with building(builder):
        values: dict[Any, Any] = dict(zip(body.inputs, builder.inputs_like(body.inputs), strict=True))
        builder.input(_FLAG)
        products: set[Any] = set()
        shields = _shields(body)
        for equation in body.equations:
            xs = [values[x] if type(x) is Variable else x for x in equation.inputs]
            if equation.primitive is shield:
                outputs: Sequence[Any] = (xs[0],)
            else:
                outputs = builder.emit_again(equation, xs)
                if not shields.isdisjoint(equation.inputs):
                    products.update(outputs)
            values.update(zip(equation.outputs, outputs, strict=True))
        flags = [_is_nan(y) for y in _last_with_nan(builder.equations, products)]
        results = [values[y] if type(y) is Variable else y for y in body.outputs]
        return builder.close([*results, reduce(logical_or, flags)])


def _is_nan(y: Any) -> Any:
    """Whether an element of ``y`` is NaN, or some are infinite."""
    total = reduce_sum(y, axes=tuple(range(len(y.shape)))) if y.shape else y
    return not_equal(total, total)


def _last_with_nan(equations: Sequence[Equation], products: set[Any]) -> list[Variable]:
    """The values that have a NaN if one of ``products`` has: as few, and as late, as they can be."""
    holders = set(products)  # a product, and what has its NaN
    for equation in equations:
        if _keeps_nan(equation) and not holders.isdisjoint(equation.inputs):
            holders.update(equation.outputs)
    covered: set[Any] = set()
    last = []
    for equation in reversed(equations):
        (y, *_) = equation.outputs
        if y in holders and y not in covered:
            last.append(y)
            covered.add(y)
        if y in covered and _keeps_nan(equation):
            covered.update(equation.inputs)
    return last


def _keeps_nan(equation: Equation) -> bool:
    """Whether a NaN in any operand is one in the result."""
    row = equation.primitive
    if any(x.dtype.kind != "float" for x in (*equation.inputs, *equation.outputs)):
        return False
    if row.pointwise:
        return row.kind == "pointwise multilinear" or (
            row.kind == "pointwise linear" and row.linear_in is None
        )
    axes = index_map(equation) if row.kind == "linear" and len(equation.inputs) == 1 else None
    return axes is not None and all(kind in (PARALLEL, REDUCED) for kind in axes.kinds.values())
