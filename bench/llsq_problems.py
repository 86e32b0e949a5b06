"""The numbers of GradBench's evaluation ``llsq``: a polynomial of 128 coefficients for the sign, float64.

value       Half the sum of squares of ``sign t - sum_j x_j t^j`` at n points t, equally spaced in [-1, 1].
gradient    Its gradient in the coefficients x.

The points and their powers depend on n alone, which a program knows when it is compiled; the powers are
cumulative products of ones and the points.
"""

from __future__ import annotations

import numpy as np

POINTS = (16, 128, 1024, 4096, 16392)
COEFFICIENTS = 128


def llsq() -> np.ndarray:
    """The coefficients, (128,)."""
    return np.random.default_rng(13).random(COEFFICIENTS)
