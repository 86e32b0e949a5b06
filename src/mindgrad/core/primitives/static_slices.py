"""Slices, concatenation, padding, and reversal at positions known when compiling.

The transpose of each of these primitives consists of primitives of this module.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import numpy as np

from mindgrad.core.ir.graph import Atom, Constant, is_all
from mindgrad.core.ir.index_map import WINDOWED, Arrangement, IndexMap, Relabeling, Uniform
from mindgrad.core.ir.rules import Array, Statics, Tangent
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.ir.work import MOVE, VIEW
from mindgrad.core.primitives.axes import SIZE, Along, Entries
from mindgrad.core.primitives.kinds import cut, linear, zeros
from mindgrad.core.primitives.movement_fusion import joined, part_of, uniform
from mindgrad.core.primitives.roots import VIEWS
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.structural import check_axes, check_ranks, splat

__all__ = ["concatenate", "pad", "reverse", "slice", "slice_axis"]


def _concatenate_type(*xs: TensorType, axis: int) -> TensorType:
    first = xs[0]
    check_axes("concatenate", first, (axis,))
    other_sizes = first.shape[:axis], first.shape[axis + 1 :]
    for x in xs:
        same_rest = x.rank == first.rank and (x.shape[:axis], x.shape[axis + 1 :]) == other_sizes
        if x.dtype is not first.dtype or not same_rest:
            raise ValueError(
                f"For 'concatenate', the inputs must have the same dtype and, apart "
                f"from axis {axis}, the same shape, but got {', '.join(map(repr, xs))}."
            )
    return first.with_shape((*other_sizes[0], sum(x.shape[axis] for x in xs), *other_sizes[1]))


def _concatenate_transpose(ct: Atom, *xs: Atom, axis: int) -> list[Tangent]:
    parts: list[Tangent] = []
    offset = 0
    for x in xs:
        end = offset + x.shape[axis]
        parts.append(slice_axis(ct, axis, offset, end) if x.linear else None)
        offset = end
    return parts


def slice_axis(x: Atom, axis: int, start: int, limit: int) -> Atom:
    """Slice ``x`` from ``start`` to ``limit`` along ``axis``."""
    rank = len(x.shape)
    begin = tuple(start if i == axis else 0 for i in range(rank))
    end = tuple(limit if i == axis else n for i, n in enumerate(x.shape))
    return slice(x, start=begin, limit=end, strides=(1,) * rank)


def _concatenate_simplify(*xs: Atom, axis: int) -> Atom | None:
    if len(xs) == 1:
        return xs[0]
    first = xs[0]
    if isinstance(first, Constant) and first.is_splat:
        value = first.value.tobytes()  # compare bytes, so that NaN equals NaN and −0 differs from 0
        if all(isinstance(x, Constant) and x.is_splat and x.value.tobytes() == value for x in xs):
            return splat(first, _concatenate_type(*[x.type for x in xs], axis=axis))
    return joined(xs, axis)


class _ConcatenateAxes(Uniform):
    """Index map of ``concatenate``: parallel except along the joined axis."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        return super().index_map(shapes, parameters)._replace(kinds={parameters["axis"]: WINDOWED})

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        plain = super().relabeled(old, new)
        if plain is not None:
            plain.parameters["axis"] = new.operands[0].index(next(iter(old.kinds)))
        return plain


#: ``concatenate(*xs, axis)``: the operands joined along ``axis``
concatenate = linear(
    "concatenate",
    work=MOVE,
    moves=True,
    type_rule=_concatenate_type,
    numpy=lambda *xs, axis: np.concatenate(xs, axis),
    xla=lambda jax, *xs, axis: jax.lax.concatenate(xs, axis),
    transpose=_concatenate_transpose,
    axes=_ConcatenateAxes(),
    simplify=_concatenate_simplify,
    samples=[case(reals()[2, 3], reals()[2, 1], reals()[2, 2], axis=1), case(reals()[2], reals()[0], axis=0)],
)


def _slice_type(x: TensorType, start: Shape, limit: Shape, strides: Shape) -> TensorType:
    check_ranks("slice", x, start=start, limit=limit, strides=strides)
    shape = []
    for n, low, high, step in zip(x.shape, start, limit, strides, strict=True):
        if not (0 <= low <= high <= n and step >= 1):
            raise ValueError(
                f"For 'slice', start ≤ limit must lie inside the input of shape {x.shape}, and the "
                f"strides must be positive, but got start {start}, limit {limit}, strides {strides}."
            )
        shape.append(-(-(high - low) // step))
    return x.with_shape(tuple(shape))


def _slice_transpose(ct: Atom, x: Atom, start: Shape, limit: Shape, strides: Shape) -> Atom:
    spread = [_dilated(n, step - 1) for n, step in zip(ct.shape, strides, strict=True)]
    high = tuple(n - low - m for n, low, m in zip(x.shape, start, spread, strict=True))
    return cut(pad(ct, low=start, high=high, interior=tuple(step - 1 for step in strides)))


def _slice_simplify(x: Atom, start: Shape, limit: Shape, strides: Shape) -> Atom | None:
    if limit == x.shape and not any(start) and all(step == 1 for step in strides):
        return x
    constant = splat(x, _slice_type(x.type, start, limit, strides))
    if constant is None and type(x) is Constant:
        return uniform(x.value[tuple(map(builtins.slice, start, limit, strides))])
    return part_of(x, start, limit, strides) if constant is None else constant


#: ``slice(x, start, limit, strides)``: the elements ``start, start + stride, … < limit`` of each axis
slice = linear(
    "slice",
    work=VIEW,
    moves=True,
    type_rule=_slice_type,
    numpy=lambda x, start, limit, strides: x[tuple(map(builtins.slice, start, limit, strides))],
    xla=lambda jax, x, start, limit, strides: jax.lax.slice(x, start, limit, strides),
    transpose=_slice_transpose,
    axes=Entries({"start": 0, "limit": SIZE, "strides": 1}),
    simplify=_slice_simplify,
    samples=[
        case(reals()[4, 5], start=(1, 0), limit=(3, 5), strides=(1, 2)),
        case(reals()[7], start=(1,), limit=(7,), strides=(3,)),
        case(reals()[3], start=(2,), limit=(2,), strides=(1,)),
        case(reals()[()], start=(), limit=(), strides=()),
    ],
)


def _dilated(n: int, interior: int) -> int:
    """Return the length of ``n`` elements with ``interior`` zeros between neighbors."""
    return n + max(n - 1, 0) * interior


def _pad_type(x: TensorType, low: Shape, high: Shape, interior: Shape) -> TensorType:
    check_ranks("pad", x, low=low, high=high, interior=interior)
    shape = tuple(
        _dilated(n, inside) + before + after
        for n, before, after, inside in zip(x.shape, low, high, interior, strict=True)
    )
    if any(n < 0 for n in (*shape, *interior)):
        raise ValueError(
            f"For 'pad', low {low}, high {high} and interior {interior} remove more elements than the "
            f"input of shape {x.shape} has."
        )
    return x.with_shape(shape)


def _pad_numpy(x: Array, low: Shape, high: Shape, interior: Shape) -> Array:
    # element i of x moves to low + i·(interior + 1); a negative ``low`` or ``high`` removes elements
    source, target, shape = [], [], []
    for n, before, after, inside in zip(np.shape(x), low, high, interior, strict=True):
        size, step = _dilated(n, inside) + before + after, inside + 1
        first = min(max(0, -(before // step)), n)
        last = min(max(first, -((before - size) // step)), n)
        place = before + first * step
        source.append(builtins.slice(first, last))
        target.append(builtins.slice(place, place + (last - first) * step, step))
        shape.append(size)
    y = np.zeros(shape, x.dtype)
    if y.size:
        y[tuple(target)] = x[tuple(source)]
    return y


def _pad_transpose(ct: Atom, x: Atom, low: Shape, high: Shape, interior: Shape) -> Atom:
    still = (0,) * len(low)
    kept = pad(ct, low=tuple(-n for n in low), high=tuple(-n for n in high), interior=still)
    strides = tuple(inside + 1 for inside in interior)
    return slice(kept, start=still, limit=kept.shape, strides=strides)


def _pad_simplify(x: Atom, low: Shape, high: Shape, interior: Shape) -> Atom | None:
    if not (any(low) or any(high) or any(interior)):
        return x
    if is_all(x, 0):
        return zeros(_pad_type(x.type, low, high, interior))
    return None


#: ``pad(x, low, high, interior)``: along each axis, ``low`` zeros before, ``high`` zeros after, and
#: ``interior`` zeros between the elements. A negative ``low`` or ``high`` removes elements
pad = linear(
    "pad",
    work=MOVE,
    moves=True,
    type_rule=_pad_type,
    numpy=_pad_numpy,
    xla=lambda jax, x, low, high, interior: jax.lax.pad(
        x, x.dtype.type(0), list(zip(low, high, interior, strict=True))
    ),
    transpose=_pad_transpose,
    axes=Entries({"low": 0, "high": 0, "interior": 0}),
    simplify=_pad_simplify,
    samples=[
        case(reals()[2, 3], low=(1, 0), high=(0, 2), interior=(0, 1)),
        case(reals()[5], low=(-2,), high=(1,), interior=(0,)),
        case(reals()[4], low=(-1,), high=(-3,), interior=(2,)),
        case(reals()[0], low=(2,), high=(1,), interior=(3,)),
        case(reals()[()], low=(), high=(), interior=()),
    ],
)


def _reverse_type(x: TensorType, axes: Shape) -> TensorType:
    check_axes("reverse", x, axes)
    return x


def _reverse_simplify(x: Atom, axes: Shape) -> Atom | None:
    if not axes:
        return x
    before = getattr(x, "made_by", None)
    if before is not None and before.primitive is reverse and before.parameters["axes"] == axes:
        return before.inputs[0]
    return splat(x, x.type)


#: ``reverse(x, axes)``: the elements of x, in opposite order along ``axes``
reverse = linear(
    "reverse",
    work=MOVE,
    moves=True,
    type_rule=_reverse_type,
    numpy=lambda x, axes: np.flip(x, axes),
    xla=lambda jax, x, axes: jax.lax.rev(x, axes),
    transpose=lambda ct, x, axes: reverse(ct, axes=axes),
    axes=Along("axes", WINDOWED, keeps=True),
    simplify=_reverse_simplify,
    samples=[case(reals()[2, 3, 2], axes=(0, 2)), case(reals()[0], axes=(0,))],
)

VIEWS.add(slice)
