"""Finite differences: a slope and its uncertainty, estimated from values only.

    D(h) = (f(h) − f(−h)) / 2h,    R_k = (16 D(h_k) − D(h_{k−1})) / 15,    h_k = h_{k−1} / 4

Richardson extrapolation R removes the h² term of the central difference D. The function is evaluated for a
sequence of steps h_k. The estimate uses the step with the smallest uncertainty, which is the change of R plus
a bound of the rounding error. Each element of f has its own best step. If the slopes from the left and from
the right do not approach each other as h decreases, the point is a nondifferentiable point.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["Differences", "complex_step", "differences", "power_of_two"]

_STEPS = 11
#: assumed rounding error of one evaluation of the function, in units in the last place (ulp)
_ROUNDING = 4.0
#: Let d(h) be the difference of the two one-sided slopes for the step h. A point counts as nondifferentiable
#: if d(h / 4) exceeds this fraction of d(h). At a smooth point, d(h / 4) is about d(h) / 4.
_STAYS = 0.8
#: a difference of slopes or a jump is reported only if it exceeds this multiple of the rounding error
_VISIBLE = 50.0
#: The function has a jump if the central difference for the step h / 4 exceeds the central difference for the
#: step h by more than this factor. At a jump, the factor is 4.
_GROWS = 3.5
#: number of steps, the smallest ones, whose slopes are compared with the best slope
_TAIL = 3


class Differences(NamedTuple):
    """Slopes of the elements of a function along one direction.

    The attributes are arrays of shape ``(outputs,)``, unless a shape is given.

    Attributes:
        slope: extrapolated central difference; NaN if the extrapolations are not finite.
        uncertainty: estimated error of ``slope``.
        step: step size with which ``slope`` was computed.
        left, right: one-sided slopes. They belong to the smallest step that shows a nondifferentiable point.
            At the boundary of the domain, they belong to the smallest step, and at all other points to the
            largest step.
        is_nondifferentiable: whether the one-sided slopes do not approach each other as the step decreases.
        is_edge: whether the function is finite on one side only.
        is_jump: whether the values on the two sides do not approach each other.
        steps: all step sizes, of shape ``(steps,)``.
        sweep: central differences for all steps, of shape ``(steps, outputs)``.
    """

    slope: np.ndarray
    uncertainty: np.ndarray
    step: np.ndarray
    left: np.ndarray
    right: np.ndarray
    is_nondifferentiable: np.ndarray
    is_edge: np.ndarray
    is_jump: np.ndarray
    steps: np.ndarray
    sweep: np.ndarray


def power_of_two(size: float) -> float:
    """Return the power of two nearest to ``size``, or 1 if ``size`` is zero.

    Steps that are powers of two are added without rounding.
    """
    return 2.0 ** round(math.log2(size)) if size > 0 and math.isfinite(size) else 1.0


def differences(
    f: Callable[[float], np.ndarray], base: np.ndarray, unit: float, epsilon: float
) -> Differences:
    """Estimate the derivative of ``f`` at 0.

    Args:
        f (Callable): function that maps a scalar to a 1-D array.
        base (numpy.ndarray): ``f(0)``.
        unit (float): magnitude of the argument. The steps are fractions of ``unit``.
        epsilon (float): machine epsilon of the dtype in which ``f`` computes.

    Returns:
        Differences: the slopes, one for each element of the result.

    >>> import numpy as np
    >>> f = lambda h: np.array([np.sin(1.0 + h), abs(h)])
    >>> result = differences(f, f(0.0), 1.0, 2.0**-52)
    >>> bool(abs(result.slope[0] - np.cos(1.0)) < 1e-10), result.is_nondifferentiable.tolist()
    (True, [False, True])
    >>> result.left[1].item(), result.right[1].item()
    (-1.0, 1.0)
    """
    steps = unit * 0.25 ** np.arange(1, _STEPS + 1)
    steps = steps[steps >= 64 * epsilon * unit]
    column = steps[:, None]
    with np.errstate(all="ignore"):
        above = np.stack([f(step) for step in steps.tolist()])
        below = np.stack([f(-step) for step in steps.tolist()])
        right, left = (above - base) / column, (base - below) / column
        sweep = (above - below) / (2 * column)
        rounding = _ROUNDING * epsilon * (np.abs(base) + np.abs(sweep) * unit) / column
        richardson = (16 * sweep[1:] - sweep[:-1]) / 15
        uncertainty = np.abs(np.diff(richardson, axis=0)) + rounding[2:]
        uncertainty = np.where(np.isfinite(uncertainty), uncertainty, np.inf)
        best = np.argmin(uncertainty, axis=0)
        best = np.where(_disagrees(richardson, uncertainty, rounding, best), len(uncertainty) - _TAIL, best)
        slope = _chosen(richardson, best + 1)
        corner = _corners(left, right, rounding)
        last = np.maximum(corner, 0)
        is_edge = np.isfinite(above[-1]) != np.isfinite(below[-1])
        return Differences(
            slope=np.where(np.isinf(uncertainty.min(axis=0)), np.nan, slope),
            uncertainty=_chosen(uncertainty, best),
            step=steps[best + 2],
            left=np.where(is_edge, left[-1], _chosen(left, last)),
            right=np.where(is_edge, right[-1], _chosen(right, last)),
            is_nondifferentiable=(corner >= 0) & ~is_edge,
            is_edge=is_edge,
            is_jump=_jumps(sweep, rounding) & (corner < 0),
            steps=steps,
            sweep=sweep,
        )


def _disagrees(
    richardson: np.ndarray, uncertainty: np.ndarray, rounding: np.ndarray, best: np.ndarray
) -> np.ndarray:
    """Check whether the smallest steps agree, and contradict the best estimate.

    The best estimate is then wrong. For example, large steps measure the mean slope of a staircase.
    """
    tail, bound = richardson[-_TAIL:], rounding[-_TAIL:].max(axis=0)
    is_settled = np.ptp(tail, axis=0) <= bound
    distance = np.abs(_chosen(richardson, best + 1) - tail[0])
    return is_settled & (distance > 10 * (bound + _chosen(uncertainty, best)))


def _chosen(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.take_along_axis(table, rows[None], axis=0)[0]


def _corners(left: np.ndarray, right: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Find the smallest step that shows a nondifferentiable point.

    At this step, the one-sided slopes differ by more than rounding errors. The result contains the index of
    the step for each element, or −1 if the slopes approach each other.
    """
    jump = np.abs(right - left)
    is_visible = np.isfinite(jump) & (jump > _VISIBLE * rounding)
    before, last = np.full((2, jump.shape[1]), -1)
    for row, is_seen in enumerate(is_visible):
        before, last = np.where(is_seen, last, before), np.where(is_seen, row, last)
    slope = _chosen(np.fmax(np.abs(left), np.abs(right)), np.maximum(last, 0))
    now, earlier = _chosen(jump, np.maximum(last, 0)), _chosen(jump, np.maximum(before, 0))
    return np.where((before >= 0) & (now > _STAYS * earlier) & (now > 1e-3 * slope), last, -1)


def _jumps(sweep: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Find jumps, where the central differences grow as the step decreases."""
    sizes = np.abs(sweep[-_TAIL:])
    grows = (sizes[1:] > _GROWS * sizes[:-1]).all(axis=0)
    return grows & np.isfinite(sizes).all(axis=0) & (sizes[-1] > _VISIBLE * rounding[-1])


def complex_step(f: Callable[[complex], np.ndarray], unit: float) -> np.ndarray:
    """Compute the derivative at 0 of an analytic ``f`` as Im f(ih) / h for a tiny h.

    There is no subtraction, and therefore no cancellation.

    >>> import numpy as np
    >>> bool(complex_step(lambda h: np.exp(np.array([1.0 + h])), 1.0)[0] == np.exp(1.0))
    True
    """
    step = unit * 2.0**-80
    return np.imag(f(1j * step)) / step
