"""Derivatives by a weight as sums of outer products of two small factors.

    ∂y[n] / ∂W = Σ_t left[n, t] ⊗ right[n, t]

A contraction such as y[n, t] = W x[n, t] has this structure: one factor is the operand x[n, t], and the other
is the cotangent of y[n, t]. The sum is over the positions t that use the weight, such as the tokens of a
sequence or the pixels of an image. Equations of derivatives may contract the other axis of W, which exchanges
the operand and the cotangent. Convolutions and lookups in a table have the same structure.

The equation may use a view of the weight: a transpose, a reshape, a slice, or a conversion. The factors are
mapped back to the axes of the weight itself. Axes that both factors have, such as the groups of a
convolution, are *blocks*: the outer product is computed in each block separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.index_map import index_map
from mindgrad.core.ir.types import Shape
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.convolution import conv
from mindgrad.core.primitives.convolution_axes import data_in_front
from mindgrad.core.primitives.indexing import gather
from mindgrad.core.primitives.static_slices import concatenate, pad, reverse, slice
from mindgrad.core.primitives.structural import convert, reshape, transpose
from mindgrad.curvature.meetings import Meeting
from mindgrad.curvature.row_axes import Rows

__all__ = ["OuterProducts", "Sides", "outer_products", "views_of"]

BOTH, LEFT, RIGHT = "block", "left", "right"
#: pairs (side, size) for consecutive axes of a weight: the factor that varies along them
Sides = tuple[tuple[str, int], ...]


class View(NamedTuple):
    """A weight, and the equations from it to a value with its elements."""

    weight: Variable
    steps: tuple[Equation, ...]


class OuterProducts(NamedTuple):
    """The derivative of rows by one weight, through one equation.

    Attributes:
        equation: the equation.
        rows: where the rows of the factors are in the output.
        sides: which factor varies along which axes of the weight.
        left, right: factors of shapes ``(rows, positions, blocks, size)``. One is the operand. The other is
            the cotangent, and has one item for each component of the output.
        is_left_cotangent: whether ``left`` is the cotangent.
        lookup: integers of shape ``(rows, positions)`` if the operand selects single rows of the weight. The
            operand is then ``None``. It is 1 at this index, and 0 elsewhere.
    """

    equation: Equation
    rows: Rows
    sides: Sides
    left: tuple[Atom | None, ...]
    right: tuple[Atom | None, ...]
    is_left_cotangent: bool
    lookup: Atom | None = None

    @property
    def operand(self) -> Atom | None:
        """The factor that does not depend on the component of the output."""
        return (self.right if self.is_left_cotangent else self.left)[0]

    @property
    def cotangents(self) -> tuple[Atom, ...]:
        """The factor that depends on the component of the output."""
        return self.left if self.is_left_cotangent else self.right  # type: ignore[return-value]


class _Factor(NamedTuple):
    """Factors with all axes of the weight. Axes that a factor lacks have size 1."""

    sizes: Shape
    sides: tuple[str, ...]
    operand: Atom
    cotangents: tuple[Atom, ...]

    def moved(self, rule: object, sides: tuple[str, ...], sizes: Shape) -> _Factor:
        operand = rule(self.operand, RIGHT)  # type: ignore[operator]
        cotangents = tuple([rule(x, LEFT) for x in self.cotangents])  # type: ignore[operator]
        return _Factor(sizes, sides, operand, cotangents)


def views_of(graph: Graph, weights: Sequence[Variable]) -> dict[Atom, View]:
    """Return the views of ``weights`` in ``graph``, including the weights."""
    views: dict[Atom, View] = {x: View(x, ()) for x in weights}
    for equation in graph.equations:
        if equation.primitive in _STEPS and equation.inputs[0] in views:
            view = views[equation.inputs[0]]
            views[equation.outputs[0]] = View(view.weight, (*view.steps, equation))
    return views


def outer_products(meeting: Meeting, operand: int, view: View) -> OuterProducts | None:
    """Emit the outer products of a meeting whose shared operand is a view of a weight.

    Returns ``None`` if the equation is not a contraction, convolution, or lookup, or if the view mixes axes
    of the two factors.
    """
    if meeting.use.shared != (operand,):
        return None
    primitive = meeting.equation.primitive
    if primitive is gather:
        return _of_lookup(meeting, operand, view)
    factor = None
    if primitive is dot:
        factor = _of_dot(meeting, operand)
    elif primitive is conv and operand == 1:
        factor = _of_convolution(meeting)
    for step in reversed(view.steps):
        if factor is None:
            return None
        factor = _STEPS[step.primitive](factor, step)
    return None if factor is None else _flattened(meeting, factor)


# --- contractions --------------------------------------------------------------------------------


def _of_dot(meeting: Meeting, operand: int) -> _Factor | None:
    equation, steps = meeting.equation, meeting.steps
    axes = index_map(equation)
    assert axes is not None
    of_weight, of_data, of_result = axes.operands[operand], axes.operands[1 - operand], axes.results[0]
    rows = tuple([of_result[axis] for axis in meeting.use.rows.axes])
    if set(rows) & set(of_weight):
        return None
    positions = tuple([label for label in of_result if label not in (*of_weight, *rows)])
    sides = tuple([
        BOTH if label in of_data and label in of_result else RIGHT if label in of_data else LEFT
        for label in of_weight
    ])  # fmt: skip

    def arranged(x: Atom, labels: Sequence[int]) -> Atom:
        arranged = _arranged(x, labels, rows, positions, of_weight, steps)
        return _unmerged(arranged, meeting.use.rows)

    return _Factor(
        equation.inputs[operand].shape, sides,
        arranged(meeting.operands[1 - operand], of_data),
        tuple([arranged(ct, of_result) for ct in meeting.cotangents]),
    )  # fmt: skip


def _arranged(
    x: Atom, labels: Sequence[int], rows: tuple, positions: tuple, last: Sequence[int], steps: int | None
) -> Atom:
    """Permute axes to ``(rows, steps and positions, *last)``.

    Absent axes get size 1.
    """
    at = 0 if steps is None else 1
    places = [at + labels.index(label) for label in (*positions, *last) if label in labels]
    order = [*[at + labels.index(label) for label in rows], *range(at), *places]
    sizes = [x.shape[at + labels.index(label)] if label in labels else 1 for label in last]
    count = prod([x.shape[at + labels.index(label)] for label in rows])
    return reshape(transpose(x, permutation=tuple(order)), shape=(count, _rest(x, count, sizes), *sizes))


def _unmerged(x: Atom, rows: Rows) -> Atom:
    """Move the part of axis 0 that does not belong to the rows to axis 1."""
    if (rows.outer, rows.inner) == (1, 1):
        return x
    flat, positions, *sizes = x.shape
    count = flat // (rows.outer * rows.inner)
    x = reshape(x, shape=(rows.outer, count, rows.inner, positions, *sizes))
    x = transpose(x, permutation=(1, 0, 2, 3, *range(4, len(x.shape))))
    return reshape(x, shape=(count, rows.outer * rows.inner * positions, *sizes))


def _rest(x: Atom, count: int, sizes: Sequence[int]) -> int:
    return x.type.size // max(count * prod(sizes), 1)


# --- convolutions --------------------------------------------------------------------------------


def _of_convolution(meeting: Meeting) -> _Factor | None:
    equation, rows = meeting.equation, meeting.use.rows.axes
    x, w = meeting.operands
    if meeting.steps is not None:
        return None
    spatial, is_last, groups = (
        len(w.shape) - 2,
        bool(equation.parameters.get("channels_last")),
        equation.parameters["groups"],
    )
    samples = len(x.shape) - spatial - 1
    if any(axis >= samples for axis in rows):
        return None
    if is_last:
        x = transpose(x, permutation=data_in_front(len(x.shape), spatial))
    kernel = w.shape[:spatial] if is_last else w.shape[2:]
    patches = _patches(x, samples, kernel, equation.parameters)
    if patches is None:
        return None
    others = [axis for axis in range(samples) if axis not in rows]
    count = prod([x.shape[axis] for axis in rows])
    outputs, channels = (w.shape[-1], w.shape[-2]) if is_last else w.shape[:2]
    per_group = outputs // groups

    def arranged(value: Atom, sizes: tuple[int, ...]) -> Atom:
        """Move the channels to the end, and split them into ``sizes``."""
        positions = range(samples + 1, samples + 1 + spatial)
        value = transpose(value, permutation=(*rows, *others, *positions, samples))
        value = reshape(value, shape=(count, _rest(value, count, sizes), *sizes))
        return _unmerged(value, meeting.use.rows)

    cotangents = []
    for ct in meeting.cotangents:
        ct = transpose(ct, permutation=data_in_front(len(ct.shape), spatial)) if is_last else ct
        cotangents.append(arranged(ct, (groups, per_group, 1, *(1,) * spatial)))
    operand = arranged(patches, (groups, 1, channels, *kernel))
    sizes = (groups, per_group, channels, *kernel)
    factor = _Factor(sizes, (BOTH, LEFT, *(RIGHT,) * (1 + spatial)), operand, tuple(cotangents))
    return _permuted(factor, (*range(3, 3 + spatial), 2, 0, 1)) if is_last else factor


def _patches(x: Atom, samples: int, kernel: Shape, window: dict) -> Atom | None:
    """Emit the patches that a convolution multiplies with its kernel ("im2col").

    The shape is ``(*samples, channels · window, *positions)``.
    """
    padding, strides = window["padding"], window["strides"]
    if any(amount < 0 for pair in padding for amount in pair):
        return None
    lead = (0,) * (samples + 1)
    low, high = ((*lead, *[pair[k] for pair in padding]) for k in (0, 1))
    x = pad(x, low=low, high=high, interior=(*lead, *[n - 1 for n in window["lhs_dilation"]]))
    sizes = [
        n - (k - 1) * d
        for n, k, d in zip(x.shape[samples + 1 :], kernel, window["rhs_dilation"], strict=True)
    ]
    parts = []
    for offset in np.ndindex(*kernel):
        start = (*lead, *[k * d for k, d in zip(offset, window["rhs_dilation"], strict=True)])
        limit = (*x.shape[: samples + 1], *[a + n for a, n in zip(start[samples + 1 :], sizes, strict=True)])
        part = slice(x, start=start, limit=limit, strides=(*(1,) * len(lead), *strides))
        parts.append(reshape(part, shape=(*part.shape[: samples + 1], 1, *part.shape[samples + 1 :])))
    joined = concatenate(*parts, axis=samples + 1) if len(parts) > 1 else parts[0]
    shape = joined.shape
    return reshape(
        joined, shape=(*shape[:samples], shape[samples] * shape[samples + 1], *shape[samples + 2 :])
    )


# --- lookups -------------------------------------------------------------------------------------


def _of_lookup(meeting: Meeting, operand: int, view: View) -> OuterProducts | None:
    """Emit the factors of a lookup y[n, t] = W[index[n, t]] in a matrix."""
    table, index = meeting.operands
    rows = meeting.use.rows.axes
    parameters, size = meeting.equation.parameters, len(index.shape) - 1
    if (
        operand != 0 or view.steps or meeting.steps is not None or parameters["axes"] != (0,)
        or parameters.get("batch") or len(table.shape) != 2 or index.shape[-1] != 1 or max(rows) >= size
    ):  # fmt: skip
        return None
    order = (*rows, *[axis for axis in range(size) if axis not in rows])
    count = prod([index.shape[axis] for axis in rows])
    lookup = transpose(reshape(index, shape=index.shape[:-1]), permutation=order)
    lookup = reshape(lookup, shape=(count, lookup.type.size // count))
    shape = (*lookup.shape, 1, table.shape[1])
    lookup = _unmerged(lookup, meeting.use.rows)
    cotangents = [
        _unmerged(reshape(transpose(ct, permutation=(*order, size)), shape=shape), meeting.use.rows)
        for ct in meeting.cotangents
    ]
    sides = ((LEFT, table.shape[0]), (RIGHT, table.shape[1]))
    return OuterProducts(meeting.equation, meeting.use.rows, sides, (None,), tuple(cotangents), False, lookup)


# --- views ---------------------------------------------------------------------------------------


def _groups(shape: Shape, sizes: Shape) -> list[list[int]] | None:
    """Return the axes of ``sizes`` that each axis of ``shape`` consists of."""
    groups: list[list[int]] = []
    at = 0
    for size in shape:
        group: list[int] = []
        while at < len(sizes) and (
            prod([sizes[k] for k in group]) < size or (size == 1 and not group and sizes[at] == 1)
        ):
            group.append(at)
            at += 1
        if prod([sizes[k] for k in group]) != size:
            return None
        groups.append(group)
    if not all(n == 1 for n in sizes[at:]):
        return None
    if groups:
        groups[-1].extend(range(at, len(sizes)))
    return groups


def _permuted(factor: _Factor, order: Sequence[int]) -> _Factor:
    permutation = (0, 1, *[2 + k for k in order])
    return factor.moved(
        lambda x, _: transpose(x, permutation=permutation),
        tuple([factor.sides[k] for k in order]),
        tuple([factor.sizes[k] for k in order]),
    )


def _before_transpose(factor: _Factor, step: Equation) -> _Factor | None:
    groups = _groups(step.outputs[0].shape, factor.sizes)
    if groups is None or sum(map(len, groups)) != len(factor.sizes):
        return None
    permutation = step.parameters["permutation"]
    return _permuted(factor, [k for axis in range(len(groups)) for k in groups[permutation.index(axis)]])


def _before_slice(factor: _Factor, step: Equation) -> _Factor | None:
    x, y = step.inputs[0], step.outputs[0]
    groups = _groups(y.shape, factor.sizes)
    if groups is None:
        return None
    lead = len(factor.sizes)
    low, high, interior = [0] * lead, [0] * lead, [0] * lead
    start, strides = step.parameters["start"], step.parameters["strides"]
    sizes = list(factor.sizes)
    for axis, group in enumerate(groups):
        if x.shape[axis] == y.shape[axis]:
            continue
        group = [k for k in group if factor.sizes[k] > 1] or group[:1]
        if len(group) != 1:
            return None
        (k,) = group
        low[k], interior[k], sizes[k] = start[axis], strides[axis] - 1, x.shape[axis]
        high[k] = x.shape[axis] - start[axis] - (y.shape[axis] - 1) * strides[axis] - 1

    def padded(value: Atom, side: str) -> Atom:
        has = [own in (side, BOTH) for own in factor.sides]
        amounts = [
            (0, 0, *[n if yes else 0 for n, yes in zip(ns, has, strict=True)]) for ns in (low, high, interior)
        ]
        return pad(value, low=amounts[0], high=amounts[1], interior=amounts[2])

    return factor.moved(padded, factor.sides, tuple(sizes))


def _before_reverse(factor: _Factor, step: Equation) -> _Factor | None:
    groups = _groups(step.outputs[0].shape, factor.sizes)
    if groups is None:
        return None
    axes = [k for axis in step.parameters["axes"] for k in groups[axis]]

    def reversed_axes(value: Atom, side: str) -> Atom:
        return reverse(value, axes=tuple([2 + k for k in axes if value.shape[2 + k] > 1]))

    return factor.moved(reversed_axes, factor.sides, factor.sizes)


def _before_convert(factor: _Factor, step: Equation) -> _Factor | None:
    dtype = step.inputs[0].dtype
    if dtype.kind != "float":
        return None
    return factor.moved(lambda x, _: convert(x, dtype=dtype), factor.sides, factor.sizes)


#: for each operator of a view, the function that maps factors from its result to its operand. The factors of
#: a reshaped weight are the same, because the order of its elements does not change
_STEPS = {
    reshape: lambda factor, step: factor,
    transpose: _before_transpose,
    slice: _before_slice,
    reverse: _before_reverse,
    convert: _before_convert,
}


def _flattened(meeting: Meeting, factor: _Factor) -> OuterProducts:
    """Join the axes of each factor, in their order in the weight."""
    sides = list(zip(factor.sides, factor.sizes, strict=True))
    axes = {side: [2 + k for k, (own, _) in enumerate(sides) if own == side] for side in (BOTH, LEFT, RIGHT)}
    blocks = prod([size for side, size in sides if side == BOTH])

    def joined(x: Atom, own: str) -> Atom:
        order = (0, 1, *axes[BOTH], *axes[own], *axes[RIGHT if own == LEFT else LEFT])
        return reshape(
            transpose(x, permutation=order),
            shape=(*x.shape[:2], blocks, _rest(x, prod(x.shape[:2]), (blocks,))),
        )

    operand, cotangents = joined(factor.operand, RIGHT), tuple([joined(ct, LEFT) for ct in factor.cotangents])
    merged: list[tuple[str, int]] = []
    for side, size in sides:
        if size == 1:
            continue
        if merged and merged[-1][0] == side:
            merged[-1] = (side, merged[-1][1] * size)
        else:
            merged.append((side, size))
    first = next((side for side, _ in merged if side != BOTH), LEFT)
    if first == LEFT:
        return OuterProducts(meeting.equation, meeting.use.rows, tuple(merged), cotangents, (operand,), True)
    exchanged = {LEFT: RIGHT, RIGHT: LEFT, BOTH: BOTH}
    return OuterProducts(
        meeting.equation,
        meeting.use.rows,
        tuple([(exchanged[side], n) for side, n in merged]),
        (operand,),
        cotangents,
        False,
    )


def arrange(matrix: Atom, sides: Sides, shape: Shape) -> Atom:
    """Reorder products ``(*lead, blocks, left, right)`` to ``(*lead, *shape)``."""
    lead = matrix.shape[:-3]
    order, sizes = positions_of(sides)
    count = len(lead)
    split = reshape(matrix, shape=(*lead, *sizes))
    split = transpose(split, permutation=(*range(count), *[count + k for k in order]))
    return reshape(split, shape=(*lead, *shape))


def positions_of(sides: Sides) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how to order blocks, left, and right as the axes of the weight.

    The result consists of a permutation, and of the sizes of the axes before it is applied.
    """
    ranked = [k for wanted in (BOTH, LEFT, RIGHT) for k, (side, _) in enumerate(sides) if side == wanted]
    return tuple([ranked.index(k) for k in range(len(sides))]), tuple([sides[k][1] for k in ranked])
