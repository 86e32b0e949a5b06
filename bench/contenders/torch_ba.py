"""GradBench's bundle adjustment in PyTorch: pullbacks for all observations at once."""

from __future__ import annotations

from functools import partial

import ba_problems as problems
import numpy as np
import torch
from job import Job
from sparse_problems import residuals
from torch_results import arrays, wait


def ba(what: str, variant: str, observations: int) -> Job:
    problem = problems.ba(observations)
    cameras, points, weights, seen, camera, point = map(torch.tensor, problem)

    def value() -> tuple[torch.Tensor, torch.Tensor]:
        return residuals(torch, cameras[camera], points[point], weights, seen)

    def jacobian() -> list[torch.Tensor]:
        leaves = [each.detach().requires_grad_() for each in (cameras[camera], points[point], weights)]
        both, rest = residuals(torch, *leaves, seen)
        rows = [torch.autograd.grad(both[:, k].sum(), leaves, retain_graph=True) for k in range(2)]
        return [each for row in rows for each in row] + [torch.autograd.grad(rest.sum(), leaves[2])[0]]

    def times(result: list[torch.Tensor]) -> list[np.ndarray]:
        vectors = problems.blocks(problem)
        products = [
            each.numpy(force=True) * v for each, v in zip(result, vectors * 2 + vectors[2:], strict=True)
        ]
        rows = [products[k].sum(1) + products[k + 1].sum(1) + products[k + 2] for k in (0, 3)]
        return [np.stack(rows, 1).ravel(), products[-1]]

    if what == "value":
        return Job(value, wait, arrays)
    return Job(jacobian, wait, times)


TASKS = {f"gradbench-ba-{what}": partial(ba, what) for what in ("value", "jacobian")}
