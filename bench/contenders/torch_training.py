"""Whole training steps, changing programs and long chains in PyTorch: modules, ``backward``, an optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
import training_problems
from job import Job, per_operator, training
from torch import nn
from torch.nn import functional
from torch_results import arrays, wait


def perceptron() -> nn.Module:
    inputs, first, second, outputs = training_problems.PERCEPTRON_WIDTHS
    return nn.Sequential(
        nn.Linear(inputs, first), nn.ReLU(), nn.Linear(first, second), nn.ReLU(), nn.Linear(second, outputs)
    )


def lenet() -> nn.Module:
    return nn.Sequential(
        *[nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2)],
        *[nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)],
        nn.Flatten(),
        *[nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU()],
        nn.Linear(84, training_problems.CLASSES),
    )


def convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Module:
    """A convolution and a batch normalization."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False), nn.BatchNorm2d(outputs)
    )


class Residual(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = convolution(inputs, outputs, 3, stride)
        self.second = convolution(outputs, outputs, 3)
        self.shortcut = convolution(inputs, outputs, 1, stride) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.second(functional.relu(self.first(x)))
        return functional.relu(self.shortcut(x) + y)


def resnet() -> nn.Module:
    channels = training_problems.RESNET_CHANNELS
    return nn.Sequential(
        *[convolution(3, channels[0], 3), nn.ReLU()],
        *[Residual(*sizes) for sizes in training_problems.resnet_blocks()],
        *[nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels[-1], training_problems.CLASSES)],
    )


class Block(nn.Module):
    """Causal attention and a perceptron, each normalized before and added to its input."""

    def __init__(self, width: int, heads: int, tokens: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape
        q, k, v = (
            part.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).split(width, dim=-1)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Decoder(nn.Module):
    """Embeddings, blocks, and the logits of the next token."""

    def __init__(self) -> None:
        super().__init__()
        width, tokens = training_problems.GPT_WIDTH, training_problems.GPT_TOKENS
        self.token = nn.Embedding(training_problems.GPT_VOCABULARY, width)
        self.position = nn.Embedding(tokens, width)
        heads, blocks = training_problems.GPT_HEADS, training_problems.GPT_BLOCKS
        self.blocks = nn.Sequential(*[Block(width, heads, tokens) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, training_problems.GPT_VOCABULARY)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


class Recurrent(nn.Module):
    """A long short-term memory, and a linear layer on its last output."""

    def __init__(self) -> None:
        super().__init__()
        units = training_problems.LSTM_UNITS
        self.lstm = nn.LSTM(training_problems.LSTM_INPUTS, units, batch_first=True)
        self.head = nn.Linear(units, training_problems.CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0][:, -1])


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "perceptron": perceptron,
    "lenet": lenet,
    "resnet": resnet,
    "gpt": Decoder,
    "lstm": Recurrent,
}


def train(name: str, variant: str) -> Job:
    problem, network = training_problems.LEARNING[name](), NETWORKS[name]()
    weights = list(network.parameters())
    inputs, labels = torch.tensor(problem.inputs), torch.tensor(problem.labels, dtype=torch.long)
    buffers = {key: value.clone() for key, value in network.named_buffers()}
    change: list[torch.optim.Optimizer] = []

    def restart() -> None:
        with torch.no_grad():
            for parameter, weight in zip(weights, problem.weights, strict=True):
                parameter.copy_(torch.tensor(weight))
            for key, value in network.named_buffers():
                value.copy_(buffers[key])
        change[:] = [torch.optim.Adam(weights, lr=training_problems.RATE)]

    def step() -> torch.Tensor:
        optimizer = change[0]
        optimizer.zero_grad()
        logits = network(inputs)
        loss = functional.cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1))
        loss.backward()
        optimizer.step()
        return loss

    restart()
    return training(step, wait, lambda loss: loss.numpy(force=True), restart)


# A program that is another one at every call


ACTIVATIONS = (torch.tanh, torch.sin, torch.sigmoid, torch.relu)


def changing(variant: str) -> Job:
    problem = training_problems.changing()
    inputs = torch.tensor(problem.inputs)
    weights = [torch.tensor(weight, requires_grad=True) for weight in problem.weights]
    structures: list[Iterator[list[int]]] = []

    def restart() -> None:
        structures[:] = [training_problems.structures()]

    def step() -> tuple[torch.Tensor, ...]:
        hidden = inputs
        for weight, k in zip(weights, next(structures[0]), strict=False):
            hidden = ACTIVATIONS[k](hidden @ weight)
        loss = hidden.square().mean()
        return (loss, *torch.autograd.grad(loss, weights, materialize_grads=True))

    restart()
    return Job(step, wait, arrays, restart=restart)


# What an operator costs


def chain(length: int) -> Callable[[], torch.Tensor]:
    x = torch.tensor([training_problems.CHAIN_START], requires_grad=True)

    def gradient() -> torch.Tensor:
        y = x
        for _ in range(length // 2):
            y = torch.sin(y) + x
        return torch.autograd.grad(y, x)[0]

    return gradient


def record(variant: str) -> Job:
    return per_operator(chain, lambda gradient: gradient.numpy(force=True))


TASKS: dict[str, Callable[..., Job]] = {
    **{f"eager-{name}": partial(train, name) for name in NETWORKS},
    "eager-changing": changing,
    "eager-record": record,
}
