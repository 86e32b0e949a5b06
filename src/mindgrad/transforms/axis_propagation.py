"""Axis propagation finds the axes of an input that run through a program without their elements mixing.

    x's axis a is carried by axis p of y   ⟺   ∂y[…, i at p, …] / ∂x[…, j at a, …] = 0 for i ≠ j

Along a carried axis the Jacobian is diagonal: a batch whose rows do not mix. One direction then serves
all rows at once, and only axes that are carried nowhere need a direction for each element.

A pointwise row carries every axis that its operands carry alike. What the other rows do is read from
their parameters, in the table below; a row that is not in it is taken to mix all its elements, which is
always safe. Cost: one visit of each equation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.ir.graph import Equation, Graph, Variable
from mindgrad.ir.memo import memoized

__all__ = ["Carried", "alignment", "through"]

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
        for index, y in enumerate(equation.outputs):
            paths = [[through(equation, k, index, axis) for axis in carried] for k, carried in moving]
            # two paths from x must agree: an axis that is carried by different axes is mixed
            merged = [places[0] if len(set(places)) == 1 else None for places in zip(*paths, strict=True)]
            # several axes of size one may arrive at one axis: it carries the first of them
            carried_by[y] = tuple(None if source in merged[:k] else source for k, source in enumerate(merged))
    return carried_by


def through(equation: Equation, operand: int, index: int, axis: int | None) -> int | None:
    """The axis of result ``index`` that carries ``axis`` of an operand."""
    if axis is None:
        return None
    if equation.primitive.pointwise:
        return axis
    if equation.primitive.name == "taylor_coefficients":
        return _along(axis, operand, index, **equation.parameters)
    rule = _RULES.get(equation.primitive.name)
    if rule is None:
        return None
    return rule(axis, operand, [x.shape for x in equation.inputs], **equation.parameters)


def _along(axis: int, operand: int, index: int, program: Graph, argnum: int, order: int) -> int | None:
    """The axis of a Taylor coefficient, which carries axes as the value does; the direction as its input."""
    y: Any = program.outputs[index // order]
    carried = _of_input(program, argnum if operand == len(program.inputs) else operand).get(y)
    return None if carried is None else carried[axis]


@memoized
def _of_input(program: Graph, argnum: int) -> dict[Variable, Carried]:
    return alignment(program.equations, program.inputs[argnum])


def _same(axis: int, operand: int, shapes: Any, **_: Any) -> int:
    return axis


def _reshape(axis: int, operand: int, shapes: Any, shape: Any) -> int | None:
    old = shapes[0]
    if 0 in old:
        return None
    before = math.prod(old[:axis])
    for position, size in enumerate(shape):
        if size == old[axis] and math.prod(shape[:position]) == before:
            return position
    return None


def _broadcast(axis: int, operand: int, shapes: Any, shape: Any, dims: Any) -> int | None:
    position = dims[axis]
    return position if shape[position] == shapes[0][axis] else None


def _concatenate(carried: int, operand: int, shapes: Any, axis: int) -> int | None:
    return None if carried == axis else carried


def _slice(axis: int, operand: int, shapes: Any, start: Any, limit: Any, strides: Any) -> int | None:
    is_whole = start[axis] == 0 and limit[axis] == shapes[0][axis] and strides[axis] == 1
    return axis if is_whole else None


def _pad(axis: int, operand: int, shapes: Any, low: Any, high: Any, interior: Any) -> int | None:
    return axis if not (low[axis] or high[axis] or interior[axis]) else None


def _reverse(axis: int, operand: int, shapes: Any, axes: Any) -> int | None:
    return None if axis in axes else axis


def _reduced(axis: int, operand: int, shapes: Any, axes: Any) -> int | None:
    return None if axis in axes else axis - sum(reduced < axis for reduced in axes)


def _cumulated(carried: int, operand: int, shapes: Any, axis: int, **_: Any) -> int | None:
    return None if carried == axis else carried


def _dot(axis: int, operand: int, shapes: Any, contract: Any, batch: Any) -> int | None:
    if axis in contract[operand]:
        return None
    if axis in batch[operand]:
        return batch[operand].index(axis)
    free = [
        [k for k in range(len(s)) if k not in c and k not in b]
        for s, c, b in zip(shapes, contract, batch, strict=True)
    ]
    return len(batch[0]) + (len(free[0]) if operand else 0) + free[operand].index(axis)


#: ``rule(axis, operand, shapes, **parameters)``: the axis of the result that carries ``axis``; ``None``: none
_RULES: dict[str, Callable[..., int | None]] = {
    "convert": _same,
    "reshape": _reshape,
    "transpose": lambda axis, operand, shapes, permutation: permutation.index(axis),
    "broadcast_in_dim": _broadcast,
    "concatenate": _concatenate,
    "slice": _slice,
    "pad": _pad,
    "reverse": _reverse,
    "cumsum": _cumulated,
    "cumprod": _cumulated,
    "dot": _dot,
    **dict.fromkeys(["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "logsumexp", "norm"], _reduced),
}
