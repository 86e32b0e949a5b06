"""A net that returns one element of its output: the derivative of that element alone."""

import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor
from mindspore import dtype as mstype


class Corner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()

    def construct(self, x, y):
        return self.matmul(x, y)[0][0]


class Last(nn.Cell):
    def construct(self, x, y):
        return ops.MatMul()(x, y)[-1, 1:]


class InputGradient(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.gradient = ops.GradOperation()

    def construct(self, x, y):
        gradient_function = self.gradient(self.net)
        return gradient_function(x, y)


x = Tensor([[1.0, 2.0], [3.0, 4.0]], mstype.float32)
y = Tensor([[1.0, -0.5, 2.0], [0.25, 4.0, 1.0]], mstype.float32)
print(Corner()(x, y))
print(InputGradient(Corner())(x, y))
print(InputGradient(Last())(x, y))
