"""Data-parallel training steps in PyTorch: ``DistributedDataParallel`` with gloo."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import problems
import scale_problems
import torch
import torch_training
import training_problems
from job import Job, training
from torch import distributed, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch_results import wait


class Burgers(nn.Module):
    """The mean square of the residual of t3 at points (x, t)."""

    def __init__(self, layers: problems.Layers) -> None:
        super().__init__()
        self.weights = nn.ParameterList(
            [nn.Parameter(torch.tensor(each)) for layer in layers for each in layer]
        )

    def solution(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        hidden, weights = torch.cat([x, t], 1), list(self.weights)
        for k in range(0, len(weights) - 2, 2):
            hidden = torch.tanh(torch.addmm(weights[k + 1], hidden, weights[k]))
        return torch.addmm(weights[-1], hidden, weights[-2])

    def forward(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        u = self.solution(x, t)
        u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
        (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
        return (u_t + u * u_x - problems.VISCOSITY * u_xx).square().mean()


class Classifier(nn.Module):
    """The cross entropy of a network's outputs."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits = self.network(inputs)
        return functional.cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1))


def classifier(name: str, rows: slice) -> tuple[nn.Module, list[torch.Tensor]]:
    """The loss as a module with the task's first weights, and its arguments."""
    if name == "pinn":
        burgers = problems.t3()
        points = [torch.tensor(each[rows], requires_grad=True) for each in (burgers.x, burgers.t)]
        return Burgers(burgers.layers), points
    problem, network = training_problems.LEARNING[name](), torch_training.NETWORKS[name]()
    with torch.no_grad():
        for parameter, weight in zip(network.parameters(), problem.weights, strict=True):
            parameter.copy_(torch.tensor(weight))
    labels = torch.tensor(problem.labels[rows], dtype=torch.long)
    return Classifier(network), [torch.tensor(problem.inputs[rows]), labels]


def train(name: str, variant: str) -> Job:
    """Steps of this rank; "alone" is the same step without collectives."""
    rank, size = scale_problems.rank_and_size()
    if size > 1 and not distributed.is_initialized():
        distributed.init_process_group("gloo")
    module, arguments = classifier(name, scale_problems.rows(name, rank, size))
    if not variant.endswith("alone"):
        module = DistributedDataParallel(module)
    start = {key: value.clone() for key, value in module.state_dict().items()}
    change: list[torch.optim.Optimizer] = []

    def restart() -> None:
        module.load_state_dict(start)
        change[:] = [torch.optim.Adam(module.parameters(), lr=scale_problems.RATE)]

    def step() -> torch.Tensor:
        optimizer = change[0]
        optimizer.zero_grad()
        loss = module(*arguments)
        loss.backward()
        optimizer.step()
        return loss

    restart()
    return training(step, wait, lambda loss: loss.numpy(force=True), restart)


TASKS: dict[str, Callable[..., Job]] = {
    f"scale-{name}": partial(train, name) for name in scale_problems.NETWORKS
}
