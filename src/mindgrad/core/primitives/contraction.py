"""Primitive ``dot``: contraction of two arrays, for matrix products and einsum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.ir.graph import ABSORBING, Atom, Constant, Equation
from mindgrad.core.ir.index_map import REDUCED, Arrangement, Axes, IndexMap, Relabeling
from mindgrad.core.ir.primitive import Algebra
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.ir.work import by
from mindgrad.core.primitives.accumulation_type import is_half
from mindgrad.core.primitives.batching import past
from mindgrad.core.primitives.exact_zeros import RULES, cuts_of_sums
from mindgrad.core.primitives.kinds import accumulate, full, multilinear, product
from mindgrad.core.primitives.patterns import contracted
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.shielding import shielded
from mindgrad.core.primitives.structural import broadcast_in_dim, transpose

if TYPE_CHECKING:
    from mindgrad.core.ir.rules import Array, Atoms, Statics, Tangent, Tangents

__all__ = ["dot"]

Pair = tuple[Shape, Shape]


def _free(rank: int, contract: Shape, batch: Shape) -> Shape:
    return tuple(axis for axis in range(rank) if axis not in contract and axis not in batch)


def _dot_type(a: TensorType, b: TensorType, contract: Pair, batch: Pair) -> TensorType:
    if a.dtype is not b.dtype:
        raise TypeError(f"For 'dot', the operands must have the same dtype, but got {a} and {b}.")
    if a.dtype.kind == "bool":
        raise TypeError(
            "For 'dot', the operands must be numeric, but got Bool. Convert them to a numeric dtype first."
        )
    for kind, (left, right) in (("contracted", contract), ("batch", batch)):
        sizes = tuple(a.shape[i] for i in left), tuple(b.shape[i] for i in right)
        if sizes[0] != sizes[1]:
            raise ValueError(
                f"For 'dot', the {kind} axes of {a.shape} and {b.shape} must have equal sizes, "
                f"but got {sizes[0]} and {sizes[1]}."
            )
    shape = (
        *(a.shape[i] for i in batch[0]),
        *(a.shape[i] for i in _free(a.rank, contract[0], batch[0])),
        *(b.shape[i] for i in _free(b.rank, contract[1], batch[1])),
    )
    return a.with_shape(shape)


def _dot_numpy(a: Array, b: Array, contract: Pair, batch: Pair) -> Array:
    # fast path: NumPy multiplies matrices or vectors without batch axes in one call
    if not batch[0] and len(contract[0]) == 1 and 0 < a.ndim <= 2 and 0 < b.ndim <= 2:
        left = a if contract[0][0] == a.ndim - 1 else a.T
        right = b if contract[1][0] == 0 else b.T
        return _matmul(left, right)
    free_a, free_b = _free(a.ndim, contract[0], batch[0]), _free(b.ndim, contract[1], batch[1])
    sizes = [a.shape[i] for i in batch[0]]
    rows, columns = [a.shape[i] for i in free_a], [b.shape[i] for i in free_b]
    inner = math.prod(a.shape[i] for i in contract[0])
    left = np.transpose(a, (*batch[0], *free_a, *contract[0]))
    right = np.transpose(b, (*batch[1], *contract[1], *free_b))
    left = left.reshape((*sizes, math.prod(rows), inner))
    right = right.reshape((*sizes, inner, math.prod(columns)))
    return _matmul(left, right).reshape((*sizes, *rows, *columns))


def _matmul(a: Array, b: Array) -> Array:
    if a.dtype.itemsize == 2 and is_half(a.dtype):
        # sum float16 and bfloat16 in float32, as XLA does
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return np.matmul(a, b)


def _multiply(a: Atom, b: Atom, contract: Pair, batch: Pair) -> Atom:
    """Emit ``dot``, or an elementwise product if an outer product may contain 0 · ∞.

    The elementwise product treats 0 · ∞ as 0 if the zero is exact (``primitives.exact_zeros``). For example,
    the derivative of ``sqrt(dot(x, x))`` at ``x = 0`` requires this.
    """
    if contract[0] or not (a.tainted | b.tainted) & ABSORBING:
        return dot(a, b, contract=contract, batch=batch)
    shape = _dot_type(a.type, b.type, contract, batch).shape
    rank_a, count = len(a.shape), len(batch[0])
    free_a, free_b = _free(rank_a, (), batch[0]), _free(len(b.shape), (), batch[1])
    a = transpose(a, permutation=(*batch[0], *free_a))
    b = transpose(b, permutation=(*batch[1], *free_b))
    return product(
        broadcast_in_dim(a, shape=shape, dims=tuple(range(rank_a))),
        broadcast_in_dim(b, shape=shape, dims=(*range(count), *range(rank_a, rank_a + len(free_b)))),
    )


def _dot_jvp(y: Atom, xs: Atoms, ts: Tangents, contract: Pair, batch: Pair) -> Tangent:
    (a, b), (da, db) = xs, ts
    return accumulate(
        [
            None if da is None else _multiply(da, b, contract, batch),
            None if db is None else _multiply(a, db, contract, batch),
        ]
    )


def _cotangent(ct: Atom, other: Atom, over: Pair, batch: Pair, current: Shape, other_first: bool) -> Atom:
    """Emit the cotangent of one operand: the contraction of ``ct`` with ``other``.

    ``over`` and ``batch`` are pairs of axes of ``ct`` and axes of ``other``: the contracted axes and the
    batch axes. The product has the axes ``(batch, rest of ct, rest of other)``, and ``current`` contains the
    index of each of these axes in the cotangent. The factors are exchanged if this makes a transpose
    unnecessary. If a transpose is needed in both cases, ``other_first`` determines their order. An element of
    ``other`` contributes nothing if a selection discarded all cotangents that multiply it
    (``primitives.shielding``).
    """
    if over[0]:
        other = shielded(other, ct, (*batch[1], *over[1]), (*batch[0], *over[0]))
    count = len(batch[0])
    rest = len(ct.shape) - count - len(over[0])
    swapped = (*current[:count], *current[count + rest :], *current[count : count + rest])
    ascending = tuple(range(len(current)))
    if swapped == ascending or (other_first and current != ascending):
        product = _multiply(other, ct, over[::-1], batch[::-1])
        current = swapped
    else:
        product = _multiply(ct, other, over, batch)
    return transpose(product, permutation=tuple(current.index(axis) for axis in ascending))


def _ct_axes(a: Atom, b: Atom, contract: Pair, batch: Pair) -> tuple[Shape, Shape, Shape, Shape, Shape]:
    """Group the axes of a ``dot`` for its transpose rule.

    Returns:
        The free axes of a, the free axes of b, and three groups of axes of the result: from the batch axes,
        from a, and from b.
    """
    free_a = _free(len(a.shape), contract[0], batch[0])
    free_b = _free(len(b.shape), contract[1], batch[1])
    first, second = len(batch[0]), len(batch[0]) + len(free_a)
    return (
        free_a,
        free_b,
        tuple(range(first)),
        tuple(range(first, second)),
        tuple(range(second, second + len(free_b))),
    )


def _cotangent_left(ct: Atom, a: Atom, b: Atom, contract: Pair, batch: Pair) -> Atom:
    free_a, free_b, ct_batch, _, ct_free_b = _ct_axes(a, b, contract, batch)
    # the free axes of this product are the contracted axes of `b`, in ascending order
    order = sorted(range(len(contract[1])), key=lambda k: contract[1][k])
    current = (*batch[0], *free_a, *(contract[0][k] for k in order))
    return _cotangent(ct, b, (ct_free_b, free_b), (ct_batch, batch[1]), current, False)


def _cotangent_right(ct: Atom, a: Atom, b: Atom, contract: Pair, batch: Pair) -> Atom:
    free_a, free_b, ct_batch, ct_free_a, _ = _ct_axes(a, b, contract, batch)
    order = sorted(range(len(contract[0])), key=lambda k: contract[0][k])
    current = (*batch[1], *free_b, *(contract[1][k] for k in order))
    return _cotangent(ct, a, (ct_free_a, free_a), (ct_batch, batch[0]), current, True)


def _dot_simplify(a: Atom, b: Atom, contract: Pair, batch: Pair) -> Atom | None:
    """Simplify a product with an operand whose elements all equal c.

    The product becomes c times a sum of the other operand.
    """
    for this, other, mine, theirs in ((a, b, 0, 1), (b, a, 1, 0)):
        # do not rewrite a product of two small constants, because the builder evaluates it
        is_small = type(other) is Constant and max(this.type.size, other.type.size) <= 64
        splat = type(this) is Constant and this.is_splat and not is_small
        # for float16 and bfloat16, a sum is less accurate than ``dot``, which accumulates in float32
        if not splat or is_half(this.dtype.numpy):
            continue
        result = _dot_type(a.type, b.type, contract, batch)
        free = _free(len(other.shape), contract[theirs], batch[theirs])
        kept = tuple(i for i in range(len(other.shape)) if i not in contract[theirs])
        total = reduce_sum(other, axes=tuple(sorted(contract[theirs])))
        total = transpose(total, permutation=tuple(kept.index(i) for i in (*batch[theirs], *free)))
        count, skipped = len(batch[0]), len(this.shape) - len(contract[mine]) - len(batch[mine])
        start = count if mine else count + skipped
        dims = (*range(count), *range(start, start + len(free)))
        return broadcast_in_dim(total * full(total.type, this.value), shape=result.shape, dims=dims)  # type: ignore[union-attr, arg-type]  # `this` is a constant
    return _of_repeated(a, b, contract, batch)


def _of_repeated(a: Atom, b: Atom, contract: Pair, batch: Pair) -> Atom | None:
    """Multiply before broadcasting if an operand is a broadcast along its free axes.

    The product is then smaller. An example is a product with unit vectors that are equal for all samples of a
    batch.
    """
    shapes = (a.shape, b.shape)
    free = [_free(len(shapes[k]), contract[k], batch[k]) for k in (0, 1)]
    for k, x in enumerate((a, b)):
        made_by = getattr(x, "made_by", None)
        if made_by is None or made_by.primitive is not broadcast_in_dim:
            continue
        dims, (inner,) = made_by.parameters["dims"], made_by.inputs
        whole = {axis for axis, size in zip(dims, inner.shape, strict=True) if size == x.shape[axis]}
        if not whole.issuperset((*contract[k], *batch[k])) or whole.issuperset(free[k]):
            continue
        position = {axis: at for at, axis in enumerate(dims)}
        operands, contracted, batched = [a, b], list(contract), list(batch)
        operands[k] = inner
        contracted[k] = tuple(position[axis] for axis in contract[k])
        batched[k] = tuple(position[axis] for axis in batch[k])
        # the smaller product has the axes (batch, free of a, free of b); map them to axes of the original
        # product
        count, start = len(batch[0]), [len(batch[0]), len(batch[0]) + len(free[0])]
        free_dims = [
            [start[j] + at for at, axis in enumerate(free[j]) if j != k or axis in position] for j in (0, 1)
        ]
        made = dot(*operands, contract=tuple(contracted), batch=tuple(batched))
        shape = _dot_type(a.type, b.type, contract, batch).shape
        return broadcast_in_dim(made, shape=shape, dims=(*range(count), *free_dims[0], *free_dims[1]))
    return None


def _dot_flops(equation: Equation) -> int:
    shape, (axes, _) = equation.inputs[0].shape, equation.parameters["contract"]
    return 2 * equation.outputs[0].type.size * math.prod([shape[axis] for axis in axes])


class _DotAxes(Axes):
    """Index map of ``dot``: contracted axes are reduced, all other axes are parallel."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        contract, batch = parameters["contract"], parameters["batch"]
        a = tuple(range(len(shapes[0])))
        of_b = dict(zip((*contract[1], *batch[1]), (*contract[0], *batch[0]), strict=True))
        b = tuple([of_b.get(axis, len(a) + axis) for axis in range(len(shapes[1]))])
        free = [
            _free(len(x), *axes) for x, axes in zip((a, b), zip(contract, batch, strict=True), strict=True)
        ]
        result = (*batch[0], *free[0], *[b[axis] for axis in free[1]])
        return IndexMap((a, b), (result,), dict.fromkeys(contract[0], REDUCED))

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        a, b = new.operands
        contracted = [label for label in old.kinds if label in a]
        shared = [label for label in new.results[0] if label in a and label in b]
        free = [
            [label for label in labels if label not in old.kinds and label not in shared]
            for labels in new.operands
        ]
        result, other = (*shared, *free[0], *free[1]), (*shared, *free[1], *free[0])
        swaps = result != new.results[0] and result[-1:] != new.results[0][-1:] == other[-1:]
        sides = (b, a) if swaps else (a, b)
        contract, batch = [
            tuple([tuple([labels.index(label) for label in together]) for labels in sides])
            for together in (contracted, shared)
        ]
        return Relabeling(
            {**new.parameters, "contract": contract, "batch": batch}, (other if swaps else result,), swaps
        )


def _sum_of_products(xs: Atoms, along: Sequence[int], contract: Pair, batch: Pair) -> Atom:
    """Emit Σ_k dot(a_k, b_k) as one ``dot``.

    a_k and b_k are the slices of ``xs`` along the axes ``along``.
    """
    left, right = [(*past(axes, at), at) for axes, at in zip(contract, along, strict=True)]
    a, b = [past(axes, at) for axes, at in zip(batch, along, strict=True)]
    return dot(*xs, contract=(left, right), batch=(a, b))


#: ``dot(a, b, contract, batch)``: sum of products over the contracted axes; the axes of the result are the
#: batch axes, the free axes of ``a``, and the free axes of ``b``
dot = multilinear(
    "dot",
    work=by(_dot_flops),
    type_rule=_dot_type,
    numpy=_dot_numpy,
    xla=lambda jax, a, b, contract, batch: jax.lax.dot_general(a, b, (contract, batch), precision="highest"),
    jvp=_dot_jvp,
    transpose=[_cotangent_left, _cotangent_right],
    axes=_DotAxes(),
    pattern=contracted,
    algebra=Algebra(contracted=_sum_of_products),
    symbol="@",
    simplify=_dot_simplify,
    samples=[
        case(reals()[2, 3], reals()[3, 4], contract=((1,), (0,)), batch=((), ())),
        case(reals()[3, 2], reals()[4, 3], contract=((0,), (1,)), batch=((), ())),
        case(reals()[2, 3], reals()[4, 3], contract=((1,), (1,)), batch=((), ())),
        case(reals()[2, 3, 4], reals()[2, 4, 5], contract=((2,), (1,)), batch=((0,), (0,))),
        case(reals()[3, 2, 4], reals()[4, 5, 2], contract=((2,), (0,)), batch=((1,), (2,))),
        case(reals()[2, 3, 4], reals()[4, 3, 5], contract=((1, 2), (1, 0)), batch=((), ())),
        case(reals()[3], reals()[3], contract=((0,), (0,)), batch=((), ())),
        case(reals()[2, 3], reals()[3], contract=((1,), (0,)), batch=((), ())),
        case(reals()[3], reals()[2], contract=((), ()), batch=((), ())),
        case(reals()[0, 3], reals()[3, 2], contract=((1,), (0,)), batch=((), ())),
        case(reals()[2, 0], reals()[0, 3], contract=((1,), (0,)), batch=((), ())),
    ],
)

RULES[dot] = lambda equation: cuts_of_sums(equation, equation.parameters["contract"])
