"""The numbers of every task: one seeded NumPy source, so that all contenders do the same work.

T1  The gradient of ``sum(sin(x) * x**2)`` for ten float32 numbers. The work is nothing; what is
    measured is the cost of a call.

T2  Value and gradient of the mean-square loss of a multilayer perceptron in all its weights:
    128 inputs, four hidden layers of 128 with tanh, one linear output, a batch of 1024, float32.
    About 0.37 GFLOP in matrix products; what is measured is the quality of the compiled program.

T3  A physics-informed network for Burgers' equation ``u_t + u u_x - nu u_xx = 0`` with
    ``nu = 0.01 / pi``: u is a perceptron of 2 inputs (x, t), eight hidden layers of 20 with tanh,
    and one linear output. The loss is the mean square of the left-hand side at 10,000 points, x in
    [-1, 1], t in [0, 1]; the task is its gradient in all the weights. Third derivatives, small
    matrices: what is measured is how much of the work of nested derivatives is shared.

nested  The n-th derivative at one point of a scalar perceptron 1 -> 32 -> 32 -> 1 with tanh.

Weights are drawn from a normal distribution with variance 2 / (inputs + outputs), and biases from
one with standard deviation 0.1, so that no gradient is zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

VISCOSITY = 0.01 / math.pi
T2_WIDTHS = (128, 128, 128, 128, 128, 1)
T2_BATCH = 1024
T3_WIDTHS = (2, 20, 20, 20, 20, 20, 20, 20, 20, 1)
T3_POINTS = 10_000
NESTED_WIDTHS = (1, 32, 32, 1)

Layers = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Regression:
    """Inputs (batch, in), targets (batch, out), layers of a weight (in, out) and a bias (out,)."""

    inputs: np.ndarray
    targets: np.ndarray
    layers: Layers


@dataclass(frozen=True)
class Burgers:
    """Points x and t, each (points, 1), and the layers of the network u(x, t)."""

    x: np.ndarray
    t: np.ndarray
    layers: Layers


def perceptron(widths: tuple[int, ...], generator: np.random.Generator) -> Layers:
    """Float32 weights and biases of a perceptron with these widths."""
    layers = []
    for inputs, outputs in pairwise(widths):
        scale = math.sqrt(2.0 / (inputs + outputs))
        weight = generator.standard_normal((inputs, outputs)) * scale
        bias = generator.standard_normal(outputs) * 0.1
        layers.append((weight.astype(np.float32), bias.astype(np.float32)))
    return layers


def t1() -> np.ndarray:
    """The ten numbers of T1."""
    return np.linspace(-2.0, 2.0, 10, dtype=np.float32)


def t2() -> Regression:
    """The data and the first weights of T2."""
    generator = np.random.default_rng(2)
    inputs = generator.standard_normal((T2_BATCH, T2_WIDTHS[0])).astype(np.float32)
    targets = generator.standard_normal((T2_BATCH, T2_WIDTHS[-1])).astype(np.float32)
    return Regression(inputs, targets, perceptron(T2_WIDTHS, generator))


def t3() -> Burgers:
    """The points and the first weights of T3."""
    generator = np.random.default_rng(3)
    x = generator.uniform(-1.0, 1.0, (T3_POINTS, 1)).astype(np.float32)
    t = generator.uniform(0.0, 1.0, (T3_POINTS, 1)).astype(np.float32)
    return Burgers(x, t, perceptron(T3_WIDTHS, generator))


def nested() -> tuple[np.ndarray, Layers]:
    """The point (a 0-d array) and the weights of the nested derivatives."""
    return np.asarray(0.3, np.float32), perceptron(NESTED_WIDTHS, np.random.default_rng(5))
