"""The sizes of GradBench's evaluation ``ba``, bundle adjustment: its first and its fifth.

value       The residuals of ``sparse_problems.residuals``, of cameras, points and weights drawn as there.
jacobian    Their sparse Jacobian: 15 entries in each of the two rows of an observation, one in the third.
"""

from __future__ import annotations

import numpy as np
from sparse_problems import Adjustment, adjustment, directions

#: the cameras and points of so many observations
SIZES = {31_843: (49, 7_776), 225_911: (257, 65_132)}


def ba(observations: int) -> Adjustment:
    """So many observations."""
    return adjustment(*SIZES[observations], observations)


def blocks(problem: Adjustment) -> list[np.ndarray]:
    """Vectors that the Jacobian is multiplied by: of each observation those of its camera, point, weight."""
    a, b, c = directions(problem.cameras.size, problem.points.size, problem.weights.size)
    return [a.reshape(problem.cameras.shape)[problem.camera], b.reshape(-1, 3)[problem.point], c]
