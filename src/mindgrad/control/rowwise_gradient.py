"""A gradient across rows as one equation: who reads one column of it need not make the others.

    columns[G, i](x, ct) = Σ_j e_j ⊗ Σ (ct ∘ ∂_j G(x))          ∂_j along column j of every row of input i

It is the gradient ``J_G(x)ᵀ ct`` where rows do not mix (``optimize.mode_choice``), and the program that it
stands for is that of reverse mode. Who differentiates it again, in one direction after the other, sees its
columns instead (:func:`written_out`), and a slice of it that is one column is that column: so a loop over the
coordinates of a point makes a derivative in each turn, not as many as there are coordinates.

Cost: none until it is expanded, then that of a gradient. Limits: those of ``optimize.mode_choice``.

Operands are those of the program, then a cotangent for each of its outputs. Parameters: ``program``;
``place``, the number of the input; ``axis``, that of its columns; ``carried``, for each output where it has
the axes of the input; ``part``, which makes the program of a column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.control.lazy import deferred, settled
from mindgrad.ir.build import current
from mindgrad.ir.graph import Equation, Graph
from mindgrad.ir.memo import memoized
from mindgrad.ir.types import TensorType
from mindgrad.rows.movement_fusion import PARTS
from mindgrad.rows.static_slices import concatenate, slice
from mindgrad.transforms.reverse import reverse

__all__ = ["columns", "written_out"]

#: makes the program of one column: ``(program, place, axis, carried, j)`` to a graph from the same operands
Part = Callable[[Graph, int, int, tuple, int], Graph]


@memoized
def _gradient(program: Graph, place: int) -> Graph:
    whole = reverse(settled(program), (place,))
    return Graph(whole.inputs, whole.equations, whole.outputs[-1:])


def _expanded(program: Graph, place: int, axis: int, carried: tuple, part: Part) -> Graph:
    return _gradient(program, place)


def written_out(equation: Equation, operands: Sequence[Any]) -> Any:
    """The gradient, each of its columns from a program of its own, emitted on ``operands``."""
    axis = equation.parameters["axis"]
    made = [_column(equation, operands, j) for j in range(equation.outputs[0].shape[axis])]
    return concatenate(*made, axis=axis)


def _column(equation: Equation, operands: Sequence[Any], j: int) -> Any:
    program, place, axis, carried, part = equation.parameters.values()
    return current().inline(part(program, place, axis, carried, j), operands)[0]


def _part(equation: Equation, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> Any:
    """A slice of the gradient that lies in one column."""
    axis = equation.parameters["axis"]
    j = start[axis]
    if limit[axis] != j + 1:
        return None
    found = _column(equation, equation.inputs, j)
    start, limit = ((*each[:axis], n, *each[axis + 1 :]) for each, n in ((start, 0), (limit, 1)))
    return slice(found, start=start, limit=limit, strides=tuple(strides))


def _type(*types: TensorType, place: int, **_: Any) -> TensorType:
    return types[place]


def _taint(*xs: Any, program: Graph, place: int, axis: int, carried: tuple, part: Part) -> str:
    return "starts" if part(program, place, axis, carried, 0).outputs[0].tainted else "passes"


columns = deferred("columns", _expanded, _type, _taint)
PARTS[columns] = _part
