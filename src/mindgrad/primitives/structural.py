"""Operators that move elements without computing on them: convert, reshape, slice, concatenate, …

All are linear; each has its transpose here, mostly another row of this file.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from mindgrad.core.dtype import DType, bool_, float32, float64, int32
from mindgrad.core.graph import Constant
from mindgrad.core.primitive import REGISTRY
from mindgrad.core.types import Shape, TensorType, tensor_type
from mindgrad.primitives.batching import (
    at_front,
    batched_along,
    inserted,
    moved,
    past,
)
from mindgrad.primitives.kinds import constant, linear, zeros
from mindgrad.primitives.movement_fusion import joined, part_of, reshaped_twice, uniform
from mindgrad.primitives.roots import VIEWS
from mindgrad.primitives.samples import case, reals

__all__ = [
    "broadcast_in_dim", "concatenate", "convert", "iota", "pad", "reshape", "reverse", "slice",
    "slice_axis", "stop_gradient", "transpose",
]  # fmt: skip

#: what few elements are: an iota of few is a constant, which folds into what uses it
_SMALL = 64
#: elements that are copied in the time in which NumPy makes a view
_COPIED = 4096


def _splat(x: Any, type: TensorType) -> Constant | None:
    """A splat stays a splat of another type: moving equal elements changes only the type."""
    if isinstance(x, Constant) and x.is_splat:
        return Constant(x.value.astype(type.dtype.numpy), type)
    return None


def _check_axes(name: str, x: TensorType, axes: Shape) -> None:
    if any(not 0 <= axis < x.rank for axis in axes) or len(set(axes)) != len(axes):
        raise ValueError(
            f"For '{name}', the axes must be distinct and between 0 and {x.rank - 1} for an input "
            f"of shape {x.shape}, but got {axes}."
        )


def _check_ranks(name: str, x: TensorType, **given: Shape) -> None:
    for parameter, values in given.items():
        if len(values) != x.rank:
            raise ValueError(
                f"For '{name}', '{parameter}' must have one number per axis of the input of shape "
                f"{x.shape}, but got {values}."
            )


# --- convert -------------------------------------------------------------------------------------


def _convert_simplify(x: Any, dtype: DType) -> Any:
    if x.type.dtype is dtype:
        return x
    if type(x) is Constant and x.is_splat and dtype is not bool_:
        with np.errstate(all="ignore"):
            return Constant(_convert_numpy(x.value, dtype), x.type.with_dtype(dtype))
    return None


def _convert_jvp(y: Any, xs: Any, ts: Any, dtype: DType) -> Any:
    if ts[0] is None or bool_ in (dtype, xs[0].type.dtype):
        return None
    return convert(ts[0], dtype=dtype)


def _convert_numpy(x: Any, dtype: DType) -> Any:
    if x.dtype.kind == "c" and dtype.kind != "complex":
        x = x.real
    return x.astype(dtype.numpy)


#: ``convert(x, dtype)``: the element type changed; real numbers from complex ones are their real part
convert = linear(
    "convert",
    type_rule=lambda x, dtype: x.with_dtype(dtype),
    numpy=_convert_numpy,
    xla=lambda jax, x, dtype: jax.lax.convert_element_type(
        x.real if x.dtype.kind == "c" and dtype.kind != "complex" else x, dtype.numpy
    ),
    jvp=_convert_jvp,
    transpose=lambda ct, x, dtype: convert(ct, dtype=x.type.dtype),
    batch=lambda size, xs, at, dtype: (convert(xs[0], dtype=dtype), at[0]),
    simplify=_convert_simplify,
    samples=[case(reals()[3, 2], dtype=float64), case(reals()[2], dtype=float32)],
)


# --- reshape, transpose, broadcast -----------------------------------------------------------------


def _reshape_type(x: TensorType, shape: Shape) -> TensorType:
    result = x.with_shape(shape)
    if result.size != x.size:
        raise ValueError(
            f"For 'reshape', the shape {shape} holds {result.size} elements, "
            f"but the input of shape {x.shape} has {x.size}."
        )
    return result


def _reshape_simplify(x: Any, shape: Shape) -> Any:
    if x.shape == shape:
        return x
    splat = _splat(x, x.type.with_shape(shape))
    return reshaped_twice(x, shape) if splat is None else splat


reshape = linear(
    "reshape",
    type_rule=_reshape_type,
    numpy=lambda x, shape: x.reshape(shape),
    xla="reshape",
    transpose=lambda ct, x, shape: reshape(ct, shape=x.shape),
    batch=lambda size, xs, at, shape: (
        reshape(moved(xs[0], at[0], 0), shape=(size, *shape)),
        0,
    ),
    simplify=_reshape_simplify,
    samples=[
        case(reals()[2, 6], shape=(3, 4)),
        case(reals()[1], shape=()),
        case(reals()[0, 3], shape=(2, 0)),
    ],
)


def _transpose_simplify(x: Any, permutation: Shape) -> Any:
    if permutation == tuple(range(len(x.shape))):
        return x
    return _splat(x, _transpose_type(x.type, permutation))


def _transpose_type(x: TensorType, permutation: Shape) -> TensorType:
    if sorted(permutation) != list(range(x.rank)):
        raise ValueError(
            f"For 'transpose', the permutation must name each axis of the input of shape {x.shape} "
            f"once, but got {permutation}."
        )
    return x.with_shape(tuple(x.shape[i] for i in permutation))


transpose = linear(
    "transpose",
    type_rule=_transpose_type,
    numpy=lambda x, permutation: x.transpose(permutation),
    xla="transpose",
    transpose=lambda ct, x, permutation: transpose(
        ct, permutation=tuple(int(i) for i in np.argsort(permutation))
    ),
    batch=lambda size, xs, at, permutation: (
        transpose(xs[0], permutation=(at[0], *past(permutation, at[0]))),
        0,
    ),
    simplify=_transpose_simplify,
    samples=[
        case(reals()[2, 3, 4], permutation=(2, 0, 1)),
        case(reals()[2, 3], permutation=(1, 0)),
        case(reals()[2, 0], permutation=(1, 0)),
    ],
)


def _broadcast_type(x: TensorType, shape: Shape, dims: Shape) -> TensorType:
    fits = len(dims) == x.rank and list(dims) == sorted(set(dims))
    if not fits or any(
        not 0 <= d < len(shape) or n not in (1, shape[d]) for n, d in zip(x.shape, dims, strict=True)
    ):
        raise ValueError(
            f"For 'broadcast_in_dim', an input of shape {x.shape} cannot be broadcast to the shape "
            f"{shape} with its axes at {dims}."
        )
    return x.with_shape(shape)


def _broadcast_numpy(x: Any, shape: Shape, dims: Shape) -> np.ndarray:
    if dims and dims[0] + len(dims) != len(shape):  # else its axes are the last ones, where NumPy puts them
        expanded = [1] * len(shape)
        for axis, size in zip(dims, x.shape, strict=True):
            expanded[axis] = size
        x = np.reshape(x, expanded)
    # a copy of few elements takes less time than a view; one element that is seen everywhere stays one
    if math.prod(shape) <= (_COPIED if dims else _SMALL):
        y = np.empty(shape, x.dtype)
        y[...] = x
        return y
    return np.broadcast_to(x, shape)


def _broadcast_transpose(ct: Any, x: Any, shape: Shape, dims: Shape) -> Any:
    axes = tuple(
        axis
        for axis in range(len(shape))
        if axis not in dims or (x.shape[dims.index(axis)] == 1 and shape[axis] != 1)
    )
    # the two rows are each other's transposes; this one is defined first
    return reshape(REGISTRY["reduce_sum"](ct, axes=axes), shape=x.shape)


def _broadcast_simplify(x: Any, shape: Shape, dims: Shape) -> Any:
    return x if x.shape == shape else _splat(x, x.type.with_shape(shape))


#: ``broadcast_in_dim(x, shape, dims)``: axis ``i`` of ``x`` becomes axis ``dims[i]`` of the result
broadcast_in_dim = linear(
    "broadcast_in_dim",
    type_rule=_broadcast_type,
    numpy=_broadcast_numpy,
    xla=lambda jax, x, shape, dims: jax.lax.broadcast_in_dim(x, shape, dims),
    transpose=_broadcast_transpose,
    batch=lambda size, xs, at, shape, dims: (
        broadcast_in_dim(moved(xs[0], at[0], 0), shape=(size, *shape), dims=(0, *(d + 1 for d in dims))),
        0,
    ),
    simplify=_broadcast_simplify,
    samples=[
        case(reals()[3], shape=(2, 3), dims=(1,)),
        case(reals()[()], shape=(2, 3), dims=()),
        case(reals()[2, 1], shape=(2, 3), dims=(0, 1)),
        case(reals()[2, 1], shape=(2, 4, 3), dims=(0, 2)),
        case(reals()[1], shape=(0, 2), dims=(1,)),
    ],
)

#: the identity whose derivative is zero
stop_gradient = linear(
    "stop_gradient",
    kind="pointwise linear",
    type_rule=lambda x: x,
    numpy=lambda x: x,
    xla=lambda jax, x: x,
    jvp=lambda y, xs, ts: None,
    transpose=lambda ct, x: [zeros(x.type)],
    samples=(reals(), 1, "any"),
)


# --- concatenate, slice, pad, reverse --------------------------------------------------------------


def _concatenate_type(*xs: TensorType, axis: int) -> TensorType:
    first = xs[0]
    _check_axes("concatenate", first, (axis,))
    rest = first.shape[:axis], first.shape[axis + 1 :]
    for x in xs:
        same_rest = x.rank == first.rank and (x.shape[:axis], x.shape[axis + 1 :]) == rest
        if x.dtype is not first.dtype or not same_rest:
            raise ValueError(
                f"For 'concatenate', the inputs must have one element type and one shape apart "
                f"from axis {axis}, but got {', '.join(map(repr, xs))}."
            )
    return first.with_shape((*rest[0], sum(x.shape[axis] for x in xs), *rest[1]))


def _concatenate_transpose(ct: Any, *xs: Any, axis: int) -> list[Any]:
    parts: list[Any] = []
    offset = 0
    for x in xs:
        end = offset + x.shape[axis]
        parts.append(slice_axis(ct, axis, offset, end) if x.linear else None)
        offset = end
    return parts


def slice_axis(x: Any, axis: int, start: int, limit: int) -> Any:
    """The elements ``start`` to ``limit`` of ``x`` along ``axis``."""
    rank = len(x.shape)
    begin = tuple(start if i == axis else 0 for i in range(rank))
    end = tuple(limit if i == axis else n for i, n in enumerate(x.shape))
    return slice(x, start=begin, limit=end, strides=(1,) * rank)


def _concatenate_simplify(*xs: Any, axis: int) -> Any:
    if len(xs) == 1:
        return xs[0]
    first = xs[0]
    if isinstance(first, Constant) and first.is_splat:
        value = first.value.tobytes()  # bytes: NaN is itself, and −0 is not 0
        if all(isinstance(x, Constant) and x.is_splat and x.value.tobytes() == value for x in xs):
            return _splat(first, _concatenate_type(*[x.type for x in xs], axis=axis))
    return joined(xs, axis)


#: ``concatenate(*xs, axis)``: the operands one after another along ``axis``
concatenate = linear(
    "concatenate",
    type_rule=_concatenate_type,
    numpy=lambda *xs, axis: np.concatenate(xs, axis),
    xla=lambda jax, *xs, axis: jax.lax.concatenate(xs, axis),
    transpose=_concatenate_transpose,
    batch=lambda size, xs, at, axis: (
        concatenate(*map(at_front, [size] * len(xs), xs, at), axis=axis + 1),
        0,
    ),
    simplify=_concatenate_simplify,
    samples=[
        case(reals()[2, 3], reals()[2, 1], reals()[2, 2], axis=1),
        case(reals()[2], reals()[0], axis=0),
    ],
)


def _slice_type(x: TensorType, start: Shape, limit: Shape, strides: Shape) -> TensorType:
    _check_ranks("slice", x, start=start, limit=limit, strides=strides)
    shape = []
    for n, low, high, step in zip(x.shape, start, limit, strides, strict=True):
        if not (0 <= low <= high <= n and step >= 1):
            raise ValueError(
                f"For 'slice', start ≤ limit must lie inside the input of shape {x.shape} and the "
                f"strides be positive, but got start {start}, limit {limit}, strides {strides}."
            )
        shape.append(-(-(high - low) // step))
    return x.with_shape(tuple(shape))


def _slice_transpose(ct: Any, x: Any, start: Shape, limit: Shape, strides: Shape) -> Any:
    spread = [_dilated(n, step - 1) for n, step in zip(ct.shape, strides, strict=True)]
    high = tuple(n - low - m for n, low, m in zip(x.shape, start, spread, strict=True))
    return pad(ct, low=start, high=high, interior=tuple(step - 1 for step in strides))


def _slice_simplify(x: Any, start: Shape, limit: Shape, strides: Shape) -> Any:
    if limit == x.shape and not any(start) and all(step == 1 for step in strides):
        return x
    splat = _splat(x, _slice_type(x.type, start, limit, strides))
    if splat is None and type(x) is Constant:
        return uniform(x.value[tuple(map(builtins.slice, start, limit, strides))])
    return part_of(x, start, limit, strides) if splat is None else splat


#: ``slice(x, start, limit, strides)``: the elements ``start, start + stride, … < limit`` of each axis
slice = linear(
    "slice",
    type_rule=_slice_type,
    numpy=lambda x, start, limit, strides: x[tuple(map(builtins.slice, start, limit, strides))],
    xla=lambda jax, x, start, limit, strides: jax.lax.slice(x, start, limit, strides),
    transpose=_slice_transpose,
    batch=lambda size, xs, at, start, limit, strides: (
        slice(
            xs[0],
            start=inserted(start, at[0], 0),
            limit=inserted(limit, at[0], size),
            strides=inserted(strides, at[0], 1),
        ),
        at[0],
    ),
    simplify=_slice_simplify,
    samples=[
        case(reals()[4, 5], start=(1, 0), limit=(3, 5), strides=(1, 2)),
        case(reals()[7], start=(1,), limit=(7,), strides=(3,)),
        case(reals()[3], start=(2,), limit=(2,), strides=(1,)),
        case(reals()[()], start=(), limit=(), strides=()),
    ],
)


def _dilated(n: int, interior: int) -> int:
    """The size of an axis of ``n`` elements with ``interior`` zeros between neighbours."""
    return n + max(n - 1, 0) * interior


def _pad_type(x: TensorType, low: Shape, high: Shape, interior: Shape) -> TensorType:
    _check_ranks("pad", x, low=low, high=high, interior=interior)
    shape = tuple(
        _dilated(n, inside) + before + after
        for n, before, after, inside in zip(x.shape, low, high, interior, strict=True)
    )
    if any(n < 0 for n in (*shape, *interior)):
        raise ValueError(
            f"For 'pad', low {low}, high {high} and interior {interior} take away more than the "
            f"input of shape {x.shape} has."
        )
    return x.with_shape(shape)


def _pad_numpy(x: Any, low: Shape, high: Shape, interior: Shape) -> np.ndarray:
    # where element i of x lands is low + i·(interior + 1); a negative low or high crops
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


def _pad_transpose(ct: Any, x: Any, low: Shape, high: Shape, interior: Shape) -> Any:
    still = (0,) * len(low)
    kept = pad(ct, low=tuple(-n for n in low), high=tuple(-n for n in high), interior=still)
    strides = tuple(inside + 1 for inside in interior)
    return slice(kept, start=still, limit=kept.shape, strides=strides)


def _pad_simplify(x: Any, low: Shape, high: Shape, interior: Shape) -> Any:
    if not (any(low) or any(high) or any(interior)):
        return x
    if isinstance(x, Constant) and x.is_all(0):
        return zeros(_pad_type(x.type, low, high, interior))
    return None


#: ``pad(x, low, high, interior)``: ``low`` zeros before, ``high`` behind and ``interior`` between the
#: elements of each axis; a negative ``low`` or ``high`` takes elements away
pad = linear(
    "pad",
    type_rule=_pad_type,
    numpy=_pad_numpy,
    xla=lambda jax, x, low, high, interior: jax.lax.pad(
        x, jax.numpy.zeros((), x.dtype), list(zip(low, high, interior, strict=True))
    ),
    transpose=_pad_transpose,
    batch=lambda size, xs, at, low, high, interior: (
        pad(
            xs[0],
            low=inserted(low, at[0], 0),
            high=inserted(high, at[0], 0),
            interior=inserted(interior, at[0], 0),
        ),
        at[0],
    ),
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
    _check_axes("reverse", x, axes)
    return x


#: ``reverse(x, axes)``: the elements in opposite order along ``axes``
reverse = linear(
    "reverse",
    type_rule=_reverse_type,
    numpy=lambda x, axes: np.flip(x, axes),
    xla=lambda jax, x, axes: jax.lax.rev(x, axes),
    transpose=lambda ct, x, axes: reverse(ct, axes=axes),
    batch=batched_along("reverse", "axes", keeps=True),
    simplify=lambda x, axes: x if not axes else _splat(x, x.type),
    samples=[case(reals()[2, 3, 2], axes=(0, 2)), case(reals()[0], axes=(0,))],
)


# --- iota ------------------------------------------------------------------------------------------


def _iota_numpy(shape: Shape, axis: int, dtype: DType) -> np.ndarray:
    numbers = np.arange(shape[axis]).astype(dtype.numpy)
    return _broadcast_numpy(numbers, shape, (axis,))


def _iota_simplify(shape: Shape, axis: int, dtype: DType) -> Any:
    if tensor_type(dtype, shape).size > _SMALL:
        return None
    return Constant(np.ascontiguousarray(_iota_numpy(shape, axis, dtype)))


#: ``iota(shape, axis, dtype)``: 0, 1, 2, … along ``axis``; it has no operands
iota = constant(
    "iota",
    type_rule=lambda shape, axis, dtype: tensor_type(dtype, shape),
    numpy=_iota_numpy,
    xla=lambda jax, shape, axis, dtype: jax.lax.broadcasted_iota(dtype.numpy, shape, axis),
    simplify=_iota_simplify,
    samples=[
        case(shape=(3, 4), axis=1, dtype=int32),
        case(shape=(100,), axis=0, dtype=float64),
        case(shape=(0, 2), axis=1, dtype=int32),
    ],
)

VIEWS.update((reshape, transpose, broadcast_in_dim, slice))
