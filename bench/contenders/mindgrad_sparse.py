"""mindgrad: sparse derivatives, which MindSpore does not have."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import sparse_problems
from job import Job
from mindspore_results import waits

import mindgrad
from mindgrad import Tensor, ops


def rosenbrock(x: Tensor) -> Tensor:
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def brusselator(y: Tensor) -> Tensor:
    y = y.reshape(2, sparse_problems.GRID, sparse_problems.GRID)
    u, v = y[0], y[1]
    roll = mindgrad.numpy.roll

    def laplacian(u: Tensor) -> Tensor:
        return roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4.0 * u

    reaction, a = u * u * v, sparse_problems.FACTOR
    made = (1.0 + reaction - 4.4 * u + a * laplacian(u), 3.4 * u - reaction + a * laplacian(v))
    return ops.stack(made).reshape(-1)


def start(variant: str) -> None:
    eager = variant.startswith("eager")
    mindgrad.set_context(mode=mindgrad.PYNATIVE_MODE if eager else mindgrad.GRAPH_MODE)


def problem(kind: str, n: int) -> tuple[Callable, Tensor, Callable]:
    """The function, where, and what finds its matrix."""
    if kind == "hessian":
        return rosenbrock, Tensor(sparse_problems.rosenbrock(n)), mindgrad.hessian
    return brusselator, Tensor(sparse_problems.brusselator()), mindgrad.jacobian


def matrix(variant: str, kind: str, n: int = 0) -> Job:
    start(variant)
    function, x, derive = problem(kind, n)
    found = derive(function, sparse=True)
    (v,) = sparse_problems.directions(x.size)
    return Job(lambda: found(x), lambda result: None, lambda result: [result @ v])


def build(variant: str, kind: str, n: int = 0) -> Job:
    start(variant)
    function, x, derive = problem(kind, n)

    def first() -> dict[str, float]:
        def another(x: Tensor) -> Tensor:
            return function(x)

        mindgrad.clear_cache()
        begin = time.perf_counter()
        derive(another, sparse=True)(x)
        return {"all": time.perf_counter() - begin}

    return Job(first, lambda result: None, None, timed_by_itself=True)


def dense(variant: str) -> Job:
    start(variant)
    x = Tensor(sparse_problems.rosenbrock(sparse_problems.DENSE))
    hessian = mindgrad.hessian(rosenbrock)
    (v,) = sparse_problems.directions(sparse_problems.DENSE)
    call = lambda: hessian(x)
    return Job(call, waits(variant), lambda result: [np.asarray(result) @ v], program=(hessian, x))


def adjustment(variant: str) -> Job:
    start(variant)
    given = sparse_problems.adjustment()
    cameras, points, weights, seen, camera, point = map(Tensor, given)

    def function(cameras: Tensor, points: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        return sparse_problems.residuals(ops, cameras[camera], points[point], weights, seen)

    if variant.endswith("function"):
        made = mindgrad.jit(function) if variant.startswith("graph") else function
        return Job(lambda: made(cameras, points, weights), waits(variant), None)
    jacobian = mindgrad.jacobian(function, (0, 1, 2), sparse=True)

    def times(result: tuple) -> list[np.ndarray]:
        vectors = sparse_problems.directions(cameras.size, points.size, weights.size)
        return [sum(block @ v for block, v in zip(row, vectors, strict=True)) for row in result]

    return Job(lambda: jacobian(cameras, points, weights), lambda result: None, times)


TASKS = {
    "sparse-hessian": lambda variant, n: matrix(variant, "hessian", n),
    "sparse-jacobian": lambda variant: matrix(variant, "jacobian"),
    "sparse-hessian-build": lambda variant, n: build(variant, "hessian", n),
    "sparse-jacobian-build": lambda variant: build(variant, "jacobian"),
    "hessian-dense": dense,
    "bundle-adjustment": adjustment,
}
