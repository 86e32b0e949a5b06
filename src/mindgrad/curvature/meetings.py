"""Equations in which weights meet data, and the cotangents of their results.

If the rows of an output do not mix, one reverse pass with a cotangent of ones computes the cotangents of all
intermediate values, row by row. A *meeting* is an equation in which a value that all rows share, such as a
weight, meets a value with rows (``curvature.row_axes``). For a matrix product y[n] = W x[n], row n of the
derivative with respect to W is the outer product of the cotangent and x[n].
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape
from mindgrad.core.transforms.reverse import pull_back
from mindgrad.curvature.row_axes import Use, uses_of_rows

__all__ = ["Meeting", "meetings_of_rows", "rows_as_vector"]


class Meeting(NamedTuple):
    """An equation in which shared values meet values with rows.

    Attributes:
        equation: the equation, in the graph of the function.
        use: how the equation uses its operands.
        operands: the values of its operands in the current builder.
        cotangents: the cotangent of its result for each component c of the output. Row n of the cotangent is
            the derivative of component c of row n of the output.
        steps: the number of iterations if the equation is in the body of a loop. Operands that depend on the
            iteration, and cotangents, then have a leading axis of the iterations.
    """

    equation: Equation
    use: Use
    operands: tuple[Atom, ...]
    cotangents: tuple[Atom, ...]
    steps: int | None = None


def rows_as_vector(y: Atom) -> Atom:
    """Return a scalar output as one row, and other outputs unchanged."""
    return y if y.shape else reshape(y, shape=(1,))


def meetings_of_rows(
    graph: Graph, values: dict[Atom, Atom], weights: Sequence[Variable], output: Atom
) -> list[Meeting]:
    """Emit the cotangents of all meetings into the current builder.

    Args:
        graph: the graph of the function, without lazy equations.
        values: the values of all variables of ``graph`` in the builder.
        weights: inputs of ``graph``.
        output: output of ``graph``. Its axis 0 contains the rows.
    """
    uses = uses_of_rows(graph, weights, output)
    equations = [e for e in graph.equations if e in uses and uses[e].shared]
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        offsets, y = _with_offsets(builder, graph, inputs, uses, output)
        seeds = np.eye(prod(output.shape[1:]), dtype=output.dtype.numpy)
        pulled = []
        for seed in seeds:
            row = reshape(builder.constant(seed), shape=output.shape[1:])
            ct = broadcast_in_dim(row, shape=output.shape, dims=tuple(range(1, len(output.shape))))
            pulled.append(pull_back(builder, offsets, [y], [ct]))
        derivative = builder.close([ct for cts in pulled for ct in cts])
    operands = [values[x] for x in graph.inputs]
    cts = current().inline(derivative, [*operands, *[zeros(x.type) for x in offsets]])
    count = len(equations)
    return [
        Meeting(e, uses[e], tuple([values.get(x, x) for x in e.inputs]), tuple(cts[k::count]))
        for k, e in enumerate(equations)
    ]


def _with_offsets(
    builder: Builder, graph: Graph, inputs: Atoms, uses: dict[Equation, Use], output: Atom
) -> tuple[list[Variable], Atom]:
    """Emit ``graph`` with an offset added to the result of each meeting.

    The offsets are new inputs of the builder. Shared operands are values without offsets, so an offset
    affects only its own row. Returns the offsets and the output.
    """
    plain: dict[Atom, Atom] = dict(zip(graph.inputs, inputs, strict=True))
    moved: dict[Atom, Atom] = {}
    offsets = []
    for equation in graph.equations:
        operands = [plain.get(x, x) for x in equation.inputs]
        plain.update(zip(equation.outputs, builder.emit_again(equation, operands), strict=True))
        use = uses.get(equation)
        if use is None:
            continue
        pairs = zip(equation.inputs, operands, use.operands, strict=True)
        operands = [old if rows is None else moved[x] for x, old, rows in pairs]
        (result,) = builder.emit_again(equation, operands)
        if use.shared:
            offsets.append(builder.input(result.type))
            result = result + offsets[-1]
        moved[equation.outputs[0]] = result
    return offsets, moved.get(output, plain.get(output, output))
