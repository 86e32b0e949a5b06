"""Verdicts on derivatives: whether they match finite differences up to rounding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Slopes", "Verdicts"]

#: maximum uncertainty of a slope, as a fraction of the largest slope; above it, the verdict is "unclear"
_UNCERTAIN = 0.05
#: allowed rounding error of a derivative, in units of machine epsilon · |result| / |argument|
_FLOOR = 64.0
_VERDICTS = ("ok", "nondifferentiable", "unclear", "wrong")


class Slopes(NamedTuple):
    """Slopes by finite differences.

    The attributes are matrices with one row per direction of the variable, and one column per element of the
    result.

    Attributes:
        difference, uncertainty: the slope, and its estimated error.
        low, high: the smaller and the larger one-sided slope.
        is_nondifferentiable: whether the one-sided slopes differ.
        is_edge: whether the function is finite on one side only.
        is_jump: whether the values on the two sides do not approach each other.
    """

    difference: np.ndarray
    uncertainty: np.ndarray
    low: np.ndarray
    high: np.ndarray
    is_nondifferentiable: np.ndarray
    is_edge: np.ndarray
    is_jump: np.ndarray


class Verdicts:
    """Verdicts on a matrix of derivatives.

    Args:
        derivative (numpy.ndarray): derivatives to judge, a matrix.
        slopes (Slopes): finite differences, of the same shape as ``derivative``.
        tolerance (float): allowed error of a derivative, divided by the largest slope.
        epsilon (float): machine epsilon of the dtype of the derivatives.
        magnitude (numpy.ndarray): magnitude of the results divided by the magnitude of the variable, which
            bounds the rounding error.

    Attributes:
        error: distance between derivative and difference.
        verdict: the most serious verdict of all entries.
        worst: row and column of the entry with the most serious verdict. If there are several, the entry with
            the largest ratio of error to allowed error.
    """

    def __init__(
        self, derivative: np.ndarray, slopes: Slopes, tolerance: float, epsilon: float, magnitude: np.ndarray
    ) -> None:
        self.slopes = slopes
        difference, uncertainty, low, high, is_nondifferentiable, is_edge, is_jump = slopes
        floor = _FLOOR * epsilon * magnitude
        is_smooth = ~(is_nondifferentiable | is_edge | is_jump)
        with np.errstate(invalid="ignore"):
            scale = np.abs(difference[is_smooth & np.isfinite(difference)]).max(initial=0.0)
            allowed = tolerance * scale + floor + uncertainty
            self.error = np.abs(derivative - difference)
            slack = tolerance * np.fmax(np.abs(low), np.abs(high)) + floor
            is_between = (low - slack <= derivative) & (derivative <= high + slack)
            is_known = np.isfinite(difference) & (uncertainty <= _UNCERTAIN * scale + tolerance * magnitude)
            is_wrong = np.isfinite(difference) & ~(self.error <= allowed)
            severity = np.select(
                [np.isnan(derivative), is_edge | is_jump, is_nondifferentiable, is_wrong, ~is_known],
                [3, 1, np.where(is_between, 1, 3), 3, 2],
                0,
            )
            excess = np.nan_to_num(self.error / np.where(allowed > 0, allowed, 1.0), nan=np.inf)
        gravest = severity.max()
        self.verdict = _VERDICTS[int(gravest)]
        flat = int(np.argmax(np.where(severity == gravest, excess, -1.0)))
        row, column = np.unravel_index(flat, severity.shape)
        self.worst = int(row), int(column)
