"""A narrow perceptron at many points as a MindSpore user writes it; run by MindSpore and by mindgrad."""

from __future__ import annotations

import mindspore as ms
import problems
from job import Job
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore_results import job


class Narrow(nn.Cell):
    """The mean square of tanh layers."""

    def __init__(self, layers: problems.Layers) -> None:
        super().__init__()
        self.weights = ParameterTuple(
            [Parameter(Tensor(weight), name=f"weight{k}") for k, (weight, _) in enumerate(layers)]
        )
        self.biases = ParameterTuple(
            [Parameter(Tensor(bias), name=f"bias{k}") for k, (_, bias) in enumerate(layers)]
        )

    def construct(self, x):
        for weight, bias in zip(self.weights, self.biases, strict=True):
            x = ops.tanh(ops.matmul(x, weight) + bias)
        return ops.square(x).mean()


def layout(variant: str, layers: int) -> Job:
    points, weights = problems.layout(layers)
    network = Narrow(weights)
    ordered = [each for pair in zip(network.weights, network.biases, strict=True) for each in pair]
    step = ms.value_and_grad(network, None, ParameterTuple(ordered))
    return job(variant, step, Tensor(points))
