"""Operators that move elements without computing on them: convert, reshape, transpose, broadcast.

All are linear; each has its transpose here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.dtype import DType, bool_, float32, float64
from mindgrad.core.graph import Constant
from mindgrad.core.types import Shape, TensorType
from mindgrad.primitives.kinds import linear, zeros
from mindgrad.primitives.reduction import reduce_sum
from mindgrad.primitives.samples import case, reals

__all__ = ["broadcast_in_dim", "convert", "reshape", "stop_gradient", "transpose"]


def _splat(x: Any, type: TensorType) -> Constant | None:
    """A splat stays a splat of another type: moving equal elements changes only the type."""
    if isinstance(x, Constant) and x.is_splat:
        return Constant(x.value.astype(type.dtype.numpy), type)
    return None


def _convert_simplify(x: Any, dtype: DType) -> Any:
    if x.type.dtype is dtype:
        return x
    if type(x) is Constant and x.is_splat and dtype is not bool_:
        with np.errstate(all="ignore"):
            return Constant(x.value.astype(dtype.numpy), x.type.with_dtype(dtype))
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
    simplify=_convert_simplify,
    samples=[case(reals()[3, 2], dtype=float64), case(reals()[2], dtype=float32)],
)


def _reshape_type(x: TensorType, shape: Shape) -> TensorType:
    result = x.with_shape(shape)
    if result.size != x.size:
        raise ValueError(
            f"For 'reshape', the shape {shape} holds {result.size} elements, "
            f"but the input of shape {x.shape} has {x.size}."
        )
    return result


reshape = linear(
    "reshape",
    type_rule=_reshape_type,
    numpy=np.reshape,
    xla="reshape",
    transpose=lambda ct, x, shape: reshape(ct, shape=x.shape),
    simplify=lambda x, shape: x if x.shape == shape else _splat(x, x.type.with_shape(shape)),
    samples=[case(reals()[2, 6], shape=(3, 4)), case(reals()[1], shape=())],
)


def _transpose_simplify(x: Any, permutation: Shape) -> Any:
    if permutation == tuple(range(len(permutation))):
        return x
    return _splat(x, _transpose_type(x.type, permutation))


def _transpose_type(x: TensorType, permutation: Shape) -> TensorType:
    return x.with_shape(tuple(x.shape[i] for i in permutation))


transpose = linear(
    "transpose",
    type_rule=_transpose_type,
    numpy=lambda x, permutation: np.transpose(x, permutation),
    xla="transpose",
    transpose=lambda ct, x, permutation: transpose(
        ct, permutation=tuple(int(i) for i in np.argsort(permutation))
    ),
    simplify=_transpose_simplify,
    samples=[case(reals()[2, 3, 4], permutation=(2, 0, 1)), case(reals()[2, 3], permutation=(1, 0))],
)


def _broadcast_numpy(x: Any, shape: Shape, dims: Shape) -> np.ndarray:
    if len(dims) != len(shape):
        expanded = [1] * len(shape)
        for axis, size in zip(dims, x.shape, strict=True):
            expanded[axis] = size
        x = np.reshape(x, expanded)
    return np.broadcast_to(x, shape)


def _broadcast_transpose(ct: Any, x: Any, shape: Shape, dims: Shape) -> Any:
    axes = tuple(
        axis
        for axis in range(len(shape))
        if axis not in dims or (x.shape[dims.index(axis)] == 1 and shape[axis] != 1)
    )
    return reshape(reduce_sum(ct, axes=axes), shape=x.shape)


def _broadcast_simplify(x: Any, shape: Shape, dims: Shape) -> Any:
    return x if x.shape == shape else _splat(x, x.type.with_shape(shape))


#: ``broadcast_in_dim(x, shape, dims)``: axis ``i`` of ``x`` becomes axis ``dims[i]`` of the result
broadcast_in_dim = linear(
    "broadcast_in_dim",
    type_rule=lambda x, shape, dims: x.with_shape(shape),
    numpy=_broadcast_numpy,
    xla=lambda jax, x, shape, dims: jax.lax.broadcast_in_dim(x, shape, dims),
    transpose=_broadcast_transpose,
    simplify=_broadcast_simplify,
    samples=[
        case(reals()[3], shape=(2, 3), dims=(1,)),
        case(reals()[()], shape=(2, 3), dims=()),
        case(reals()[2, 1], shape=(2, 3), dims=(0, 1)),
        case(reals()[2, 1], shape=(2, 4, 3), dims=(0, 2)),
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
