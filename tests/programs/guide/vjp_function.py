"""vjp(net, inputs, v): output and derivatives of the outputs weighted with v; bare for one input."""

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor
from mindspore.ops import vjp


class Cube(nn.Cell):
    def construct(self, x, y):
        return x**3 + y


def several(x, y):
    return x * y, x - y


def square(x):
    return x * x


x = Tensor(np.array([[1, 2], [3, 4]]).astype(np.float32))
y = Tensor(np.array([[5, 6], [7, 8]]).astype(np.float32))
v = Tensor(np.array([[1, 0], [0.5, 2]]).astype(np.float32))
w = Tensor(np.array([[0, 1], [-1, 1]]).astype(np.float32))
print(vjp(Cube(), (x, y), v))
print(vjp(several, (x, y), (v, w)))
print(vjp(square, x, v))
