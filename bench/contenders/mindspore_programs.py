"""The tasks as a MindSpore user writes them; run unchanged by MindSpore and by mindgrad.

``import mindspore`` means the library under test: ``with_mindgrad`` calls ``mindgrad.install()``
before it imports this file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import mindspore as ms
import mindspore_changing
import mindspore_control
import mindspore_layout
import mindspore_mixture
import mindspore_problems
import mindspore_training
import numpy as np
import problems
from job import Job, Unavailable
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore_results import MODES, arrays, job, waits


class Layer(nn.Cell):
    """``x @ weight + bias``."""

    def __init__(self, weight: np.ndarray, bias: np.ndarray, name: str) -> None:
        super().__init__()
        self.weight = Parameter(Tensor(weight), name=name + "_weight")
        self.bias = Parameter(Tensor(bias), name=name + "_bias")

    def construct(self, x):
        return ops.matmul(x, self.weight) + self.bias


class TanhLayer(Layer):
    """``tanh(x @ weight + bias)``."""

    def construct(self, x):
        return ops.tanh(ops.matmul(x, self.weight) + self.bias)


def perceptron(layers: problems.Layers) -> nn.SequentialCell:
    """Tanh layers and a linear one."""
    cells = [TanhLayer(*layer, name=f"layer{i}") for i, layer in enumerate(layers[:-1])]
    return nn.SequentialCell([*cells, Layer(*layers[-1], name="last")])


# T1


def objective(x):
    return (ops.sin(x) * x**2).sum()


def t1(variant: str) -> Job:
    gradient = ops.GradOperation()(objective)
    return job(variant, gradient, Tensor(problems.t1()))


# T2


def t2(variant: str) -> Job:
    problem = problems.t2()
    network = perceptron(problem.layers)

    def loss(inputs, targets):
        return ops.square(network(inputs) - targets).mean()

    step = ms.value_and_grad(loss, None, ParameterTuple(network.trainable_params()))
    return job(variant, step, Tensor(problem.inputs), Tensor(problem.targets))


# A training step


class RegressionLoss(nn.Cell):
    """The mean square of what the network misses."""

    def __init__(self, network: nn.Cell) -> None:
        super().__init__()
        self.network = network

    def construct(self, inputs, targets):
        return ops.square(self.network(inputs) - targets).mean()


def train(optimizer: str, variant: str) -> Job:
    problem = problems.t2()
    network = perceptron(problem.layers)
    inputs, targets = Tensor(problem.inputs), Tensor(problem.targets)
    weights = network.trainable_params()
    if optimizer == "sgd":
        change = nn.SGD(weights, learning_rate=problems.SGD_RATE)
    else:
        (beta1, beta2), eps = problems.ADAM_DECAYS, problems.ADAM_EPSILON
        change = nn.Adam(weights, learning_rate=problems.ADAM_RATE, beta1=beta1, beta2=beta2, eps=eps)
    step = nn.TrainOneStepCell(RegressionLoss(network), change)
    step.set_train()
    return Job(
        lambda: step(inputs, targets),
        waits(variant),
        lambda loss: arrays((loss, *[w.value() for w in weights])),
    )


# T3


class Solution(nn.Cell):
    """u(x, t)."""

    def __init__(self, layers: problems.Layers) -> None:
        super().__init__()
        self.network = perceptron(layers)

    def construct(self, x, t):
        return self.network(ops.concat((x, t), 1))


class FirstDerivatives(nn.Cell):
    """(u_x, u_t): every point is its own, so the gradient of the sum is the derivative of each."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.solution = solution
        self.gradient = ops.GradOperation(get_all=True)

    def construct(self, x, t):
        return self.gradient(self.solution)(x, t)


class Slope(nn.Cell):
    """u_x."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.solution = solution
        self.gradient = ops.GradOperation()

    def construct(self, x, t):
        return self.gradient(self.solution)(x, t)


class Curvature(nn.Cell):
    """u_xx: the gradient of u_x, nested."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.slope = Slope(solution)
        self.gradient = ops.GradOperation()

    def construct(self, x, t):
        return self.gradient(self.slope)(x, t)


class BurgersLoss(nn.Cell):
    """The mean square of u_t + u u_x - nu u_xx."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.solution = solution
        self.first = FirstDerivatives(solution)
        self.curvature = Curvature(solution)

    def construct(self, x, t):
        u = self.solution(x, t)
        u_x, u_t = self.first(x, t)
        u_xx = self.curvature(x, t)
        return ops.square(u_t + u * u_x - problems.VISCOSITY * u_xx).mean()


def burgers_in_cells(layers: problems.Layers) -> Callable[[Tensor, Tensor], tuple]:
    """The gradient of the loss in all weights: GradOperation over Cells that hold GradOperation."""
    solution = Solution(layers)
    weights = ParameterTuple(solution.trainable_params())
    return ops.GradOperation(get_by_list=True)(BurgersLoss(solution), weights)


def burgers_in_functions(layers: problems.Layers) -> Callable[[Tensor, Tensor], tuple]:
    """The same with the functional interface of MindSpore 2."""
    solution = Solution(layers)
    viscosity = problems.VISCOSITY
    first = ms.grad(solution, (0, 1))
    slope = ms.grad(solution, 0)

    def only_slope(x, t):
        return slope(x, t)

    curvature = ms.grad(only_slope, 0)

    def loss(x, t):
        u = solution(x, t)
        u_x, u_t = first(x, t)
        u_xx = curvature(x, t)
        return ops.square(u_t + u * u_x - viscosity * u_xx).mean()

    return ms.grad(loss, None, ParameterTuple(solution.trainable_params()))


BURGERS = {"cells": burgers_in_cells, "functions": burgers_in_functions}


def burgers(style: str) -> tuple[Callable[[Tensor, Tensor], tuple], Tensor, Tensor]:
    """The gradient function of T3 and its arguments; each call makes new Cells and functions."""
    problem = problems.t3()
    return BURGERS[style](problem.layers), Tensor(problem.x), Tensor(problem.t)


def t3(variant: str) -> Job:
    return job(variant, *burgers(variant.split()[-1]))


# Nested derivatives


def nested_derivative(order: int) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    """The gradient of the gradient of ... of a scalar perceptron, and the point."""
    point, ((w0, b0), (w1, b1), (w2, b2)) = problems.nested()
    w0, b0, w1, b1, w2, b2 = map(Tensor, (w0[0], b0, w1, b1, w2, b2))

    def network(x):
        hidden = ops.tanh(x * w0 + b0)
        hidden = ops.tanh(ops.matmul(hidden, w1) + b1)
        return (ops.matmul(hidden, w2) + b2).sum()

    derivative = network
    for _ in range(order):
        derivative = ms.grad(derivative)
    return derivative, Tensor(point)


def nested(variant: str, order: int) -> Job:
    return job(variant, *nested_derivative(order))


def derivative(variant: str, order: int) -> Job:
    """The same at many points: the gradient of the sum over the rows, nested."""
    points, layers = problems.derivative()
    function: Callable[..., Tensor] = perceptron(layers)
    for _ in range(order):
        function = ms.grad(function)
    return job(variant, function, Tensor(points))


class KuramotoLoss(nn.Cell):
    """The mean square of u_t + u u_x + u_xx + u_xxxx."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.solution = solution
        self.in_t = ms.grad(solution, 1)
        self.slopes = [ms.grad(solution, 0)]
        for _ in range(3):
            self.slopes.append(ms.grad(self.slopes[-1], 0))

    def construct(self, x, t):
        first, second, _, fourth = (slope(x, t) for slope in self.slopes)
        residual = self.in_t(x, t) + self.solution(x, t) * first + second + fourth
        return ops.square(residual).mean()


def kuramoto(variant: str) -> Job:
    problem = problems.kuramoto()
    solution = Solution(problem.layers)
    step = ms.value_and_grad(KuramotoLoss(solution), None, ParameterTuple(solution.trainable_params()))
    return job(variant, step, Tensor(problem.x), Tensor(problem.t))


TASKS: dict[str, Callable[..., Job]] = {
    "t1": t1,
    "t2": t2,
    "train-sgd": partial(train, "sgd"),
    "train-adam": partial(train, "adam"),
    "t3": t3,
    "nested": nested,
    "derivative": derivative,
    "kuramoto": kuramoto,
    **mindspore_control.TASKS,
    **mindspore_problems.TASKS,
    **mindspore_training.TASKS,
    **mindspore_changing.TASKS,
    "layout": mindspore_layout.layout,
    **{f"gmm-{d}": partial(mindspore_mixture.gmm, dimensions=d) for d in problems.GMM_DIMENSIONS},
}


def prepare(task: str, variant: str, **options: int) -> Job:
    """The job of one task, or Unavailable; the first word of the variant is the mode."""
    if task not in TASKS:
        raise Unavailable(f"no {task} with the MindSpore interface")
    ms.set_context(mode=MODES[variant.split()[0]])
    return TASKS[task](variant, **options)
