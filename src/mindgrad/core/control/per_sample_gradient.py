"""Lazy per-sample gradients, whose columns can be computed separately.

    per_sample_gradient[G, i](x, ct)[n, j] = Σ ct[n] · ∂G(x)[n] / ∂x_i[n, j]

The sum is over all output elements that belong to sample n. Each row n of input ``i`` is a sample, and each
column j is an input dimension. If samples are independent, the result is the gradient ``J_G(x)ᵀ ct``.
``passes.mode_choice`` emits the equation only in this case. If the whole gradient is used, the equation
expands to reverse mode. If the program reads only a slice of one column, only this column is computed. For
example, a loop over the coordinates of a point computes one partial derivative per iteration instead of a
whole gradient. If the gradient is differentiated again, :func:`written_out` replaces the equation by a
separate graph for each column.

Operands are the operands of ``program``, then one cotangent for each output of ``program``. The parameters
are:

- ``program``: the graph ``G``.
- ``argnum``: position of the input ``i``.
- ``axis``: axis of input ``i`` along which its columns lie.
- ``carried``: for each output, the axes of the output that correspond to the axes of the input
  (``transforms.axis_propagation``).
- ``part``: function that builds the graph of one column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mindgrad.core.control.lazy import expand_lazy, lazy_primitive
from mindgrad.core.ir.build import current
from mindgrad.core.ir.graph import Atom, Equation, Graph
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.movement_fusion import PARTS
from mindgrad.core.primitives.static_slices import concatenate, slice
from mindgrad.core.transforms.reverse import reverse

__all__ = ["per_sample_gradient", "written_out"]

#: function ``(program, argnum, axis, carried, j)`` that returns the graph of column ``j`` of the per-sample
#: gradient
Part = Callable[[Graph, int, int, tuple, int], Graph]


@memoized
def _gradient(program: Graph, argnum: int) -> Graph:
    whole = reverse(expand_lazy(program), (argnum,))
    return Graph(whole.inputs, whole.equations, whole.outputs[-1:])


def _expanded(program: Graph, argnum: int, axis: int, carried: tuple, part: Part) -> Graph:
    return _gradient(program, argnum)


def written_out(equation: Equation, operands: Atoms) -> Atom:
    """Emit the gradient as a concatenation of columns, each from a separate graph."""
    axis = equation.parameters["axis"]
    made = [_column(equation, operands, j) for j in range(equation.outputs[0].shape[axis])]
    return concatenate(*made, axis=axis)


def _column(equation: Equation, operands: Atoms, j: int) -> Atom:
    program, argnum, axis, carried, part = equation.parameters.values()
    return current().inline(part(program, argnum, axis, carried, j), operands)[0]


def _part(
    equation: Equation, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]
) -> Atom | None:
    """Emit a slice of the gradient, from the graph of one column.

    Returns ``None`` if the slice spans more than one column.
    """
    axis = equation.parameters["axis"]
    j = start[axis]
    if limit[axis] != j + 1:
        return None
    found = _column(equation, equation.inputs, j)
    start, limit = ((*each[:axis], n, *each[axis + 1 :]) for each, n in ((start, 0), (limit, 1)))
    return slice(found, start=start, limit=limit, strides=tuple(strides))


def _type(*types: TensorType, argnum: int, **_: object) -> TensorType:
    return types[argnum]


def _taint(*xs: Atom, program: Graph, argnum: int, axis: int, carried: tuple, part: Part) -> str:
    return "starts" if part(program, argnum, axis, carried, 0).outputs[0].tainted else "passes"


per_sample_gradient = lazy_primitive("per_sample_gradient", _expanded, _type, _taint)
PARTS[per_sample_gradient] = _part
