"""Forward mode takes the place of reverse mode where a ``while`` is differentiated by one number.

    x is one number  ⟹  J_y(x)ᵀ ct = Σ (ct ∘ J_y(x) 1)

Reverse mode through a ``while`` saves carries and runs trips again; one tangent beside the loop's values
costs less and no memory. It is for programs of ordinary operators, branches and loops: derivatives that the
user has defined, effects and collectives have their own reverse mode. Nothing in half precision: there
``J_y(x) 1`` may be infinite where ``ct`` is small and the gradient is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.control.while_ import while_
from mindgrad.ir.build import Builder
from mindgrad.ir.graph import Equation, Variable, all_equations, live_equations
from mindgrad.ir.rewriting import Rewrite
from mindgrad.rows.kinds import accumulate, ones, product, zeros
from mindgrad.rows.reduction import reduce_sum
from mindgrad.rows.structural import convert, reshape
from mindgrad.transforms.forward import push_tangents

__all__ = ["pulled_through_loops"]

ONE_NUMBER = Rewrite(
    "loop",
    "Jᵀ ct = Σ (ct ∘ J 1) for one number",
    "the gradient of a loop by one number was computed in forward mode",
)


def pulled_through_loops(
    builder: Builder, xs: Sequence[Any], ys: Sequence[Any], cts: Sequence[Any]
) -> list[Any] | None:
    """The cotangent of one number by forward mode, where a ``while`` depends on it; else ``None``."""
    if len(xs) != 1 or type(xs[0]) is not Variable or xs[0].type.size != 1 or xs[0].dtype.kind != "float":
        return None
    (x,) = xs
    live = live_equations(builder.equations, ys)
    dependents: set[Any] = {x}
    moving = []
    for equation in live:
        if not dependents.isdisjoint(equation.inputs):
            dependents.update(equation.outputs)
            moving.append(equation)
    inner = [*all_equations(moving)]
    if not any(equation.primitive is while_ for equation in inner) or not all(map(_is_plain, inner)):
        return None
    tangents: dict[Any, Any] = {x: ones(x.type)}
    push_tangents(live, tangents)
    terms = []
    for y, ct in zip(ys, cts, strict=True):
        if (t := tangents.get(y)) is not None:
            term = product(ct, t)
            axes = tuple(range(len(term.shape)))
            terms.append(convert(reduce_sum(term, axes=axes) if axes else term, dtype=x.dtype))
    ONE_NUMBER.fired()
    total = accumulate(terms)
    return [zeros(x.type) if total is None else reshape(total, shape=x.shape)]


def _is_plain(equation: Equation) -> bool:
    """Whether both modes differentiate an equation by its row alone."""
    row = equation.primitive
    if equation.has_effect or row.communicates or any(y.type.dtype.is_half for y in equation.outputs):
        return False
    # branches and loops without checkpoints of the user's, and derivatives that stand for their programs
    is_program = (row.replaceable and not equation.parameters.get("slots")) or row.expand is not None
    return row.kind != "control" or is_program
