"""Gradient descent in gradient descent: the numbers of GradBench's evaluations ``saddle`` and ``particle``.

descent    The lowest point of ``x . x`` from (1, 1) on. A step goes against the gradient; after ten steps
           down its rate is doubled, after a step that goes up it is halved and the step is not made; steps
           end where the gradient or the step is at most 1e-5 long.
saddle     The x at which the greatest ``x . x - y . y`` in y is least, and that y, each by such steps from
           (1, 1).
particle   The w for which a particle of charge 1 meets the origin: it starts at (0, 8) with velocity
           (0.75, 0), charges of 1 are at (10, 0) and (10, 10 - w), and Euler's steps of 0.1 follow it until
           it would cross the x axis, the last one to the axis itself. The square of where it meets the axis
           is made least by such steps from 0 on.

In the names of the tasks the first letter is the mode of the outer gradient, the second that of the inner
one: f is forward, r is reverse. All in float64.
"""

from __future__ import annotations

import numpy as np

MODES = ("ff", "fr", "rf", "rr")
START = np.ones(2)
CONTROL = np.zeros(1)
CHARGE = np.array([10.0, 0.0])
POSITION, VELOCITY = np.array([0.0, 8.0]), np.array([0.75, 0.0])
STEP = 0.1
RATE, SMALL, SUCCESSES = 1e-5, 1e-5, 10
