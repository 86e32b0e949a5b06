"""GradOperation(): the derivative of the sum of the outputs for the first input, as a net or directly."""

import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Parameter, Tensor
from mindspore import dtype as mstype


class Weighted(nn.Cell):
    """(weight * x) @ y"""

    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()
        self.weight = Parameter(Tensor(np.array([2.0], np.float32)), name="weight")

    def construct(self, x, y):
        return self.matmul(self.weight * x, y)


class InputGradient(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.gradient = ops.GradOperation()

    def construct(self, x, y):
        return self.gradient(self.net)(x, y)


x = Tensor([[1.0, 2.0], [3.0, 4.0], [0.5, 0.25]], dtype=mstype.float32)
y = Tensor([[1.0, -0.5, 2.0], [0.25, 4.0, 1.0]], dtype=mstype.float32)
print(Weighted()(x, y))
print(InputGradient(Weighted())(x, y))
print(ops.GradOperation()(Weighted())(x, y))
