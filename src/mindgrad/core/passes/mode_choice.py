"""Mode choice: forward mode instead of reverse mode for independent samples.

    y = s(v(x)),  s linear,  the samples of v independent  ⟹  J_y(x)ᵀ ct = Σ_j e_j ⊗ Σ (ct_v ∘ J_v(x) d_j)

In this formula, ``ct`` is the cotangent of y, and ``ct_v = sᵀ ct`` is the cotangent of v. The direction
``d_j`` is 1 in column j of every sample and 0 in all other columns; ``e_j`` is the unit vector of column j. A
*column* of x is an index along the axes that v mixes, such as one coordinate of each point. Physics-informed
networks have this form: they compute the gradient of the sum of the network's outputs over all points, with
respect to the points.

Terms: v *carries* an axis of x if the elements along this axis are independent, so that the Jacobian is
diagonal along it (``transforms.axis_propagation``). Otherwise v *mixes* the axis. The values v are a *cut* of
the graph, and the linear function s is the *tail* of the cut.

Proof: v carries the sample axis. Therefore element (n, j) of ``J_vᵀ ct_v`` is
``Σ_m ct_v[n, m] ∂v[n, m]/∂x[n, j]``. Because sample n of v depends only on sample n of x,
``∂v[n, m]/∂x[n, j] = (J_v d_j)[n, m]``.

**One column.** The rule emits one ``taylor_coefficients`` equation (``control.taylor_coefficients``). The
first derivative takes as long in forward mode as in reverse mode. If it is differentiated again, the
derivative is a longer Taylor series instead of the gradient of a gradient, which takes less time.

**Several columns.** Reverse mode is cheaper, unless the gradient is differentiated again. It is not known
when the gradient is built whether it will be differentiated again. Therefore the rule emits one
``per_sample_gradient`` equation, which can later be computed in both modes. If the program reads a slice of
one column, only this column is computed, in forward mode. If the equation is differentiated, one
``taylor_coefficients`` equation for each column replaces it. In a complete graph,
``passes.derivative_fusion`` does the same, and merges columns that are not differentiated again into one
gradient.

**Limits.** There are at most ``series_inputs`` inputs, which are real and have at most ``gradient_columns``
columns (``ir.cost_model``). The graph has no control flow and no effects. It has no float16 or bfloat16
values, because ``J_v d_j`` can overflow although ``ct_v`` is small and the gradient is finite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mindgrad.core.control.per_sample_gradient import per_sample_gradient, written_out
from mindgrad.core.control.taylor_coefficients import taylor_coefficients
from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import MASKED, Atom, Constant, Equation, Graph, Variable, is_all, live_equations
from mindgrad.core.ir.memo import interned, memoized
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.primitives.kinds import accumulate, ones, product, zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.static_slices import concatenate, slice_axis
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, reshape, transpose
from mindgrad.core.transforms.axis_propagation import Carried, alignment
from mindgrad.core.transforms.forward import push_tangents
from mindgrad.core.transforms.linearize import dependent
from mindgrad.core.transforms.transpose import pull_cotangents

__all__ = ["extract_function_of_vector", "pull_by_series", "push_series"]


DIAGONAL = Rewrite(
    "diagonal",
    "Jᵀ ct = Σ_j e_j (ct ∘ J d_j) if the samples of a batch are independent",
    "forward mode computes a gradient whose samples are independent",
)


class _Cut(NamedTuple):
    """A cut: values such that the outputs of a graph are linear functions of them.

    Attributes:
        x: the differentiated input.
        values: dict from each value of the cut to a tuple. For each axis of ``x``, the tuple contains the
            axis of the value that carries it, or ``None``.
        tail: the linear equations from the values to the outputs.
        weights: the cotangent of each value.
    """

    x: Variable
    values: dict[Atom, Carried]
    tail: list[Equation]
    weights: dict[Atom, Atom]

    @property
    def columns(self) -> list[int]:
        """The axes of ``x`` along which the Jacobian of some value is not diagonal."""
        axes = range(len(self.x.shape))
        return [axis for axis in axes if any(carried[axis] is None for carried in self.values.values())]


def pull_by_series(builder: Builder, xs: Sequence[Variable], ys: Atoms, cts: Atoms) -> list[Atom] | None:
    """Emit the cotangents of ``xs`` in forward mode.

    Returns ``None`` if the graph is outside the limits of the module docstring, or if reverse mode is
    cheaper.
    """
    if not 1 <= len(xs) <= costs().series_inputs:
        return None
    if not all(type(x) is Variable and x.dtype.kind == "float" and x.type.size for x in xs):
        return None
    ys, cts = _with_columns_that_count(ys, cts)
    live = live_equations(builder.equations, ys)
    if _is_contracted(live, ys, cts):
        return None
    ys = _opened(builder, live, ys)
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
    """Return whether forward mode may be cheaper than reverse mode.

    Forward mode may be cheaper if there are few columns. For more columns, a ``per_sample_gradient`` equation
    must be able to represent the derivative, so that reverse mode remains possible.
    """
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


def _is_contracted(live: Sequence[Equation], ys: Atoms, cts: Atoms) -> bool:
    """Whether ``ys`` use many columns of a per-sample gradient together.

    An example is a Hessian-vector product. Reverse mode computes it in one pass, but forward mode in one pass
    per column. Constant cotangents of the gradient itself, and slices of it, select columns.
    """
    wide = set()
    for equation in live:
        if equation.primitive is per_sample_gradient:
            (gradient,) = equation.outputs
            if gradient.shape[equation.parameters["axis"]] > costs().series_columns:
                wide.add(gradient)
        elif not wide.isdisjoint(equation.inputs):
            if not equation.primitive.moves:
                return True
            size = max(x.type.size for x in equation.inputs if x in wide)
            wide.update(y for y in equation.outputs if y.type.size >= size)
    return any(y in wide and type(ct) is not Constant for y, ct in zip(ys, cts, strict=True))


def _is_masked(cut: _Cut) -> bool:
    """Return whether a cotangent has zeros from a selection such as ``where``.

    The product of such a zero and NaN must be 0. The forward mode of this module does not ensure this.
    """
    return any(weight.tainted & MASKED for weight in cut.weights.values())


def push_series(builder: Builder, xs: Sequence[Variable], ys: Atoms, ts: Tangents) -> list[Atom] | None:
    """Emit the tangents of ``ys`` by one ``taylor_coefficients`` equation.

    Returns ``None`` if not exactly one real input has a tangent, or if a derivative of ``ys`` needs reverse
    mode.
    """
    moving = [(x, t) for x, t in zip(xs, ts, strict=True) if t is not None]
    if len(moving) != 1:
        return None
    x, t = moving[0]
    if type(x) is not Variable or x.dtype.kind != "float":
        return None
    ys = _opened(builder, live_equations(builder.equations, ys), ys)
    if _moving(live_equations(builder.equations, ys), x) is None:
        return None
    return [
        zeros(y.type) if found is None else found
        for y, found in zip(ys, map(_Line(builder, [x], ys).tangents(x, t).get, ys), strict=True)
    ]


def extract_function_of_vector(
    builder: Builder, xs: Sequence[Variable], ys: Atoms
) -> tuple[Graph, list[Variable], int] | None:
    """Extract the graph of a scalar function of a vector from a builder.

    Returns the graph, its operands, and the index of the vector among the operands. Returns ``None`` unless
    ``xs`` is one vector and ``ys`` is one scalar that depends on it, or if reverse mode is necessary.
    """
    if len(xs) != 1 or len(ys) != 1 or type(xs[0]) is not Variable or len(xs[0].shape) != 1:
        return None
    (x,), (y,) = xs, ys
    if y.shape or y.dtype is not x.dtype or x.dtype.kind != "float" or not x.type.size:
        return None
    (y,) = ys = _opened(builder, live_equations(builder.equations, ys), ys)
    moving = _moving(live_equations(builder.equations, ys), x)
    return None if moving is None or y not in moving else _Line(builder, xs, ys).program_of(x)


def _moving(live: Sequence[Equation], x: Variable) -> set[Variable] | None:
    """Find the values that depend on ``x``; ``None`` if one needs reverse mode.

    Control flow, effects, and operators with ``reads_cotangent`` need reverse mode. Collectives need it, too:
    forward mode differentiates with respect to the inputs of all ranks, but reverse mode differentiates with
    respect to the inputs of one rank.
    """
    dependents = {x}
    for equation in live:
        if equation.primitive.jvp is None or dependents.isdisjoint(equation.inputs):
            continue
        is_control = equation.primitive.kind == "control" and not equation.primitive.is_closed
        if is_control or equation.has_effect or equation.primitive.communicates:
            return None
        if equation.primitive.reads_cotangent:
            return None
        dependents.update(equation.outputs)
    return dependents


def _cuts_off(y: Variable) -> bool:
    """Return whether ``y`` is an integer that is computed from floats.

    Forward mode would truncate the tangent at such a conversion, and reverse mode the cotangent, so their
    results would differ.
    """
    if y.type.dtype.kind not in ("int", "uint") or y.made_by is None or y.made_by.primitive.multiple:
        return False
    return any(x.type.dtype.is_inexact for x in y.made_by.inputs)


def _cut(live: Sequence[Equation], x: Variable, ys: Atoms) -> _Cut | None:
    """Find a cut of ``ys`` whose values depend on few columns of ``x``, if it exists."""
    moving = _moving(live, x)
    if moving is None or any(atom.type.dtype.is_half or _cuts_off(atom) for atom in moving):
        return None
    places = alignment(live, x)
    fewest = _fewest(live, x, moving, places)
    values: dict[Atom, Carried] = {}
    tail: dict[Equation, None] = {}
    waiting = [y for y in ys if type(y) is Variable and y in moving]
    while waiting:
        y = waiting.pop()
        made_by = y.made_by
        if y in values or (made_by is not None and made_by in tail):
            continue
        count = _mixed(x, places[y])
        # The equation of ``y`` belongs to ``tail``, the linear last part of the function, in two cases.
        # Either it is linear and its operands depend on fewer columns of ``x`` than ``y``. Or it is a
        # concatenation, which joins columns of a gradient even if only some columns are used.
        if made_by is not None and (count > fewest[y] or made_by.primitive is concatenate):
            tail[made_by] = None
            waiting.extend(v for v in made_by.inputs if type(v) is Variable and v in moving)
        elif _is_affordable(count, len(live)):
            values[y] = places[y]
        else:
            return None
    return _Cut(x, values, [equation for equation in live if equation in tail], {})


def _is_affordable(columns: int, equations: int) -> bool:
    """Return whether one derivative per column costs little enough."""
    if columns <= costs().series_columns:
        return True
    return columns <= costs().gradient_columns and columns * equations <= costs().gradient_equations


def _mixed(x: Variable, carried: Carried) -> int:
    """Return the number of columns of ``x`` on which an element of a value may depend."""
    return math.prod(n for n, place in zip(x.shape, carried, strict=True) if place is None)


def _fewest(
    live: Sequence[Equation], x: Variable, moving: set[Variable], places: dict[Variable, Carried]
) -> dict[Variable, int]:
    """Return, for each value, the smallest number of columns on which a cut depends.

    The value itself is a cut of the value. If a linear equation computes the value, the cuts of the operands
    of this equation are also cuts of the value.
    """
    fewest = {x: _mixed(x, places[x])}
    for equation in live:
        behind = [fewest[atom] for atom in equation.inputs if type(atom) is Variable and atom in fewest]
        for y in equation.outputs:
            if y in moving:
                mixed = _mixed(x, places[y])
                fewest[y] = min(mixed, max(behind)) if _is_linear(equation, moving) else mixed
    return fewest


def _is_linear(equation: Equation, moving: set[Variable]) -> bool:
    """Return whether ``equation`` is linear in its operands that are in ``moving``."""
    kind = equation.primitive.kind
    if kind in ("linear", "pointwise linear"):
        return not equation.primitive.multiple
    return kind in ("multilinear", "pointwise multilinear") and sum(x in moving for x in equation.inputs) == 1


def _pulled(line: _Line, cut: _Cut) -> Atom:
    """Emit the cotangent of ``cut.x``.

    If the cut depends on several columns, the cotangent is a ``per_sample_gradient`` equation.
    """
    if not cut.values:
        return zeros(cut.x.type)
    column = next((axis for axis in cut.columns if cut.x.shape[axis] > 1), None)
    if column is None:
        return _column(line, cut, None, 0)
    program, operands, argnum = line.program_of(cut.x)
    weights = [cut.weights[v] for v in line.moved]
    carried = tuple([cut.values[v] for v in line.moved])
    return per_sample_gradient(
        *operands, *weights, program=program, argnum=argnum, axis=column, carried=carried, part=_part
    )


@memoized
def _part(program: Graph, argnum: int, column: int, carried: tuple[Carried, ...], j: int) -> Graph:
    """Build the graph of column ``j`` of a ``per_sample_gradient`` equation."""
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


def _column(line: _Line, cut: _Cut, column: int | None, j: int) -> Atom:
    """Emit the cotangent of ``cut.x`` at index ``j`` along axis ``column``.

    If ``column`` is ``None``, emit the whole cotangent.
    """
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


def _with_columns_that_count(ys: Atoms, cts: Atoms) -> tuple[list[Atom], list[Atom]]:
    """Replace each per-sample gradient by its columns with nonzero cotangents.

    For example, one column remains if the cotangent is a constant with one nonzero column.
    """
    now: list[tuple[Atom, Atom]] = []
    for y, ct in zip(ys, cts, strict=True):
        made_by = getattr(y, "made_by", None)
        if made_by is None or made_by.primitive is not per_sample_gradient or type(ct) is not Constant:
            now.append((y, ct))
            continue
        axis = made_by.parameters["axis"]
        others = tuple(k for k in range(len(y.shape)) if k != axis)
        for j in np.flatnonzero(ct.array().any(others)).tolist():
            now.append((slice_axis(y, axis, j, j + 1), slice_axis(ct, axis, j, j + 1)))
    return [y for y, _ in now], [ct for _, ct in now]


def _opened(builder: Builder, live: Sequence[Equation], ys: Atoms) -> list[Atom]:
    """Emit ``ys`` again, with every ``per_sample_gradient`` replaced by its columns.

    ``live`` are the equations that compute ``ys``. Forward mode can then differentiate each column
    separately.
    """
    now: dict[Atom, Atom] = {}
    for equation in live:
        if equation.has_effect:  # a side effect must run once, so this equation is not emitted again
            continue
        operands = tuple([now.get(x, x) for x in equation.inputs])
        if equation.primitive is per_sample_gradient:
            outputs: Atoms = [written_out(equation, operands)]
        elif now.keys().isdisjoint(equation.inputs):
            continue
        else:
            outputs = builder.emit_again(equation, operands)
        now.update(zip(equation.outputs, outputs, strict=True))
    return [now.get(y, y) for y in ys]


def _weighted(builder: Builder, cut: _Cut, ys: Atoms, cts: Atoms) -> _Cut:
    """Return ``cut`` with the cotangents of its values.

    Values whose cotangent is zero are removed.
    """
    directions = [builder.input(v.type, linear=True) for v in cut.values]
    tangents: dict[Atom, Atom] = dict(zip(cut.values, directions, strict=True))
    builder.linear_equations.clear()
    push_tangents(cut.tail, tangents)
    pulled = pull_cotangents(list(builder.linear_equations), [tangents.get(y) for y in ys], cts, directions)
    weights = {
        v: ct for v, ct in zip(cut.values, pulled, strict=True) if ct is not None and not is_all(ct, 0)
    }
    return cut._replace(values={v: cut.values[v] for v in weights}, weights=weights)


def _direction(x: Variable, column: int | None, j: int) -> Atom:
    """Return a tangent of ``x``: 1 at index ``j`` along axis ``column``, 0 elsewhere.

    If ``column`` is ``None``, return ones everywhere.
    """
    if column is None:
        return ones(x.type)
    unit = current().constant(np.eye(x.shape[column], dtype=x.dtype.numpy)[j])
    return broadcast_in_dim(unit, shape=x.shape, dims=(column,))


def _behind(builder: Builder, xs: Sequence[Variable], values: Atoms) -> tuple[list[Equation], list[Variable]]:
    """Return the equations that compute ``values``, and their inputs without ``xs``.

    Equations that do not depend on ``xs`` are included, so that derivatives with respect to different inputs
    have the same graph. If there is a branch or loop among them, only equations that depend on ``xs`` are
    included.
    """
    live = live_equations([e for e in builder.equations if not e.is_only_effect], values)
    if any(each.primitive.kind == "control" and not each.primitive.is_closed for each in live):
        return dependent(builder, list(xs), values)
    made = {y for equation in live for y in equation.outputs}
    read = [x for equation in live for x in equation.inputs] + list(values)
    needed = [x for x in dict.fromkeys(read) if type(x) is Variable and x not in made and x not in xs]
    return live, needed


class _Line:
    """The graph that computes ``values`` from ``xs``, and tangents of the values."""

    def __init__(self, builder: Builder, xs: Sequence[Variable], values: Atoms) -> None:
        self._equations = dependent(builder, list(xs), values)[0]
        self._reached = {*xs, *[y for equation in self._equations for y in equation.outputs]}
        #: the values in ``values`` that depend on ``xs``, without duplicates
        self.moved = list(dict.fromkeys(v for v in values if v in self._reached))
        equations, needed = _behind(builder, xs, values)
        # sort the inputs in the order in which equations read them, so that equal functions have equal graphs
        # for every order of ``xs``
        read = [x for equation in equations for x in equation.inputs] + self.moved
        given = {*needed, *xs}
        self._inputs = list(dict.fromkeys(x for x in read if x in given))
        self._program = interned(Graph(self._inputs, equations, self.moved))

    def program_of(self, x: Variable) -> tuple[Graph, list[Variable], int]:
        """Return the graph, its operands, and the index of ``x`` among the operands."""
        return self._program, self._inputs, self._inputs.index(x)

    def tangents(self, x: Variable, direction: Atom) -> dict[Atom, Atom]:
        """Emit the tangents, along ``direction``, of all values that depend on ``x``."""
        tangents: dict[Atom, Atom] = {x: direction}
        if all(each.primitive.is_closed or _is_linear(each, self._reached) for each in self._equations):
            # the function consists of linear functions and Taylor series; each series gets one more term
            push_tangents(self._equations, tangents)
        elif x in self._inputs:
            program, operands, argnum = self.program_of(x)
            found = taylor_coefficients(*operands, direction, program=program, argnum=argnum, order=1)
            tangents.update(zip(self.moved, found, strict=True))
        return tangents
