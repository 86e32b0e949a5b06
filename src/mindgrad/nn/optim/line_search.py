"""Line search for the strong Wolfe conditions, with cubic interpolation.

The algorithms are 3.5 and 3.6 of J. Nocedal and S. J. Wright, *Numerical Optimization*, 2006. Values whose
difference is a rounding error count as equal, so a search near a minimum decides by the slopes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["Trial", "strong_wolfe"]

#: c₁ of the Wolfe conditions: smallest decrease, as a fraction of the decrease that the slope predicts
_DECREASE = 1e-4
#: c₂ of the Wolfe conditions: largest slope, as a fraction of the first slope
_SLOPE = 0.9
#: a trial is at least this fraction of an interval away from both ends
_MARGIN = 0.1
#: while no minimum is bracketed, a step length may increase by this factor
_LARGEST_GROWTH = 10.0
#: rounding errors that the comparison of two values allows
_ROUNDINGS = 4


class Trial(NamedTuple):
    """The function at one step length: the value, the slope, and the gradient."""

    length: float
    value: float
    slope: float
    gradient: np.ndarray


def strong_wolfe(
    evaluate: Callable[[float], Trial],
    start: Trial,
    first: float,
    most: int,
    precision: float,
    shortest: float,
) -> Trial:
    """Return a trial that satisfies the strong Wolfe conditions.

    Args:
        evaluate: function that computes the trial of a step length.
        start: trial of the step length 0, with a negative slope.
        first: first step length, positive.
        most: maximum number of evaluations, at least 1.
        precision: relative rounding error of a value.
        shortest: shortest interval of step lengths that the search divides.

    Returns:
        Trial: the accepted trial. If the search fails, the best trial that decreases the function enough,
        which may be ``start``.
    """
    search = _Search(evaluate, start, most, precision * _ROUNDINGS * abs(start.value))
    before, trial = start, search.try_length(first)
    while True:
        if not math.isfinite(trial.value) or search.is_too_high(trial, before):
            return search.zoom(before, trial, shortest)
        if search.is_flat(trial):
            return trial
        if trial.slope >= 0:
            return search.zoom(trial, before, shortest)
        if search.left == 0:
            return trial
        least = trial.length + _MARGIN * (trial.length - before.length)
        longest = _LARGEST_GROWTH * trial.length
        minimum = _minimum_of_cubic(before, trial, search.rounding)
        if minimum is None or minimum <= trial.length:
            minimum = longest
        before, trial = trial, search.try_length(min(max(minimum, least), longest))


class _Search:
    """Conditions and evaluations of one line search."""

    def __init__(self, evaluate: Callable[[float], Trial], start: Trial, most: int, rounding: float) -> None:
        self.evaluate, self.start, self.left, self.rounding = evaluate, start, most, rounding

    def try_length(self, length: float) -> Trial:
        self.left -= 1
        return self.evaluate(length)

    def is_too_high(self, trial: Trial, low: Trial) -> bool:
        """Return whether the value is above Armijo's bound, or not below ``low``."""
        bound = self.start.value + _DECREASE * trial.length * self.start.slope + self.rounding
        is_above = low.length > 0 and trial.value >= low.value + self.rounding
        return trial.value > bound or is_above

    def is_flat(self, trial: Trial) -> bool:
        """Return whether the slope satisfies the curvature condition."""
        return abs(trial.slope) <= -_SLOPE * self.start.slope

    def zoom(self, low: Trial, high: Trial, shortest: float) -> Trial:
        """Search between ``low``, which satisfies Armijo's condition, and ``high``."""
        while self.left > 0:
            width = high.length - low.length
            if abs(width) <= shortest:
                break
            length = _minimum_of_cubic(low, high, self.rounding)
            if length is None:
                length = low.length + 0.5 * width
            ends = sorted((low.length + _MARGIN * width, high.length - _MARGIN * width))
            trial = self.try_length(min(max(length, ends[0]), ends[1]))
            if not math.isfinite(trial.value) or self.is_too_high(trial, low):
                high = trial
                continue
            if self.is_flat(trial):
                return trial
            if trial.slope * width >= 0:
                high = low
            low = trial
        return low


def _minimum_of_cubic(near: Trial, far: Trial, rounding: float) -> float | None:
    """Return the minimum of the cubic polynomial through two trials, if it exists.

    If the values differ only by a rounding error, the result is the zero of the linear function through the
    slopes instead.
    """
    distance = far.length - near.length
    if not math.isfinite(far.value) or not math.isfinite(far.slope):
        return None
    if abs(near.value - far.value) <= rounding:
        change = far.slope - near.slope
        return near.length - near.slope * distance / change if change * distance > 0 else None
    with np.errstate(over="ignore", invalid="ignore"):
        first = near.slope + far.slope - 3 * (far.value - near.value) / distance
        square = first * first - near.slope * far.slope
        if not 0 <= square < math.inf:
            return None
        root = math.copysign(math.sqrt(square), distance)
        divisor = far.slope - near.slope + 2 * root
        return far.length - distance * (far.slope + root - first) / divisor if divisor else None
