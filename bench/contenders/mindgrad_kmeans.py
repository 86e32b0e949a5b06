"""GradBench's k-means with mindgrad: the diagonal of the Hessian is the gradient's derivative along ones."""

from __future__ import annotations

from functools import partial

import kmeans_problems as problems
from job import Job
from mindspore_results import job

import mindgrad
from mindgrad import Tensor, ops


def cost(points: Tensor, centroids: Tensor) -> Tensor:
    of_points = (points**2).sum(1)
    of_centroids = (centroids**2).sum(1)
    distances = of_centroids[:, None] + of_points - 2 * ops.matmul(centroids, points.T)
    return ops.amin(distances, 0).sum()


def direction(points: Tensor, centroids: Tensor) -> Tensor:
    gradient = mindgrad.grad(partial(cost, points))
    slope, diagonal = mindgrad.jvp(gradient, centroids, ops.ones_like(centroids))
    return slope / diagonal


FUNCTIONS = {"cost": cost, "direction": direction}


def kmeans(what: str, points: int, dimensions: int, variant: str, centroids: int) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    arguments = problems.kmeans(points, dimensions, centroids)
    return job(variant, mindgrad.jit(FUNCTIONS[what]), *map(Tensor, arguments))


TASKS = {
    f"gradbench-kmeans-{what}-{n}x{d}": partial(kmeans, what, n, d)
    for what in FUNCTIONS
    for n in problems.POINTS
    for d in problems.DIMENSIONS
}
