"""Primitive ``argsort``: the permutation that sorts an array along an axis."""

from __future__ import annotations

import math

import numpy as np

from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.graph import Equation
from mindgrad.core.ir.index_map import OPAQUE
from mindgrad.core.ir.rules import Array, Module
from mindgrad.core.ir.work import by
from mindgrad.core.primitives.accumulation_type import is_half
from mindgrad.core.primitives.axes import Along, along_axis
from mindgrad.core.primitives.kinds import constant
from mindgrad.core.primitives.samples import case, fixed, reals

__all__ = ["argsort"]


def _numpy(x: Array, axis: int, descending: bool) -> Array:
    if is_half(x.dtype):
        x = x.astype(np.float32)
    if descending:
        x = np.flip(x, axis)
    places = np.argsort(x, axis=axis, kind="stable").astype(np.int32)
    return x.shape[axis] - 1 - np.flip(places, axis) if descending else places


def _xla(jax: Module, x: Array, axis: int, descending: bool) -> Array:
    if descending:
        x = jax.numpy.flip(x, axis)
    places = jax.numpy.argsort(x, axis=axis, stable=True).astype(np.int32)
    return x.shape[axis] - 1 - jax.numpy.flip(places, axis) if descending else places


def _flops(equation: Equation) -> float:
    x = equation.inputs[0]
    return x.type.size * math.log2(max(*x.shape, 2))


#: ``argsort(x, axis, descending)``: the indices that sort the elements, as int32. Equal elements keep their
#: order. NaN counts as larger than every number
argsort = constant(
    "argsort",
    work=by(_flops),
    type_rule=along_axis("argsort", "ordered", int32),
    numpy=_numpy,
    xla=_xla,
    axes=Along("axis", OPAQUE, keeps=True),
    samples=[
        case(reals()[3, 4], axis=0, descending=False, accepts="real"),
        case(reals()[3, 4], axis=1, descending=True, accepts="real"),
        case(fixed([2.0, np.nan, 1.0, 2.0, -0.0, 0.0]), axis=0, descending=False, accepts="float"),
        case(fixed([2.0, np.nan, 1.0, 2.0, -0.0, 0.0]), axis=0, descending=True, accepts="float"),
        case(reals()[0], axis=0, descending=False, accepts="real"),
    ],
)
