"""Exact zeros: zeros that stay zero when the inputs of a derivative change.

    0 · ∞ = 0 if the zero is exact, and NaN otherwise

A derivative multiplies *slopes* (partial derivatives) by tangents or cotangents, and a slope can be infinite.
Some zeros are *exact*: the value is zero in a whole neighborhood of the inputs. Exact zeros come from a
selection, a comparison, or a factor that does not depend on the inputs (a mask, a weight, a direction). The
product of an exact zero and an infinite slope contributes nothing. A zero that was computed from the inputs,
such as ``sin(sqrt(x))`` at 0, is zero only at one point. The product of such a zero and an infinite slope has
an unknown limit and is NaN.

:func:`nonzeros` returns a mask of the elements that are not exactly zero. It follows the equations of a value
back to the operators that created its zeros. If exact zeros of one factor are multiplied by infinite elements
of the other factor, ``primitives.kinds.product`` replaces the infinite elements by zero (:func:`shield`).

A *mark* is a bit that records how the elements of a value were computed (``ir.graph``). A value with the mark
``INFINITE`` can be infinite or NaN. A value with the mark ``MASKED`` has zeros from a selection. A value with
``CUT`` or ``DISCARDS`` has zeros for elements that a slice or lookup did not read. A product of factors
without these marks is a plain multiplication.

Limits: if a value can have exact zeros, all its zeros count as exact in two cases. Either the value is the
result of a matrix product or convolution, or an earlier iteration of a loop computed it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np

from mindgrad.core.base.trampoline import trampolined
from mindgrad.core.ir.build import EVERYTHING, Builder, current
from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.graph import APPLY, CUT, DISCARDS, INFINITE, MASKED, Atom, Constant, Equation, Variable
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Array, Tangent
from mindgrad.core.ir.types import TensorType
from mindgrad.core.ir.work import VIEW
from mindgrad.core.primitives.arithmetic import add, div, masked_multiply, mul, neg, select, sub
from mindgrad.core.primitives.comparisons import equal, not_equal
from mindgrad.core.primitives.cumulative import cumsum
from mindgrad.core.primitives.indexing import gather, scatter_add
from mindgrad.core.primitives.kinds import full, zeros
from mindgrad.core.primitives.logic import logical_and, logical_not, logical_or
from mindgrad.core.primitives.reduction import reduce_any, reduce_sum
from mindgrad.core.primitives.samples import booleans, case, reals
from mindgrad.core.primitives.slicing import dynamic_slice
from mindgrad.core.primitives.static_slices import concatenate, pad, reverse, slice
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, reshape, transpose

__all__ = [
    "OF_CONTROL", "RULES", "Steps", "compared", "cuts_of_sums", "discarding", "has_cuts", "nonzeros",
    "shield", "shielded_factors",
]  # fmt: skip

#: generator of a rule: it yields each operand, receives the mask of nonzeros of this operand, and finally
#: returns the mask of nonzeros of the result
Steps = Generator["Atom", "Tangent", "Tangent"]


def _shield_type(x: TensorType, keep: TensorType) -> TensorType:
    if keep.dtype is not bool_ or keep.shape != x.shape or not x.dtype.is_inexact:
        raise TypeError(
            f"For 'shield', x must be float or complex, and keep must be Bool with the shape of x, but got "
            f"{x} and {keep}."
        )
    return x


def _shield_numpy(x: Array, keep: Array) -> Array:
    finite = np.isfinite(x)
    if finite.all() and np.shape(x) == np.shape(keep):  # otherwise, x is one repeated element
        return x
    return np.where(keep | finite, x, np.zeros((), x.dtype))


def _simplify_shield(x: Atom, keep: Atom) -> Atom | None:
    # A function of tangents must be linear, so a graph must not test whether tangents are finite
    is_plain = x.linear or keep.linear or (type(keep) is Constant and np.all(keep.value))
    return x if is_plain else None


#: ``shield(x, keep)``: ``x``, a factor of a product, with infinite and NaN elements replaced by zero where
#: ``keep`` is false. The derivative rule of ``shield`` returns the tangent of ``x`` unchanged, because the
#: derivative rule of the product shields it
shield: Primitive[Atom] = Primitive(
    "shield",
    "elementwise",
    work=VIEW,
    type_rule=_shield_type,
    numpy=_shield_numpy,
    xla=lambda jax, x, keep: jax.numpy.where(keep | jax.numpy.isfinite(x), x, jax.numpy.zeros((), x.dtype)),
    jvp=lambda y, xs, ts: ts[0],
    simplify=_simplify_shield,
    taint="passes",
    samples=[case(reals()[3, 2], booleans()[3, 2]), case(reals()[()], booleans()[()])],
)


def nonzeros(atom: Atom) -> Atom | None:
    """Return a mask of the elements of ``atom`` that are not exact zeros.

    Returns ``None`` if no element is an exact zero.
    """
    return _found(atom) if current().is_differentiating else None


def _found(atom: Atom) -> Atom | None:
    builder = current()
    return trampolined(_nonzeros(builder, atom), lambda wanted: _nonzeros(builder, wanted))


def _nonzeros(builder: Builder, atom: Atom) -> Steps:
    if type(atom) is Constant:
        return _of_constant(atom)
    masks, key = builder.nonzeros, (atom, builder.moving)
    if key not in masks:
        mask = yield from _mask(builder, atom)
        masks[key] = None if mask is None or _is_full(mask) else mask
    return masks[key]


def has_cuts(atom: Atom) -> bool:
    """Return whether ``atom`` has zeros because a slice or lookup skipped elements."""
    builder = current()
    moving, builder.moving = builder.moving, EVERYTHING
    mask = _found(atom)
    builder.moving = moving
    return mask is not None


def cuts_of_sums(equation: Equation, axes: Sequence[tuple[int, ...]]) -> Steps:
    """Rule for :data:`RULES`, for an operator that sums products over ``axes``.

    If an operand has zeros because a slice or lookup skipped elements, the sum has such zeros only along axes
    that are not summed.
    """
    y, masks = equation.outputs[0], []
    if current().moving is not EVERYTHING:
        return compared(y) if y.tainted & (MASKED | CUT) else None
    for x, summed in zip(equation.inputs, axes, strict=True):
        mask = yield x
        masks.append(mask if mask is None else reduce_any(mask, axes=tuple(sorted(summed))))
    whole = [mask is None or not mask.shape or _is_full(mask) for mask in masks]
    return None if all(whole) else compared(y)


def _is_full(mask: Atom) -> bool:
    """Return whether a mask is known to be true for all elements."""
    value = _value(mask, _LONGEST_CHAIN)
    return value is not None and bool(np.all(value))


def _value(atom: Atom, depth: int) -> Array | None:
    """Return the value of a small mask that depends only on constants.

    Returns ``None`` for any other mask.
    """
    if type(atom) is Constant:
        return atom.value if atom.is_splat else atom.array()
    values = current().known_masks
    if atom not in values:
        equation, values[atom] = atom.made_by, None
        if depth and equation is not None and equation.primitive in _EVALUATED and atom.type.size <= _LARGEST:
            operands = [_value(x, depth - 1) for x in equation.inputs]
            if not any(x is None for x in operands):
                whole = [np.broadcast_to(x, y.shape) for x, y in zip(operands, equation.inputs, strict=True)]  # type: ignore[arg-type]  # checked above
                values[atom] = equation.primitive.numpy(*whole, **equation.parameters)
    return values[atom]


def _of_constant(atom: Constant) -> Atom | None:
    array = np.asarray(atom.value)
    if np.all(array != 0):
        return None
    return not_equal(atom, zeros(atom.type))


def _mask(builder: Builder, atom: Variable) -> Steps:
    if not builder.moves(atom):
        return not_equal(atom, zeros(atom.type))
    equation = atom.made_by
    if equation is not None and equation.primitive in RULES:
        return (yield from RULES[equation.primitive](equation))
    if equation is not None and equation.primitive in OF_CONTROL:
        return (yield from OF_CONTROL[equation.primitive](equation, equation.outputs.index(atom)))
    if not atom.tainted & (MASKED | (DISCARDS if builder.moving is EVERYTHING else CUT)):
        return None
    return compared(atom)


def compared(atom: Atom) -> Atom:
    """Emit the mask of the nonzero elements of ``atom``, by a comparison with zero."""
    # use `equal`: in a graph, `not_equal` is reserved for the mask of a factor that does not depend on the
    # inputs (see `_compares_moving`)
    return logical_not(equal(atom, zeros(atom.type)))


def _same(equation: Equation) -> Steps:
    return (yield equation.inputs[0])


def _view(equation: Equation) -> Steps:
    mask = yield equation.inputs[0]
    return None if mask is None else equation.primitive(mask, **equation.parameters)


def _converted(equation: Equation) -> Steps:
    (x,) = equation.inputs
    return x if x.dtype.kind == "bool" else (yield x)


def _multiplied(equation: Equation) -> Steps:
    a = yield equation.inputs[0]
    b = yield equation.inputs[1]
    if a is None or b is None:
        return b if a is None else a
    return logical_and(a, b)


def _added(equation: Equation) -> Steps:
    a = yield equation.inputs[0]
    if a is None:
        return None
    b = yield equation.inputs[1]
    return None if b is None else logical_or(a, b)


def _selected(equation: Equation) -> Steps:
    condition, *branches = equation.inputs
    masks = []
    for branch in branches:
        # A constant branch has no zeros from slices or lookups. Skip it if only such zeros are searched
        # (`moving` is EVERYTHING)
        is_cut = type(branch) is Variable or current().moving is not EVERYTHING
        masks.append((yield branch) if is_cut else None)
    if masks[0] is None and masks[1] is None:
        return None
    return select(condition, *[full(condition.type, True) if each is None else each for each in masks])


def _summed(equation: Equation) -> Steps:
    mask = yield equation.inputs[0]
    return None if mask is None else reduce_any(mask, **equation.parameters)


def _moved(equation: Equation) -> Steps:
    """Rule for :data:`RULES`, for an operator that moves, repeats, or pads elements."""
    operands, masks = list(equation.inputs), []
    for k in equation.primitive.linear_operands(len(operands)):
        mask = yield operands[k]
        masks.append(mask)
        ones = full(operands[k].type, 1)
        operands[k] = ones if mask is None else convert(mask, dtype=ones.dtype)
    if all(mask is None for mask in masks) and equation.primitive not in (pad, scatter_add):
        return None
    moved = equation.primitive(*operands, **equation.parameters)
    return not_equal(moved, zeros(moved.type))


#: maps each operator with one result to the rule that computes the mask of nonzeros of the result
RULES: dict[Primitive, Callable[[Equation], Steps]] = {
    neg: _same,
    div: _same,
    convert: _converted,
    reshape: _view,
    transpose: _view,
    broadcast_in_dim: _view,
    mul: _multiplied,
    masked_multiply: _multiplied,
    add: _added,
    sub: _added,
    select: _selected,
    shield: _same,
    reduce_sum: _summed,
    **dict.fromkeys((pad, slice, concatenate, reverse, gather, scatter_add, dynamic_slice, cumsum), _moved),
}

#: maps each branch or loop operator to a rule that computes the mask of nonzeros of one result. The second
#: argument of the rule is the index of this result
OF_CONTROL: dict[Primitive, Callable[[Equation, int], Steps]] = {}


def unshielded(slope: Atom) -> Atom:
    """Return ``slope`` without outer ``shield`` equations that are no longer valid.

    An inner derivative shields a factor if the other factor of the product does not depend on the inner
    inputs, so that its zeros are exact. In an outer derivative, the other factor may depend on the inputs.
    Its zeros are then not exact, and the shield is not valid.
    """
    while type(slope) is Variable and slope.made_by is not None and slope.made_by.primitive is shield:
        x, keep = slope.made_by.inputs
        if not _compares_moving(keep):
            break
        slope = x
    return slope


def _compares_moving(keep: Atom) -> bool:
    """Return whether ``keep`` is computed as ``x != 0`` from an x that can change.

    A value can change if it depends on the inputs of the current derivative.
    """
    builder, waiting, followed = current(), [keep], set()
    while waiting:
        mask = waiting.pop()
        if type(mask) is not Variable or mask.made_by is None or mask in followed:
            continue
        followed.add(mask)
        primitive, inputs = mask.made_by.primitive, mask.made_by.inputs
        if primitive is not_equal and builder.moves(inputs[0]):
            return True
        if primitive in _OF_MASKS:
            waiting += inputs[1:] if primitive is select else inputs
    return False


def discarding() -> int:
    """Return the marks of factors whose zeros are exact, whatever the other factor is.

    Such zeros count even if the other factor does not have the mark ``INFINITE``. Zeros of selections
    (``MASKED``) are always exact. While a function is compiled, an input may contain NaN without having the
    mark ``INFINITE``. Zeros around slices (``DISCARDS``) are therefore included during compilation.
    """
    return MASKED if current().knows_infinite else MASKED | DISCARDS


def shielded_factors(a: Atom, b: Atom) -> tuple[Atom, Atom]:
    """Replace infinite elements of each factor where the other factor is exactly zero."""
    return _shielded(a, b), _shielded(b, a)


def _shielded(x: Atom, other: Atom) -> Atom:
    if not x.tainted & INFINITE:
        marks = other.tainted & discarding()
        if type(x) is Constant or not marks or not (marks & MASKED or has_cuts(other)):
            return x
    mask = nonzeros(other)
    return x if mask is None else shield(x, mask)


#: operators that combine or rearrange masks of nonzeros
_OF_MASKS = (logical_and, logical_or, select, reduce_any, broadcast_in_dim, reshape, transpose)
#: operators that :func:`_value` can evaluate while the graph is built
_EVALUATED = {
    *_OF_MASKS,
    not_equal,
    *[primitive for primitive, rule in RULES.items() if rule in (_moved, _converted)],
}
#: :func:`_value` evaluates a mask only if it has at most this many elements
_LARGEST = 1 << 20
#: :func:`_value` evaluates a mask only if at most this many successive operators compute it from constants
_LONGEST_CHAIN = 16

APPLY.update(shielded_factors=shielded_factors, unshielded=unshielded)
