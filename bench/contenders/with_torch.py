"""PyTorch: eager autograd, with ``create_graph`` where derivatives are nested."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import problems
import torch
from job import Job, Unavailable

Layers = list[tuple[torch.Tensor, torch.Tensor]]


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"torch": torch.__version__}


def arrays(result: tuple[torch.Tensor, ...]) -> list[np.ndarray]:
    """The tensors of a result."""
    return [tensor.detach().numpy() for tensor in result]


def wait(result: object) -> None:
    """Nothing to wait for: PyTorch on a CPU has computed what it returns."""


def parameters(layers: problems.Layers) -> Layers:
    """The layers as tensors that require gradients."""
    return [
        (torch.tensor(weight, requires_grad=True), torch.tensor(bias, requires_grad=True))
        for weight, bias in layers
    ]


def flat(layers: Layers) -> list[torch.Tensor]:
    """Weight, bias, weight, bias, ..."""
    return [tensor for layer in layers for tensor in layer]


def perceptron(layers: Layers, inputs: torch.Tensor) -> torch.Tensor:
    """Tanh layers and a linear one."""
    hidden = inputs
    for weight, bias in layers[:-1]:
        hidden = torch.tanh(torch.addmm(bias, hidden, weight))
    weight, bias = layers[-1]
    return torch.addmm(bias, hidden, weight)


def t1(variant: str) -> Job:
    x = torch.tensor(problems.t1(), requires_grad=True)

    def gradient() -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad((torch.sin(x) * x**2).sum(), x)

    return Job(gradient, wait, arrays)


def t2(variant: str) -> Job:
    problem = problems.t2()
    layers = parameters(problem.layers)
    weights = flat(layers)
    inputs, targets = torch.tensor(problem.inputs), torch.tensor(problem.targets)

    def step() -> tuple[torch.Tensor, ...]:
        loss = (perceptron(layers, inputs) - targets).square().mean()
        return (loss, *torch.autograd.grad(loss, weights))

    return Job(step, wait, arrays)


def t3(variant: str) -> Job:
    problem = problems.t3()
    layers = parameters(problem.layers)
    weights = flat(layers)
    x = torch.tensor(problem.x, requires_grad=True)
    t = torch.tensor(problem.t, requires_grad=True)

    def step() -> tuple[torch.Tensor, ...]:
        u = perceptron(layers, torch.cat([x, t], 1))
        u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
        (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
        loss = (u_t + u * u_x - problems.VISCOSITY * u_xx).square().mean()
        return torch.autograd.grad(loss, weights)

    return Job(step, wait, arrays)


TASKS: dict[str, Callable[[str], Job]] = {"t1": t1, "t2": t2, "t3": t3}


def prepare(task: str, variant: str) -> Job:
    """The job of one task, or Unavailable."""
    if task not in TASKS:
        raise Unavailable(f"no {task} with torch")
    return TASKS[task](variant)
