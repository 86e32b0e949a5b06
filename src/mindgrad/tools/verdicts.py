"""Verdicts say whether derivatives agree with differences, within the rounding of both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Slopes", "Verdicts"]

#: a difference that is less certain than this part of the slope decides nothing
_UNCERTAIN = 0.05
#: rounding of a derivative, in units of the last place of result over argument
_FLOOR = 64.0
_VERDICTS = ("ok", "corner", "unclear", "wrong")


class Slopes(NamedTuple):
    """Slopes by differences: matrices with one row per direction of the variable, and a column per result.

    Attributes:
        difference, uncertainty: the slope, and the estimated error of it.
        low, high: the one-sided slopes, the lower one first.
        is_corner, is_edge, is_jump: where these differ, where the function is finite on one side only, and
            where its values on the two sides do not meet.
    """

    difference: np.ndarray
    uncertainty: np.ndarray
    low: np.ndarray
    high: np.ndarray
    is_corner: np.ndarray
    is_edge: np.ndarray
    is_jump: np.ndarray


class Verdicts:
    """Verdicts on a matrix of derivatives.

    Args:
        derivative (numpy.ndarray): the derivatives.
        slopes (Slopes): what they are compared with.
        tolerance (float): the relative error that is allowed.
        epsilon (float): the rounding of the derivatives' element type.
        magnitude (numpy.ndarray): the size of the results, for a step of the variables' size.

    Attributes:
        error: the distance of derivative and difference.
        verdict: the gravest verdict.
        worst: the entry with the gravest verdict, and among those with the largest error for what is allowed.
    """

    def __init__(
        self, derivative: np.ndarray, slopes: Slopes, tolerance: float, epsilon: float, magnitude: np.ndarray
    ) -> None:
        self.slopes = slopes
        difference, uncertainty, low, high, is_corner, is_edge, is_jump = slopes
        floor = _FLOOR * epsilon * magnitude
        is_smooth = ~(is_corner | is_edge | is_jump)
        with np.errstate(invalid="ignore"):
            scale = np.abs(difference[is_smooth & np.isfinite(difference)]).max(initial=0.0)
            allowed = tolerance * scale + floor + uncertainty
            self.error = np.abs(derivative - difference)
            slack = tolerance * np.fmax(np.abs(low), np.abs(high)) + floor
            is_between = (low - slack <= derivative) & (derivative <= high + slack)
            is_known = np.isfinite(difference) & (uncertainty <= _UNCERTAIN * scale + tolerance * magnitude)
            is_wrong = np.isfinite(difference) & ~(self.error <= allowed)
            severity = np.select(
                [np.isnan(derivative), is_edge | is_jump, is_corner, is_wrong, ~is_known],
                [3, 1, np.where(is_between, 1, 3), 3, 2],
                0,
            )
            excess = np.nan_to_num(self.error / np.where(allowed > 0, allowed, 1.0), nan=np.inf)
        gravest = severity.max()
        self.verdict = _VERDICTS[int(gravest)]
        flat = int(np.argmax(np.where(severity == gravest, excess, -1.0)))
        row, column = np.unravel_index(flat, severity.shape)
        self.worst = int(row), int(column)
