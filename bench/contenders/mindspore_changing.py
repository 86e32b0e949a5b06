"""Programs for eager mode: another structure at every call, and chains of operators on one number."""

from __future__ import annotations

from collections.abc import Callable

import mindspore as ms
import training_problems
from job import Job, per_operator
from mindspore import Parameter, Tensor, nn, ops
from mindspore_results import arrays, waits


class Changing(nn.Cell):
    """A tanh perceptron or another: every call draws how many layers it has, and their activations."""

    activations = (ops.tanh, ops.sin, ops.sigmoid, ops.relu)

    def __init__(self, weights):
        super().__init__()
        self.weights = ms.ParameterTuple(
            [Parameter(Tensor(weight), name=f"weight{k}") for k, weight in enumerate(weights)]
        )
        self.restart()

    def restart(self):
        self.structures = training_problems.structures()

    def construct(self, x):
        for weight, k in zip(self.weights, next(self.structures), strict=False):
            x = self.activations[k](ops.matmul(x, weight))
        return ops.square(x).mean()


def changing(variant: str) -> Job:
    problem = training_problems.changing()
    network, inputs = Changing(problem.weights), Tensor(problem.inputs)
    step = ms.value_and_grad(network, None, network.weights)
    return Job(lambda: step(inputs), waits(variant), arrays, restart=network.restart)


def chain(length: int) -> Callable[[], Tensor]:
    """The gradient of a chain of that many operators on one number."""
    x = Tensor([training_problems.CHAIN_START], ms.float32)

    def operators(x):
        y = x
        for _ in range(length // 2):
            y = ops.sin(y) + x
        return y

    gradient = ops.GradOperation()(operators)
    return lambda: gradient(x)


def record(variant: str) -> Job:
    return per_operator(chain, Tensor.asnumpy)


TASKS: dict[str, Callable[..., Job]] = {"eager-changing": changing, "eager-record": record}
