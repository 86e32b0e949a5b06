"""The numbers of GradBench's evaluation ``ode``: Runge-Kutta steps of a chain of equations, float64.

value       What the equations ``y[0]' = x[0]``, ``y[i]' = x[i] y[i-1]`` make of zeros at time 2, by so many
            steps of the classical method of fourth order.
gradient    The gradient of its last number in x.
"""

from __future__ import annotations

import numpy as np

END = 2.0
STEPS = (1, 10, 100)
NUMBERS = (1_000, 10_000, 100_000)


def ode(numbers: int) -> np.ndarray:
    """The x at which it is taken."""
    return np.random.default_rng(31337).random(numbers)
