"""sens_param=True: the outputs are multiplied by one more argument before they are summed.

A one in one place and zeros elsewhere select one output.
"""

import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor
from mindspore import dtype as mstype


class MatMul(nn.Cell):
    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()

    def construct(self, x, y):
        return self.matmul(x, y)


class Scaled(nn.Cell):
    def __init__(self, net, scale, **which):
        super().__init__()
        self.net = net
        self.scale = Tensor(scale, dtype=mstype.float32)
        self.gradient = ops.GradOperation(sens_param=True, **which)

    def construct(self, x, y):
        return self.gradient(self.net)(x, y, self.scale)


x = Tensor([[1.0, 2.0], [3.0, 4.0]], mstype.float32)
y = Tensor([[1.0, -0.5, 2.0], [0.25, 4.0, 1.0]], mstype.float32)
print(Scaled(MatMul(), [[1.0, 2.0, 0.5], [0.0, -1.0, 4.0]])(x, y))
print(Scaled(MatMul(), [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])(x, y))
print(Scaled(MatMul(), [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]], get_all=True)(x, y))
