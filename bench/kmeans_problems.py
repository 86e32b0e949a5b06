"""The numbers of GradBench's evaluation ``kmeans``: n points in d dimensions and k centroids, float64.

cost        The sum over the points of the least squared distance to a centroid, the distances by the squares
            of both lengths and a matrix product.
direction   A step of Newton's method on the centroids: the gradient of the cost divided by the diagonal of
            its Hessian, which has no other elements where no point is as far from two centroids.

The centroids stand beside the last k of the points, so that each is the nearest of at least one point.
"""

from __future__ import annotations

import numpy as np

CENTROIDS = (10, 100, 1000)
POINTS = (1000, 10000)
DIMENSIONS = (8, 16)
BESIDE = 1e-3


def kmeans(points: int, dimensions: int, centroids: int) -> tuple[np.ndarray, np.ndarray]:
    """The points, (n, d), and the centroids, (k, d)."""
    source = np.random.default_rng(11)
    data = source.random((points, dimensions))
    return data, data[-centroids:] + BESIDE * source.standard_normal((centroids, dimensions))
