"""Cumulative sums, products, and extremes along an axis.

The derivative of ``cumprod`` is the linear recurrence ẏ_i = x_i ẏ_{i−1} + y_{i−1} ẋ_i. Doubling solves the
recurrence in log₂ n steps, each with three multiplications of whole arrays. The steps contain no division, so
zeros among the factors need no special case. ``cummax`` and ``cummin`` gather the element at the index of the
running extreme. This module contains the operators that compute this index; their derivative is zero. If
several elements equal the extreme, the index of the last one is used. float16 and bfloat16 are accumulated in
float32.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.graph import Atom, is_all
from mindgrad.core.ir.index_map import ORDERED
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Array, Atoms, Module, Tangent
from mindgrad.core.primitives.accumulation_type import in_single, in_single_xla, is_half
from mindgrad.core.primitives.axes import Along, along_axis
from mindgrad.core.primitives.kinds import constant, general, linear, ones, product, zeros
from mindgrad.core.primitives.samples import case, fixed, reals
from mindgrad.core.primitives.static_slices import concatenate, slice_axis

__all__ = ["cumprod", "cumsum", "cumulative_argmax", "cumulative_argmin", "shifted"]


def _along(kernel: Callable) -> Callable:
    def run(x: Array, axis: int, reverse: bool) -> Array:
        if reverse:
            return np.flip(kernel(np.flip(x, axis), axis=axis, dtype=x.dtype), axis)
        return kernel(x, axis=axis, dtype=x.dtype)

    return in_single(run)


#: ``cumsum(x, axis, reverse)``: y_i = x_0 + … + x_i, or the sum from x_i to the end if ``reverse`` is true
cumsum = linear(
    "cumsum",
    type_rule=along_axis("cumsum", "number"),
    numpy=_along(np.cumsum),
    xla=in_single_xla(lambda jax, x, axis, reverse: jax.lax.cumsum(x, axis=axis, reverse=reverse)),
    transpose=lambda ct, x, axis, reverse: cumsum(ct, axis=axis, reverse=not reverse),
    axes=Along("axis", ORDERED, keeps=True),
    simplify=lambda x, axis, reverse: x if is_all(x, 0) else None,
    samples=[
        case(reals()[2, 5, 2], axis=1, reverse=False, accepts="number"),
        case(reals()[4], axis=0, reverse=True, accepts="number"),
        case(reals()[0], axis=0, reverse=False, accepts="number"),
    ],
)


def shifted(x: Atom, axis: int, by: int, reverse: bool, filling: Callable) -> Atom:
    """Shift ``x`` by ``by`` elements along ``axis``. Fill the gap by ``filling(type)``."""
    count = x.shape[axis]
    shape = tuple(by if i == axis else n for i, n in enumerate(x.shape))
    filled = filling(x.type.with_shape(shape))
    if reverse:
        return concatenate(slice_axis(x, axis, by, count), filled, axis=axis)
    return concatenate(filled, slice_axis(x, axis, 0, count - by), axis=axis)


def _cumprod_jvp(y: Atom, xs: Atoms, ts: Atoms, axis: int, reverse: bool) -> Tangent:
    """Return the tangent ẏ: ẏ_i = a_i ẏ_{i−1} + b_i with a = x and b_i = y_{i−1} ẋ_i.

    Each step of the loop preserves the relation ẏ_i = a_i ẏ_{i−s} + b_i and doubles s: b_i ← b_i + a_i
    b_{i−s}, a_i ← a_i a_{i−s}. At the end, ẏ = b.
    """
    count = y.shape[axis]
    if count == 0:
        return None
    a = xs[0]
    b = product(shifted(y, axis, 1, reverse, ones), ts[0])
    step = 1
    while step < count:
        b = b + product(a, shifted(b, axis, step, reverse, zeros))
        a = a * shifted(a, axis, step, reverse, ones)
        step *= 2
    return b


#: ``cumprod(x, axis, reverse)``: y_i = x_0 · … · x_i, or the product from x_i to the end if ``reverse``
cumprod = general(
    "cumprod",
    type_rule=along_axis("cumprod", "number"),
    numpy=_along(np.cumprod),
    xla=in_single_xla(lambda jax, x, axis, reverse: jax.lax.cumprod(x, axis=axis, reverse=reverse)),
    jvp=_cumprod_jvp,
    axes=Along("axis", ORDERED, keeps=True),
    samples=[
        case(reals()[2, 5, 2], axis=1, reverse=False, accepts="number"),
        case(fixed([2.0, 0.0, 3.0, 0.0, -1.0]), axis=0, reverse=False),
        case(reals()[4], axis=0, reverse=True),
        case(reals()[0], axis=0, reverse=False),
    ],
)


def _running(name: str, numpy_extreme: np.ufunc, lax_extreme: str) -> Primitive:
    # an element is a new running maximum (or minimum) if it equals the largest (or smallest) element so far,
    # or is NaN
    def numpy(x: Array, axis: int, reverse: bool) -> Array:
        x = np.flip(x, axis) if reverse else x
        x = x.astype(np.float32) if is_half(x.dtype) else x
        count = x.shape[axis]
        shape = [count if i == axis else 1 for i in range(x.ndim)]
        here = np.arange(count, dtype=np.int32).reshape(shape)
        met = (x == numpy_extreme.accumulate(x, axis=axis)) | (x != x)
        places = np.maximum.accumulate(np.where(met, here, np.int32(0)), axis=axis)
        return np.flip(count - 1 - places, axis) if reverse else places

    def xla(jax: Module, x: Array, axis: int, reverse: bool) -> Array:
        x = jax.numpy.flip(x, axis) if reverse else x
        here = jax.lax.broadcasted_iota(np.int32, x.shape, axis)
        met = (x == getattr(jax.lax, lax_extreme)(x, axis=axis)) | (x != x)
        places = jax.lax.cummax(jax.numpy.where(met, here, np.int32(0)), axis=axis)
        return jax.numpy.flip(x.shape[axis] - 1 - places, axis) if reverse else places

    return constant(
        name,
        type_rule=along_axis(name, "real", int32),
        numpy=numpy,
        xla=xla,
        axes=Along("axis", ORDERED, keeps=True),
        samples=[
            case(reals()[2, 5, 2], axis=1, reverse=False, accepts="real"),
            case(reals()[6], axis=0, reverse=True, accepts="real"),
            case(fixed([1.0, 1.0, np.nan, 2.0, np.nan, 0.0]), axis=0, reverse=False, accepts="float"),
            case(reals()[0], axis=0, reverse=False, accepts="real"),
        ],
    )


#: ``cumulative_argmax(x, axis, reverse)``: y_i is the index of the largest of x_0, …, x_i, as int32
cumulative_argmax = _running("cumulative_argmax", np.maximum, "cummax")
#: ``cumulative_argmin(x, axis, reverse)``: y_i is the index of the smallest of x_0, …, x_i, as int32
cumulative_argmin = _running("cumulative_argmin", np.minimum, "cummin")
