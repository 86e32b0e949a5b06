"""Mode choice turns reverse mode into forward mode where the rows of a batch are independent.

    y = s(v(x)),  s linear,  v carries the rows of x   ⟹   J_y(x)ᵀ ct = Σ_j e_j ⊗ Σ (ct_v ∘ J_v(x) d_j)

with ``ct_v = sᵀ ct``, and ``d_j`` one for column j of every row. Proof: along a carried axis the Jacobian of
``v`` is diagonal (``transforms.axis_propagation``), so element (n, j) of ``J_vᵀ ct_v`` is ``Σ_m ct_v[n, m]
∂v[n, m]/∂x[n, j]``, ``∂v[n, m]/∂x[n, j] = (J_v d_j)[n, m]`` because no other row of ``d_j`` reaches row n.
Physics-informed networks are written that way: the gradient of the sum of ``u`` over all points, in the
points.

The rule emits one ``taylor_coefficients`` equation (``control.taylor_coefficients``), so that nested
gradients become Taylor series; for several columns it emits one ``rowwise_gradient`` equation. Reading a
column of the latter replaces it by a ``taylor_coefficients`` equation; differentiating it again replaces it
by one per column (:func:`in_columns`).

When it pays: with one column a gradient costs the same in both modes, and the next one is a longer series
instead of the gradient of a gradient. With several columns reverse mode is cheaper unless the gradient is
differentiated again; that is decided at the next derivative, or when the program is finished
(``optimize.derivative_fusion``). Limits: programs without control flow and without effects, real inputs, at
most ``series_inputs`` of them and ``gradient_columns`` columns, nothing in half precision: there ``J_v d_j``
may be infinite where ``ct_v`` is small and the gradient is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.control.rowwise_gradient import rowwise_gradient, written_out
from mindgrad.control.taylor_coefficients import taylor_coefficients
from mindgrad.ir.build import Builder, building, current
from mindgrad.ir.cost_model import costs
from mindgrad.ir.graph import MASKED, Constant, Equation, Graph, Variable, live_equations
from mindgrad.ir.memo import interned, memoized
from mindgrad.ir.rewriting import Rewrite
from mindgrad.optimize.graph_rewriter import rebuilt
from mindgrad.rows.kinds import accumulate, ones, product, zeros
from mindgrad.rows.reduction import reduce_sum
from mindgrad.rows.static_slices import concatenate, slice_axis
from mindgrad.rows.structural import broadcast_in_dim, convert, reshape, transpose
from mindgrad.transforms.axis_propagation import Carried, alignment
from mindgrad.transforms.forward import push_tangents
from mindgrad.transforms.linearize import dependent
from mindgrad.transforms.transpose import pull_cotangents

__all__ = ["as_series", "in_columns", "of_vector", "pulled_along"]


DIAGONAL = Rewrite(
    "diagonal",
    "Jᵀ ct = Σ_j e_j (ct ∘ J d_j) where J is diagonal across the rows of a batch",
    "the gradient of rows that do not mix was computed in forward mode",
)


class _Cut(NamedTuple):
    """Values between an input and the outputs: the outputs are linear in them.

    Attributes:
        x: the input.
        values: the values, with what they carry of it.
        tail: the equations behind them.
        weights: the cotangents of the values.
    """

    x: Variable
    values: dict[Variable, Carried]
    tail: list[Equation]
    weights: dict[Variable, Any]

    @property
    def columns(self) -> list[int]:
        """The axes of the input that one of the values mixes."""
        axes = range(len(self.x.shape))
        return [axis for axis in axes if any(carried[axis] is None for carried in self.values.values())]


def pulled_along(
    builder: Builder, xs: Sequence[Any], ys: Sequence[Any], cts: Sequence[Any]
) -> list[Any] | None:
    """The cotangents of ``xs`` by forward mode; ``None`` where that is not possible or not considered."""
    if not 1 <= len(xs) <= costs().series_inputs:
        return None
    if not all(type(x) is Variable and x.dtype.kind == "float" and x.type.size for x in xs):
        return None
    ys, cts = _with_columns_that_count(ys, cts)
    ys = _opened(builder, ys)
    live = live_equations(builder.equations, ys)
    cuts = []
    for x in xs:
        cut = _cut(live, x, ys)
        if cut is None:
            return None
        cuts.append(cut)
    cuts = [_weighted(builder, cut, ys, cts) for cut in cuts]
    if not _is_considered(xs, cuts):
        return None
    line = _Line(builder, xs, [v for cut in cuts for v in cut.values])
    made = [_pulled(line, cut) for cut in cuts]
    DIAGONAL.fired(len(made))
    return made


def _is_considered(xs: Sequence[Variable], cuts: Sequence[_Cut]) -> bool:
    """Whether there are few columns, or one gradient gives them all if nobody differentiates again."""
    mixed = [[axis for axis in cut.columns if x.shape[axis] > 1] for x, cut in zip(xs, cuts, strict=True)]
    if any(len(axes) > 1 for axes in mixed):
        return False
    if any(axes and _is_masked(cut) for axes, cut in zip(mixed, cuts, strict=True)):
        return False
    counts = [math.prod(x.shape[axis] for axis in cut.columns) for x, cut in zip(xs, cuts, strict=True)]
    if sum(counts) == 1 or (len(xs) == 1 and counts[0] <= costs().series_columns) or set(counts) == {1}:
        return True
    (x,), (cut,) = xs[:1], cuts[:1]
    rows = x.shape[:-1]
    is_family = len(cut.values) == 1 and next(iter(cut.values)).shape in (rows, (*rows, 1))
    return len(xs) == 1 and is_family and cut.columns == [len(x.shape) - 1]


def _is_masked(cut: _Cut) -> bool:
    """Whether a cotangent has zeros of a selection, which must discard NaN."""
    return any(weight.tainted & MASKED for weight in cut.weights.values())


def as_series(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], ts: Sequence[Any]) -> list[Any] | None:
    """The tangents of ``ys`` as one ``taylor_coefficients`` equation; ``None`` where that is not possible."""
    moving = [(x, t) for x, t in zip(xs, ts, strict=True) if t is not None]
    if len(moving) != 1:
        return None
    x, t = moving[0]
    if type(x) is not Variable or x.dtype.kind != "float":
        return None
    ys = _opened(builder, ys)
    if _moving(live_equations(builder.equations, ys), x) is None:
        return None
    return [
        zeros(y.type) if found is None else found
        for y, found in zip(ys, map(_Line(builder, [x], ys).tangents(x, t).get, ys), strict=True)
    ]


def of_vector(builder: Builder, xs: Sequence[Any], ys: Sequence[Any]) -> tuple[Graph, list[Any], int] | None:
    """A number as a function of a vector: its program, the operands, and which of them the vector is.

    ``None`` where it is something else, or has control flow or effects in it.
    """
    if len(xs) != 1 or len(ys) != 1 or type(xs[0]) is not Variable or len(xs[0].shape) != 1:
        return None
    (x,), (y,) = xs, ys
    if y.shape or y.dtype is not x.dtype or x.dtype.kind != "float" or not x.type.size:
        return None
    (y,) = ys = _opened(builder, ys)
    moving = _moving(live_equations(builder.equations, ys), x)
    return None if moving is None or y not in moving else _Line(builder, xs, ys).program_of(x)


def _moving(live: Sequence[Equation], x: Variable) -> set[Any] | None:
    """The values that depend on ``x``; ``None`` if they need reverse mode.

    Control flow, effects, and operators that read the form of their cotangent need it.

    Forward mode through a collective moves the inputs of all ranks, reverse mode those of one: they are not
    each other's substitutes.
    """
    dependents: set[Any] = {x}
    for equation in live:
        if equation.primitive.jvp is None or dependents.isdisjoint(equation.inputs):
            continue
        is_control = equation.primitive.kind == "control" and not equation.primitive.closed
        if is_control or equation.has_effect or equation.primitive.communicates:
            return None
        if equation.primitive.reads_cotangent:
            return None
        dependents.update(equation.outputs)
    return dependents


def _cuts_off(y: Variable) -> bool:
    """Whether ``y`` is a float made an integer: the modes cut off fractions of different numbers there."""
    if y.type.dtype.kind not in ("int", "uint") or y.made_by is None or y.made_by.primitive.multiple:
        return False
    return any(x.type.dtype.is_inexact for x in y.made_by.inputs)


def _cut(live: Sequence[Equation], x: Variable, ys: Sequence[Any]) -> _Cut | None:
    """The values nearest to ``ys`` whose mixed axes of ``x`` are few, if what follows them is linear."""
    moving = _moving(live, x)
    if moving is None or any(atom.type.dtype.is_half or _cuts_off(atom) for atom in moving):
        return None
    places = alignment(live, x)
    fewest = _fewest(live, x, moving, places)
    values: dict[Variable, Carried] = {}
    tail: dict[Equation, None] = {}
    waiting = [y for y in ys if y in moving]
    while waiting:
        y = waiting.pop()
        if y in values or y.made_by in tail:
            continue
        count = _mixed(x, places[y])
        # linear in values that carry more axes, or a gradient, of whose columns few may be wanted
        if count > fewest[y] or (y.made_by is not None and y.made_by.primitive is concatenate):
            tail[y.made_by] = None
            waiting.extend(atom for atom in y.made_by.inputs if atom in moving)
        elif _is_affordable(count, len(live)):
            values[y] = places[y]
        else:
            return None
    return _Cut(x, values, [equation for equation in live if equation in tail], {})


def _is_affordable(columns: int, equations: int) -> bool:
    """Whether a derivative of each of so many columns is worth making."""
    if columns <= costs().series_columns:
        return True
    return columns <= costs().gradient_columns and columns * equations <= costs().gradient_equations


def _mixed(x: Variable, carried: Carried) -> int:
    """The number of columns of ``x`` that a value mixes."""
    return math.prod(n for n, place in zip(x.shape, carried, strict=True) if place is None)


def _fewest(
    live: Sequence[Equation], x: Variable, moving: set[Any], places: dict[Variable, Carried]
) -> dict[Variable, int]:
    """For each value the columns that it mixes, or that those mix of which it is a linear function."""
    fewest = {x: _mixed(x, places[x])}
    for equation in live:
        behind = [fewest[atom] for atom in equation.inputs if type(atom) is Variable and atom in fewest]
        for y in equation.outputs:
            if y in moving:
                mixed = _mixed(x, places[y])
                fewest[y] = min(mixed, max(behind)) if _is_linear(equation, moving) else mixed
    return fewest


def _is_linear(equation: Equation, moving: set[Any]) -> bool:
    """Whether ``equation`` is linear in what depends on the input."""
    kind = equation.primitive.kind
    if kind in ("linear", "pointwise linear"):
        return not equation.primitive.multiple
    return kind in ("multilinear", "pointwise multilinear") and sum(x in moving for x in equation.inputs) == 1


def _pulled(line: _Line, cut: _Cut) -> Any:
    """The cotangent of the input of a cut: one column from each direction."""
    if not cut.values:
        return zeros(cut.x.type)
    column = next((axis for axis in cut.columns if cut.x.shape[axis] > 1), None)
    if column is None:
        return _column(line, cut, None, 0)
    program, operands, argnum = line.program_of(cut.x)
    weights = [cut.weights[v] for v in line.moved]
    carried = tuple([cut.values[v] for v in line.moved])
    return rowwise_gradient(
        *operands, *weights, program=program, argnum=argnum, axis=column, carried=carried, part=_part
    )


@memoized
def _part(program: Graph, argnum: int, column: int, carried: tuple[Carried, ...], j: int) -> Graph:
    """Column ``j`` of the gradient, as ``control.rowwise_gradient`` takes it."""
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(program.inputs)
        weights = builder.inputs_like(program.outputs)
        values = builder.inline(program, inputs)
        cut = _Cut(
            inputs[argnum],
            dict(zip(values, carried, strict=True)),
            [],
            dict(zip(values, weights, strict=True)),
        )
        return builder.close([_column(_Line(builder, [cut.x], values), cut, column, j)])


def _column(line: _Line, cut: _Cut, column: int | None, j: int) -> Any:
    """The cotangent of column ``j``; of all of the input where ``column`` is ``None``."""
    x, mixed = cut.x, cut.columns
    unmixed = [axis for axis in range(len(x.shape)) if axis not in mixed]
    pushed = line.tangents(x, _direction(x, column, j))
    terms = []
    for v, carried in cut.values.items():
        tangent = pushed.get(v)
        if tangent is None:
            continue
        places = [row_dim for axis in unmixed if (row_dim := carried[axis]) is not None]
        others = tuple(axis for axis in range(len(v.shape)) if axis not in places)
        term = product(cut.weights[v], tangent)
        term = convert(reduce_sum(term, axes=others) if others else term, dtype=x.dtype)
        left = sorted(places)
        terms.append(transpose(term, permutation=tuple(left.index(row_dim) for row_dim in places)))
    total = accumulate(terms)
    shape = tuple(1 if axis in mixed else n for axis, n in enumerate(x.shape))
    return zeros(x.type.with_shape(shape)) if total is None else reshape(total, shape=shape)


def _with_columns_that_count(ys: Sequence[Any], cts: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Gradients as those of their columns whose cotangent is not known to be zero (of a one-hot one, one)."""
    now: list[tuple[Any, Any]] = []
    for y, ct in zip(ys, cts, strict=True):
        made_by = getattr(y, "made_by", None)
        if made_by is None or made_by.primitive is not rowwise_gradient or type(ct) is not Constant:
            now.append((y, ct))
            continue
        axis = made_by.parameters["axis"]
        others = tuple(k for k in range(len(y.shape)) if k != axis)
        for j in np.flatnonzero(ct.array().any(others)).tolist():
            now.append((slice_axis(y, axis, j, j + 1), slice_axis(ct, axis, j, j + 1)))
    return [y for y, _ in now], [ct for _, ct in now]


def _opened(builder: Builder, ys: Sequence[Any]) -> list[Any]:
    """``ys`` with the columns of gradients in their place, which is emitted again from there on."""
    now: dict[Any, Any] = {}
    for equation in live_equations(builder.equations, ys):
        if equation.has_effect:  # it runs once, where it stands
            continue
        operands = tuple([now.get(x, x) for x in equation.inputs])
        if equation.primitive is rowwise_gradient:
            outputs: Sequence[Any] = [written_out(equation, operands)]
        elif now.keys().isdisjoint(equation.inputs):
            continue
        else:
            outputs = builder.emit_again(equation, operands)
        now.update(zip(equation.outputs, outputs, strict=True))
    return [now.get(y, y) for y in ys]


def in_columns(graph: Graph) -> Graph:
    """``graph`` with the columns of its gradients (``control.rowwise_gradient``) in their place."""
    if not any(equation.primitive is rowwise_gradient for equation in graph.equations):
        return graph

    def replace(equation: Equation, read: Any) -> Any:
        if equation.primitive is not rowwise_gradient:
            return None
        return written_out(equation, [read(x) for x in equation.inputs])

    return rebuilt(graph, replace)


def _weighted(builder: Builder, cut: _Cut, ys: Sequence[Any], cts: Sequence[Any]) -> _Cut:
    """``cut`` with the cotangents of its values, and without values whose cotangent is zero."""
    tangents: dict[Any, Any] = {v: builder.input(v.type, linear=True) for v in cut.values}
    directions = [tangents[v] for v in cut.values]
    builder.linear_equations.clear()
    push_tangents(cut.tail, tangents)
    pulled = pull_cotangents(list(builder.linear_equations), [tangents.get(y) for y in ys], cts, directions)
    weights = {
        v: ct
        for v, ct in zip(cut.values, pulled, strict=True)
        if ct is not None and not (type(ct) is Constant and ct.is_all(0))
    }
    return cut._replace(values={v: cut.values[v] for v in weights}, weights=weights)


def _direction(x: Variable, column: int | None, j: int) -> Any:
    """One in column ``j`` of every row."""
    if column is None:
        return ones(x.type)
    unit = current().constant(np.eye(x.shape[column], dtype=x.dtype.numpy)[j])
    return broadcast_in_dim(unit, shape=x.shape, dims=(column,))


def _behind(builder: Builder, xs: Sequence[Any], values: Sequence[Any]) -> tuple[list[Equation], list[Any]]:
    """The equations behind ``values``, and what they need besides ``xs``.

    All of them, also those that do not depend on ``xs``: then the program is the same whatever moves. Not
    where control flow or an effect, which must run once, is among them.
    """
    live = live_equations([e for e in builder.equations if not e.is_only_effect], values)
    if any(each.primitive.kind == "control" and not each.primitive.closed for each in live):
        return dependent(builder, list(xs), values)
    made = {y for equation in live for y in equation.outputs}
    read = [x for equation in live for x in equation.inputs] + list(values)
    needed = [x for x in dict.fromkeys(read) if type(x) is Variable and x not in made and x not in xs]
    return live, needed


class _Line:
    """The part of a program that depends on ``xs``, for any direction of one of them."""

    def __init__(self, builder: Builder, xs: Sequence[Any], values: Sequence[Any]) -> None:
        self._equations = dependent(builder, list(xs), values)[0]
        self._reached = {*xs, *[y for equation in self._equations for y in equation.outputs]}
        #: the values that depend on ``xs``
        self.moved = list(dict.fromkeys(v for v in values if v in self._reached))
        equations, needed = _behind(builder, xs, values)
        # in the order in which they are read: the same program has the same inputs, whatever moves
        read = [x for equation in equations for x in equation.inputs] + self.moved
        given = {*needed, *xs}
        self._inputs = list(dict.fromkeys(x for x in read if x in given))
        self._program = interned(Graph(self._inputs, equations, self.moved))

    def program_of(self, x: Any) -> tuple[Graph, list[Any], int]:
        """The program, its operands, and which of them ``x`` is."""
        return self._program, self._inputs, self._inputs.index(x)

    def tangents(self, x: Any, direction: Any) -> dict[Any, Any]:
        """The derivatives along ``direction`` of the values that depend on ``x``."""
        tangents: dict[Any, Any] = {x: direction}
        if all(each.primitive.closed or _is_linear(each, self._reached) for each in self._equations):
            push_tangents(self._equations, tangents)  # series that get longer, and sums of them
        elif x in self._inputs:
            program, operands, argnum = self.program_of(x)
            found = taylor_coefficients(*operands, direction, program=program, argnum=argnum, order=1)
            tangents.update(zip(self.moved, found, strict=True))
        return tangents
