"""The tasks about control flow and the cost of a call, as a MindSpore user writes them.

As ``mindspore_programs``: run unchanged by MindSpore and by mindgrad.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mindspore as ms
import numpy as np
import problems
from job import Job
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore_results import job

#: a function and its arguments
Program = tuple[Any, ...]

# A while loop whose iteration count is a tensor


class Flow(nn.Cell):
    """dx/dt = sin(weight x + bias) by Euler's method; the mean square of the last x."""

    def __init__(self, weight: np.ndarray, bias: np.ndarray) -> None:
        super().__init__()
        self.weight = Parameter(Tensor(weight), name="weight")
        self.bias = Parameter(Tensor(bias), name="bias")

    def construct(self, x, step, iterations):
        while iterations > 0:
            x = x + step * self.velocity(x)
            iterations = iterations - 1
        return ops.square(x).mean()

    def velocity(self, x):
        return ops.sin(self.weight * x + self.bias)


class MatrixFlow(Flow):
    """The same with tanh and a matrix as weight."""

    def velocity(self, x):
        return ops.tanh(ops.matmul(self.weight, x) + self.bias)


FLOWS = {"loop": Flow, "loop-second": Flow, "loop-matrix": MatrixFlow}


def loop_program(task: str, part: str, iterations: int) -> Program:
    """The loop alone, its value and gradient, or the gradient of the squared gradient."""
    problem = problems.loop(iterations, matrix=task == "loop-matrix")
    flow = FLOWS[task](problem.weight, problem.bias)
    weights = ParameterTuple(flow.trainable_params())
    arguments = Tensor(problem.state), Tensor(problem.step), Tensor(problem.iterations)
    if part == "loop":
        return flow, *arguments
    if part == "gradient":
        return ms.value_and_grad(flow, 0, weights), *arguments
    slope = ms.grad(flow, 0)

    def steepness(x, step, iterations):
        return ops.square(slope(x, step, iterations)).sum()

    return ms.value_and_grad(steepness, 0, weights), *arguments


def newton_program(iterations: int | None) -> Program:
    """The value and the gradient of what Newton's method finds."""
    problem = problems.newton(iterations)
    arguments = Tensor(problem.mean), Tensor(problem.eccentricity), Tensor(problem.damping)
    return ms.value_and_grad(Kepler(), (0, 1)), *arguments


class Kepler(nn.Cell):
    """The E with E - eccentricity sin(E) = mean by damped Newton steps; its mean square."""

    def construct(self, mean, eccentricity, damping):
        anomaly = mean
        residual = anomaly - eccentricity * ops.sin(anomaly) - mean
        while ops.abs(residual).max() > problems.NEWTON_TOLERANCE:
            slope = 1.0 - eccentricity * ops.cos(anomaly)
            anomaly = anomaly - damping * residual / slope
            residual = anomaly - eccentricity * ops.sin(anomaly) - mean
        return ops.square(anomaly).mean()


# A for loop over a sequence


class GatedUnit(nn.Cell):
    """One step of a gated recurrent unit."""

    def __init__(self, problem: problems.Recurrence) -> None:
        super().__init__()
        self.of_input = Parameter(Tensor(problem.of_input), name="of_input")
        self.of_state = Parameter(Tensor(problem.of_state), name="of_state")
        self.bias = Parameter(Tensor(problem.bias), name="bias")
        self.units = problem.state.shape[1]

    def construct(self, x, h):
        u = self.units
        from_input = ops.matmul(x, self.of_input) + self.bias
        from_state = ops.matmul(h, self.of_state)
        update = ops.sigmoid(from_input[:, :u] + from_state[:, :u])
        reset = ops.sigmoid(from_input[:, u : 2 * u] + from_state[:, u : 2 * u])
        candidate = ops.tanh(from_input[:, 2 * u :] + reset * from_state[:, 2 * u :])
        return update * h + (1.0 - update) * candidate


class Recurrent(nn.Cell):
    """The unit along a sequence; the sum of the mean squares of its states."""

    def __init__(self, problem: problems.Recurrence) -> None:
        super().__init__()
        self.unit = GatedUnit(problem)

    def construct(self, inputs, h):
        loss = 0.0
        for i in range(inputs.shape[0]):
            h = self.unit(inputs[i], h)
            loss = loss + ops.square(h).mean()
        return loss


def rnn_program(steps: int) -> Program:
    """The value and the gradient in all weights."""
    problem = problems.rnn(steps)
    network = Recurrent(problem)
    weights = ParameterTuple(network.trainable_params())
    return ms.value_and_grad(network, None, weights), Tensor(problem.inputs), Tensor(problem.state)


# The cost of a trace, and that of a call


def block(x, weight):
    """Ten operators."""
    y = ops.matmul(x, weight)
    y = ops.tanh(y + x)
    z = ops.sin(y) * x - y
    z = ops.exp(-z * z)
    return z + y


def ten_blocks(x, w):
    x = block(block(block(block(block(x, w), w), w), w), w)
    return block(block(block(block(block(x, w), w), w), w), w)


def thousand_program() -> Program:
    """A new function of 1,000 operators each time: what is made of it once must be made again."""

    def thousand(x, w):
        x = ten_blocks(ten_blocks(ten_blocks(ten_blocks(ten_blocks(x, w), w), w), w), w)
        return ten_blocks(ten_blocks(ten_blocks(ten_blocks(ten_blocks(x, w), w), w), w), w)

    matrix, weight = problems.thousand()
    return thousand, Tensor(matrix), Tensor(weight)


class Sum(nn.Cell):
    """The sum of its input and all its Parameters."""

    def __init__(self, values: list[np.ndarray]) -> None:
        super().__init__()
        parameters = [Parameter(Tensor(value), name=f"p{i}") for i, value in enumerate(values)]
        self.parameters_of_sum = ParameterTuple(parameters)

    def construct(self, x):
        for parameter in self.parameters_of_sum:
            x = x + parameter
        return x


def cache_hit(variant: str) -> Job:
    first, rest = problems.cache_hit()
    return job(variant, Sum(rest), Tensor(first))


def loop(task: str, variant: str, iterations: int) -> Job:
    return job(variant, *loop_program(task, variant.split()[-1], iterations))


def newton(variant: str, iterations: int | None = None) -> Job:
    return job(variant, *newton_program(iterations))


def rnn(variant: str, steps: int) -> Job:
    return job(variant, *rnn_program(steps))


TASKS: dict[str, Callable[..., Job]] = {
    **{task: partial(loop, task) for task in FLOWS},
    "newton": newton,
    "newton-memory": newton,
    "rnn": rnn,
    "cache-hit": cache_hit,
}
