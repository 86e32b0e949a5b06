"""The Gaussian mixture of ADBench as a MindSpore user writes it; run by MindSpore and by mindgrad."""

from __future__ import annotations

import math

import mindspore as ms
import numpy as np
import problems
from job import Job
from mindspore import Tensor, nn, ops
from mindspore_results import job


class Mixture(nn.Cell):
    """The log-likelihood of points, without its constants."""

    def __init__(self, points: np.ndarray) -> None:
        super().__init__()
        self.n, self.d = points.shape
        self.points = Tensor(points)
        # where the elements below the diagonal are found, which are given column by column
        positions = np.zeros((self.d, self.d), np.int32)
        columns, rows = np.triu_indices(self.d, 1)
        positions[rows, columns] = np.arange(len(rows))
        self.place = Tensor(positions.reshape(-1))
        self.below = Tensor(np.tril(np.ones((self.d, self.d)), -1))
        self.diagonal = Tensor(np.eye(self.d))

    def construct(self, alpha, mu, q, lower):
        k = alpha.shape[0]
        rest = ops.gather(lower, self.place, 1).reshape((k, self.d, self.d)) * self.below
        triangles = ops.expand_dims(ops.exp(q), 2) * self.diagonal + rest
        differences = ops.expand_dims(self.points, 1) - mu
        scaled = ops.matmul(triangles, ops.expand_dims(differences, -1)).squeeze(-1)
        exponents = alpha + q.sum(1) - 0.5 * ops.square(scaled).sum(-1)
        normal = self.d / 2 * math.log(2 * math.pi) + ops.logsumexp(alpha, 0)
        total = ops.logsumexp(exponents, 1).sum()
        return total - self.n * normal - 0.5 * ops.square(triangles).sum()


def gmm(variant: str, centers: int, dimensions: int) -> Job:
    problem = problems.gmm(dimensions, centers)
    mixture = Mixture(problem.points)
    parameters = [Tensor(each) for each in problem.parameters]
    function = mixture if variant.endswith("value") else ms.value_and_grad(mixture, (0, 1, 2, 3))
    return job(variant, function, *parameters)
