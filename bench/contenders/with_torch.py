"""PyTorch: eager autograd, with ``create_graph`` where derivatives are nested."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import problems
import torch
import torch_ba
import torch_det
import torch_ht
import torch_kmeans
import torch_llsq
import torch_lse
import torch_lstm
import torch_ode
import torch_problems
import torch_scale
import torch_training
from job import Job, Unavailable
from torch_results import arrays, wait

MOST_ITERATIONS = 100_000

Layers = list[tuple[torch.Tensor, torch.Tensor]]


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"torch": torch.__version__}


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


def train(optimizer: str, variant: str) -> Job:
    problem = problems.t2()
    layers = parameters(problem.layers)
    weights = flat(layers)
    inputs, targets = torch.tensor(problem.inputs), torch.tensor(problem.targets)
    if optimizer == "sgd":
        change: torch.optim.Optimizer = torch.optim.SGD(weights, lr=problems.SGD_RATE)
    else:
        change = torch.optim.Adam(
            weights, lr=problems.ADAM_RATE, betas=problems.ADAM_DECAYS, eps=problems.ADAM_EPSILON
        )

    def step() -> torch.Tensor:
        change.zero_grad()
        loss = (perceptron(layers, inputs) - targets).square().mean()
        loss.backward()
        change.step()
        return loss

    return Job(step, wait, lambda loss: arrays((loss, *weights)))


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


def loop(variant: str, iterations: int) -> Job:
    if iterations > MOST_ITERATIONS:
        raise Unavailable("its tape takes some gigabytes")
    problem = problems.loop(iterations)
    first, weight, bias = leaves = [
        torch.tensor(each, requires_grad=True) for each in (problem.state, problem.weight, problem.bias)
    ]
    step, count = torch.tensor(problem.step), torch.tensor(problem.iterations)

    def gradient() -> tuple[torch.Tensor, ...]:
        x, left = first, count
        while left > 0:
            x = x + step * torch.sin(weight * x + bias)
            left = left - 1
        value = x.square().mean()
        return (value, *torch.autograd.grad(value, leaves))

    return Job(gradient, wait, arrays)


def newton(variant: str, iterations: int | None = None) -> Job:
    if iterations is not None and iterations > MOST_ITERATIONS // 10:
        raise Unavailable("its tape takes some gigabytes")
    problem = problems.newton(iterations)
    mean = torch.tensor(problem.mean, requires_grad=True)
    eccentricity = torch.tensor(problem.eccentricity, requires_grad=True)
    damping = torch.tensor(problem.damping)

    def gradient() -> tuple[torch.Tensor, ...]:
        anomaly = mean
        residual = anomaly - eccentricity * torch.sin(anomaly) - mean
        while residual.abs().max() > problems.NEWTON_TOLERANCE:
            anomaly = anomaly - damping * residual / (1.0 - eccentricity * torch.cos(anomaly))
            residual = anomaly - eccentricity * torch.sin(anomaly) - mean
        value = anomaly.square().mean()
        return (value, *torch.autograd.grad(value, (mean, eccentricity)))

    return Job(gradient, wait, arrays)


def rnn(variant: str, steps: int) -> Job:
    problem = problems.rnn(steps)
    of_input, of_state, bias = weights = [
        torch.tensor(each, requires_grad=True) for each in (problem.of_input, problem.of_state, problem.bias)
    ]
    inputs, first = torch.tensor(problem.inputs), torch.tensor(problem.state)
    u = first.shape[1]

    def unit(x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        from_input = torch.addmm(bias, x, of_input)
        from_state = h @ of_state
        update = torch.sigmoid(from_input[:, :u] + from_state[:, :u])
        reset = torch.sigmoid(from_input[:, u : 2 * u] + from_state[:, u : 2 * u])
        candidate = torch.tanh(from_input[:, 2 * u :] + reset * from_state[:, 2 * u :])
        return update * h + (1.0 - update) * candidate

    def step() -> tuple[torch.Tensor, ...]:
        h, loss = first, torch.zeros(())
        for x in inputs:
            h = unit(x, h)
            loss = loss + h.square().mean()
        return (loss, *torch.autograd.grad(loss, weights))

    return Job(step, wait, arrays)


def gmm(variant: str, centers: int, dimensions: int) -> Job:
    problem = problems.gmm(dimensions, centers)
    x = torch.tensor(problem.points)
    alpha, mu, q, lower = leaves = [torch.tensor(each, requires_grad=True) for each in problem.parameters]
    n, d = x.shape
    columns, rows = (torch.tensor(each) for each in np.triu_indices(d, 1))

    def step() -> tuple[torch.Tensor, ...]:
        triangles = torch.diag_embed(torch.exp(q)).index_put(
            (torch.arange(centers)[:, None], rows, columns), lower
        )
        scaled = torch.einsum("kij,nkj->nki", triangles, x[:, None] - mu)
        exponents = alpha + q.sum(1) - 0.5 * scaled.square().sum(-1)
        normal = d / 2 * math.log(2 * math.pi) + torch.logsumexp(alpha, 0)
        value = torch.logsumexp(exponents, 1).sum() - n * normal - 0.5 * triangles.square().sum()
        return (value, *torch.autograd.grad(value, leaves))

    return Job(step, wait, arrays)


TASKS: dict[str, Callable[..., Job]] = {
    "t1": t1,
    "t2": t2,
    "train-sgd": partial(train, "sgd"),
    "train-adam": partial(train, "adam"),
    "t3": t3,
    "loop": loop,
    "newton": newton,
    "newton-memory": newton,
    "rnn": rnn,
    **{f"gmm-{d}": partial(gmm, dimensions=d) for d in problems.GMM_DIMENSIONS},
    **torch_kmeans.TASKS,
    **torch_llsq.TASKS,
    **torch_lse.TASKS,
    **torch_ba.TASKS,
    **torch_det.TASKS,
    **torch_ht.TASKS,
    **torch_lstm.TASKS,
    **torch_ode.TASKS,
    **torch_problems.TASKS,
    **torch_training.TASKS,
    **torch_scale.TASKS,
}


def prepare(task: str, variant: str, **options: int) -> Job:
    """The job of one task, or Unavailable."""
    if task not in TASKS:
        raise Unavailable(f"no {task} with torch")
    return TASKS[task](variant, **options)
