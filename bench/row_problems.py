"""The numbers of the tasks about rows that operators of many kinds keep apart: one seeded source for all.

rows-fno        A Fourier neural operator maps 64 start functions on 64 points, and a time for each, to u:
                lifted to 24 channels, three layers of a product for each of 12 Fourier modes beside a
                product at each point, tanh, and a last product. The loss is the mean square of
                u_tt − u_xx + u, with u_xx by Fourier transforms; the task is its gradient in all weights.

rows-graph      A graph network gives the energy of 500 atoms with 8,000 edges: two layers of messages
                tanh(W [h_s, h_r, |x_s − x_r|²] + b), 32 wide, added up at their receivers. The loss is the
                mean square of forces minus targets; the task is its gradient in all weights.

rows-systems    The second derivative in x of the sum of the solution of (A + tanh(x) S) y = sin(x c), for
                2,000 systems of four equations, each with an A and an x of its own.

rows-conv       A convolutional network over 64 points maps 64 start functions and times to u: four layers
                of kernels of five, 16 channels, tanh. The loss is the mean square of u_tt − u_xx + u,
                with u_xx by differences; the task is its gradient in all weights.

rows-attention  The Laplacian, in all 24 coordinates, of a network with two layers of self-attention over
                eight particles, 32 wide, for 64 samples.

All are Float32.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

FUNCTIONS, POINTS, CHANNELS, MODES, OPERATOR_LAYERS = 64, 64, 24, 12, 3
ATOMS, EDGES, GRAPH_WIDTH, GRAPH_LAYERS = 500, 8000, 32, 2
SYSTEMS, EQUATIONS = 2000, 4
FILTERS, TAPS, CONVOLUTIONS = 16, 5, 4
SAMPLES, PARTICLES, ATTENTION_WIDTH, ATTENTION_LAYERS = 64, 8, 32, 2

Arrays = list[np.ndarray]


class Functions(NamedTuple):
    """Start functions, (64, 1, 64), a time for each, (64, 1), and the weights of a network."""

    starts: np.ndarray
    times: np.ndarray
    weights: Arrays


class Atoms(NamedTuple):
    """Positions, features, both ends of the edges, target forces and the weights of a network."""

    positions: np.ndarray
    features: np.ndarray
    senders: np.ndarray
    receivers: np.ndarray
    targets: np.ndarray
    weights: Arrays


class Systems(NamedTuple):
    """The points, (2000, 1), the matrices A, S and the vector c."""

    points: np.ndarray
    matrices: np.ndarray
    direction: np.ndarray
    right: np.ndarray


class Particles(NamedTuple):
    """The samples, (64, 24), and the weights of a network."""

    samples: np.ndarray
    weights: Arrays


def _normal(generator: np.random.Generator, *shape: int, fan: int = 1) -> np.ndarray:
    return (generator.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)


def _starts(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    grid = 2 * np.pi * np.arange(POINTS) / POINTS
    phases = generator.uniform(0, 2 * np.pi, (FUNCTIONS, 1, 1))
    starts = np.sin(grid + phases) + 0.5 * np.cos(2 * grid - phases)
    return starts.astype(np.float32), generator.uniform(0, 1, (FUNCTIONS, 1)).astype(np.float32)


def fno() -> Functions:
    """The weights: the lift; real and imaginary parts, product at a point and bias by layer; the last."""
    generator = np.random.default_rng(31)
    weights = [_normal(generator, CHANNELS, 2, fan=2)]
    for _ in range(OPERATOR_LAYERS):
        weights += [_normal(generator, MODES, CHANNELS, CHANNELS, fan=2 * CHANNELS) for _ in range(2)]
        weights += [
            _normal(generator, CHANNELS, CHANNELS, fan=CHANNELS),
            _normal(generator, CHANNELS, 1, fan=100),
        ]
    weights.append(_normal(generator, 1, CHANNELS, fan=CHANNELS))
    return Functions(*_starts(generator), weights)


def graph() -> Atoms:
    """The weights: those of messages and of atoms, each with a bias, by layer; the last."""
    generator = np.random.default_rng(32)
    senders, receivers = generator.integers(0, ATOMS, (2, EDGES)).astype(np.int32)
    width, weights = GRAPH_WIDTH, []
    for _ in range(GRAPH_LAYERS):
        for inputs in (2 * width + 1, 2 * width):
            weights += [_normal(generator, inputs, width, fan=inputs), _normal(generator, width, fan=100)]
    weights.append(_normal(generator, width, fan=width))
    return Atoms(
        _normal(generator, ATOMS, 3), _normal(generator, ATOMS, width), senders, receivers,
        _normal(generator, ATOMS, 3), weights,
    )  # fmt: skip


def systems() -> Systems:
    """A is four times the identity and a random matrix."""
    generator = np.random.default_rng(33)
    matrices = _normal(generator, SYSTEMS, EQUATIONS, EQUATIONS) + 4 * np.eye(EQUATIONS, dtype=np.float32)
    right = _normal(generator, EQUATIONS)
    points, direction = _normal(generator, SYSTEMS, 1), _normal(generator, EQUATIONS, EQUATIONS)
    return Systems(points, matrices, direction, right)


def conv() -> Functions:
    """The weights are kernel and bias of each layer."""
    generator = np.random.default_rng(34)
    weights, widths = [], [2, *[FILTERS] * (CONVOLUTIONS - 1), 1]
    for inputs, outputs in pairwise(widths):
        weights.append(_normal(generator, outputs, inputs, TAPS, fan=inputs * TAPS))
        weights.append(_normal(generator, outputs, 1, fan=100))
    return Functions(*_starts(generator), weights)


def attention() -> Particles:
    """The weights: the embedding; queries, keys, values and a product by layer; the last."""
    generator = np.random.default_rng(35)
    width = ATTENTION_WIDTH
    weights = [_normal(generator, 3, width, fan=3)]
    weights += [_normal(generator, width, width, fan=width) for _ in range(4 * ATTENTION_LAYERS)]
    weights.append(_normal(generator, width, fan=width))
    return Particles(_normal(generator, SAMPLES, 3 * PARTICLES), weights)


def wave_numbers() -> np.ndarray:
    """Minus the squares of the wave numbers of a real Fourier transform over the points."""
    return -(np.arange(POINTS // 2 + 1, dtype=np.float32) ** 2)
