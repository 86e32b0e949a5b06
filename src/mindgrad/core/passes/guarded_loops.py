"""Guarded loops: run small loops without shields; repeat them after a NaN.

    shield(a, keep) · b = a · b                        unless a · b is NaN
    while(c, x; body) = while(c, x; plain body)        unless a product in an iteration is NaN

A derivative may multiply a possibly infinite factor a by an exact zero. The primitive ``shield`` then
replaces infinite elements of a by 0, so that zero times infinity is zero (``primitives.exact_zeros``). The
*plain body* is the loop body without shields.

**When it pays.** XLA compiles the derivative of a loop over a few scalars to one native function. The
comparisons of the shields interrupt the chain of products in this function: without them, the function is
1.5× faster. Therefore this rewrite first runs the loop with the plain body. An additional carry component is
a flag, which is set if a product is NaN. The flag ends the loop, and then the original loop runs from its
start. Sums, differences, products, and quotients of floats propagate NaN. Therefore it suffices to check the
last value of each chain of such operations. Both loops have the same results, except for the sign of a zero.

**Cost.** The machine code contains the loop twice. If the first NaN occurs in iteration n, n iterations are
wasted.

**Limits.** The rewrite applies to ``while`` loops over small tensors with several shields. An iteration must
not contain loops, branches, effects, or collectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from mindgrad.core.control.cond import cond
from mindgrad.core.control.while_ import while_
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.index_map import PARALLEL, REDUCED, index_map
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.passes.graph_rewriter import Read, rebuild, rewrite_inner
from mindgrad.core.primitives.arithmetic import mul
from mindgrad.core.primitives.comparisons import not_equal
from mindgrad.core.primitives.exact_zeros import shield
from mindgrad.core.primitives.kinds import full
from mindgrad.core.primitives.logic import logical_and, logical_not, logical_or
from mindgrad.core.primitives.reduction import reduce_sum

__all__ = ["postpone_guards"]

PLAIN_FIRST = Rewrite(
    "unmasked products first",
    "a loop with shield(a, keep) · b = the loop with a · b, unless a · b is NaN",
    "a loop runs without tests for zero times infinity, and again with them if a product is NaN",
)

_FLAG = tensor_type(bool_, ())


def postpone_guards(graph: Graph) -> Graph:
    """Rewrite small loops of ``graph`` so that they first run without shields."""
    graph = rewrite_inner(graph, postpone_guards)
    if not any(equation.primitive is while_ and _is_worth(equation) for equation in graph.equations):
        return graph

    def replaced(equation: Equation, read: Read) -> Any:
        return _postponed(equation, [*map(read, equation.inputs)]) if _is_worth(equation) else None

    return rebuild(graph, replaced)


def _is_worth(equation: Equation) -> bool:
    """Return whether ``equation`` is a loop for which omitting the shields saves time."""
    if equation.primitive is not while_ or equation.parameters.get("slots"):
        return False
    body, limits = equation.parameters["body"], costs()
    iteration, shields = body.equations, _shields(body)
    if len(shields) < limits.postponed_guards or not _only_multiplied(body, shields):
        return False
    return not any(
        inner.graphs
        or inner.has_effect
        or inner.primitive.communicates
        or inner.primitive.effects.unique
        or any(y.type.size > limits.guarded_elements for y in inner.outputs)
        for inner in (*iteration, *equation.parameters["condition"].equations)
    )


def _shields(body: Graph) -> set[Variable]:
    return {inner.outputs[0] for inner in body.equations if inner.primitive is shield}


def _only_multiplied(body: Graph, values: set[Variable]) -> bool:
    """Return whether ``body`` uses ``values`` only as factors of products."""
    if not values.isdisjoint(body.outputs):
        return False
    return all(inner.primitive is mul or values.isdisjoint(inner.inputs) for inner in body.equations)


def _postponed(equation: Equation, operands: Atoms) -> tuple[Atom, ...]:
    """Emit the loop without shields, then a ``cond``: after a NaN, run the original."""
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
    """Return a loop condition that is also false if the NaN flag is set."""
    builder = Builder()
    with building(builder):
        inputs, flag = builder.inputs_like(condition.inputs), builder.input(_FLAG)
        (test,) = builder.inline(condition, inputs)
        return builder.close([logical_and(test, logical_not(flag))])


def _plain(body: Graph) -> Graph:
    """Build the loop body without shields. Its last result is the NaN flag."""
    builder = Builder()
    with building(builder):
        values: dict[Atom, Atom] = dict(zip(body.inputs, builder.inputs_like(body.inputs), strict=True))
        builder.input(_FLAG)
        products: set[Atom] = set()
        shields = _shields(body)
        for equation in body.equations:
            xs = [values[x] if type(x) is Variable else x for x in equation.inputs]
            if equation.primitive is shield:
                outputs: Atoms = (xs[0],)
            else:
                outputs = builder.emit_again(equation, xs)
                if not shields.isdisjoint(equation.inputs):
                    products.update(outputs)
            values.update(zip(equation.outputs, outputs, strict=True))
        flags = [_is_nan(y) for y in _last_with_nan(builder.equations, products)]
        results = [values[y] if type(y) is Variable else y for y in body.outputs]
        return builder.close([*results, reduce(logical_or, flags)])


def _is_nan(y: Atom) -> Atom:
    """Emit whether the sum of ``y`` is NaN.

    It is NaN if an element is NaN, or if infinities of both signs are added.
    """
    total = reduce_sum(y, axes=tuple(range(len(y.shape)))) if y.shape else y
    return not_equal(total, total)


def _last_with_nan(equations: Sequence[Equation], products: set[Atom]) -> list[Variable]:
    """Find a few values such that one of them is NaN if any product is NaN.

    The NaN flag tests these values instead of every product, because there are fewer of them.
    """
    holders = set(products)  # products, and values that are NaN if a product is NaN
    for equation in equations:
        if _keeps_nan(equation) and not holders.isdisjoint(equation.inputs):
            holders.update(equation.outputs)
    covered: set[Atom] = set()
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
    """Return whether a NaN in any operand always causes a NaN in the result."""
    primitive = equation.primitive
    if any(x.dtype.kind != "float" for x in (*equation.inputs, *equation.outputs)):
        return False
    if primitive.pointwise:
        return primitive.kind == "pointwise multilinear" or (
            primitive.kind == "pointwise linear" and primitive.linear_in is None
        )
    axes = index_map(equation) if primitive.kind == "linear" and len(equation.inputs) == 1 else None
    return axes is not None and all(kind in (PARALLEL, REDUCED) for kind in axes.kinds.values())
