"""Jacobians with respect to weights, from one reverse pass for all rows.

    J[n] = ∂y[n] / ∂w        y[n] = f(w, x[n])

Reverse mode would need one pass for each row. If rows do not mix, one pass computes the cotangents of all
rows at the meetings of weights and data (``curvature.meetings``). The remaining work is local: row n of the
Jacobian by a shared value is the product of the cotangent in row n and the derivative of one equation. A
shared value that is not itself a weight, such as a transposed weight, is differentiated once more with
respect to the weights.

The result is exact for every graph. If rows mix, as in batch normalization, the values that mix them count as
shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from mindgrad.core.control.lazy import expand_lazy
from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.graph import Atom, Graph, Variable, live_equations
from mindgrad.core.ir.index_map import index_map, relabeled
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.batching import at_front
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.static_slices import concatenate, pad, slice_axis
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape, transpose
from mindgrad.core.transforms.apply_rule import between
from mindgrad.core.transforms.batch import push_batch
from mindgrad.core.transforms.jacobians import by_rows
from mindgrad.core.transforms.reverse import pull_back, reverse
from mindgrad.curvature.loop_rows import with_invariants_outside
from mindgrad.curvature.meetings import Meeting, meetings_of_rows, rows_as_vector
from mindgrad.curvature.row_axes import Rows, dependent_variables

__all__ = ["jacobians", "local_jacobian", "placed_rows", "row_jacobian_rule", "sum_of", "values_of"]


def row_jacobian_rule(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Tangents = ()) -> list[Atom]:
    """Emit the Jacobians of ``ys`` with respect to each variable in ``xs``.

    A matrix has one row for each element of the outputs, in their order, and the shape
    ``(elements, *x.shape)``.
    """
    blocks = []
    for y in map(rows_as_vector, ys):
        if y in xs:
            matrices = by_rows(builder, xs, [y])
            blocks.append([reshape(x, shape=(y.type.size, *x.shape[len(y.shape) :])) for x in matrices])
            continue
        graph, needed = between(builder, xs, [y])
        graph = with_invariants_outside(expand_lazy(graph))
        inputs = [*needed, *xs]
        blocks.append(_jacobian(graph, inputs, graph.inputs[len(needed) :]))
    return [_joined([block[k] for block in blocks]) for k in range(len(xs))]


def _joined(matrices: Atoms) -> Atom:
    return concatenate(*matrices, axis=0) if len(matrices) > 1 else matrices[0]


def _jacobian(graph: Graph, inputs: Atoms, weights: Sequence[Variable]) -> list[Atom]:
    values = values_of(graph, inputs)
    meetings = meetings_of_rows(graph, values, weights, graph.outputs[0])
    return jacobians(graph, values, meetings, weights, graph.outputs[0].shape)


def values_of(graph: Graph, inputs: Atoms) -> dict[Atom, Atom]:
    """Emit ``graph``, and return the values of all its variables."""
    builder = current()
    values: dict[Atom, Atom] = dict(zip(graph.inputs, inputs, strict=True))
    for equation in graph.equations:
        operands = [values.get(x, x) for x in equation.inputs]
        values.update(zip(equation.outputs, builder.emit_again(equation, operands), strict=True))
    return values


def jacobians(
    graph: Graph,
    values: dict[Atom, Atom],
    meetings: Sequence[Meeting],
    weights: Sequence[Variable],
    shape: Sequence[int],
) -> list[Atom]:
    """Emit the Jacobians of an output of the given shape with respect to ``weights``.

    ``meetings`` are the meetings of at least these weights. The result contains one matrix of shape
    ``(elements, *x.shape)`` for each weight.
    """
    dependent = dependent_variables(graph.equations, weights)
    by_shared: dict[Atom, list[Atom]] = {}
    for meeting in meetings:
        for operand in meeting.use.shared:
            shared = meeting.variables[operand]
            if shared not in dependent:
                continue
            rows = [local_jacobian(meeting, operand, ct) for ct in meeting.cotangents]
            rows = [placed_rows(x, meeting.use.rows, shape[0]) for x in rows]
            by_shared.setdefault(shared, []).append(_interleaved(rows))
    sums = {x: sum_of(terms) for x, terms in by_shared.items()}
    totals: dict[Atom, list[Atom]] = {x: [sums.pop(x)] for x in weights if x in sums}
    if sums:
        pulled = _pulled_to_weights(graph, values, weights, sums)
        for x, jacobian in zip(weights, pulled, strict=True):
            totals.setdefault(x, []).append(jacobian)
    count = prod(shape)
    return [
        sum_of(totals[x]) if x in totals else zeros(tensor_type(x.dtype, (count, *x.shape))) for x in weights
    ]


def sum_of(terms: Sequence[Atom]) -> Atom:
    """Emit the sum of at least one term."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def local_jacobian(meeting: Meeting, operand: int, cotangent: Atom) -> Atom:
    """Emit the derivative of each row by the shared ``operand``.

    The result has the shape ``(rows, *operand.shape)``.
    """
    if meeting.steps is not None:
        return _sum_over_steps(meeting, operand, cotangent)
    jacobian = None
    if meeting.equation.primitive is broadcast_in_dim:
        jacobian = _of_broadcast(meeting, cotangent)
    if jacobian is None:
        jacobian = _by_relabeling(meeting, operand, cotangent)
    if jacobian is None:
        jacobian = _row_by_row(meeting, operand, cotangent)
    return folded(jacobian, meeting.use.rows)


def _sum_over_steps(meeting: Meeting, operand: int, cotangent: Atom) -> Atom:
    """Emit the Jacobian of the iterations of a loop, and return its sum."""
    steps = meeting.steps
    assert steps is not None
    is_stacked = [k not in meeting.use.shared for k in range(len(meeting.operands))] + [True]
    arguments = [*meeting.operands, cotangent]
    builder = Builder()
    with building(builder):
        inputs = [
            builder.input(x.type.with_shape(x.shape[1:]) if yes else x.type, tainted=x.tainted)
            for x, yes in zip(arguments, is_stacked, strict=True)
        ]
        one = meeting._replace(operands=tuple(inputs[:-1]), steps=None)
        graph = builder.close([local_jacobian(one, operand, inputs[-1])])
    (rows,), (at,) = push_batch(graph, arguments, [0 if yes else None for yes in is_stacked], steps)
    return reduce_sum(at_front(steps, rows, at), axes=(0,))


def folded(x: Atom, rows: Rows) -> Atom:
    """Sum the elements along axis 0 that belong to the same row."""
    if (rows.outer, rows.inner) == (1, 1):
        return x
    count = x.shape[0] // (rows.outer * rows.inner)
    split = reshape(x, shape=(rows.outer, count, rows.inner, *x.shape[1:]))
    return reduce_sum(split, axes=(0, 2))


def _of_broadcast(meeting: Meeting, cotangent: Atom) -> Atom:
    """Sum the cotangent over the axes that repeat the operand, except the rows."""
    rows, dims = meeting.use.rows.axes, meeting.equation.parameters["dims"]
    x, y = meeting.operands[0], meeting.equation.outputs[0]
    own = [axis for axis, n in zip(dims, x.shape, strict=True) if axis not in rows and n == y.shape[axis]]
    remaining = [axis for axis in range(len(y.shape)) if axis in rows or axis in own]
    summed = tuple([axis for axis in range(len(y.shape)) if axis not in remaining])
    total = reduce_sum(cotangent, axes=summed)
    total = transpose(total, permutation=tuple([remaining.index(axis) for axis in (*rows, *own)]))
    return reshape(total, shape=(prod([y.shape[axis] for axis in rows]), *x.shape))


def _by_relabeling(meeting: Meeting, operand: int, cotangent: Atom) -> Atom | None:
    """Give the operand one copy for each row, and differentiate by the copies.

    Returns ``None`` if the operator does not accept row axes for this operand.
    """
    equation, use, operands = meeting.equation, meeting.use, meeting.operands
    axes = index_map(equation)
    if axes is None:
        return None
    labels = tuple([axes.results[0][axis] for axis in use.rows.axes])
    x = operands[operand]
    if set(labels) & (set(axes.operands[operand]) | axes.kinds.keys()):
        return None
    of_operands = list(axes.operands)
    of_operands[operand] = (*labels, *of_operands[operand])
    form = relabeled(equation, axes, of_operands, axes.results)
    if form is None or sorted(form.results[0]) != sorted(axes.results[0]):
        return None
    sizes = tuple([equation.outputs[0].shape[axis] for axis in use.rows.axes])
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(operands)
        ct = builder.input(cotangent.type)
        copies = builder.input(tensor_type(x.dtype, (*sizes, *x.shape)), tainted=x.tainted)
        given = [*inputs[:operand], copies, *inputs[operand + 1 :]]
        y = equation.primitive(*(given[::-1] if form.swaps else given), **form.parameters)
        if len(y.shape) != len(axes.results[0]):
            return None  # the operator inserts the axis of the rows itself
        y = transpose(y, permutation=tuple(map(form.results[0].index, axes.results[0])))
        rows = reshape(pull_back(builder, [copies], [y], [ct])[0], shape=(prod(sizes), *x.shape))
        graph = builder.close([rows])
    dims = tuple(range(len(sizes), len(sizes) + len(x.shape)))
    repeated = broadcast_in_dim(x, shape=(*sizes, *x.shape), dims=dims)
    return current().inline(graph, [*operands, cotangent, repeated])[0]


def _row_by_row(meeting: Meeting, operand: int, cotangent: Atom) -> Atom:
    """Differentiate the equation once for each row.

    The cotangents of all other rows are zero.
    """
    equation, use, operands = meeting.equation, meeting.use, meeting.operands
    sizes = [cotangent.shape[axis] for axis in use.rows.axes]
    count = prod(sizes)
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(operands)
        ct = builder.input(cotangent.type)
        ys = builder.emit_again(equation, inputs)
        graph = builder.close(pull_back(builder, [inputs[operand]], ys, [ct]))
    unit = current().constant(np.eye(count, dtype=cotangent.dtype.numpy).reshape(count, *sizes))
    dims = (0, *[1 + axis for axis in use.rows.axes])
    shape = (count, *cotangent.shape)
    masks = broadcast_in_dim(unit, shape=shape, dims=dims)
    cts = masks * broadcast_in_dim(cotangent, shape=shape, dims=tuple(range(1, len(shape))))
    (rows,), (at,) = push_batch(graph, [*operands, cts], [*[None] * len(operands), 0], count)
    return at_front(count, rows, at)


def placed_rows(x: Atom, rows: Rows, count: int) -> Atom:
    """Move rows to their position among ``count`` rows. The others are zero."""
    start, limit = rows.start, rows.start + x.shape[0]
    if start < 0 or limit > count:
        x = slice_axis(x, 0, max(0, -start), x.shape[0] - max(0, limit - count))
        start, limit = max(0, start), min(limit, count)
    if (start, limit) == (0, count):
        return x
    others = (0,) * (len(x.shape) - 1)
    return pad(x, low=(start, *others), high=(count - limit, *others), interior=(0, *others))


def _interleaved(components: Atoms) -> Atom:
    """Join the rows of all components: row n of component c becomes row (n, c)."""
    if len(components) == 1:
        return components[0]
    rows, *shape = components[0].shape
    parts = [reshape(x, shape=(rows, 1, *shape)) for x in components]
    return reshape(concatenate(*parts, axis=1), shape=(rows * len(components), *shape))


def _pulled_to_weights(
    graph: Graph, values: dict[Atom, Atom], weights: Sequence[Variable], rows: dict[Atom, Atom]
) -> list[Atom]:
    """Apply the chain rule from shared values to ``weights``."""
    shared = list(rows)
    inner = Graph(graph.inputs, live_equations(graph.equations, shared), shared)
    positions = [graph.inputs.index(x) for x in weights]
    pullback = reverse(inner, positions)
    derivative = Graph(
        pullback.inputs,
        live_equations(pullback.equations, pullback.outputs[len(shared) :]),
        pullback.outputs[len(shared) :],
    )
    count = next(iter(rows.values())).shape[0]
    operands = [*[values[x] for x in graph.inputs], *rows.values()]
    axes = [*[None] * len(graph.inputs), *[0] * len(shared)]
    pulled, places = push_batch(derivative, operands, axes, count)
    return [at_front(count, x, at) for x, at in zip(pulled, places, strict=True)]
