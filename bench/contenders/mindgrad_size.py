"""mindgrad: programs of many equations, and derivatives of large arrays (``size_problems``)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mindspore as ms
import numpy as np
import size_problems
from job import Job
from mindspore import Parameter, Tensor, nn, ops
from size_problems import Library

from mindgrad.core.backend.xla import lower_ahead, start_runtime
from mindgrad.frontend.programs.compiled import trace


def branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        return ops.sin(x)
    return x * 0.5


LIBRARY = Library(ops.sin, ops.tanh, ops.matmul, branch)


def tensors(value: Any) -> Any:
    return list(map(tensors, value)) if isinstance(value, list) else Tensor(value)


def phases(name: str, equations: int) -> dict[str, Callable[[], Any]]:
    f, arrays = size_problems.PROGRAMS[name](equations, LIBRARY)
    arguments = list(map(tensors, arrays))
    gradient = ms.grad(f, 0 if len(arguments) == 1 else tuple(range(len(arguments))))
    program = trace(gradient, *arguments)
    made: dict[str, Callable[[], Any]] = {
        "trace": lambda: trace(f, *arguments),
        "gradient": lambda: trace(gradient, *arguments),
        "lowering of the gradient": lambda: lower_ahead(program),
    }
    if len(arguments) == 1:
        x = arguments[0]
        slope = lambda x: ms.grad(f)(x).sum()
        made["second gradient"] = lambda: trace(ms.grad(slope), x)
        made["jvp"] = lambda: trace(lambda x: ms.jvp(f, x, x), x)
        made["vmap"] = lambda: trace(ms.vmap(f), ops.stack([x, x, x]))
    return made


def equations_of(name: str, variant: str, equations: int) -> Job:
    ms.set_context(mode=ms.GRAPH_MODE)
    start_runtime()
    return size_problems.growing(partial(phases, name), equations)


class Square(nn.Cell):
    """The sum of the squares of the Parameter."""

    def __init__(self, value: Tensor) -> None:
        super().__init__()
        self.weight = Parameter(value, name="weight")

    def construct(self) -> Tensor:
        return (self.weight * self.weight).sum()


def train(array: np.ndarray) -> None:
    """Three steps of plain gradient descent."""
    network = Square(Tensor(array))
    step = ms.value_and_grad(network, None, network.weight)

    def descent() -> Tensor:
        value, gradient = step()
        ops.assign(network.weight, network.weight - 0.1 * gradient)
        return value

    compiled = ms.jit(descent) if ms.get_context("mode") == ms.GRAPH_MODE else descent
    for _ in range(3):
        compiled().asnumpy()


def assigned(x: Tensor) -> Tensor:
    x[0] = 5.0
    return (x * x).sum()


FUNCTIONS = {
    "product": lambda x: (ops.sin(x) * x).sum(),
    "reduce": lambda x: x.sum(),
    "matmul": lambda x: ops.matmul(x, x).sum(),
    "assign": assigned,
}


def memory(name: str, variant: str, megabytes: int) -> Job:
    is_graph = variant == "graph"
    ms.set_context(mode=ms.GRAPH_MODE if is_graph else ms.PYNATIVE_MODE)
    start_runtime()

    def gradient(array: np.ndarray) -> Any:
        result = ms.grad(FUNCTIONS[name])(Tensor(array))
        result[(0,) * array.ndim].asnumpy()
        return result

    run = train if name == "train" else gradient
    return size_problems.memory_peak(run, size_problems.shape_of(name, megabytes))


TASKS = {
    **{f"size-{name}": partial(equations_of, name) for name in size_problems.PROGRAMS},
    **{f"size-memory-{name}": partial(memory, name) for name in size_problems.MEMORY},
}
