"""GradBench's bundle adjustment with mindgrad: the Jacobian as sparse matrices."""

from __future__ import annotations

from functools import partial

import ba_problems as problems
import numpy as np
from job import Job
from mindspore_results import job
from sparse_problems import directions, residuals

import mindgrad
from mindgrad import Tensor, ops


def ba(what: str, variant: str, observations: int) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    cameras, points, weights, seen, camera, point = map(Tensor, problems.ba(observations))

    def value(cameras: Tensor, points: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        return residuals(ops, cameras[camera], points[point], weights, seen)

    if what == "value":
        return job(variant, mindgrad.jit(value), cameras, points, weights)
    jacobian = mindgrad.jacobian(value, (0, 1, 2), sparse=True)

    def times(result: tuple) -> list[np.ndarray]:
        vectors = directions(cameras.size, points.size, weights.size)
        return [sum(block @ v for block, v in zip(row, vectors, strict=True)) for row in result]

    return Job(lambda: jacobian(cameras, points, weights), lambda result: None, times)


TASKS = {f"gradbench-ba-{what}": partial(ba, what) for what in ("value", "jacobian")}
