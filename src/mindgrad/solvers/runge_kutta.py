"""One step of the Runge–Kutta method of Dormand and Prince, with its dense output.

    y_i = y + h Σ_j a_ij k_j,    k_i = f(y_i, t + c_i h),    error = h Σ_i e_i k_i

The k_i are the *slopes* of the stages. The *dense output* is a polynomial that interpolates the solution
within the step. In a compiled function, the stages are the iterations of a ``scan``. The compiled code then
contains f and its derivatives once instead of six times (docs/decisions/0003).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.trace import references
from mindgrad.frontend.control.loops import scanned
from mindgrad.frontend.control.variables import State
from mindgrad.solvers.iterate import Value, Values, held

__all__ = ["Slope", "Step", "interpolated", "stepped"]

_NODES = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
_STAGES: tuple[tuple[float, ...], ...] = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
#: weights e_i of the slopes in the error estimate, which is the solution of order 5 minus the solution of
#: order 4
_ERROR = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
#: weights of the slopes in the last coefficient of the dense output, the interpolation between two steps
_DENSE = (
    -12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
    701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
)  # fmt: skip

Slope = Callable[[Values, Value], Values]


class Step(NamedTuple):
    """The result of a step.

    Attributes:
        y, slope: the solution and its slope at the end of the step.
        error: the error estimate.
        bend: the last coefficient of the dense output.
    """

    y: Values
    slope: Values
    error: Values
    bend: Values


def stepped(slope: Slope, ys: Values, fs: Values, t: Value, h: Value) -> Step:
    """Compute a step of size ``h`` from the solution ``ys`` and slope ``fs`` at ``t``."""
    after, slopes = (_stages_as_loop if references.is_compiling() else _stages)(slope, ys, fs, t, h)
    last = [k[len(_NODES) - 1] for k in slopes]
    return Step(after, last, [h * _sum(_ERROR, k) for k in slopes], [_sum(_DENSE, k) * h for k in slopes])


def _stages(slope: Slope, ys: Values, fs: Values, t: Value, h: Value) -> tuple[Values, list[Any]]:
    """Return the solution after the step, and the slopes of each of its tensors."""
    slopes = [[f] for f in fs]
    after = ys
    for node, weights in zip(_NODES[1:], _STAGES[1:], strict=True):
        after = [y + h * _sum(weights, k) for y, k in zip(ys, slopes, strict=True)]
        for k, f in zip(slopes, slope(after, t + node * h), strict=True):
            k.append(f)
    return after, slopes


def _stages_as_loop(slope: Slope, ys: Values, fs: Values, t: Value, h: Value) -> tuple[Values, list[Any]]:
    """Compute :func:`_stages` as a scan, with the slopes of each tensor in one array."""
    count, kind = len(_NODES), ys[0].dtype.numpy
    weights = np.zeros((count - 1, count), kind)
    for row, terms in zip(weights, _STAGES[1:], strict=True):
        row[: len(terms)] = terms
    stacks = [Tensor(x) for x in (weights, np.eye(count, dtype=kind)[1:], np.array(_NODES[1:], kind))]
    after = ys
    slopes = [apply(concatenate, f.reshape((1, *f.shape)), *[_zeros(count - 1, f)], axis=0) for f in fs]

    def stage(weights: Value, unit: Value, node: Value) -> None:
        nonlocal after, slopes
        after = [y + h * _dot(weights, k) for y, k in zip(ys, slopes, strict=True)]
        found = slope(after, t + node * h)
        slopes = [
            k + unit.reshape((count, *[1] * len(f.shape))) * f for k, f in zip(slopes, found, strict=True)
        ]

    def put(values: tuple[Any, ...]) -> None:
        nonlocal after, slopes
        after, slopes = values

    variables = State(lambda: (after, slopes), put, ["the state of the stages", "their slopes"])
    scanned(count - 1, [(x, False) for x in stacks], lambda xs: stage(*xs), variables, lambda _: True)
    return after, slopes


def _zeros(count: int, like: Value) -> Value:
    """Return ``count`` stacked zeros, which need the memory of one element."""
    type = like.type.with_shape((count, *like.shape))
    return make_tensor(zeros(type).array(), type)


def _dot(weights: Value, slopes: Value) -> Value:
    return apply(dot, weights, slopes, contract=((0,), (0,)), batch=((), ()))


def _sum(weights: Sequence[float], slopes: Any) -> Value:
    """Return the weighted sum of slopes, which are a list or one stacked array."""
    if not isinstance(slopes, list):
        return _dot(Tensor(np.array(weights, slopes.dtype.numpy)), slopes)
    terms = [w * k for w, k in zip(weights, slopes, strict=False) if w]
    return sum(terms[1:], terms[0])


def interpolated(
    t0: Value, t1: Value, y0: Values, y1: Values, f0: Values, f1: Values, bend: Values, target: Value
) -> Values:
    """Return the dense output at time ``target`` of the step from ``t0`` to ``t1``."""
    h = held(t1 - t0)
    h = h + (h == 0).astype(h.dtype)  # before the first step, h is zero: divide by 1 instead of zero
    x = (target - t0) / h
    states = []
    for a, b, slope, slope_behind, bent in zip(y0, y1, f0, f1, bend, strict=True):
        change = b - a
        first = h * slope - change
        second = change - h * slope_behind - first
        states.append(a + x * (change + (1 - x) * (first + x * (second + (1 - x) * bent))))
    return states
