"""Mixing: the equation in which rows that should stay apart meet.

    y[n] depends on x[m], m ≠ n

``transforms.axis_propagation`` proves that rows stay apart, and says of everything that it cannot prove
that they may mix. For an error that is too little: a gather or a sort may keep rows apart all the same.
Here an equation is found only if it certainly mixes: it adds up, accumulates or contracts the axis of the
rows, or joins two values that carry it along different axes. Limit: what adds up rows of which all but one
are masked out mixes nothing and is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.ir.graph import Equation, Variable
from mindgrad.transforms.axis_propagation import through

__all__ = ["mixing"]

_SUMS = frozenset(
    ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "logsumexp", "norm", "cumsum", "cumprod", "dot"]
)


def mixing(equations: Sequence[Equation], x: Variable, axes: Sequence[int], y: Any) -> Equation | None:
    """The first equation behind which ``y`` depends on several rows of ``x``; ``None``: none certainly does.

    Args:
        equations: a program in order.
        x: what has the rows.
        axes: the axes of ``x`` whose elements are rows.
        y: an atom that the program computes.
    """
    for axis in axes:
        if x.shape[axis] > 1:
            found = _found(equations, x, axis).get(y)
            if found is not None:
                return found
    return None


def _found(equations: Sequence[Equation], x: Variable, axis: int) -> dict[Any, Equation]:
    """What mixes rows along ``axis``, with the equation that did it first."""
    places: dict[Any, int | None] = {x: axis}
    mixed: dict[Any, Equation] = {}
    for equation in equations:
        if equation.primitive.jvp is None or equation.primitive.name == "stop_gradient":
            continue
        culprit = next((mixed[a] for a in equation.inputs if a in mixed), None)
        moving = [k for k, a in enumerate(equation.inputs) if a in places]
        if culprit is None and not moving:
            continue
        for index, y in enumerate(equation.outputs):
            if culprit is not None:
                mixed[y] = culprit
                continue
            before = [places[equation.inputs[k]] for k in moving]
            after = [through(equation, k, index, p) for k, p in zip(moving, before, strict=True)]
            lost = [p is not None and q is None for p, q in zip(before, after, strict=True)]
            joined = {q for q in after if q is not None}
            if len(joined) > 1 or (any(lost) and equation.primitive.name in _SUMS):
                mixed[y] = equation
            else:
                places[y] = after[0] if len(joined) == 1 and None not in after else None
    return mixed
