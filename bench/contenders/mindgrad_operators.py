"""Differential operators with mindgrad: by name, and as users write them without one.

"nested": the gradient of every component of the gradient; "one-hot sens": that product with the Hessian in
GradOperation's spelling; "trace": of the Hessian at every point. All of them are to cost the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import mindspore_programs
import numpy as np
import problems
from job import Job
from mindspore_results import MODES, arrays, wait_for_all

import mindgrad
from mindgrad import Tensor, ops
from mindgrad.tools import profile

Function = Callable[[Tensor], Tensor]


def by_nested_gradients(network: Function) -> Function:
    def laplacian(x: Tensor) -> Tensor:
        total = 0
        for k in range(x.shape[1]):
            slope = mindgrad.grad(lambda x, k=k: mindgrad.grad(network)(x)[:, k])
            total += slope(x)[:, k]
        return total

    return laplacian


def by_one_hot_sens(network: Function) -> Function:
    product = ops.GradOperation(sens_param=True)(mindgrad.grad(network))

    def laplacian(x: Tensor) -> Tensor:
        units = np.eye(x.shape[1], dtype=np.float32)
        total = 0
        for k in range(x.shape[1]):
            total += product(x, Tensor(np.broadcast_to(units[k], x.shape).copy()))[:, k]
        return total

    return laplacian


def of_point(function: Function) -> Function:
    return lambda x: ops.trace(mindgrad.hessian(function)(x))


def at_every_point(network: Function, times: int) -> Function:
    def value(x: Tensor) -> Tensor:
        return network(ops.expand_dims(x, 0))[0, 0]

    for _ in range(times):
        value = of_point(value)
    return mindgrad.vmap(value)


FORMS: dict[str, Callable[[Function], Function]] = {
    "nested": by_nested_gradients,
    "one-hot sens": by_one_hot_sens,
    "trace": partial(at_every_point, times=1),
    "trace, twice": partial(at_every_point, times=2),
}


def laplacian(task: str, variant: str) -> Job:
    mode, _, form = variant.partition(" ")
    mindgrad.set_context(mode=MODES[mode])
    points, layers = problems.biharmonic() if task == "biharmonic" else problems.laplacian()
    network = mindspore_programs.perceptron(layers)
    named = mindgrad.biharmonic if task == "biharmonic" else mindgrad.laplacian
    operator = FORMS[form](network) if form else named(network)
    x = Tensor(points)
    function = operator if mode == "eager" else mindgrad.jit(operator)
    if task == "laplacian-gradient":
        weights = network.trainable_params()
        function = mindgrad.grad(lambda x: ops.square(operator(x)).mean(), None, weights)

    def facts() -> dict[str, float]:
        found = profile.measure(function, x, compile=True)
        return {"equations": found.equations, "temporary": float(found.temporary_bytes)}

    return Job(
        lambda: function(x),
        wait_for_all,
        lambda result: [each.ravel() for each in arrays(result)] if form else arrays(result),
        facts=dict if mode == "eager" else facts,
        program=(function, x),
    )


TASKS = {task: partial(laplacian, task) for task in ("laplacian", "laplacian-gradient", "biharmonic")}
