"""Linear recurrences along an axis, and the cumulative logsumexp.

    linear_recurrence(a, b):  y_i = a_i y_{i−1} + b_i
    logcumsumexp(x):          y_i = log Σ_{j ≤ i} exp x_j

The derivative of ``logcumsumexp`` is a linear recurrence with coefficients between 0 and 1. Therefore the
derivative does not overflow, and needs memory proportional to the length of the axis.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.index_map import ORDERED, Arrangement, IndexMap, Relabeling, Uniform
from mindgrad.core.ir.rules import Array, Atoms, Module, Statics, Tangent, Tangents
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.primitives.accumulation_type import in_single, in_single_xla
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.axes import Along, along_axis
from mindgrad.core.primitives.comparisons import equal
from mindgrad.core.primitives.cumulative import cumsum, shifted
from mindgrad.core.primitives.elementwise import exp, safe_reciprocal
from mindgrad.core.primitives.kinds import accumulate, full, general, product, zeros
from mindgrad.core.primitives.samples import case, fixed, reals
from mindgrad.core.primitives.structural import convert

__all__ = ["linear_recurrence", "logcumsumexp"]


def _times(numpy: Module, a: Array, b: Array) -> Array:
    """Return ``a · b``, and 0 if ``b`` is 0, for each element."""
    return numpy.where(b == 0, numpy.zeros((), b.dtype), a * b)


def _recurrence_numpy(a: Array, b: Array, axis: int, reverse: bool) -> Array:
    """Return the solution of y_i = a_i y_{i−1} + b_i, computed in log₂ n steps.

    Each step doubles s in the relation y_i = a_i y_{i−s} + b_i.
    """
    a, b = [np.array(np.moveaxis(x, axis, 0)) for x in (a, b)]
    if reverse:
        a, b = a[::-1], b[::-1]
    step = 1
    while step < len(a):
        b[step:] += _times(np, a[step:], b[:-step])
        a[step:] = a[step:] * a[:-step]
        step *= 2
    return np.moveaxis(b[::-1] if reverse else b, 0, axis)


def _recurrence_xla(jax: Module, a: Array, b: Array, axis: int, reverse: bool) -> Array:
    def joined(before: tuple, after: tuple) -> tuple:
        (a, b), (c, d) = before, after
        return a * c, _times(jax.numpy, c, b) + d

    if not a.shape[axis]:
        return b
    return jax.lax.associative_scan(joined, (a, b), axis=axis, reverse=reverse)[1]


def _recurrence_jvp(y: Atom, xs: Atoms, ts: Tangents, axis: int, reverse: bool) -> Tangent:
    """Return the solution of ẏ_i = a_i ẏ_{i−1} + (ȧ_i y_{i−1} + ḃ_i)."""
    (a, _), (da, db) = xs, ts
    of_a = None
    if da is not None and y.shape[axis]:
        of_a = product(shifted(y, axis, 1, reverse, zeros), da)
    moved = accumulate([of_a, db])
    return None if moved is None else linear_recurrence(a, moved, axis=axis, reverse=reverse)


def _recurrence_transpose(ct: Atom, a: Atom, b: Atom, axis: int, reverse: bool) -> list[Tangent]:
    """Return the cotangent of b, the result of a recurrence in the opposite direction."""
    if not ct.shape[axis]:
        return [None, ct]
    following = shifted(a, axis, 1, not reverse, zeros)
    return [None, linear_recurrence(following, ct, axis=axis, reverse=not reverse)]


class _RecurrenceAxes(Uniform):
    """Index map of ``linear_recurrence``: parallel except along the recurrence axis."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        return super().index_map(shapes, parameters)._replace(kinds={parameters["axis"]: ORDERED})

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        plain = super().relabeled(old, new)
        if plain is not None:
            plain.parameters["axis"] = new.operands[0].index(next(iter(old.kinds)))
        return plain


#: ``linear_recurrence(a, b, axis, reverse)``: y_i = a_i y_{i−1} + b_i with y_{−1} = 0, or in the opposite
#: direction if ``reverse`` is true. The operator is linear in ``b``
linear_recurrence = general(
    "linear_recurrence",
    type_rule=along_axis("linear_recurrence", "inexact", count=2),
    numpy=in_single(_recurrence_numpy),
    xla=in_single_xla(_recurrence_xla),
    jvp=_recurrence_jvp,
    transpose=_recurrence_transpose,
    axes=_RecurrenceAxes(),
    samples=[
        case(reals()[2, 5, 2], reals()[2, 5, 2], axis=1, reverse=False),
        case(reals()[4], reals()[4], axis=0, reverse=True),
        case(reals()[0], reals()[0], axis=0, reverse=False),
    ],
)


# --- cumulative logsumexp --------------------------------------------------------------------------


def _running_numpy(x: Array, axis: int, reverse: bool) -> Array:
    with np.errstate(all="ignore"):
        if reverse:
            return np.flip(np.logaddexp.accumulate(np.flip(x, axis), axis=axis), axis)
        return np.logaddexp.accumulate(x, axis=axis)


def _running_jvp(y: Atom, xs: Atoms, ts: Atoms, axis: int, reverse: bool) -> Tangent:
    """Return the solution of ẏ_i = exp(y_{i−1} − y_i) ẏ_{i−1} + exp(x_i − y_i) ẋ_i."""
    (x,) = xs
    if not x.shape[axis]:
        return None

    def bottom(type: TensorType) -> Atom:
        return full(type, -np.inf)

    at_top, at_bottom = equal(y, full(y.type, np.inf)), equal(y, bottom(y.type))
    # If y = −∞, subtract 0 instead of y, so that exp(x − 0) = 0. If y = +∞, all elements equal to +∞ share
    # the derivative equally
    level = select(at_bottom, zeros(y.type), y)
    hits = convert(equal(x, full(x.type, np.inf)), dtype=x.dtype)
    share = hits * safe_reciprocal(cumsum(hits, axis=axis, reverse=reverse))

    def weight(of: Atom, among_infinite: Atom) -> Atom:
        return select(at_top, among_infinite, exp(select(at_top, zeros(x.type), of - level)))

    before = shifted(y, axis, 1, reverse, bottom)
    kept = weight(before, 1 - share)
    return linear_recurrence(kept, product(weight(x, share), ts[0]), axis=axis, reverse=reverse)


#: ``logcumsumexp(x, axis, reverse)``: y_i = log(exp x_0 + … + exp x_i), or in the opposite direction if
#: ``reverse`` is true
logcumsumexp = general(
    "logcumsumexp",
    type_rule=along_axis("logcumsumexp", "float"),
    numpy=in_single(_running_numpy),
    xla=in_single_xla(lambda jax, x, axis, reverse: jax.lax.cumlogsumexp(x, axis=axis, reverse=reverse)),
    jvp=_running_jvp,
    axes=Along("axis", ORDERED, keeps=True),
    samples=[
        case(reals()[2, 5, 2], axis=1, reverse=False, accepts="float"),
        case(reals(100, 1000)[4], axis=0, reverse=True, accepts="float"),
        case(fixed([0.5, -np.inf, 1.0]), axis=0, reverse=False, accepts="float"),
        case(reals()[0], axis=0, reverse=False, accepts="float"),
    ],
)
