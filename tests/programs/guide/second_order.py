"""A gradient net of a gradient net: second and third derivatives of one input and one output."""

import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor


class Sine(nn.Cell):
    def __init__(self):
        super().__init__()
        self.sin = ops.Sin()

    def construct(self, x):
        return self.sin(x)


class Gradient(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.gradient = ops.GradOperation()
        self.network = network

    def construct(self, x):
        return self.gradient(self.network)(x)


first = Gradient(Sine())
second = Gradient(first)
third = Gradient(second)
x = Tensor(np.array([0.5], dtype=np.float32))
for net in (first, second, third):
    print(net(x))
