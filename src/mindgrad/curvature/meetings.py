"""Equations in which weights meet data, and the cotangents of their results.

If the rows of an output do not mix, one reverse pass with a cotangent of ones computes the cotangents of all
intermediate values, row by row. A *meeting* is an equation in which a value that all rows share, such as a
weight, meets a value with rows (``curvature.row_axes``). For a matrix product y[n] = W x[n], row n of the
derivative with respect to W is the outer product of the cotangent and x[n].
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.rules import Atoms
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape
from mindgrad.core.transforms.reverse import pull_back
from mindgrad.curvature.loop_rows import LoopUse, loop_use, moved_loop
from mindgrad.curvature.row_axes import Use, uses_of_rows

__all__ = ["Meeting", "meetings_of_rows", "rows_as_vector"]


class Meeting(NamedTuple):
    """An equation in which shared values meet values with rows.

    Attributes:
        equation: the equation, in the graph of the function or in the body of a loop.
        use: how the equation uses its operands.
        operands: the values of its operands in the current builder.
        cotangents: the cotangent of its result for each component c of the output. Row n of the cotangent is
            the derivative of component c of row n of the output.
        steps: the number of iterations if the equation is in the body of a loop. Operands that depend on the
            iteration, and cotangents, then have a leading axis of the iterations.
        variables: the variables of the graph of the function that are the shared operands.
    """

    equation: Equation
    use: Use
    operands: tuple[Atom, ...]
    cotangents: tuple[Atom, ...]
    variables: tuple[Atom, ...]
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
    uses = uses_of_rows(graph, weights, output, partial(loop_use, weights=weights))
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        offsets, y, stacks = _with_offsets(builder, graph, inputs, uses, output)
        seeds = np.eye(prod(output.shape[1:]), dtype=output.dtype.numpy)
        pulled = []
        for seed in seeds:
            row = reshape(builder.constant(seed), shape=output.shape[1:])
            ct = broadcast_in_dim(row, shape=output.shape, dims=tuple(range(1, len(output.shape))))
            pulled.append(pull_back(builder, offsets, [y], [ct]))
        flat = [x for group in stacks for x in group if x is not None]
        derivative = builder.close([*[ct for cts in pulled for ct in cts], *flat])
    operands = [values[x] for x in graph.inputs]
    results = current().inline(derivative, [*operands, *[zeros(x.type) for x in offsets]])
    count = len(offsets)
    cts, stacked = results[: count * len(seeds)], iter(results[count * len(seeds) :])
    in_loops = [[None if x is None else next(stacked) for x in group] for group in stacks]
    return [
        _meeting(where, values, tuple(cts[k::count]), group)
        for k, (where, group) in enumerate(zip(_meeting_places(graph, uses), in_loops, strict=True))
    ]


#: an equation with its use and, if it is in the body of a loop, the loop
_Place = tuple[Equation, Use, Equation | None]


def _meeting_places(graph: Graph, uses: dict[Equation, Any]) -> list[_Place]:
    places: list[_Place] = []
    for equation in graph.equations:
        use = uses.get(equation)
        if isinstance(use, LoopUse):
            places += [(e, use.inner[e], equation) for e in use.meetings]
        elif use is not None and use.shared:
            places.append((equation, use, None))
    return places


def _meeting(place: _Place, values: dict[Atom, Atom], cts: tuple[Atom, ...], stacks: list) -> Meeting:
    equation, use, loop = place
    if loop is None:
        operands = tuple([values.get(x, x) for x in equation.inputs])
        return Meeting(equation, use, operands, cts, equation.inputs)
    outer = dict(zip(loop.parameters["body"].inputs, loop.inputs, strict=True))
    variables = tuple([outer.get(x, x) for x in equation.inputs])
    operands = tuple([values.get(x, x) if y is None else y for x, y in zip(variables, stacks, strict=True)])
    return Meeting(equation, use, operands, cts, variables, loop.parameters["length"])


def _with_offsets(
    builder: Builder, graph: Graph, inputs: Atoms, uses: dict[Equation, Any], output: Atom
) -> tuple[list[Variable], Atom, list[tuple[Atom | None, ...]]]:
    """Emit ``graph`` with an offset added to the result of each meeting.

    The offsets are new inputs of the builder. Shared operands are values without offsets, so an offset
    affects only its own row. Returns the offsets, the output, and for each meeting the operands in all
    iterations if it is in a loop.
    """
    plain: dict[Atom, Atom] = dict(zip(graph.inputs, inputs, strict=True))
    moved: dict[Atom, Atom] = {}
    offsets: list[Variable] = []
    stacks: list[tuple[Atom | None, ...]] = []
    for equation in graph.equations:
        operands = [plain.get(x, x) for x in equation.inputs]
        plain.update(zip(equation.outputs, builder.emit_again(equation, operands), strict=True))
        use = uses.get(equation)
        if use is None:
            continue
        pairs = zip(equation.inputs, operands, use.operands, strict=True)
        operands = [old if rows is None else moved[x] for x, old, rows in pairs]
        if isinstance(use, LoopUse):
            added, results, kept = moved_loop(builder, equation, use, operands)
            offsets += added
            stacks += kept
            moved.update(zip(equation.outputs, results, strict=True))
            continue
        (result,) = builder.emit_again(equation, operands)
        if use.shared:
            offsets.append(builder.input(result.type))
            stacks.append((None,) * len(operands))
            result = result + offsets[-1]
        moved[equation.outputs[0]] = result
    return offsets, moved.get(output, plain.get(output, output)), stacks
