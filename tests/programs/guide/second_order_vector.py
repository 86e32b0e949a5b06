"""Second derivatives of an elementwise function: one input, several outputs, whose sum is derived."""

import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor
from mindspore import dtype as mstype


class Fourth(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mul = ops.Mul()

    def construct(self, x):
        square = self.mul(x, x)
        return self.mul(square, square)


class Gradient(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.gradient = ops.GradOperation(sens_param=False)
        self.network = network

    def construct(self, x):
        return self.gradient(self.network)(x)


x = Tensor([0.5, 1.0, -2.0], dtype=mstype.float32)
print(Gradient(Fourth())(x))
print(Gradient(Gradient(Fourth()))(x))
