"""Broadcast elimination: multiply by a smaller value instead of its broadcast.

If an operand ``x`` of a product is a broadcast of a smaller value ``inner``, the product of ``x`` and another
operand ``A`` can be computed from ``inner``. The formula depends on the axis along which ``x`` repeats
``inner``:

    batch axis b:       Σ_j A[b, i, j] x[j]  = M · x, with M = A reshaped to a matrix with rows (b, i)
    contracted axis j:  Σ_j A[i, j] x        = (Σ_j A[i, j]) x
    free axis k:        Σ_j A[i, j] x[j]     = the product without axis k, repeated along k

The right-hand sides need at most as many operations as the original product, and do not store ``x``. XLA does
not apply these identities: it stores the broadcast like any other operand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, Variable
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.ir.types import Shape
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape, transpose

__all__ = [
    "Repeated", "free_axes", "is_view", "product_size", "repeated", "repeated_product",
    "seen_through", "shrink_inputs",
]  # fmt: skip

Axes = tuple[Shape, Shape]


class Repeated(NamedTuple):
    """A value that is a broadcast of a smaller value, called ``atom``.

    Attributes:
        atom: the smaller value.
        axes: for each axis of the larger value, the corresponding axis of ``atom``. ``None`` if the larger
            value repeats ``atom`` along the axis, or if the axis has size 1.
    """

    atom: Atom
    axes: tuple[int | None, ...]

    @property
    def size(self) -> int:
        """Number of elements of ``atom``, the smaller value."""
        return self.atom.type.size


def _is_reshape_of_units(equation: Equation) -> bool:
    old, new = equation.inputs[0].shape, equation.parameters["shape"]
    return [n for n in old if n != 1] == [n for n in new if n != 1]


def is_view(equation: Equation | None) -> bool:
    """Return whether ``equation`` is a transpose, broadcast, or reshape of unit axes.

    A reshape of unit axes adds or removes axes of size 1.
    """
    if equation is None:
        return False
    primitive = equation.primitive
    if primitive is reshape:
        return _is_reshape_of_units(equation)
    return primitive is transpose or primitive is broadcast_in_dim


def seen_through(view: Equation, axes: Sequence[int | None]) -> tuple[int | None, ...]:
    """Map the axes of the result of ``view`` to axes of the smaller value.

    ``view`` is a transpose, a broadcast, or a reshape of unit axes. ``axes`` is the field
    :attr:`Repeated.axes` for the operand of ``view``. The function returns this field for the result of
    ``view``.
    """
    parameters = view.parameters
    if view.primitive is transpose:
        return tuple([axes[axis] for axis in parameters["permutation"]])
    inner, shape = view.inputs[0].shape, parameters["shape"]
    if view.primitive is broadcast_in_dim:
        through: list[int | None] = [None] * len(shape)
        for axis, size, place in zip(axes, inner, parameters["dims"], strict=True):
            through[place] = axis if size == shape[place] else None
        return tuple(through)
    rest = iter([axis for axis, size in zip(axes, inner, strict=True) if size != 1])
    return tuple([None if size == 1 else next(rest) for size in shape])


def repeated(x: Atom) -> Repeated:
    """Return the smaller value that ``x`` repeats along some axes.

    If ``x`` is computed by several transposes, broadcasts, and reshapes of unit axes, the smaller value is
    the operand of the first of them. The function emits no equations. If ``x`` is a constant, the result may
    contain a new, smaller constant.
    """
    views = []
    while (made_by := getattr(x, "made_by", None)) is not None and is_view(made_by):
        views.append(made_by)
        x = made_by.inputs[0]
    repetition = _repeated_constant(x)
    for view in reversed(views):
        repetition = Repeated(repetition.atom, seen_through(view, repetition.axes))
    return repetition


def _repeated_constant(x: Atom) -> Repeated:
    if type(x) is Constant and not x.is_splat:
        steps = x.value.strides
        if any(step == 0 and size > 1 for step, size in zip(steps, x.shape, strict=True)):
            strided = [
                k for k, (step, size) in enumerate(zip(steps, x.shape, strict=True)) if step and size > 1
            ]
            index = tuple([slice(None) if k in strided else 0 for k in range(len(steps))])
            return Repeated(
                Constant(np.ascontiguousarray(x.value[index])),
                tuple([strided.index(k) if k in strided else None for k in range(len(steps))]),
            )
    return Repeated(x, tuple([None if size == 1 else k for k, size in enumerate(x.shape)]))


def shrink_inputs(graph: Graph, operands: Tangents) -> tuple[Graph, dict[int, Atom]]:
    """Replace inputs of ``graph`` that receive broadcasts by smaller inputs.

    The new graph itself broadcasts each smaller input. Only inputs with at least ``repeated_elements``
    elements (``ir.cost_model``) are replaced.

    Args:
        graph: an inner graph, such as the body of a loop.
        operands: for each input of ``graph``, the variable or constant of the enclosing graph that is passed
            to it. An input whose entry is ``None`` is not replaced.

    Returns: The new graph, and a dict that maps the index of each replaced input to its new operand. If no
        input is replaced, the function returns ``graph`` itself and an empty dict.
    """
    smaller = {}
    for at, atom in enumerate(operands):
        if type(atom) is Variable and atom.type.size >= costs().repeated_elements and is_view(atom.made_by):
            repetition = repeated(atom)
            if repetition.size < atom.type.size:
                smaller[at] = repetition
    if not smaller:
        return graph, {}
    builder = Builder()
    with building(builder):
        inputs = []
        for at, variable in enumerate(graph.inputs):
            if at not in smaller:
                inputs.append(builder.input(variable.type, tainted=variable.tainted))
                continue
            inner, axes = _without_units(
                Repeated(builder.input(smaller[at].atom.type, tainted=variable.tainted), smaller[at].axes)
            )
            dims = [k for k, axis in enumerate(axes) if axis is not None]
            moved = transpose(inner, permutation=tuple([axes[k] for k in dims]))
            inputs.append(broadcast_in_dim(moved, shape=variable.shape, dims=tuple(dims)))
        outputs = builder.inline(graph, inputs)
    return builder.close(outputs), {at: repetition.atom for at, repetition in smaller.items()}


def free_axes(rank: int, contract: Shape, batch: Shape) -> Shape:
    """Return the axes of a ``dot`` operand that are not contracted or batch axes."""
    return tuple([axis for axis in range(rank) if axis not in contract and axis not in batch])


def product_size(operands: Atoms, k: int, x: Repeated, contract: Axes, batch: Axes) -> int:
    """Return the number of elements of the product that ``repeated_product`` computes."""
    other = operands[1 - k].shape
    mine = free_axes(len(x.axes), contract[k], batch[k])
    return math.prod([n for axis, n in enumerate(other) if axis not in contract[1 - k]]) * math.prod(
        [operands[k].shape[axis] for axis in mine if x.axes[axis] is not None]
    )


def repeated_product(operands: Atoms, k: int, x: Repeated, contract: Axes, batch: Axes) -> Atom:
    """Emit a product whose operand ``k`` is a broadcast that is not stored.

    ``x`` describes the broadcast. The result equals ``dot(*operands, contract=contract, batch=batch)``. The
    function reads only the shape of ``operands[k]``, so this operand may be a placeholder.
    """
    shape, other = operands[k].shape, operands[1 - k]
    inner, axes = _without_units(x)
    # x is constant along these contracted axes, so sum the other operand over them
    contracted = list(zip(contract[k], contract[1 - k], strict=True))
    summed = [theirs for mine, theirs in contracted if axes[mine] is None]
    others = [axis for axis in range(len(other.shape)) if axis not in summed]
    smaller = reduce_sum(other, axes=tuple(summed)) if summed else other
    pairs, batches = [
        [(axes[mine], others.index(theirs)) for mine, theirs in given if axes[mine] is not None]
        for given in (contracted, list(zip(batch[k], batch[1 - k], strict=True)))
    ]
    sides: list[tuple[Any, list[Any], list[Any]]] = [(inner, [a for a, _ in pairs], [a for a, _ in batches])]
    sides.insert(1 - k, (smaller, [b for _, b in pairs], [b for _, b in batches]))
    product = dot(
        *[side[0] for side in sides],
        contract=tuple([tuple(side[1]) for side in sides]),
        batch=tuple([tuple(side[2]) for side in sides]),
    )
    # The original product has the axes (batch, free of the first operand, free of the second operand). For
    # each axis of the smaller product, find its index in this list of axes. If x is constant along a batch
    # axis of the original product, this axis is a free axis of the smaller product.
    free = [free_axes(len(operand.shape), contract[j], batch[j]) for j, operand in enumerate(operands)]
    batch_sizes = [shape[axis] for axis in batch[k]]
    start = [len(batch_sizes), len(batch_sizes) + len(free[0])]
    of_mine = {axes[axis]: start[k] + at for at, axis in enumerate(free[k])}
    of_theirs = {axis: start[1 - k] + at for at, axis in enumerate(free[1 - k])}
    of_theirs |= {axis: at for at, axis in enumerate(batch[1 - k])}
    places = [of_theirs[others[b]] for _, b in batches]
    for j, (atom, pairs_of, batches_of) in enumerate(sides):
        for axis in free_axes(len(atom.shape), tuple(pairs_of), tuple(batches_of)):
            places.append(of_mine[axis] if j == k else of_theirs[others[axis]])
    sizes = [operand.shape[axis] for operand, axes_of in zip(operands, free, strict=True) for axis in axes_of]
    order = sorted(range(len(places)), key=places.__getitem__)
    product = transpose(product, permutation=tuple(order))
    return broadcast_in_dim(product, shape=(*batch_sizes, *sizes), dims=tuple(sorted(places)))


def _without_units(x: Repeated) -> tuple[Atom, tuple[int | None, ...]]:
    """Return ``x.atom`` without the axes that ``x.axes`` omits, and ``x.axes`` for it.

    The omitted axes have size 1.
    """
    named = sorted(axis for axis in x.axes if axis is not None)
    if len(named) == len(x.atom.shape):
        return x.atom, x.axes
    inner = reshape(x.atom, shape=tuple([x.atom.shape[axis] for axis in named]))
    return inner, tuple([None if axis is None else named.index(axis) for axis in x.axes])
