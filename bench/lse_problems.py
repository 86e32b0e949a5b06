"""The numbers of GradBench's evaluation ``lse``: log-sum-exp of n numbers in [0, 1), float64.

value       ``max x + log sum exp(x - max x)``, written with these functions and no name of its own.
gradient    Its gradient in x.
"""

from __future__ import annotations

import numpy as np

NUMBERS = (100, 1000, 2500, 10000, 40000, 160000, 1280000)


def lse(numbers: int) -> np.ndarray:
    """The numbers, (n,)."""
    return np.random.default_rng(12).random(numbers)
