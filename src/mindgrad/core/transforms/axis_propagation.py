"""Axis propagation: find the input axes whose elements a graph does not mix.

    axis a of x is carried by axis p of y   ⟺   ∂y[…, i at p, …] / ∂x[…, j at a, …] = 0 for i ≠ j

Along a carried axis, the Jacobian is diagonal. An example is the batch axis of a function that treats samples
independently. One direction (tangent) then suffices to differentiate all samples. An axis that is not carried
needs one direction per element.

The index map of an operator (``ir.index_map``) lists its parallel axes. An axis of an operand is carried by
the axis of the result that has the same parallel label. An operator without an index map is assumed to mix
all elements. This assumption may cost time but is never wrong. The analysis visits each equation once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mindgrad.core.ir.graph import Equation, Variable
from mindgrad.core.ir.index_map import index_map

__all__ = ["Carried", "alignment", "passage"]

#: for each axis of the input, the axis of a value that carries it, or ``None`` if the value combines elements
#: along the input axis
Carried = tuple[int | None, ...]


def alignment(equations: Sequence[Equation], x: Variable) -> dict[Variable, Carried]:
    """Find, for each value that depends on ``x``, the axes that carry axes of ``x``.

    Args:
        equations: equations in execution order.
        x: a variable that the equations use.

    Returns:
        A dict from ``x``, and from every value that is differentiable with respect to ``x``, to a tuple. For
        each axis of ``x``, the tuple contains the axis of the value that carries this axis of ``x``, or
        ``None``.

    >>> from mindgrad.core.ir.build import Builder, building
    >>> from mindgrad.core.ir.types import tensor_type
    >>> from mindgrad.core.primitives.elementwise import tanh
    >>> from mindgrad.core.primitives.structural import transpose
    >>> with building(Builder()) as builder:
    ...     x = builder.input(tensor_type("float32", (100, 3)))
    ...     y = transpose(tanh(x), permutation=(1, 0))
    >>> alignment(builder.equations, x)[y]
    (1, 0)
    """
    carried_by: dict[Variable, Carried] = {x: tuple(range(len(x.shape)))}
    for equation in equations:
        if equation.primitive.jvp is None:
            continue
        moving = [
            (k, carried_by[atom])
            for k, atom in enumerate(equation.inputs)
            if type(atom) is Variable and atom in carried_by
        ]
        if not moving:
            continue
        through = passage(equation)
        for index, y in enumerate(equation.outputs):
            paths = [[through(k, index, axis) for axis in carried] for k, carried in moving]
            # an axis of x that reaches y on two paths is carried only if both paths lead to the same axis of
            # y
            merged = [places[0] if len(set(places)) == 1 else None for places in zip(*paths, strict=True)]
            # if several axes of x lead to the same axis of y, these axes of x have size 1: keep only the
            # first
            carried_by[y] = tuple(None if source in merged[:k] else source for k, source in enumerate(merged))
    return carried_by


def passage(equation: Equation) -> Callable[[int, int, int | None], int | None]:
    """Return a function that maps operand axes of ``equation`` to result axes.

    ``passage(equation)(k, index, axis)`` is the axis of result ``index`` that carries ``axis`` of operand
    ``k``. The result is ``None`` if the operator mixes elements along this axis.
    """
    if (lazy := equation.primitive.lazy) is not None and lazy.passage is not None:
        through = lazy.passage(equation)
    else:
        axes = index_map(equation)
        if axes is None:
            return lambda operand, index, axis: None
        through = axes.through
    return lambda operand, index, axis: None if axis is None else through(operand, index, axis)
