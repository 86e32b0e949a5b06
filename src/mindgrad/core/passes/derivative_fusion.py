"""Derivative fusion: compute derivatives along several unit vectors together.

    columns:    ∂_j y for several j   = columns of one gradient      if each derivative is read separately
    collapse:   Σ_j c_j ∂_j² y        = one forward Laplacian        if only the sum is read

A ``taylor_coefficients`` equation computes the derivatives of a function y along one direction. A *family* is
a set of such equations of one graph that have equal functions and operands, and whose directions are unit
vectors. Nested gradients with respect to all coordinates, and loops over coordinates, create families.

**Columns.** Several first derivatives are read from one gradient. Proof: y has one value per sample, so
column j of ``Jᵀ 1`` is ``∂_j y`` for every sample. When it pays: a gradient is one pass, so replacing two or
more first derivatives, one pass each, saves time. A first derivative that is also part of a longer Taylor
series of the family is not replaced, because the series computes it anyway.

**Collapse.** A forward Laplacian computes a sum of second derivatives. Proof: the second Taylor coefficient
along e_j is ``½ ∂_j² y``. The forward Laplacian (``transforms.forward_laplacian``) computes
``Σ_j D²y[p_j, q_j]``, here with ``p_j = e_j, q_j = c_j e_j``. When it pays: for sums of at least
``collapsed_directions`` terms (``ir.cost_model``). A sum of D terms then needs D + 2 passes instead of
2 D + 1, and stores one second-order term instead of D.

**Limits.** y has one value per sample. A sum may contain additions, subtractions, constant factors, and sums
over concatenated terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.control.lazy import expand_lazy
from mindgrad.core.control.taylor_coefficients import taylor_coefficients
from mindgrad.core.ir.build import current
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable, is_all
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.ir.rules import Array
from mindgrad.core.passes.graph_rewriter import Read, rebuild, rewrite_inner
from mindgrad.core.passes.peepholes import expand_columns, replace_hessian_traces
from mindgrad.core.primitives.kinds import ones, zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.static_slices import concatenate, slice_axis
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape
from mindgrad.core.transforms.forward_laplacian import collapse
from mindgrad.core.transforms.reverse import reverse

__all__ = ["COLLAPSE", "COLUMNS", "fuse_derivatives"]

COLUMNS = Rewrite(
    "columns",
    "first derivatives along several coordinates of x = components of one gradient",
    "derivatives with respect to several coordinates are read from one gradient",
)
COLLAPSE = Rewrite(
    "collapse",
    "Σ_j c_j ∂_j² y = one second-order term for all j: the forward Laplacian",
    "one forward Laplacian computes a sum of second derivatives",
)


class Member(NamedTuple):
    """A ``taylor_coefficients`` equation whose direction is a unit vector.

    Attributes:
        family: the differentiated graph and its operands. Members with the same graph and operands form one
            family.
        unit: the direction, as the pair (index of the input, column in which the unit vector is 1).
        order: number of Taylor coefficients that the equation returns.
    """

    family: Any
    unit: tuple[int, int]
    order: int


def fuse_derivatives(graph: Graph) -> Graph:
    """Fuse the derivatives in ``graph``, then expand all lazy derivatives.

    A lazy derivative (``control.lazy``) is one equation that represents a whole derivative.
    """
    graph = rewrite_inner(graph, fuse_derivatives)
    if any(equation.primitive.lazy is not None for equation in graph.equations):
        graph = _in_gradients(_collapsed(_shortened(replace_hessian_traces(expand_columns(graph)))))
    return expand_lazy(graph)


def _member(equation: Equation) -> Member | None:
    if equation.primitive is not taylor_coefficients:
        return None
    program, argnum, order = (equation.parameters[name] for name in ("program", "argnum", "order"))
    x, y = program.inputs[argnum], program.outputs[0]
    rows = x.shape[:-1]
    if len(program.outputs) > 1 or y.dtype is not x.dtype or y.shape not in (rows, (*rows, 1)):
        return None
    column = _unit(equation.inputs[-1])
    return None if column is None else Member((program, equation.inputs[:-1]), (argnum, column), order)


def _unit(direction: Atom) -> int | None:
    """Return j if ``direction`` is the unit vector e_j, otherwise ``None``."""
    made_by = getattr(direction, "made_by", None)
    if direction.shape[-1:] == (1,) and is_all(direction, 1):
        return 0
    if made_by is not None and made_by.primitive is broadcast_in_dim:
        unit, parameters = made_by.inputs[0], made_by.parameters
        if type(unit) is Variable or parameters["dims"] != (len(parameters["shape"]) - 1,):
            return None
        row = unit.array()
    elif type(direction) is Variable or not direction.shape or not direction.type.size:
        return None
    else:  # one direction per sample: all samples must have the same direction
        rows = direction.array().reshape(-1, direction.shape[-1])
        row = rows[0]
        if not np.array_equal(rows, np.broadcast_to(row, rows.shape)):
            return None
    places = np.flatnonzero(row)
    return int(places[0]) if len(places) == 1 and row[places[0]] == 1 else None


# -- Taylor coefficients that no equation reads ----------------------------------------------------


def _shortened(graph: Graph) -> Graph:
    """Drop the Taylor coefficients of higher orders than the equations need."""
    read_atoms = {*graph.outputs, *[x for equation in graph.equations for x in equation.inputs]}
    lengths = {e: _length(e, read_atoms) for e in graph.equations if e.primitive is taylor_coefficients}
    if all(equation.parameters["order"] == used for equation, used in lengths.items()):
        return graph

    def replace(equation: Equation, read: Read) -> Any:
        used = lengths.get(equation)
        if used is None or used == equation.parameters["order"]:
            return None
        program, argnum, order = (equation.parameters[name] for name in ("program", "argnum", "order"))
        made = taylor_coefficients(*map(read, equation.inputs), program=program, argnum=argnum, order=used)
        rows = [made[k * used : (k + 1) * used] for k in range(len(program.outputs))]
        return [each for row in rows for each in (*row, *[zeros(row[0].type)] * (order - used))]

    return rebuild(graph, replace)


def _length(equation: Equation, read_atoms: set[Atom]) -> int:
    """Return the highest order of a Taylor coefficient that is read, at least 1."""
    order = equation.parameters["order"]
    return max((k % order + 1 for k, y in enumerate(equation.outputs) if y in read_atoms), default=1)


# -- first derivatives -----------------------------------------------------------------------------


def _in_gradients(graph: Graph) -> Graph:
    families: dict[Any, dict[Equation, Any]] = {}
    longer: dict[Any, set[Any]] = {}
    for equation in graph.equations:
        member = _member(equation)
        if member is not None and member.order == 1:
            families.setdefault(member.family, {})[equation] = member.unit
        elif member is not None:
            longer.setdefault(member.family, set()).add(member.unit)
    columns: dict[Equation, Any] = {}
    for family, each in families.items():
        again = longer.get(family, set())
        alone = {equation: unit for equation, unit in each.items() if unit not in again}
        if len(alone) > (2 if again else 1):
            argnums = tuple(sorted({argnum for argnum, _ in alone.values()}))
            columns.update((equation, (argnums, *unit)) for equation, unit in alone.items())
    if not columns:
        return graph

    def replace(equation: Equation, read: Read) -> Any:
        if equation not in columns:
            return None
        argnums, argnum, column = columns[equation]
        (y,) = equation.outputs
        operands = [*map(read, equation.inputs[:-1]), ones(y.type)]
        gradient = current().inline(_reversed(equation.parameters["program"], argnums), operands)
        gradient = gradient[1 + argnums.index(argnum)]
        COLUMNS.fired()
        part = slice_axis(gradient, len(gradient.shape) - 1, column, column + 1)
        return [reshape(part, shape=y.shape)]

    return rebuild(graph, replace)


@memoized
def _reversed(program: Graph, places: tuple[int, ...]) -> Graph:
    return reverse(expand_lazy(program), places)


# -- sums of second derivatives --------------------------------------------------------------------


class _Sum(NamedTuple):
    """A sum ``Σ_j c_j ∂_j² y``; ``factors`` maps each unit vector to ``c_j``."""

    family: Any
    factors: dict[tuple[int, int], float]


def _sums(graph: Graph) -> dict[Variable, _Sum]:
    """Return the sums of second derivatives that are not terms of larger sums.

    The result maps the variable of each sum to its description.
    """
    sums: dict[Variable, _Sum] = {}
    for equation in graph.equations:
        member = _member(equation)
        if member is not None:
            if member.order == 2:
                sums[equation.outputs[1]] = _Sum(member.family, {member.unit: 0.5})
            continue
        made = _combined(equation, sums)
        if made is not None:
            sums[equation.outputs[0]] = made
    ends = set(graph.outputs)
    for equation in graph.equations:
        if equation.primitive.multiple or equation.outputs[0] not in sums:
            ends.update(equation.inputs)
    return {
        y: sum_ for y, sum_ in sums.items() if y in ends and len(sum_.factors) >= costs().collapsed_directions
    }


def _combined(equation: Equation, sums: dict[Variable, _Sum]) -> _Sum | None:
    """Return the result of ``equation`` as a sum of second derivatives.

    Returns ``None`` if the result does not have this form.
    """
    primitive, inputs = equation.primitive, equation.inputs
    if primitive is reduce_sum:
        return _collected(equation, sums)
    terms = [sums.get(x) if type(x) is Variable else None for x in inputs]
    if not any(terms) or primitive.multiple:
        return None
    if primitive is reshape:
        return terms[0]
    factors = _factors(equation, [term is not None for term in terms])
    if factors is None:
        return None
    return _total([_scaled(term, f) for term, f in zip(terms, factors, strict=True) if term])


def _factors(equation: Equation, flags: Sequence[bool]) -> list[float] | None:
    """Return the factors of the flagged operands of a linear combination.

    Example: for ``2 x − y`` with both operands flagged, the factors are 2 and −1. Returns ``None`` if
    ``equation`` is not linear in the flagged operands, or if other operands are not scalar constants.
    """
    primitive, inputs = equation.primitive, equation.inputs
    if primitive.is_linear:
        is_combination = primitive.pointwise and primitive.linear_in is None and all(flags)
    else:
        fixed = [x for x, flag in zip(inputs, flags, strict=True) if not flag]
        is_fixed = all(type(x) is Constant and x.is_splat for x in fixed) and len(fixed) == len(inputs) - 1
        slots = range(len(inputs)) if primitive.linear_in is None else primitive.linear_in
        is_combination = primitive.kind == "pointwise multilinear" and is_fixed and flags.index(True) in slots
    if not is_combination or equation.outputs[0].dtype.kind != "float":
        return None
    values = tuple([float(x.value) if type(x) is Constant else None for x in inputs])
    return _at_units(primitive, values, tuple(equation.parameters.items()))


def _at_units(
    primitive: Primitive, values: tuple[float | None, ...], parameters: tuple[tuple[str, object], ...]
) -> list[float] | None:
    """Evaluate a linear primitive at unit vectors, which yields its factors.

    One operand after another is 1, while all other variable operands are 0. For example, ``x − y`` has the
    factors 1 and −1. ``values`` contains the value of each constant operand, and ``None`` for each variable
    operand.
    """
    factors = []
    with np.errstate(all="ignore"):
        for k in range(len(values)):
            unit = [np.asarray(j == k if x is None else x, float) for j, x in enumerate(values)]
            factors.append(float(primitive.numpy(*unit, **dict(parameters))))
    return factors if all(map(math.isfinite, factors)) else None


def _collected(equation: Equation, sums: dict[Variable, _Sum]) -> _Sum | None:
    """Return a sum over the axis of a concatenation as a sum of second derivatives.

    Returns ``None`` if the result does not have this form.
    """
    source = getattr(equation.inputs[0], "made_by", None)
    if source is None or source.primitive is not concatenate:
        return None
    axis = source.parameters["axis"]
    if equation.parameters["axes"] != (axis,) or any(x.shape[axis] != 1 for x in source.inputs):
        return None
    return _total([sums.get(x) for x in source.inputs])


def _total(sums: Sequence[_Sum | None]) -> _Sum | None:
    """Add sums of second derivatives; return ``None`` if their functions differ."""
    first = sums[0]
    factors: dict[tuple[int, int], float] = {}
    for sum_ in sums:
        if first is None or sum_ is None or sum_.family != first.family:
            return None
        for unit, factor in sum_.factors.items():
            factors[unit] = factors.get(unit, 0.0) + factor
    return _Sum(first.family, factors) if first is not None else None


def _scaled(sum_: _Sum | None, factor: float) -> _Sum | None:
    if sum_ is None:
        return None
    return _Sum(sum_.family, {unit: factor * each for unit, each in sum_.factors.items()})


def _collapsed(graph: Graph) -> Graph:
    sums = _sums(graph)
    if not sums:
        return graph

    def replace(equation: Equation, read: Read) -> Any:
        if equation.primitive.multiple or equation.outputs[0] not in sums:
            return None
        y = equation.outputs[0]
        COLLAPSE.fired()
        return reshape(_swept(sums[y], read), shape=y.shape)

    return _shortened(rebuild(graph, replace))


def _swept(sum_: _Sum, read: Read) -> Atom:
    """Emit a forward Laplacian that computes the given sum of second derivatives."""
    program, operands = sum_.family
    units, factors = zip(*sorted(sum_.factors.items()), strict=True)
    argnums = sorted({argnum for argnum, _ in units})
    is_even = len(set(factors)) == 1
    inputs = list(map(read, operands))
    for weights in [np.ones(len(units))] if is_even else [np.ones(len(units)), np.asarray(factors)]:
        inputs += [_stack(program.inputs[argnum], argnum, units, weights) for argnum in argnums]
    sweep = collapse(expand_lazy(program), argnums, len(units), not is_even, straight=True)
    found = current().inline(sweep, inputs)[-1]
    return factors[0] * found if is_even else found


def _stack(x: Variable, argnum: int, units: Sequence[tuple[int, int]], weights: Array) -> Atom:
    """Stack one tangent of ``x`` for each unit vector in ``units``, times its weight.

    The tangent is zero if the unit vector belongs to a different input than ``argnum``.
    """
    rows = np.zeros((len(units), x.shape[-1]), x.dtype.numpy)
    for k, (which, column) in enumerate(units):
        rows[k, column] = weights[k] if which == argnum else 0
    shape = (len(units), *x.shape)
    return broadcast_in_dim(Constant(rows), shape=shape, dims=(0, len(shape) - 1))
