"""GradBench's k-means in PyTorch: the diagonal of the Hessian by a second backward pass, along ones."""

from __future__ import annotations

from functools import partial

import kmeans_problems as problems
import torch
from job import Job
from torch_results import job


def cost(points: torch.Tensor, centroids: torch.Tensor) -> torch.Tensor:
    of_points = (points**2).sum(1)
    of_centroids = (centroids**2).sum(1)
    distances = of_centroids[:, None] + of_points - 2 * centroids @ points.T
    return distances.min(0).values.sum()


def direction(points: torch.Tensor, centroids: torch.Tensor) -> torch.Tensor:
    (slope,) = torch.autograd.grad(cost(points, centroids), centroids, create_graph=True)
    (diagonal,) = torch.autograd.grad(slope, centroids, torch.ones_like(centroids))
    return slope.detach() / diagonal


FUNCTIONS = {"cost": cost, "direction": direction}


def kmeans(what: str, points: int, dimensions: int, variant: str, centroids: int) -> Job:
    data, start = map(torch.tensor, problems.kmeans(points, dimensions, centroids))
    return job(FUNCTIONS[what], data, start.requires_grad_(what != "cost"))


TASKS = {
    f"gradbench-kmeans-{what}-{n}x{d}": partial(kmeans, what, n, d)
    for what in FUNCTIONS
    for n in problems.POINTS
    for d in problems.DIMENSIONS
}
