"""Matrices of PyTorch and curvlinops for ``curvature_peers``, which runs this file in the peer's environment.

    python bench/curvlinops_matrices.py FOLDER

writes ``FOLDER/<number>.npz`` with the matrices of each network. ``failure`` is the message of an exception
that curvlinops raised, or empty.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import curvature_networks
import numpy as np
import torch
from curvature_networks import NETWORKS, Network
from curvlinops import GGNLinearOperator, HessianLinearOperator, KFACLinearOperator
from torch import Tensor, nn


class Mean(nn.Module):
    """The mean over the positions of a sequence."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(1)


class Attention(nn.Module):
    """Self-attention with one head."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value = [nn.Linear(width, width) for _ in range(3)]

    def forward(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2)
        return torch.softmax(scores, -1) @ self.value(x)


class Recurrence(nn.Module):
    """The last state of a recurrent network, as a Python loop."""

    def __init__(self, inputs: int, states: int) -> None:
        super().__init__()
        self.inputs, self.states = nn.Linear(inputs, states), nn.Linear(states, states)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.tanh(self.inputs(x[:, 0]))
        for k in range(1, x.shape[1]):
            state = torch.tanh(self.inputs(x[:, k]) + self.states(state))
        return state


class Normalization(nn.Module):
    """Layer normalization.

    PyTorch 2.13 computes a wrong Hessian of ``nn.LayerNorm`` in ``torch.func``. It is not symmetric.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        centered = x - x.mean(-1, keepdim=True)
        variance = centered.square().mean(-1, keepdim=True)
        return centered / (variance + 1e-5).sqrt() * self.scale + self.shift


class Residual(nn.Module):
    """Δu + u of a network u of its inputs."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        hessian = torch.func.hessian(lambda x: self.net(x)[0])
        return torch.vmap(lambda x: hessian(x).trace() + self.net(x))(x)


LAYERS = {
    "dense": nn.Linear,
    "linear": lambda a, b: nn.Linear(a, b, bias=False),
    "convolution": lambda a, b, width, options: nn.Conv2d(a, b, width, **options),
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "max pooling": nn.MaxPool2d,
    "average pooling": nn.AvgPool2d,
    "flatten": nn.Flatten,
    "mean": Mean,
    "attention": Attention,
    "recurrence": Recurrence,
    "embedding": nn.Embedding,
    "normalization": Normalization,
}
LOSSES = {"squares": nn.MSELoss, "cross entropy": nn.CrossEntropyLoss}


def built(network: Network) -> nn.Module:
    """Return the network with its weights."""
    net = nn.Sequential(*[LAYERS[kind](*sizes) for kind, *sizes in network.layers]).double()
    with torch.no_grad():
        for k, parameter in enumerate(net.parameters()):
            parameter.copy_(torch.from_numpy(curvature_networks.weight(k, tuple(parameter.shape))))
    return Residual(net) if network.is_residual else net


def dense(net: nn.Module, loss: nn.Module, x: Tensor, target: Tensor) -> dict[str, np.ndarray]:
    """Return both matrices as PyTorch computes them, without curvlinops."""
    names, parameters = zip(*net.named_parameters(), strict=True)
    sizes, shapes = [p.numel() for p in parameters], [p.shape for p in parameters]

    def outputs(flat: Tensor) -> Tensor:
        parts = [part.reshape(shape) for part, shape in zip(flat.split(sizes), shapes, strict=True)]
        return torch.func.functional_call(net, dict(zip(names, parts, strict=True)), (x,))

    flat = torch.cat([p.detach().reshape(-1) for p in parameters])
    y = outputs(flat)
    jacobian = torch.func.jacrev(outputs)(flat).reshape(y.numel(), -1)
    of_loss = torch.func.hessian(lambda y: loss(y, target))(y).reshape(y.numel(), y.numel())
    hessian = torch.func.hessian(lambda flat: loss(outputs(flat), target))(flat)
    return {"dense GGN": (jacobian.T @ of_loss @ jacobian).numpy(), "dense Hessian": hessian.numpy()}


def matrices(network: Network) -> dict[str, Any]:
    """Return all matrices that curvlinops and PyTorch compute."""
    net, loss = built(network), LOSSES[network.loss]()
    x, target = [torch.from_numpy(values) for values in curvature_networks.data(network)]
    parameters = list(net.parameters())
    found: dict[str, Any] = dense(net, loss, x, target)
    of_kfac = {"fisher_type": "type-2", "kfac_approx": network.sharing, "separate_weight_and_bias": True}
    failures = []
    for name, kind, options in (
        ("GGN", GGNLinearOperator, {}),
        ("Hessian", HessianLinearOperator, {}),
        ("K-FAC", KFACLinearOperator, of_kfac),
    ):
        try:
            operator = kind(net, loss, parameters, [(x, target)], check_deterministic=False, **options)
            found[name] = (operator @ torch.eye(operator.shape[1], dtype=torch.float64)).detach().numpy()
        except Exception as failure:  # each library has its own exceptions
            failures.append(f"{name}: {failure}")
    return found | {"failure": "; ".join(failures)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    for number, described in enumerate(NETWORKS.values()):
        np.savez(Path(sys.argv[1]) / f"{number}.npz", **matrices(described))
