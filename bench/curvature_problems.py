"""Five partial differential equations as least-squares problems of a tanh network, float64.

poisson2d, poisson2d-deep    −Δu = f on the unit square,         u = Π sin(π xᵢ)
poisson5d                    −Δu = f on the unit cube,           u = Σ cos(π xᵢ)
heat1d-deep                  ∂u/∂t = Δu / 4 for t in (0, 1),     u = exp(−π² t / 4) sin(π x)
heat4d                       ∂u/∂t = Δu / 4 for t in (0, 1),     u = exp(−t) Σ sin(2 xᵢ)

Equations, networks, and numbers of points are from F. Dangel, J. Müller, and M. Zeinhofer,
*Kronecker-factored approximate curvature for physics-informed neural networks*, arXiv 2405.15603. Points are
uniform, and fixed for a run. Half of the points of the condition of a heat equation are at t = 0. The loss is
half the mean square of the equation's residual plus half the mean square of the condition's residual. Weights
and biases are uniform between ±1 / √inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, nn, ops

DEEP = (64, 64, 48, 48)
#: test points for each point of the equation
TESTED = 10


class Setting(NamedTuple):
    """A problem, the goal of the benchmark, and published errors.

    Attributes:
        dimensions: space dimensions.
        hidden: widths of the hidden layers.
        inside, outside: numbers of points of the equation and of the condition.
        is_heat: whether it is the heat equation; otherwise it is Poisson's.
        goal: the relative L2 error to reach, and after how many seconds.
        published: errors after 60 s of Adam, L-BFGS, K-FAC and Gauss–Newton.
    """

    dimensions: int
    hidden: tuple[int, ...]
    inside: int
    outside: int
    is_heat: bool
    goal: tuple[float, int]
    published: tuple[float, float, float, float]


SETTINGS = {
    "poisson2d": Setting(2, (64,), 900, 120, False, (1e-6, 10), (2.0e-3, 1.6e-4, 1.8e-5, 9.1e-6)),
    "poisson2d-deep": Setting(2, DEEP, 900, 120, False, (2.2e-5, 60), (3.9e-2, 5.3e-4, 2.2e-5, 3.1e-1)),
    "poisson5d": Setting(5, (64,), 3000, 500, False, (7e-6, 30), (1.2e-1, 1.3e-2, 5.0e-4, 6.8e-6)),
    "heat1d-deep": Setting(1, DEEP, 900, 120, True, (3e-6, 60), (5.6e-4, 2.4e-4, 3.1e-6, 2.1e-1)),
    "heat4d": Setting(4, (64,), 3000, 500, True, (2.8e-5, 60), (1.3e-2, 4.9e-3, 4.7e-4, 2.8e-5)),
}


@dataclass
class Problem:
    """A network to train.

    Attributes:
        net: the network.
        residuals: function without arguments that returns the residuals.
        error: function without arguments that returns the relative L2 error at the test points.
    """

    net: nn.Cell
    residuals: Callable[[], tuple[Any, Any]]
    error: Callable[[], float]


def solution(setting: Setting, x: np.ndarray) -> np.ndarray:
    """The exact u; time is the first column of a heat equation's points."""
    if not setting.is_heat:
        return np.sin(np.pi * x).prod(1) if setting.dimensions == 2 else np.cos(np.pi * x).sum(1)
    time, space = x[:, 0], x[:, 1:]
    if setting.dimensions == 1:
        return np.exp(-(np.pi**2) / 4 * time) * np.sin(np.pi * space[:, 0])
    return np.exp(-time) * np.sin(2 * space).sum(1)


def source(setting: Setting, x: np.ndarray) -> np.ndarray:
    """The right side f of a Poisson equation."""
    return np.pi**2 * (2 if setting.dimensions == 2 else 1) * solution(setting, x)


def network(inputs: int, hidden: tuple[int, ...], generator: np.random.Generator) -> nn.SequentialCell:
    """A tanh network with one output."""
    layers: list[nn.Cell] = []
    for rows, columns in pairwise((inputs, *hidden, 1)):
        dense = nn.Dense(rows, columns)
        for weight in (dense.weight, dense.bias):
            weight.set_dtype(ms.float64)
            weight.set_data(Tensor(generator.uniform(-1, 1, weight.shape) / np.sqrt(rows)))
        layers += [dense, nn.Tanh()]
    return nn.SequentialCell(*layers[:-1])


def _faces(generator: np.random.Generator, count: int, dimensions: int) -> np.ndarray:
    """Uniform points on the boundary of the unit cube."""
    x = generator.uniform(size=(count, dimensions))
    x[np.arange(count), generator.integers(0, dimensions, count)] = generator.integers(0, 2, count)
    return x


def _condition_points(setting: Setting, generator: np.random.Generator) -> np.ndarray:
    if not setting.is_heat:
        return _faces(generator, setting.outside, setting.dimensions)
    half = setting.outside // 2
    at_start = np.c_[np.zeros(half), generator.uniform(size=(half, setting.dimensions))]
    faces = _faces(generator, setting.outside - half, setting.dimensions)
    return np.r_[np.c_[generator.uniform(size=len(faces)), faces], at_start]


def problem(name: str, seed: int) -> Problem:
    """Create a problem with points and weights from a seed."""
    setting = SETTINGS[name]
    generator = np.random.default_rng(seed)
    columns = setting.dimensions + setting.is_heat
    net = network(columns, setting.hidden, generator)
    inside = generator.uniform(size=(setting.inside, columns))
    condition = _condition_points(setting, generator)
    tested = generator.uniform(size=(TESTED * setting.inside, columns))
    exact = solution(setting, tested)
    points, ends, test_points = Tensor(inside), Tensor(condition), Tensor(tested)
    values = Tensor(solution(setting, condition))
    right = Tensor(source(setting, inside))
    time, space, ones = Tensor(inside[:, :1]), Tensor(inside[:, 1:]), Tensor(np.ones((setting.inside, 1)))

    def equation() -> Any:
        if not setting.is_heat:
            return ops.reshape(ms.laplacian(net)(points), (-1,)) + right
        change = ms.jvp(lambda t: net(ops.concat((t, space), -1)), time, ones)[1]
        spread = ms.laplacian(lambda x: net(ops.concat((time, x), -1)))(space)
        return ops.reshape(change, (-1,)) - 0.25 * ops.reshape(spread, (-1,))

    def residuals() -> tuple[Any, Any]:
        misfit = ops.reshape(net(ends), (-1,)) - values
        return equation() / setting.inside**0.5, misfit / setting.outside**0.5

    def error() -> float:
        return float(np.linalg.norm(net(test_points).asnumpy()[:, 0] - exact) / np.linalg.norm(exact))

    return Problem(net, residuals, error)
