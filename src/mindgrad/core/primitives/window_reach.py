"""Primitive ``window_reach``: which input positions the used windows read.

    y[n, g, q] = skips[n] or any of live[n, g, p] whose window reads position q

A window is used if the cotangent of its output is nonzero: ``live[n, g, p]`` is true if the cotangent at
output position p of a convolution is nonzero, for sample n and channel group g. ``skips[n]`` is true if the
input of sample n is finite, so that nothing must be discarded (``primitives.shielding``). The primitive is
the transpose of a convolution, for Booleans. If all samples are finite, as in almost every call, the kernels
skip this computation, which would cost more than the rest of the shielding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mindgrad.core.ir.index_map import WINDOWED, Arrangement, Axes, IndexMap, Relabeling
from mindgrad.core.ir.rules import Array, Module, Static, Statics
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.ir.work import by
from mindgrad.core.primitives.convolution_kernel import convolve, output_sizes
from mindgrad.core.primitives.kinds import constant
from mindgrad.core.primitives.samples import booleans, case, fixed

__all__ = ["window_reach"]


def _type(live: TensorType, skips: TensorType, window: Shape, **steps: Static) -> TensorType:
    lead = live.shape[: live.rank - len(window)]
    if live.dtype.kind != "bool" or skips is not live.with_shape(lead[:-1]):
        raise TypeError(
            f"For 'window_reach', the operands must be Boolean tensors with the same batch axes, but got "
            f"{live} and {skips}."
        )
    return live.with_shape((*lead, *output_sizes(live.shape, (1, 1, *window), **steps)))


def _numpy(live: Array, skips: Array, window: Shape, **steps: Static) -> Array:
    lead = live.shape[: live.ndim - len(window)]
    sizes = output_sizes(live.shape, (1, 1, *window), **steps)
    if np.all(skips):
        return np.ones((*lead, *sizes), bool)
    joined = live.reshape((-1, 1, *live.shape[len(lead) :])).astype(np.float32)
    reached = convolve(joined, np.ones((1, 1, *window), np.float32), groups=1, **steps) > 0
    return reached.reshape((*lead, *sizes)) | skips.reshape((*lead[:-1], *[1] * (len(window) + 1)))


def _xla(jax: Module, live: Array, skips: Array, window: Shape, strides: Shape, **steps: Static) -> Array:
    lead = live.shape[: live.ndim - len(window)]
    shape = (*lead, *output_sizes(live.shape, (1, 1, *window), strides, **steps))

    def look(live: Array, skips: Array) -> Array:
        joined = live.reshape((math.prod(lead), 1, *live.shape[len(lead) :])).astype("float32")
        kernel = jax.numpy.ones((1, 1, *window), "float32")
        reached = jax.lax.conv_general_dilated(joined, kernel, strides, **steps) > 0
        return reached.reshape(shape) | skips.reshape((*lead[:-1], *[1] * (len(window) + 1)))

    return jax.lax.cond(skips.all(), lambda *_: jax.numpy.ones(shape, bool), look, live, skips)


class _ReachAxes(Axes):
    """Index map of ``window_reach``, in which the sample and group axes are parallel."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        labels = tuple(range(len(shapes[0])))
        first = len(labels) - len(parameters["window"])
        return IndexMap((labels, labels[: first - 1]), (labels,), dict.fromkeys(labels[first:], WINDOWED))

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        live, skips = new.operands
        behind = len(new.parameters["window"]) + 1
        if live[:-behind] != skips or live[-behind:] != old.operands[0][-behind:]:
            return None
        return Relabeling(dict(new.parameters), (live,))


def _steps(rank: int, **changes: object) -> Statics:
    """Return all parameters of a test sample: the defaults, updated with ``changes``."""
    ones = (1,) * rank
    return dict(strides=ones, padding=((0, 0),) * rank, lhs_dilation=ones, rhs_dilation=ones) | changes


#: ``window_reach(live, skips, window, strides, padding, lhs_dilation, rhs_dilation)``: mask of the input
#: positions that are read by a window with a true element in ``live``, or whose sample is true in ``skips``.
#: ``live`` has shape (N, G, p), ``skips`` (N,), and the result (N, G, q)
window_reach = constant(
    "window_reach",
    work=by(lambda equation: equation.outputs[0].type.size * math.prod(equation.parameters["window"])),
    type_rule=_type,
    numpy=_numpy,
    xla=_xla,
    axes=_ReachAxes(),
    samples=[
        case(booleans()[4, 2, 5], booleans()[4], window=(3,), **_steps(1, padding=((2, 1),))),
        case(booleans()[3, 1, 4], fixed([True] * 3), window=(2,), **_steps(1, lhs_dilation=(2,))),
        case(
            booleans()[2, 3, 1, 4, 5],
            booleans()[2, 3],
            window=(2, 3),
            **_steps(2, strides=(1, 2), padding=((1, -1), (3, 2)), rhs_dilation=(2, 1)),
        ),
        case(booleans()[2, 2], booleans()[2], window=(), **_steps(0)),
        case(booleans()[0, 1, 3], booleans()[0], window=(2,), **_steps(1)),
    ],
)
