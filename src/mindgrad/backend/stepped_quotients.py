"""Quotients that XLA would rewrite into something with another value are hidden from its rewrites.

    (a / b) / c, a / (b / c)      XLA forms the products b · c and a · c, which may be too large or too small

Whole numbers of quotients are divided, where XLA would multiply by a reciprocal.

    floor(x / c), ceil(x / c), trunc(x / c), round(x / c), (x / c) as an integer         c: a constant

XLA makes ``x · (1 / c)`` of ``x / c``, which is off by a rounding: 41 · (1 / 41) is below 1 in Float32, so
that its floor is 0. A rounding more does not matter but under a step. The rewrite does not see a constant
or a quotient behind an optimisation barrier, and the barrier is gone before loops are fused: the program
differs by the division only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.ir.index_map import UNIFORM

__all__ = ["hidden", "hidden_operands"]


def hidden_operands(graph: Graph) -> dict[Equation, list[int]]:
    """The operands of quotients in ``graph`` that are to be hidden from XLA's rewrites."""
    operands = {equation: [1] for equation in stepped_quotients(graph)}
    quotients = {e.outputs[0] for e in graph.equations if _is_quotient(e)}
    for equation in graph.equations if quotients else ():
        if _is_quotient(equation):
            nested = [k for k, x in enumerate(equation.inputs) if _unmoved(x) in quotients]
            if nested:
                operands[equation] = sorted({*nested, *operands.get(equation, ())})
    return operands


def stepped_quotients(graph: Graph) -> set[Equation]:
    """The quotients of ``graph`` by constants whose results are rounded to whole numbers."""
    divisions = {e.outputs[0]: e for e in graph.equations if _is_quotient(e) and _is_rounded(e.inputs[1])}
    if not divisions:
        return set()
    steps = [_unmoved(x) for e in graph.equations for x in e.inputs if _is_step(e, x)]
    return {divisions[x] for x in steps if x in divisions}


def hidden(jax: Any, operand: Any) -> Any:
    """``operand``, of which XLA's rewrites do not see that it is a constant or a quotient."""
    return jax.lax.optimization_barrier(operand)


def _is_quotient(equation: Equation) -> bool:
    row = equation.primitive
    return row.kind == "pointwise multilinear" and row.linear_in == (0,)


def _is_step(equation: Equation, x: Any) -> bool:
    result = equation.outputs[0].type.dtype
    if equation.primitive.kind == "pointwise constant":
        return result is x.type.dtype
    return equation.primitive.axes is UNIFORM and result.kind in ("int", "uint")


def _unmoved(x: Any) -> Any:
    """The value whose elements ``x`` has, in other places."""
    while type(x) is Variable and x.made_by is not None and x.made_by.primitive.moves:
        x = x.made_by.inputs[0]
    return x


def _is_rounded(divisor: Any) -> bool:
    """Whether ``divisor`` is a constant of floats whose reciprocal is rounded: no power of two."""
    constant = _unmoved(divisor)
    if type(constant) is not Constant or constant.type.dtype.kind != "float":
        return False
    mantissas = np.frexp(np.asarray(constant.smallest(), np.float64))[0]
    return not np.all(np.abs(mantissas) == 0.5)
