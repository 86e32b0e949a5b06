"""Find an equation that mixes the samples of a batch, for an error message.

    an equation mixes samples  ⟺  its result y[n] depends on x[m] for some m ≠ n

``transforms.axis_propagation`` can prove that samples are independent. If the proof fails, samples may still
be independent, for example after a gather or a sort. Therefore, a failed proof alone does not justify an
error. This module reports an equation only if the equation certainly mixes samples: if it sums, accumulates,
or contracts the sample axis, or combines two values that have the sample axis in different positions.

Limit: the module also reports a sum in which a mask removes all samples except one, although such a sum does
not mix samples.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.graph import Atom, Equation, Variable
from mindgrad.core.ir.index_map import ORDERED, REDUCED, index_map
from mindgrad.core.transforms.axis_propagation import passage

__all__ = ["mixing"]

#: kinds of axes (``ir.index_map``) along which an operator combines elements
_MIXED = (REDUCED, ORDERED)


def mixing(equations: Sequence[Equation], x: Variable, axes: Sequence[int], y: Atom) -> Equation | None:
    """Return the first equation on the path from ``x`` to ``y`` that mixes samples.

    Args:
        equations: equations in execution order.
        x: the variable with the samples.
        axes: sample axes of ``x``.
        y: a value that the equations compute.

    Returns:
        The equation; ``None`` if no equation certainly mixes samples.
    """
    for axis in axes:
        if x.shape[axis] > 1:
            culprit = _mixed_values(equations, x, axis).get(y)
            if culprit is not None:
                return culprit
    return None


def _mixed_values(equations: Sequence[Equation], x: Variable, axis: int) -> dict[Atom, Equation]:
    """Map each value whose samples are mixed to the equation that mixed them."""
    places: dict[Atom, int | None] = {x: axis}
    mixed: dict[Atom, Equation] = {}
    for equation in equations:
        if equation.primitive.jvp is None or equation.primitive.algebra.stops:
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
    """Return whether an equation sums or accumulates along a sample axis."""
    axes = index_map(equation)
    return axes is not None and any(
        axis is not None and axes.kind(axes.operands[operand][axis]) in _MIXED
        for operand, axis in rows.items()
    )
