"""Reductions over axes, and their cumulative forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.graph import Constant
from mindgrad.core.primitive import REGISTRY
from mindgrad.core.types import Shape, TensorType
from mindgrad.primitives.kinds import full, linear
from mindgrad.primitives.samples import case, reals

__all__ = ["reduce_sum"]


def _without(type: TensorType, axes: Shape) -> TensorType:
    return type.with_shape(tuple(n for axis, n in enumerate(type.shape) if axis not in axes))


def _kept(rank: int, axes: Shape) -> Shape:
    return tuple(axis for axis in range(rank) if axis not in axes)


def _sum_transpose(ct: Any, x: Any, axes: Shape) -> Any:
    # the two rows are each other's transposes; this one is defined first
    broadcast = REGISTRY["broadcast_in_dim"]
    return broadcast(ct, shape=x.shape, dims=_kept(len(x.shape), axes))


def _sum_simplify(x: Any, axes: Shape) -> Any:
    if not axes:
        return x
    if isinstance(x, Constant) and x.is_splat and x.type.dtype.is_inexact:
        count = int(np.prod([x.shape[axis] for axis in axes]))
        return full(_without(x.type, axes), x.value * count)
    return None


#: ``reduce_sum(x, axes)``: the sum over ``axes``, which disappear
reduce_sum = linear(
    "reduce_sum",
    type_rule=lambda x, axes: _without(x, axes),
    numpy=lambda x, axes: np.sum(x, axis=axes, dtype=x.dtype),
    xla=lambda jax, x, axes: jax.numpy.sum(x, axis=axes, dtype=x.dtype),
    transpose=_sum_transpose,
    simplify=_sum_simplify,
    samples=[case(reals()[2, 3, 4], axes=(0, 2)), case(reals()[3], axes=(0,))],
)
