"""Row independence is refuted by an equation that mixes the rows of an input.

    y[n] depends on x[m], m ≠ n

``transforms.axis_propagation`` proves that rows stay apart; what it cannot prove may mix them. An error needs
more than this, as a gather or a sort may keep rows apart all the same. So an equation is reported only if it
certainly mixes: it adds up, accumulates or contracts the axis of the rows, or joins two values that carry it
along different axes. Limit: a sum over rows of which all but one are masked out mixes nothing, and is
reported all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.ir.graph import Equation, Variable
from mindgrad.ir.index_map import ORDERED, REDUCED, index_map
from mindgrad.transforms.axis_propagation import passage

__all__ = ["mixing"]

#: axes along which elements certainly meet
_MIXED = (REDUCED, ORDERED)


def mixing(equations: Sequence[Equation], x: Variable, axes: Sequence[int], y: Any) -> Equation | None:
    """The first equation by which ``y`` depends on several rows of ``x``; ``None`` if none certainly does.

    Args:
        equations: a program in order.
        x: the variable with the rows.
        axes: the axes of ``x`` whose elements are rows.
        y: an atom that the program computes.
    """
    for axis in axes:
        if x.shape[axis] > 1:
            culprit = _mixed_values(equations, x, axis).get(y)
            if culprit is not None:
                return culprit
    return None


def _mixed_values(equations: Sequence[Equation], x: Variable, axis: int) -> dict[Any, Equation]:
    """The values in which rows along ``axis`` are mixed, each with the first equation that mixes them."""
    places: dict[Any, int | None] = {x: axis}
    mixed: dict[Any, Equation] = {}
    for equation in equations:
        if equation.primitive.jvp is None or equation.primitive.stops:
            continue
        culprit = next((mixed[a] for a in equation.inputs if a in mixed), None)
        moving = [k for k, a in enumerate(equation.inputs) if a in places]
        if culprit is None and not moving:
            continue
        through = passage(equation)
        for index, y in enumerate(equation.outputs):
            if culprit is not None:
                mixed[y] = culprit
                continue
            before = [places[equation.inputs[k]] for k in moving]
            after = [through(k, index, p) for k, p in zip(moving, before, strict=True)]
            joined = {q for q in after if q is not None}
            if len(joined) > 1 or _meets(equation, dict(zip(moving, before, strict=True))):
                mixed[y] = equation
            else:
                places[y] = after[0] if len(joined) == 1 and None not in after else None
    return mixed


def _meets(equation: Equation, rows: dict[int, int | None]) -> bool:
    """Whether rows along these axes of operands are added up or accumulated."""
    axes = index_map(equation)
    return axes is not None and any(
        axis is not None and axes.kind(axes.operands[operand][axis]) in _MIXED
        for operand, axis in rows.items()
    )
