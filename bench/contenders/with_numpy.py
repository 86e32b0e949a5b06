"""NumPy with gradients written by hand: no differentiation at all, what the work itself costs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import problems
from job import Job, Unavailable


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"numpy": np.__version__}


def wait(result: object) -> None:
    """Nothing to wait for."""


def t1(variant: str) -> Job:
    x = problems.t1()
    return Job(lambda: np.cos(x) * (x * x) + 2 * x * np.sin(x), wait, lambda result: [result])


def t2(variant: str) -> Job:
    problem = problems.t2()
    layers, inputs, targets = problem.layers, problem.inputs, problem.targets

    def step() -> list[np.ndarray]:
        activations = [inputs]
        for weight, bias in layers[:-1]:
            hidden = activations[-1] @ weight
            hidden += bias
            activations.append(np.tanh(hidden, out=hidden))
        weight, bias = layers[-1]
        error = activations[-1] @ weight + bias - targets
        loss = np.mean(np.square(error))
        cotangent = error * np.float32(2.0 / error.size)
        gradients = []
        for (weight, _), activation in zip(layers[::-1], activations[::-1], strict=True):
            gradients += [cotangent.sum(0), activation.T @ cotangent]
            if activation is not inputs:
                cotangent = cotangent @ weight.T
                cotangent *= 1 - activation * activation
        return [loss, *gradients[::-1]]

    return Job(step, wait, lambda result: result)


TASKS: dict[str, Callable[[str], Job]] = {"t1": t1, "t2": t2}


def prepare(task: str, variant: str) -> Job:
    """The job of one task, or Unavailable."""
    if task not in TASKS:
        raise Unavailable(f"no {task} by hand with NumPy")
    return TASKS[task](variant)
