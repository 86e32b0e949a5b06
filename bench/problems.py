"""The numbers of every task: one seeded NumPy source, so that all contenders do the same work.

T1  The gradient of ``sum(sin(x) * x**2)`` for ten float32 numbers. The work is nothing; what is
    measured is the cost of a call.

T2  Value and gradient of the mean-square loss of a multilayer perceptron in all its weights:
    128 inputs, four hidden layers of 128 with tanh, one linear output, a batch of 1024, float32.
    About 0.37 GFLOP in matrix products; what is measured is the quality of the compiled program.

train   One step of T2: that gradient, and the weights changed by it in place, by plain gradient descent
        (``train-sgd``, rate 1e-3) or by Adam (``train-adam``, rate 1e-4, decays 0.9 and 0.999, 1e-8 added to
        the root). Every call is the next step; the result compared is the loss before the first step and the
        weights behind it.

T3  A physics-informed network for Burgers' equation ``u_t + u u_x - nu u_xx = 0`` with
    ``nu = 0.01 / pi``: u is a perceptron of 2 inputs (x, t), eight hidden layers of 20 with tanh,
    and one linear output. The loss is the mean square of the left-hand side at 10,000 points, x in
    [-1, 1], t in [0, 1]; the task is its gradient in all the weights. Third derivatives, small
    matrices: what is measured is how much of the work of nested derivatives is shared.

nested  The n-th derivative at one point of a scalar perceptron 1 -> 32 -> 32 -> 1 with tanh; ``derivative``
        the same at 2,000 points in [-1, 1], each a row of its own; ``first-result`` orders 10 and 20 at one.

kuramoto    A residual of fourth order, ``u_t + u u_x + u_xx + u_xxxx`` (Kuramoto and Sivashinsky), of a
            perceptron 2 -> 32x4 -> 1 at 5,000 points: value and gradient of its mean square in all the
            weights.

loop    Euler's method for ``dx/dt = sin(w x + b)``, 32 float32 numbers, from t = 0 to 4 in n steps;
        n is a tensor, known only when the program runs. The value is the mean square of the last x;
        its gradient is that in x(0), w and b. The flow, and so the result, is about the same for
        every n, and no derivative in it fades away. In ``loop-matrix`` it is ``tanh(W x + b)`` with
        a matrix W; in ``loop-second`` the value is the squared length of the gradient in x(0).

newton  Kepler's equation ``E - e sin E = M`` for 1,000 pairs (M, e), float64, by Newton's method from
        E = M, until the largest residual is at most 1e-10; the value is the mean square of E, its
        gradient that in M and e. With damping d a step is d times Newton's, which is how the number
        of iterations is chosen: the residual shrinks by about 1 - d per iteration.

rnn     A gated recurrent unit, 32 inputs, 64 units, batch 16, float32, over a sequence; the loss is
        the sum over the steps of the mean square of the state. Its gradient is in all weights.

burgers, argon, newton-cg   The problems of examples/ from start to end on the same numbers: Burgers'
        equation by the network 2 -> 32x4 -> 1 of examples/burgers.py, 1,000 steps of Adam, points drawn anew
        every ten steps, and the relative error behind them; 1,000 steps of velocity Verlet of 108 atoms,
        float64, and how much the total energy changed; Newton's method with conjugate gradients until the
        gradient's norm is below 1e-9, float64, and the certificate of the loss.

laplacian   The Laplacian in the inputs of a perceptron 64 -> 256x3 -> 1 with tanh at 128 points, float32;
            ``laplacian-gradient`` is the gradient in all weights of its mean square (a residual's loss).

biharmonic  The Laplacian of the Laplacian of a perceptron 10 -> 64x2 -> 1 with tanh at 64 points, float32.

layout  Value and gradient in all weights of the mean square of a tanh perceptron of width 20 at 10,000
        points, 2, 4 or 8 layers, float32: tall, narrow products, of which the order of axes decides.

gmm-d   The log-likelihood of 1,000 points in d dimensions under a mixture of k Gaussians, float64: ADBench's
        GMM without what does not depend on the parameters. Each Gaussian has a weight alpha, a center mu and
        a lower triangle Q of which the diagonal is exp(q) and the rest l, column by column: the sum over the
        points x of ``logsumexp_k(alpha + sum q - |Q (x - mu)|^2 / 2)``, minus ``|Q|^2 / 2`` and
        ``1000 (d log(2 pi) / 2 + logsumexp alpha)``. The gradient is that in alpha, mu, q and l.

trace   1,000 operators on an (8, 8) matrix, one after the other: a block of ten, ten times, ten times.

cache-hit  The sum of an array of four numbers and 50 Parameters of four numbers.

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
SGD_RATE = 1e-3
ADAM_RATE, ADAM_DECAYS, ADAM_EPSILON = 1e-4, (0.9, 0.999), 1e-8
T3_WIDTHS = (2, 20, 20, 20, 20, 20, 20, 20, 20, 1)
T3_POINTS = 10_000
LAPLACIAN_WIDTHS, LAPLACIAN_POINTS = (64, 256, 256, 256, 1), 128
BIHARMONIC_WIDTHS, BIHARMONIC_POINTS = (10, 64, 64, 1), 64
NESTED_WIDTHS, DERIVATIVE_POINTS = (1, 32, 32, 1), 2000
KURAMOTO_WIDTHS, KURAMOTO_POINTS = (2, 32, 32, 32, 32, 1), 5000
LOOP_STATES = 32
LOOP_TIME = 4.0
NEWTON_EQUATIONS = 1000
NEWTON_TOLERANCE = 1e-10
RNN_BATCH, RNN_INPUTS, RNN_UNITS = 16, 32, 64
CACHE_HIT_PARAMETERS = 50
LAYOUT_POINTS, LAYOUT_WIDTH = 10_000, 20
GMM_POINTS, GMM_DIMENSIONS, GMM_CENTERS = 1000, (2, 10, 20, 32, 64), (5, 10, 25, 50, 100)
BURGERS_WIDTHS, BURGERS_POINTS, BURGERS_STEPS, BURGERS_RATE = (2, 32, 32, 32, 32, 1), 1000, 1000, 1e-3
BURGERS_COMPARED = 20  # the step whose loss is compared: later ones differ, as roundings grow
ARGON_CELLS, ARGON_DENSITY, ARGON_TEMPERATURE = 3, 0.8442, 1.4
ARGON_CUTOFF, ARGON_TIME_STEP, ARGON_STEPS = 2.5, 0.002, 1000
LOGISTIC_SAMPLES, LOGISTIC_FEATURES, LOGISTIC_PENALTY = 4000, 100, 1e-4

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


@dataclass(frozen=True)
class Flow:
    """First state, weight and bias, each (32,), the length of a step and the number of steps.

    The weight is (32, 32) where it is a matrix.
    """

    state: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    step: np.ndarray
    iterations: np.ndarray


@dataclass(frozen=True)
class Kepler:
    """Mean anomaly M and eccentricity e, each (1000,), and the damping, a 0-d array."""

    mean: np.ndarray
    eccentricity: np.ndarray
    damping: np.ndarray


@dataclass(frozen=True)
class Recurrence:
    """Inputs (steps, batch, in), first state (batch, units), and the weights by name.

    ``of_input`` (in, 3 units), ``of_state`` (units, 3 units) and ``bias`` (3 units,) hold those of
    the update gate, the reset gate and the candidate, in this order.
    """

    inputs: np.ndarray
    state: np.ndarray
    of_input: np.ndarray
    of_state: np.ndarray
    bias: np.ndarray


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


def laplacian() -> tuple[np.ndarray, Layers]:
    """The points, (128, 64), and the layers of the network."""
    return _points_and_layers(64, LAPLACIAN_POINTS, LAPLACIAN_WIDTHS)


def biharmonic() -> tuple[np.ndarray, Layers]:
    """The points, (64, 10), and the layers of the network."""
    return _points_and_layers(10, BIHARMONIC_POINTS, BIHARMONIC_WIDTHS)


def _points_and_layers(seed: int, points: int, widths: tuple[int, ...]) -> tuple[np.ndarray, Layers]:
    generator = np.random.default_rng(seed)
    layers = perceptron(widths, generator)
    return generator.normal(size=(points, widths[0])).astype(np.float32), layers


def nested() -> tuple[np.ndarray, Layers]:
    """The point (a 0-d array) and the weights of the nested derivatives."""
    return np.asarray(0.3, np.float32), perceptron(NESTED_WIDTHS, np.random.default_rng(5))


def derivative() -> tuple[np.ndarray, Layers]:
    """The points, (2000, 1), and the weights of the nested derivatives."""
    points = np.random.default_rng(6).uniform(-1.0, 1.0, (DERIVATIVE_POINTS, 1)).astype(np.float32)
    return points, nested()[1]


def kuramoto() -> Burgers:
    """The points and the network of the residual of fourth order."""
    generator = np.random.default_rng(8)
    x = generator.uniform(-1.0, 1.0, (KURAMOTO_POINTS, 1)).astype(np.float32)
    t = generator.uniform(0.0, 1.0, (KURAMOTO_POINTS, 1)).astype(np.float32)
    return Burgers(x, t, perceptron(KURAMOTO_WIDTHS, generator))


def loop(iterations: int, matrix: bool = False) -> Flow:
    """The flow in that many steps."""
    generator = np.random.default_rng(7)
    state, weight, bias = (generator.standard_normal((3, LOOP_STATES)) * 0.5).astype(np.float32)
    if matrix:
        weight = generator.standard_normal((LOOP_STATES, LOOP_STATES)) / math.sqrt(LOOP_STATES)
        weight = weight.astype(np.float32)
    step = np.asarray(LOOP_TIME / iterations, np.float32)
    return Flow(state, weight, bias, step, np.asarray(iterations, np.int32))


def newton(iterations: int | None = None) -> Kepler:
    """Kepler's equations; the damping that takes about that many iterations, or none."""
    generator = np.random.default_rng(11)
    mean = generator.uniform(0.0, 2 * math.pi, NEWTON_EQUATIONS)
    eccentricity = generator.uniform(0.0, 0.8, NEWTON_EQUATIONS)
    damping = 1.0
    if iterations is not None:
        first = np.abs(eccentricity * np.sin(mean)).max()
        damping = 1.0 - (NEWTON_TOLERANCE / first) ** (1.0 / iterations)
    return Kepler(mean, eccentricity, np.asarray(damping))


def newton_iterations(problem: Kepler) -> int:
    """The iterations it really takes."""
    mean, eccentricity, anomaly, iterations = problem.mean, problem.eccentricity, problem.mean, 0
    while np.abs(residual := anomaly - eccentricity * np.sin(anomaly) - mean).max() > NEWTON_TOLERANCE:
        anomaly = anomaly - problem.damping * residual / (1.0 - eccentricity * np.cos(anomaly))
        iterations += 1
    return iterations


def rnn(steps: int) -> Recurrence:
    """A sequence of that many steps, and the unit."""
    generator = np.random.default_rng(13)

    def normal(*shape: int) -> np.ndarray:
        return generator.standard_normal(shape).astype(np.float32)

    of_input = normal(RNN_INPUTS, 3 * RNN_UNITS) / math.sqrt(RNN_INPUTS)
    of_state = normal(RNN_UNITS, 3 * RNN_UNITS) / math.sqrt(RNN_UNITS)
    bias = 0.1 * normal(3 * RNN_UNITS)
    inputs = normal(steps, RNN_BATCH, RNN_INPUTS)
    state = np.zeros((RNN_BATCH, RNN_UNITS), np.float32)
    return Recurrence(inputs, state, *(each.astype(np.float32) for each in (of_input, of_state, bias)))


def layout(layers: int) -> tuple[np.ndarray, Layers]:
    return _points_and_layers(17, LAYOUT_POINTS, (LAYOUT_WIDTH,) * (layers + 1))


@dataclass(frozen=True)
class Mixture:
    """Points (n, d), and alpha (k,), mu (k, d), q (k, d) and l (k, d (d - 1) / 2)."""

    points: np.ndarray
    parameters: tuple[np.ndarray, ...]


def gmm(dimensions: int, centers: int) -> Mixture:
    generator = np.random.default_rng(31337)
    points = generator.normal(size=(GMM_POINTS, dimensions))
    alpha = generator.normal(size=centers)
    mu = generator.uniform(size=(centers, dimensions))
    q = generator.normal(size=(centers, dimensions))
    lower = generator.normal(size=(centers, dimensions * (dimensions - 1) // 2))
    return Mixture(points, (alpha, mu, q, lower))


def thousand() -> tuple[np.ndarray, np.ndarray]:
    """The matrix, and the weight that it is multiplied with."""
    matrix, weight = np.random.default_rng(17).standard_normal((2, 8, 8)).astype(np.float32)
    return matrix, weight


def cache_hit() -> tuple[np.ndarray, list[np.ndarray]]:
    """The array, and the values of the Parameters."""
    numbers = np.random.default_rng(19).standard_normal((CACHE_HIT_PARAMETERS + 1, 4))
    first, *rest = numbers.astype(np.float32)
    return first, rest


@dataclass(frozen=True)
class Training:
    """Layers, the points t and x of each batch, (batches, points, 1), and points with the exact solution."""

    layers: Layers
    t: np.ndarray
    x: np.ndarray
    test_t: np.ndarray
    test_x: np.ndarray
    exact: np.ndarray

    def error(self, found: np.ndarray) -> float:
        """How far from the exact solution, relative, in the L2 norm."""
        return float(np.linalg.norm(found.ravel() - self.exact) / np.linalg.norm(self.exact))


def burgers_training() -> Training:
    """The solution is that of Cole and Hopf, by Gauss-Hermite quadrature."""
    generator = np.random.default_rng(7)
    layers = perceptron(BURGERS_WIDTHS, generator)
    batches = BURGERS_STEPS // 10
    t = generator.uniform(0, 1, (batches, BURGERS_POINTS, 1)).astype(np.float32)
    x = generator.uniform(-1, 1, (batches, BURGERS_POINTS, 1)).astype(np.float32)
    test_t, test_x = (
        coordinate.ravel()
        for coordinate in np.meshgrid(np.linspace(0, 1, 51), np.linspace(-1, 1, 129), indexing="ij")
    )
    y, weight = np.polynomial.hermite.hermgauss(100)
    at = test_x[:, None] - np.sqrt(4 * VISCOSITY * test_t[:, None]) * y
    exponent = -np.cos(np.pi * at) / (2 * np.pi * VISCOSITY)
    f = np.exp(exponent - exponent.max(-1, keepdims=True))
    exact = -(weight * np.sin(np.pi * at) * f).sum(-1) / (weight * f).sum(-1)
    columns = [coordinate[:, None].astype(np.float32) for coordinate in (test_t, test_x)]
    return Training(layers, t, x, *columns, exact)


@dataclass(frozen=True)
class Argon:
    """Positions and velocities, (atoms, 3), the edge of the box, and the two atoms of each pair."""

    positions: np.ndarray
    velocities: np.ndarray
    box: float
    first: np.ndarray
    second: np.ndarray


def argon() -> Argon:
    """A face-centered cubic crystal that melts."""
    generator = np.random.default_rng(0)
    corner = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    cells = np.stack(np.meshgrid(*[np.arange(ARGON_CELLS)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    positions = ((cells + corner) / ARGON_CELLS).reshape(-1, 3)
    box = (len(positions) / ARGON_DENSITY) ** (1 / 3)
    velocities = generator.normal(size=positions.shape) * math.sqrt(ARGON_TEMPERATURE)
    first, second = (k.astype(np.int32) for k in np.triu_indices(len(positions), 1))
    return Argon(positions * box, velocities - velocities.mean(0), box, first, second)


def logistic() -> tuple[np.ndarray, np.ndarray]:
    """Features (samples, features), correlated over two orders of magnitude, and labels -1 or 1."""
    random = np.random.default_rng(0)
    rotation = np.linalg.qr(random.normal(size=(LOGISTIC_FEATURES, LOGISTIC_FEATURES)))[0]
    scales = np.logspace(1, -1, LOGISTIC_FEATURES)
    features = random.normal(size=(LOGISTIC_SAMPLES, LOGISTIC_FEATURES)) * scales @ rotation
    labels = np.sign(features @ (rotation.T @ (random.normal(size=LOGISTIC_FEATURES) / scales)))
    labels[random.random(LOGISTIC_SAMPLES) < 0.1] *= -1
    return features, labels
