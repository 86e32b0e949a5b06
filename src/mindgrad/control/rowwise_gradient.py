"""The lazy row-wise gradient is one equation, of which reading column j computes only column j.

    rowwise_gradient[G, i](x, ct) = Σ_j e_j ⊗ Σ (ct ∘ ∂_j G(x))      ∂_j along column j of all rows of input i

It is the gradient ``J_G(x)ᵀ ct`` where rows do not mix (``optimize.mode_choice``); its expansion is reverse
mode. Differentiating it again in one direction after the other uses its columns instead
(:func:`written_out`), and a slice of one column is computed as that column: a loop over the coordinates of a
point then takes one derivative per trip, instead of a whole gradient per trip.

Cost: none until it is expanded, then that of a gradient. Limits: those of ``optimize.mode_choice``.

Operands are those of the program, then a cotangent for each of its outputs. Parameters: ``program``;
``argnum``, the index of the input; ``axis``, that of its columns; ``carried``, for each output the positions
of the axes of the input; ``part``, which builds the program of a column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.control.lazy import expand_lazy, lazy_primitive
from mindgrad.ir.build import current
from mindgrad.ir.graph import Equation, Graph
from mindgrad.ir.memo import memoized
from mindgrad.ir.types import TensorType
from mindgrad.rows.movement_fusion import PARTS
from mindgrad.rows.static_slices import concatenate, slice
from mindgrad.transforms.reverse import reverse

__all__ = ["rowwise_gradient", "written_out"]

#: makes the program of one column: ``(program, argnum, axis, carried, j)`` to a graph from the same operands
Part = Callable[[Graph, int, int, tuple, int], Graph]


@memoized
def _gradient(program: Graph, argnum: int) -> Graph:
    whole = reverse(expand_lazy(program), (argnum,))
    return Graph(whole.inputs, whole.equations, whole.outputs[-1:])


def _expanded(program: Graph, argnum: int, axis: int, carried: tuple, part: Part) -> Graph:
    return _gradient(program, argnum)


def written_out(equation: Equation, operands: Sequence[Any]) -> Any:
    """The gradient, each of its columns from a program of its own, emitted on ``operands``."""
    axis = equation.parameters["axis"]
    made = [_column(equation, operands, j) for j in range(equation.outputs[0].shape[axis])]
    return concatenate(*made, axis=axis)


def _column(equation: Equation, operands: Sequence[Any], j: int) -> Any:
    program, argnum, axis, carried, part = equation.parameters.values()
    return current().inline(part(program, argnum, axis, carried, j), operands)[0]


def _part(equation: Equation, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> Any:
    """A slice of the gradient that lies in one column."""
    axis = equation.parameters["axis"]
    j = start[axis]
    if limit[axis] != j + 1:
        return None
    found = _column(equation, equation.inputs, j)
    start, limit = ((*each[:axis], n, *each[axis + 1 :]) for each, n in ((start, 0), (limit, 1)))
    return slice(found, start=start, limit=limit, strides=tuple(strides))


def _type(*types: TensorType, argnum: int, **_: Any) -> TensorType:
    return types[argnum]


def _taint(*xs: Any, program: Graph, argnum: int, axis: int, carried: tuple, part: Part) -> str:
    return "starts" if part(program, argnum, axis, carried, 0).outputs[0].tainted else "passes"


rowwise_gradient = lazy_primitive("rowwise_gradient", _expanded, _type, _taint)
PARTS[rowwise_gradient] = _part
