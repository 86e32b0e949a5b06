"""Reductions: sum, product, maximum, minimum, logsumexp, 2-norm, all, any.

The derivatives at nondifferentiable points are conventions. If several elements equal the maximum (or
minimum), they share its derivative equally. The norm of a zero vector has derivative 0. For logsumexp, the
derivative is 0 if all elements are −∞, and elements that are +∞ share the derivative equally.

The derivative of a product uses only multiplications, so zeros among its factors need no special case.
float16 and bfloat16 are accumulated in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.ir.dtype import float32, int32
from mindgrad.core.ir.graph import Atom, Constant
from mindgrad.core.ir.index_map import REDUCED
from mindgrad.core.ir.primitive import REGISTRY, Algebra, Primitive
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.primitives.accumulation_type import in_single, in_single_xla, is_half
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.axes import Along
from mindgrad.core.primitives.batching import past
from mindgrad.core.primitives.comparisons import equal, greater, less
from mindgrad.core.primitives.elementwise import exp, safe_quotient, safe_reciprocal
from mindgrad.core.primitives.kinds import constant, full, general, linear, product, zeros
from mindgrad.core.primitives.logic import logical_not
from mindgrad.core.primitives.roots import ROOTS, Root
from mindgrad.core.primitives.samples import booleans, case, fixed, reals
from mindgrad.core.primitives.static_slices import concatenate, slice_axis
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, reshape, stop_gradient, transpose

if TYPE_CHECKING:
    from mindgrad.core.ir.rules import Array, Atoms, Module, Tangent, TypeRule

__all__ = [
    "argmax", "argmin", "logsumexp", "norm", "reduce_all", "reduce_any", "reduce_max", "reduce_min",
    "reduce_prod", "reduce_sum",
]  # fmt: skip

_NUMBER = ("int", "uint", "float", "complex")
_REAL = ("int", "uint", "float")


def _type_rule(name: str, kinds: tuple[str, ...], nonempty: bool = False) -> TypeRule:
    def rule(x: TensorType, axes: Shape) -> TensorType:
        if x.dtype.kind not in kinds:
            raise TypeError(
                f"For '{name}', the input must be a tensor of {' or '.join(kinds)} type, but got {x.dtype}."
            )
        if any(not 0 <= axis < x.rank for axis in axes) or len(set(axes)) != len(axes):
            raise ValueError(
                f"For '{name}', the axes must be distinct and inside the input of shape {x.shape}, "
                f"but got {axes}."
            )
        if nonempty and any(x.shape[axis] == 0 for axis in axes):
            raise ValueError(
                f"For '{name}', the reduced axes must not be empty, but the input has shape "
                f"{x.shape} and the axes are {axes}: an empty axis has no {name.removeprefix('reduce_')}."
            )
        return x.with_shape(tuple(n for axis, n in enumerate(x.shape) if axis not in axes))

    return rule


def _kept(rank: int, axes: Shape) -> Shape:
    return tuple(axis for axis in range(rank) if axis not in axes)


def _spread(y: Atom, x: Atom, axes: Shape) -> Atom:
    """Repeat the result ``y`` of a reduction of ``x`` along the reduced ``axes``."""
    return broadcast_in_dim(y, shape=x.shape, dims=_kept(len(x.shape), axes))


def _over_one(primitive: Callable[[], Primitive]) -> Callable:
    """Return the simplification rule of a reduction over axes of size 1: a reshape."""
    return lambda x, axes: _reshaped(x, axes, primitive())


def _reshaped(x: Atom, axes: Shape, primitive: Primitive) -> Atom | None:
    if all(0 <= axis < len(x.shape) and x.shape[axis] == 1 for axis in axes):
        return reshape(x, shape=primitive.type_rule(x.type, axes=axes).shape)
    return None


# --- sum -------------------------------------------------------------------------------------------


def _sum_simplify(x: Atom, axes: Shape) -> Atom | None:
    if isinstance(x, Constant) and x.is_splat and x.type.dtype.is_inexact:
        result = reduce_sum.type_rule(x.type, axes=axes)
        count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
        if count == 0:
            return zeros(result)
        with np.errstate(all="ignore"):
            # float16 and bfloat16 may not represent the count exactly, so compute in a wider dtype
            total = x.value.astype(np.result_type(x.value, np.float64)) * count
            return Constant(total.astype(result.dtype.numpy), result)
    return _reshaped(x, axes, reduce_sum)


_add = np.add.reduce


def _sum_numpy(x: Array, axes: Shape) -> Array:
    dtype = x.dtype
    if dtype.itemsize == 2 and is_half(dtype):  # the first condition is fast and rejects most dtypes
        return np.asarray(_add(x, axes, np.float32)).astype(dtype)
    return np.asarray(_add(x, axes, dtype))


#: ``reduce_sum(x, axes)``: the sum over ``axes``
reduce_sum = linear(
    "reduce_sum",
    type_rule=_type_rule("reduce_sum", _NUMBER),
    numpy=_sum_numpy,
    xla=in_single_xla(lambda jax, x, axes: jax.lax.reduce_sum(x, axes)),
    transpose=lambda ct, x, axes: _spread(ct, x, axes),
    axes=Along("axes", REDUCED, keeps=False),
    algebra=Algebra(contracted=lambda xs, along, axes: reduce_sum(xs[0], axes=(*along, *past(axes, *along)))),
    simplify=_sum_simplify,
    samples=[
        case(reals()[2, 3, 4], axes=(0, 2), accepts="number"),
        case(reals()[3], axes=(0,), accepts="number"),
        case(reals()[0, 2], axes=(0,), accepts="number"),
    ],
)


# --- product ---------------------------------------------------------------------------------------


def _gathered(x: Atom, axes: Shape) -> Atom:
    """Merge the reduced axes into one axis, which becomes the first axis."""
    remaining = _kept(len(x.shape), axes)
    sizes = tuple(x.shape[axis] for axis in remaining)
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    return reshape(transpose(x, permutation=(*axes, *remaining)), shape=(count, *sizes))


def _prod_jvp(y: Atom, xs: Atoms, ts: Atoms, axes: Shape) -> Tangent:
    """Return the tangent of a product, by pairwise products in a tree.

    Each node combines (p, ṗ) and (q, q̇) to (p q, p q̇ + q ṗ). There is no division, so zeros need no special
    case. The tree has log₂ n levels and needs 3 n multiplications.
    """
    x, t = _gathered(xs[0], axes), _gathered(ts[0], axes)
    count = x.shape[0]
    if count == 0:
        return None
    while count > 1:
        half = count // 2
        p, q = slice_axis(x, 0, 0, half), slice_axis(x, 0, half, 2 * half)
        tangent = product(p, slice_axis(t, 0, half, 2 * half)) + product(q, slice_axis(t, 0, 0, half))
        factors = p * q
        if count % 2:
            factors = concatenate(factors, slice_axis(x, 0, count - 1, count), axis=0)
            tangent = concatenate(tangent, slice_axis(t, 0, count - 1, count), axis=0)
        x, t, count = factors, tangent, half + count % 2
    return reshape(t, shape=t.shape[1:])


#: ``reduce_prod(x, axes)``: the product over ``axes``
reduce_prod = general(
    "reduce_prod",
    type_rule=_type_rule("reduce_prod", _NUMBER),
    numpy=in_single(lambda x, axes: np.multiply.reduce(x, axis=axes, dtype=x.dtype)),
    xla=in_single_xla(lambda jax, x, axes: jax.lax.reduce_prod(x, axes)),
    jvp=_prod_jvp,
    axes=Along("axes", REDUCED, keeps=False),
    simplify=_over_one(lambda: reduce_prod),
    samples=[
        case(reals()[2, 3, 4], axes=(0, 2), accepts="number"),
        case(fixed([[0.0, 0.0, 3.0], [2.0, 0.0, -1.0], [1.0, 2.0, 3.0]]), axes=(1,)),
        case(reals()[5], axes=(0,)),
        case(reals()[0, 2], axes=(0,)),
    ],
)


# --- maximum and minimum ---------------------------------------------------------------------------


def _extreme_jvp(beyond: Callable) -> Callable:
    """Return the forward rule of a maximum or minimum y over axes: ẏ = Σ w ẋ.

    All elements that equal y have the same weight w, and these weights add up to 1. If y is NaN, all weights
    are NaN.
    """

    def jvp(y: Atom, xs: Atoms, ts: Atoms, axes: Shape) -> Tangent:
        x = xs[0]
        # elements that equal y (all elements if y is NaN)
        hits = logical_not(beyond(_spread(y, x, axes), x))
        share = 1 / reduce_sum(convert(hits, dtype=x.dtype), axes=axes)
        if y.dtype.is_float:
            share = select(equal(y, y), share, stop_gradient(y))
        return reduce_sum(product(select(hits, _spread(share, x, axes), zeros(x.type)), ts[0]), axes=axes)

    return jvp


def _extreme(name: str, which: str, pairwise: np.ufunc, beyond: Callable) -> Primitive:
    return general(
        name,
        type_rule=_type_rule(name, _REAL, nonempty=True),
        numpy=in_single(lambda x, axes: pairwise.reduce(x, axis=axes)),
        xla=lambda jax, x, axes: getattr(jax.numpy, which)(x, axis=axes),
        jvp=_extreme_jvp(beyond),
        axes=Along("axes", REDUCED, keeps=False),
        simplify=_over_one(lambda: REGISTRY[name]),
        samples=[
            case(reals()[2, 3, 4], axes=(0, 2), accepts="real"),
            case(reals()[5], axes=(0,), accepts="real"),
            case(reals()[0, 2], axes=(1,), accepts="real"),
        ],
    )


#: ``reduce_max(x, axes)``: the largest element over ``axes``; ties share the derivative equally
reduce_max = _extreme("reduce_max", "max", np.maximum, greater)
#: ``reduce_min(x, axes)``: the smallest element over ``axes``; ties share the derivative equally
reduce_min = _extreme("reduce_min", "min", np.minimum, less)


def _index_type(name: str) -> TypeRule:
    inner = _type_rule(name, _REAL, nonempty=True)
    return lambda x, axis: inner(x, axes=(axis,)).with_dtype(int32)


def _index_of_extreme(name: str) -> Primitive:
    return constant(
        name,
        type_rule=_index_type(name),
        numpy=lambda x, axis: np.asarray(getattr(np, name)(x, axis=axis)).astype(np.int32),
        xla=lambda jax, x, axis: getattr(jax.numpy, name)(x, axis=axis).astype(np.int32),
        axes=Along("axis", REDUCED, keeps=False),
        samples=[
            case(reals()[2, 3], axis=1, accepts="real"),
            case(reals()[5], axis=0, accepts="real"),
            case(fixed([[1.0, np.nan, 2.0, np.nan], [3.0, 3.0, 1.0, 1.0]]), axis=1, accepts="float"),
        ],
    )


#: ``argmax(x, axis)``: index of the first maximum, or of the first NaN if there is one, as int32
argmax = _index_of_extreme("argmax")
#: ``argmin(x, axis)``: index of the first minimum, or of the first NaN if there is one, as int32
argmin = _index_of_extreme("argmin")


def _quantifier(name: str, which: str) -> Primitive:
    return constant(
        name,
        type_rule=_type_rule(name, ("bool",)),
        numpy=lambda x, axes: np.asarray(getattr(np, which)(x, axis=axes)),
        xla=lambda jax, x, axes: getattr(jax.numpy, which)(x, axis=axes),
        axes=Along("axes", REDUCED, keeps=False),
        simplify=_over_one(lambda: REGISTRY[name]),
        samples=[
            case(booleans()[2, 3, 4], axes=(0, 2)),
            case(booleans()[3], axes=(0,)),
            case(booleans()[0, 2], axes=(0,)),
        ],
    )


#: ``reduce_all(x, axes)``: whether every element over ``axes`` is true (true for no elements)
reduce_all = _quantifier("reduce_all", "all")
#: ``reduce_any(x, axes)``: whether an element over ``axes`` is true (false for no elements)
reduce_any = _quantifier("reduce_any", "any")


# --- logsumexp -------------------------------------------------------------------------------------


def _logsumexp(np_like: Module, x: Array, axes: Shape) -> Array:
    top = np_like.max(x, axis=axes, keepdims=True, initial=-np.inf)
    top = np_like.where(np_like.isfinite(top), top, np_like.zeros((), x.dtype))
    total = np_like.log(np_like.sum(np_like.exp(x - top), axis=axes))
    return total + np_like.reshape(top, total.shape)


def _logsumexp_numpy(x: Array, axes: Shape) -> Array:
    with np.errstate(all="ignore"):
        return _logsumexp(np, x, axes)


def _logsumexp_jvp(y: Atom, xs: Atoms, ts: Atoms, axes: Shape) -> Tangent:
    """Return ẏ = Σ exp(x − y) ẋ, without differences of infinities."""
    x = xs[0]
    above = _spread(y, x, axes)
    nothing = zeros(x.type)
    at_top, at_bottom = equal(above, full(x.type, np.inf)), equal(above, full(x.type, -np.inf))
    # If y = −∞, subtract 0 instead of y, so that exp(x − 0) = 0. If y = +∞, all elements equal to +∞ share
    # the derivative equally
    distance = select(at_top, nothing, x - select(at_bottom, nothing, above))
    hits = convert(equal(x, full(x.type, np.inf)), dtype=x.dtype)
    share = hits * _spread(safe_reciprocal(reduce_sum(hits, axes=axes)), x, axes)
    weight = select(at_top, share, exp(distance))
    return reduce_sum(product(weight, ts[0]), axes=axes)


#: ``logsumexp(x, axes)``: log Σ exp x over ``axes`` without overflow
logsumexp = general(
    "logsumexp",
    type_rule=_type_rule("logsumexp", ("float",)),
    numpy=in_single(_logsumexp_numpy),
    xla=in_single_xla(lambda jax, x, axes: _logsumexp(jax.numpy, x, axes)),
    jvp=_logsumexp_jvp,
    axes=Along("axes", REDUCED, keeps=False),
    simplify=_over_one(lambda: logsumexp),
    samples=[
        case(reals()[2, 3, 4], axes=(0, 2), accepts="float"),
        case(reals(100, 1000)[4], axes=(0,), accepts="float"),
        case(fixed([[-np.inf, 0.5, 1.0]]), axes=(1,), accepts="float"),
        case(reals()[0, 2], axes=(0,), accepts="float"),
    ],
)


# --- the 2-norm ------------------------------------------------------------------------------------


def _norm_jvp(y: Atom, xs: Atoms, ts: Atoms, axes: Shape) -> Tangent:
    """Return ẏ = Σ (x / y) ẋ with 0 / 0 = 0, the subgradient of least norm."""
    x = xs[0]
    return reduce_sum(product(safe_quotient(x, _spread(y, x, axes)), ts[0]), axes=axes)


def _norm(np_like: Module, x: Array, axes: Shape) -> Array:
    """Return √Σ x². Scaling x by a power of two keeps the squares in range."""
    information = np.finfo(x.dtype)
    low, high = float(information.tiny) ** 0.3, float(information.max) ** 0.4
    shrinking, growing = [2.0 ** round(np.log2(bound)) for bound in (1 / high**1.5, 1 / low**2.3)]
    top = np_like.max(np_like.abs(x), axis=axes, initial=0, keepdims=True)
    one = np_like.ones((), x.dtype)
    factor = np_like.where(top > high, shrinking * one, np_like.where(top < low, growing * one, one))
    total = np_like.sum(np_like.square(x * factor), axis=axes)
    return np_like.sqrt(total) / np_like.reshape(factor, total.shape)


def _norm_numpy(x: Array, axes: Shape) -> Array:
    total = np.add.reduce(np.square(x), axis=axes)
    information = np.finfo(x.dtype)
    if np.all((total > float(information.tiny) ** 0.6) & (total < float(information.max) ** 0.8)):
        return np.sqrt(total)  # no relevant square has overflowed or underflowed, so no scaling is needed
    return _norm(np, x, axes)


#: ``norm(x, axes)``: √Σ |x|² over ``axes``, without overflow or underflow of the squares
norm = general(
    "norm",
    type_rule=_type_rule("norm", ("float",)),
    numpy=in_single(_norm_numpy),
    xla=in_single_xla(lambda jax, x, axes: _norm(jax.numpy, x, axes)),
    jvp=_norm_jvp,
    axes=Along("axes", REDUCED, keeps=False),
    samples=[
        case(reals()[2, 3, 4], axes=(0, 2), accepts="float"),
        case(reals()[3], axes=(0,), accepts="float"),
        case(reals(0.5, 2.0)[3], axes=(), accepts="float"),
        case(reals()[0, 2], axes=(0,), accepts="float"),
    ],
)


def _sum_of_squares(x: Atom, axes: Shape) -> Atom:
    """Return the square of the norm. float16 and bfloat16 are summed in float32."""
    wide = convert(x, dtype=float32) if x.dtype.itemsize < 4 else x
    return reduce_sum(wide * wide, axes=axes)


ROOTS[norm] = lambda x, axes: Root(2, lambda: _sum_of_squares(x, axes))
