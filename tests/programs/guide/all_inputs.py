"""get_all=True: a tuple with one derivative for every input, also where there is only one input."""

import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Parameter, Tensor
from mindspore import dtype as mstype


class Weighted(nn.Cell):
    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()
        self.weight = Parameter(Tensor(np.array([2.0], np.float32)), name="weight")

    def construct(self, x, y):
        return self.matmul(self.weight * x, y)


class Cube(nn.Cell):
    def construct(self, x):
        return x * x * x


class AllGradients(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.gradient = ops.GradOperation(get_all=True)

    def construct(self, *inputs):
        return self.gradient(self.net)(*inputs)


x = Tensor([[1.0, 2.0], [3.0, 4.0], [0.5, 0.25]], dtype=mstype.float32)
y = Tensor([[1.0, -0.5, 2.0], [0.25, 4.0, 1.0]], dtype=mstype.float32)
print(AllGradients(Weighted())(x, y))
print(ops.GradOperation(get_all=True)(Cube())(Tensor([2.0, -1.0], mstype.float32)))
