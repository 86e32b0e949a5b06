"""Axis propagation finds the axes of an input that run through a program without their elements mixing.

    x's axis a is carried by axis p of y   ⟺   ∂y[…, i at p, …] / ∂x[…, j at a, …] = 0 for i ≠ j

Along a carried axis the Jacobian is diagonal: a batch whose rows do not mix. One direction then serves
all rows at once, and only axes that are carried nowhere need a direction for each element.

An operator's row has the map of its axes (``ir.index_map``), of which the parallel ones carry. A row without
a map is taken to mix all its elements, which is always safe. Cost: one visit of each equation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mindgrad.ir.graph import Equation, Variable
from mindgrad.ir.index_map import index_map

__all__ = ["Carried", "alignment", "passage"]

#: for each axis of the input the axis that carries it, ``None`` where it is mixed
Carried = tuple[int | None, ...]


def alignment(equations: Sequence[Equation], x: Variable) -> dict[Variable, Carried]:
    """The axes of ``x`` that each value depending on it carries.

    Args:
        equations: a program in order.
        x: a variable that it reads.

    Returns:
        For ``x`` and every value with a derivative in it a tuple of one axis (or ``None``) per axis of ``x``.

    >>> from mindgrad.ir.build import Builder, building
    >>> from mindgrad.ir.types import tensor_type
    >>> from mindgrad.rows.elementwise import tanh
    >>> from mindgrad.rows.structural import transpose
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
            # two paths from x must agree: an axis that is carried by different axes is mixed
            merged = [places[0] if len(set(places)) == 1 else None for places in zip(*paths, strict=True)]
            # several axes of size one may arrive at one axis: it carries the first of them
            carried_by[y] = tuple(None if source in merged[:k] else source for k, source in enumerate(merged))
    return carried_by


def passage(equation: Equation) -> Callable[[int, int, int | None], int | None]:
    """The function from operand, result and axis of the operand to the axis of the result that carries it."""
    if equation.primitive.passage is not None:
        through = equation.primitive.passage(equation)
    else:
        axes = index_map(equation)
        if axes is None:
            return lambda operand, index, axis: None
        through = axes.through
    return lambda operand, index, axis: None if axis is None else through(operand, index, axis)
