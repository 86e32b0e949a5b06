"""Shared reciprocals: divide several values by one x with a single division.

    c / x = c · r,   (c / x) / x = (c · r) · r            r = 1 / x,  1/1024 ≤ |c| ≤ 1

Proof: if x is a normal floating-point number, its reciprocal is finite, so only the rounding differs. The
bound |c| ≤ 1 ensures that the rewrite does not lose digits of a normal quotient: if r is subnormal, c / x is
subnormal, too.

**When it pays.** Derivatives of norms and potentials contain many quotients by powers of the same value. The
rewrite computes one division for each x instead of several. It applies to floats, and only if x divides at
least two values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from mindgrad.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.graph_rewriter import inside, rebuilt
from mindgrad.primitives.arithmetic import div, equal, neg, select
from mindgrad.primitives.elementwise import safe_quotient
from mindgrad.primitives.kinds import ones, zeros

__all__ = ["quotients_joined"]

ONE_RECIPROCAL = Rewrite(
    "shared reciprocal",
    "c / x = c · (1 / x)",
    "quotients by powers of one value share its reciprocal",
)


def quotients_joined(graph: Graph) -> Graph:
    """Compute quotients of ``graph`` with equal divisors from one reciprocal."""
    graph = inside(graph, quotients_joined)
    bases = _bases(graph)
    if not bases:
        return graph
    divisors = Counter(e.inputs[1] for e in graph.equations if _is_quotient(e) and e.outputs[0] in bases)

    def is_changed(equation: Equation) -> bool:
        base = bases.get(equation.outputs[0]) if _is_quotient(equation) else None
        return base is not None and divisors[base] > 1

    if not any(map(is_changed, graph.equations)):
        return graph

    def replaced(equation: Equation, read: Callable[[Any], Any]) -> Any:
        if not is_changed(equation):
            return None
        ONE_RECIPROCAL.fired()
        a, b = map(read, equation.inputs)
        quotient = a * div(ones(b.type), b)
        return (
            quotient
            if equation.primitive is div
            else select(equal(b, zeros(b.type)), zeros(b.type), quotient)
        )

    return rebuilt(graph, replaced)


def _is_quotient(equation: Equation) -> bool:
    return equation.primitive is div or equation.primitive is safe_quotient


def _bases(graph: Graph) -> dict[Any, Any]:
    """Map each value of the form c / xⁿ, and each product of such values, to x."""
    bases: dict[Any, Any] = {}
    for equation in graph.equations:
        row, operands = equation.primitive, equation.inputs
        is_quotient = _is_quotient(equation)
        if not is_quotient and not bases:
            continue
        if is_quotient and type(operands[1]) is Variable and operands[1].dtype.kind == "float":
            if _is_near_one(operands[0]) or bases.get(operands[0]) is operands[1]:
                bases[equation.outputs[0]] = operands[1]
        elif row is neg or row.kind == "pointwise multilinear":
            base = bases.get(operands[0])
            if base is not None and all(bases.get(x) is base for x in operands):
                bases[equation.outputs[0]] = base
    return bases


def _is_near_one(x: Any) -> bool:
    """Whether ``x`` is a constant c with 1/1024 ≤ |c| ≤ 1."""
    return type(x) is Constant and x.is_splat and bool(1 / 1024 <= abs(x.value[()]) <= 1)
