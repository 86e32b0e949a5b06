"""Hessian traces: compute the trace or diagonal of a Hessian without the matrix.

    tr ∇²y = Σ_j ∂_j² y        (∇²y)_jj = ∂_j² y

Some equations read only the diagonal of a Hessian (``control.lazy_hessian``): ``trace``, ``diagonal``,
``einsum('ii')``, the sum of an elementwise product with a diagonal matrix, and elements ``[i, i]``. This
rewrite replaces them by second derivatives along unit vectors. ``optimize.derivative_fusion`` then computes
the sum of these derivatives as one forward Laplacian.

**When it pays.** For D dimensions, the Hessian costs 4 D passes. A sum over its diagonal costs D + 2 passes,
and one diagonal element costs 2 passes. A diagonal that is read as a vector is still computed from the
Hessian.

**Limits.** The differentiated function maps one vector to a scalar.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindgrad.control.lazy_hessian import lazy_hessian
from mindgrad.control.taylor_coefficients import taylor_coefficients
from mindgrad.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.graph_rewriter import rebuilt
from mindgrad.primitives.arithmetic import mul
from mindgrad.primitives.indexing import gather
from mindgrad.primitives.kinds import accumulate, zeros
from mindgrad.primitives.reduction import reduce_sum
from mindgrad.primitives.static_slices import slice
from mindgrad.primitives.structural import reshape

__all__ = ["TRACE", "along_diagonals"]

TRACE = Rewrite(
    "trace",
    "tr ∇²y = Σ_j ∂_j² y: second derivatives along unit vectors instead of a Hessian",
    "the trace or diagonal of a Hessian is computed without the matrix",
)

Read = Callable[[Any], Any]


class _Diagonal(NamedTuple):
    """A weighted sum of diagonal elements; ``factors`` maps each index to its weight."""

    hessian: Equation
    factors: dict[int, float]


def along_diagonals(graph: Graph) -> Graph:
    """Replace sums and elements of Hessian diagonals by second derivatives."""
    if not any(equation.primitive is lazy_hessian for equation in graph.equations):
        return graph
    reads = _reads(graph)
    if not reads:
        return graph

    def replace(equation: Equation, read: Read) -> Any:
        diagonal = None if equation.primitive.multiple else reads.get(equation.outputs[0])
        if diagonal is None:
            return None
        TRACE.fired()
        return reshape(_sum(diagonal, read), shape=equation.outputs[0].shape)

    return rebuilt(graph, replace)


def _reads(graph: Graph) -> dict[Variable, _Diagonal]:
    """Find the scalars that are sums of diagonal elements of a Hessian."""
    matrices: dict[Any, Equation] = {}
    diagonals: dict[Any, _Diagonal] = {}
    numbers: dict[Variable, _Diagonal] = {}
    for equation in graph.equations:
        if equation.primitive.multiple:
            continue
        (y,) = equation.outputs
        source: Any = equation.inputs[0] if equation.inputs else None
        if equation.primitive is lazy_hessian:
            matrices[y] = equation
        elif equation.primitive is reduce_sum and source in diagonals:
            if len(equation.parameters["axes"]) == len(source.shape):
                numbers[y] = diagonals[source]
        else:
            diagonal = _diagonal(equation, matrices)
            if diagonal is None:
                continue
            (numbers if y.type.size == 1 else diagonals)[y] = diagonal
    return numbers


def _diagonal(equation: Equation, matrices: dict[Any, Equation]) -> _Diagonal | None:
    """Find the diagonal elements that an equation reads; ``None`` if it reads others."""
    primitive, parameters = equation.primitive, equation.parameters
    if primitive is mul:
        for matrix, weights in (equation.inputs, equation.inputs[::-1]):
            if matrix in matrices and type(weights) is Constant:
                values = weights.array()
                if np.array_equal(values, np.diag(np.diag(values))):
                    return _Diagonal(matrices[matrix], dict(enumerate(map(float, np.diag(values)))))
        return None
    hessian = matrices.get(_unshaped(equation.inputs[0])) if equation.inputs else None
    if hessian is None:
        return None
    size = hessian.outputs[0].shape[0]
    if primitive is gather and parameters["axes"] == (0, 1) and type(equation.inputs[1]) is Constant:
        places = equation.inputs[1].array().reshape(-1, 2)
        if np.array_equal(places[:, 0], places[:, 1]) and len(set(places[:, 0])) == len(places):
            return _Diagonal(hessian, dict.fromkeys((places[:, 0] % size).tolist(), 1.0))
    if primitive is slice:
        flat = np.arange(size * size).reshape(equation.inputs[0].shape)
        steps = zip(parameters["start"], parameters["limit"], parameters["strides"], strict=True)
        taken = flat[tuple(np.s_[start:limit:step] for start, limit, step in steps)].ravel()
        if np.array_equal(taken // size, taken % size):
            return _Diagonal(hessian, dict.fromkeys((taken % size).tolist(), 1.0))
    return None


def _unshaped(x: Any) -> Any:
    made_by = getattr(x, "made_by", None)
    return made_by.inputs[0] if made_by is not None and made_by.primitive is reshape else x


def _sum(diagonal: _Diagonal, read: Read) -> Any:
    """Emit Σ_j c_j ∂_j² y, with one ``taylor_coefficients`` equation for each term."""
    program, argnum = diagonal.hessian.parameters["program"], diagonal.hessian.parameters["argnum"]
    x = program.inputs[argnum]
    operands = [read(each) for each in diagonal.hessian.inputs]
    terms = []
    for column, factor in diagonal.factors.items():
        if factor:
            unit = Constant(np.eye(1, x.shape[0], column, dtype=x.dtype.numpy)[0])
            terms.append(
                2 * factor * taylor_coefficients(*operands, unit, program=program, argnum=argnum, order=2)[1]
            )
    return accumulate(terms) if terms else zeros(diagonal.hessian.outputs[0].type.with_shape(()))
