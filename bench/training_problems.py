"""The numbers of the tasks with whole training steps, float32, and of the other programs of eager mode.

eager-perceptron   784 -> 256 -> 256 -> 10 with relu, batch 32.
eager-lenet        LeNet-5 with relu and maximum pooling, 32 x 32 pictures of one channel, batch 32.
eager-resnet       ResNet-20 for CIFAR: 16, 32 and 64 channels, three blocks each, batch normalization after
                   every convolution, a convolution of 1 x 1 where a shortcut changes shape; batch 16.
eager-gpt          A decoder of 4 blocks, 128 wide, 4 heads, normalized before each, 8 x 64 tokens of 128.
eager-lstm         A long short-term memory of 64 units over 48 steps of 32 inputs, and a linear layer on the
                   last output; batch 32.

Each is a classification with cross entropy; a call is one step of Adam at the rate 1e-3, weights and moments
changed. The results compared are the losses of the first five steps, and those of five steps again from the
first weights once all is warm.

eager-changing   Value and gradient of a tanh perceptron of width 64, batch 32, of which every call draws anew
                 in Python how many layers it has, 7 to 9, and the activation of each: no two calls alike.

eager-record     The gradient of a chain of cheap operators on one number.

Weights are in the order in which the layers are made, those of a dense layer (out, in), of a convolution
(out, in, height, width); each of a normal distribution with variance 2 / inputs, gains near 1.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

RATE, STEPS_COMPARED = 1e-3, 5
PERCEPTRON_WIDTHS, CLASSES = (784, 256, 256, 10), 10
RESNET_CHANNELS, RESNET_BLOCKS = (16, 32, 64), 3
GPT_BLOCKS, GPT_WIDTH, GPT_HEADS, GPT_TOKENS, GPT_VOCABULARY = 4, 128, 4, 64, 128
LSTM_STEPS, LSTM_INPUTS, LSTM_UNITS = 48, 32, 64
CHANGING_WIDTH, CHANGING_BATCH, CHANGING_LAYERS = 64, 32, (7, 9)
CHANGING_ACTIVATIONS = 4  # each library has that many in a list, in the same order
SHORT_CHAIN, LONG_CHAIN, CHAIN_START = 50, 250, 0.7


class Learning(NamedTuple):
    """First weights in order, one batch of inputs, and its labels, int32."""

    weights: list[np.ndarray]
    inputs: np.ndarray
    labels: np.ndarray


class _Draw:
    """Weights drawn one after the other from one seed."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.weights: list[np.ndarray] = []

    def normal(self, *shape: int) -> np.ndarray:
        return self.generator.standard_normal(shape).astype(np.float32)

    def weight(self, *shape: int) -> None:
        """Of a layer, the outputs first."""
        self.weights.append(self.normal(*shape) * np.float32(math.sqrt(2 / math.prod(shape[1:]))))

    def bias(self, size: int) -> None:
        self.weights.append(self.normal(size) * np.float32(0.1))

    def dense(self, inputs: int, outputs: int) -> None:
        self.weight(outputs, inputs)
        self.bias(outputs)

    def norm(self, size: int) -> None:
        """The gain and the bias of a normalization."""
        self.weights.append(1 + self.normal(size) * np.float32(0.1))
        self.bias(size)

    def learning(self, inputs: np.ndarray, *label_shape: int, classes: int = CLASSES) -> Learning:
        labels = self.generator.integers(0, classes, label_shape).astype(np.int32)
        return Learning(self.weights, inputs, labels)


def perceptron() -> Learning:
    draw = _Draw(41)
    for inputs, outputs in pairwise(PERCEPTRON_WIDTHS):
        draw.dense(inputs, outputs)
    return draw.learning(draw.normal(32, PERCEPTRON_WIDTHS[0]), 32)


def lenet() -> Learning:
    draw = _Draw(42)
    for inputs, outputs in ((1, 6), (6, 16)):
        draw.weight(outputs, inputs, 5, 5)
        draw.bias(outputs)
    for inputs, outputs in ((400, 120), (120, 84), (84, CLASSES)):
        draw.dense(inputs, outputs)
    return draw.learning(draw.normal(32, 1, 32, 32), 32)


def resnet_blocks() -> Iterator[tuple[int, int, int]]:
    """Channels that come in, channels that go out, and the stride, block after block."""
    before = RESNET_CHANNELS[0]
    for stage, channels in enumerate(RESNET_CHANNELS):
        for block in range(RESNET_BLOCKS):
            yield before, channels, 2 if stage and not block else 1
            before = channels


def resnet() -> Learning:
    draw = _Draw(43)

    def convolution(inputs: int, outputs: int, size: int) -> None:
        draw.weight(outputs, inputs, size, size)
        draw.norm(outputs)

    convolution(3, RESNET_CHANNELS[0], 3)
    for before, channels, _ in resnet_blocks():
        convolution(before, channels, 3)
        convolution(channels, channels, 3)
        if before != channels:
            convolution(before, channels, 1)
    draw.dense(RESNET_CHANNELS[-1], CLASSES)
    return draw.learning(draw.normal(16, 3, 32, 32), 16)


def gpt() -> Learning:
    draw, width = _Draw(44), GPT_WIDTH
    for rows in (GPT_VOCABULARY, GPT_TOKENS):
        draw.weight(rows, width)
    for _ in range(GPT_BLOCKS):
        draw.norm(width)
        draw.dense(width, 3 * width)
        draw.dense(width, width)
        draw.norm(width)
        draw.dense(width, 4 * width)
        draw.dense(4 * width, width)
    draw.norm(width)
    draw.dense(width, GPT_VOCABULARY)
    tokens = draw.generator.integers(0, GPT_VOCABULARY, (8, GPT_TOKENS)).astype(np.int32)
    return draw.learning(tokens, 8, GPT_TOKENS, classes=GPT_VOCABULARY)


def lstm() -> Learning:
    draw = _Draw(45)
    for inputs in (LSTM_INPUTS, LSTM_UNITS):
        draw.weight(4 * LSTM_UNITS, inputs)
    for _ in range(2):
        draw.bias(4 * LSTM_UNITS)
    draw.dense(LSTM_UNITS, CLASSES)
    return draw.learning(draw.normal(32, LSTM_STEPS, LSTM_INPUTS), 32)


LEARNING = {"perceptron": perceptron, "lenet": lenet, "resnet": resnet, "gpt": gpt, "lstm": lstm}


class Changing(NamedTuple):
    """Inputs (batch, width), and as many weights (width, width) as there are layers at most."""

    inputs: np.ndarray
    weights: list[np.ndarray]


def changing() -> Changing:
    generator = np.random.default_rng(46)
    shape = (CHANGING_LAYERS[1], CHANGING_WIDTH, CHANGING_WIDTH)
    weights = generator.standard_normal(shape).astype(np.float32) / np.float32(math.sqrt(CHANGING_WIDTH))
    inputs = generator.standard_normal((CHANGING_BATCH, CHANGING_WIDTH)).astype(np.float32)
    return Changing(inputs, list(weights))


def structures() -> Iterator[list[int]]:
    """Which activation each layer has, for one call after the other."""
    generator = random.Random(47)
    while True:
        depth = generator.randint(*CHANGING_LAYERS)
        yield [generator.randrange(CHANGING_ACTIVATIONS) for _ in range(depth)]
