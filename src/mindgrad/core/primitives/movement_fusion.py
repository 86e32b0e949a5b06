"""Fusion of data movement: replace two slices, pads, or reshapes by one or none.

    part(a constant) = one element, if all are equal
    part(join(a, b)) = part(a)        join(part₀(x), part₁(x), …) = x        reshape(reshape(x)) = reshape(x)
    pad(a, after) + pad(b, before) = join(a, b)            part(f(x)): see :data:`PARTS` for f

Here ``part`` is a slice and ``join`` is a concatenation. A derivative often concatenates the columns of a
gradient, and user code then slices the gradient. With these rules, only the columns that are used are
computed. The gradient of slices of an array is a sum of padded arrays, which becomes one concatenation. Each
function of this module returns the replacement of the outer operator, or ``None`` if there is none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mindgrad.core.ir.graph import Atom, Constant, made_with
from mindgrad.core.ir.primitive import REGISTRY, Primitive
from mindgrad.core.ir.rules import Array, Atoms
from mindgrad.core.ir.types import Shape, type_of

__all__ = ["PARTS", "joined", "part_of", "reshaped_twice", "sum_of_parts", "uniform"]

#: maps each primitive that can compute a slice of its result without the whole result to a rule.
#: ``PARTS[primitive](equation, start, limit, strides)`` returns the slice, or ``None`` if the primitive
#: cannot compute it
PARTS: dict[Primitive, Callable] = {}


def reshaped_twice(x: Atom, shape: Shape) -> Atom | None:
    """If ``x`` is a reshape, return ``reshape(x, shape)`` as a single reshape."""
    inner = made_with(x, "reshape")
    return None if inner is None else REGISTRY["reshape"](inner.inputs[0], shape=shape)


def sum_of_parts(a: Atom, b: Atom) -> Atom | None:
    """Return ``a + b`` as a padded concatenation.

    Returns ``None`` unless ``a`` and ``b`` are padded with zeros and their contents are adjacent.
    """
    first = made_with(a, "pad")
    second = None if first is None else made_with(b, "pad")
    if first is None or second is None:
        return None
    if any(first.parameters["interior"]) or any(second.parameters["interior"]):
        return None
    low, high = first.parameters["low"], first.parameters["high"]
    other_low, other_high = second.parameters["low"], second.parameters["high"]
    axes = [k for k in range(len(low)) if (low[k], high[k]) != (other_low[k], other_high[k])]
    if len(axes) != 1 or min(*low, *high, *other_low, *other_high) < 0:
        return None
    (axis,) = axes
    if low[axis] > other_low[axis]:
        first, second, low, other_high = second, first, other_low, high
    x, y = first.inputs[0], second.inputs[0]
    if low[axis] + x.shape[axis] != second.parameters["low"][axis]:
        return None
    whole = REGISTRY["concatenate"](x, y, axis=axis)
    return REGISTRY["pad"](whole, low=low, high=other_high, interior=(0,) * len(low))


def part_of(x: Atom, start: Shape, limit: Shape, strides: Shape) -> Atom | None:
    """Return a slice of a concatenation or of f(x), without computing other elements.

    Returns ``None`` if ``x`` is not a concatenation, and f has no rule in :data:`PARTS`.
    """
    made_by = getattr(x, "made_by", None)
    if made_by is not None and made_by.primitive in PARTS:
        return PARTS[made_by.primitive](made_by, start, limit, strides)
    joining = made_with(x, "concatenate")
    if joining is None:
        return None
    axis = joining.parameters["axis"]
    first = 0
    for operand in joining.inputs:
        end = first + operand.shape[axis]
        if first <= start[axis] and limit[axis] <= end and start[axis] < limit[axis]:
            begin = tuple(n - first if k == axis else n for k, n in enumerate(start))
            stop = tuple(n - first if k == axis else n for k, n in enumerate(limit))
            return REGISTRY["slice"](operand, start=begin, limit=stop, strides=strides)
        first = end
    return None


def uniform(part: Array) -> Constant | None:
    """Return a slice of a constant as a scalar constant if it repeats one value.

    The result is ``None`` if the slice has fewer than two elements, different elements, or a negative
    element.
    """
    if part.size < 2:
        return None
    first = part[(slice(0, 1),) * part.ndim]
    same = np.array_equal(part, np.broadcast_to(first, part.shape)) and not np.signbit(part.real).any()
    return Constant(first.reshape(()), type_of(part)) if same else None


def joined(xs: Atoms, axis: int) -> Atom | None:
    """Return the array whose slices along ``axis`` are ``xs``, in order, or ``None``."""
    found = _parts(xs, axis)
    return _unstacked(xs) if found is None and not axis else found


def _parts(xs: Atoms, axis: int) -> Atom | None:
    slices = [made_with(x, "slice") for x in xs]
    if any(piece is None for piece in slices):
        return None
    source = slices[0].inputs[0]  # type: ignore[union-attr]  # no slice is None
    end = 0
    for piece in slices:
        start, limit, strides = map(piece.parameters.__getitem__, ("start", "limit", "strides"))  # type: ignore[union-attr]  # no slice is None
        is_whole = all(
            low == 0 and high == n
            for k, (low, high, n) in enumerate(zip(start, limit, source.shape, strict=True))
            if k != axis
        )
        if piece.inputs[0] is not source or not is_whole or set(strides) != {1} or start[axis] != end:  # type: ignore[union-attr]  # no slice is None
            return None
        end = limit[axis]
    return source if end == source.shape[axis] else None


def _unstacked(xs: Atoms) -> Atom | None:
    """Return the array that ``unstack`` divides into ``xs``, in order."""
    made = [made_with(x, "reshape") for x in xs]
    wide = all(equation is not None for equation in made)
    slices = [equation.inputs[0] for equation in made if equation is not None] if wide else list(xs)
    source = made_with(slices[0], "unstack")
    if source is None or len(source.outputs) != len(slices):
        return None
    if any(one is not other for one, other in zip(source.outputs, slices, strict=True)):
        return None
    array = source.inputs[0]
    if not wide:
        shape = (array.shape[0] * array.shape[1], *array.shape[2:])
        return REGISTRY["reshape"](array, shape=shape)
    return array if all(x.shape == (1, *y.shape) for x, y in zip(xs, slices, strict=True)) else None
