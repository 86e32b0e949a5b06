"""Whole training steps as a MindSpore user writes them; run by MindSpore and by mindgrad.

``program("lenet")`` is the step, its arguments, the network and the optimizer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import mindspore as ms
import numpy as np
import training_problems
from job import Job, training
from mindspore import Tensor, nn, ops


class Perceptron(nn.Cell):
    """Dense layers with relu between them."""

    def __init__(self):
        super().__init__()
        inputs, first, second, outputs = training_problems.PERCEPTRON_WIDTHS
        self.layers = nn.SequentialCell(
            nn.Dense(inputs, first), nn.ReLU(), nn.Dense(first, second), nn.ReLU(), nn.Dense(second, outputs)
        )

    def construct(self, x):
        return self.layers(x)


class LeNet(nn.Cell):
    """Two convolutions and three dense layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(400, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, training_problems.CLASSES)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


def convolution(inputs, outputs, size, stride=1):
    """A convolution that keeps the size, or halves it, and a batch normalization."""
    return nn.SequentialCell(
        nn.Conv2d(inputs, outputs, size, stride, pad_mode="pad", padding=size // 2), nn.BatchNorm2d(outputs)
    )


class Residual(nn.Cell):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = convolution(inputs, outputs, 3, stride)
        self.second = convolution(outputs, outputs, 3)
        self.shortcut = convolution(inputs, outputs, 1, stride) if inputs != outputs else None
        self.relu = nn.ReLU()

    def construct(self, x):
        y = self.second(self.relu(self.first(x)))
        if self.shortcut is not None:
            x = self.shortcut(x)
        return self.relu(x + y)


class ResNet(nn.Cell):
    """A convolution, nine residual blocks, the mean over the picture, and a dense layer."""

    def __init__(self):
        super().__init__()
        channels = training_problems.RESNET_CHANNELS
        self.stem = convolution(3, channels[0], 3)
        self.relu = nn.ReLU()
        self.blocks = nn.SequentialCell([Residual(*sizes) for sizes in training_problems.resnet_blocks()])
        self.head = nn.Dense(channels[-1], training_problems.CLASSES)

    def construct(self, x):
        x = self.blocks(self.relu(self.stem(x)))
        return self.head(x.mean(axis=(2, 3)))


class Attention(nn.Cell):
    """Causal attention of several heads."""

    def __init__(self, width, heads, tokens):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Dense(width, 3 * width)
        self.projection = nn.Dense(width, width)
        self.future = Tensor(np.triu(np.ones((tokens, tokens), bool), 1))

    def construct(self, x):
        batch, tokens, width = x.shape
        size = width // self.heads
        q, k, v = (
            part.reshape(batch, tokens, self.heads, size).swapaxes(1, 2)
            for part in ops.split(self.qkv(x), width, axis=-1)
        )
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / math.sqrt(size)
        scores = ops.masked_fill(scores, self.future, -1e9)
        mixed = ops.matmul(ops.softmax(scores, axis=-1), v)
        return self.projection(mixed.swapaxes(1, 2).reshape(batch, tokens, width))


class Block(nn.Cell):
    """Attention and a perceptron, each normalized before and added to its input."""

    def __init__(self, width, heads, tokens):
        super().__init__()
        self.norm1 = nn.LayerNorm((width,), epsilon=1e-5)
        self.attention = Attention(width, heads, tokens)
        self.norm2 = nn.LayerNorm((width,), epsilon=1e-5)
        self.up = nn.Dense(width, 4 * width)
        self.gelu = nn.GELU()
        self.down = nn.Dense(4 * width, width)

    def construct(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class Decoder(nn.Cell):
    """Embeddings, blocks, and the logits of the next token."""

    def __init__(self):
        super().__init__()
        width, tokens = training_problems.GPT_WIDTH, training_problems.GPT_TOKENS
        self.token = nn.Embedding(training_problems.GPT_VOCABULARY, width)
        self.position = nn.Embedding(tokens, width)
        self.positions = Tensor(np.arange(tokens), ms.int32)
        blocks = [
            Block(width, training_problems.GPT_HEADS, tokens) for _ in range(training_problems.GPT_BLOCKS)
        ]
        self.blocks = nn.SequentialCell(blocks)
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)
        self.head = nn.Dense(width, training_problems.GPT_VOCABULARY)

    def construct(self, tokens):
        x = self.token(tokens) + self.position(self.positions)
        return self.head(self.norm(self.blocks(x)))


class Recurrent(nn.Cell):
    """A long short-term memory, and a dense layer on its last output."""

    def __init__(self):
        super().__init__()
        units = training_problems.LSTM_UNITS
        self.lstm = nn.LSTM(training_problems.LSTM_INPUTS, units, batch_first=True)
        self.head = nn.Dense(units, training_problems.CLASSES)

    def construct(self, x):
        outputs, _ = self.lstm(x)
        return self.head(outputs[:, -1])


NETWORKS = {
    "perceptron": Perceptron,
    "lenet": LeNet,
    "resnet": ResNet,
    "gpt": Decoder,
    "lstm": Recurrent,
}


class Classifier(NamedTuple):
    """A network with its first weights, its loss as a function of the arguments, and these."""

    network: nn.Cell
    forward: Callable[..., Tensor]
    arguments: tuple[Tensor, Tensor]


def classifier(name: str, rows: slice = slice(None)) -> Classifier:
    """The network of that name with the task's numbers; ``rows`` are those of the batch that it gets."""
    problem = training_problems.LEARNING[name]()
    network = NETWORKS[name]()
    network.set_train()
    for parameter, weight in zip(network.trainable_params(), problem.weights, strict=True):
        if tuple(parameter.shape) != weight.shape:
            raise ValueError(f"{parameter.name} is {parameter.shape}, its first value {weight.shape}")
        parameter.set_data(Tensor(weight))
    loss_of = nn.CrossEntropyLoss()

    def forward(inputs, labels):
        logits = network(inputs)
        return loss_of(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))

    return Classifier(network, forward, (Tensor(problem.inputs[rows]), Tensor(problem.labels[rows])))


class Program(NamedTuple):
    """A step that returns the loss, its arguments, and what it changes."""

    step: Callable[..., Tensor]
    arguments: tuple[Tensor, Tensor]
    network: nn.Cell
    optimizer: nn.Optimizer


def program(name: str, compiled: bool = False) -> Program:
    """A training step of the network of that name with the task's numbers, decorated with ``jit`` or not."""
    network, forward, arguments = classifier(name)
    optimizer = nn.Adam(network.trainable_params(), learning_rate=training_problems.RATE)
    value_and_gradients = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(inputs, labels):
        loss, gradients = value_and_gradients(inputs, labels)
        optimizer(gradients)
        return loss

    return Program(ms.jit(step) if compiled else step, arguments, network, optimizer)


def train(name: str, variant: str) -> Job:
    """Steps of the program; in the mode "graph" decorated with ``jit``."""
    return steps(program(name, compiled=variant.startswith("graph")))


def steps(program: Program) -> Job:
    """Steps of a program, from its first weights and moments."""
    step, arguments, network, optimizer = program
    state = list(
        {id(each): each for each in [*network.get_parameters(), *optimizer.get_parameters()]}.values()
    )
    start = [parameter.asnumpy().copy() for parameter in state]
    last = optimizer.parameters[-1]

    def restart() -> None:
        for parameter, value in zip(state, start, strict=True):
            ops.assign(parameter, Tensor(value))

    def finish(loss: Tensor) -> None:
        np.asarray(loss)
        np.asarray(last)  # a step is done when the weights are there

    return training(lambda: step(*arguments), finish, Tensor.asnumpy, restart)


TASKS: dict[str, Callable[..., Job]] = {f"eager-{name}": partial(train, name) for name in NETWORKS}
