"""jvp(net, inputs, v): output and derivative along v; bare for one input, tuples for several."""

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor
from mindspore.ops import jvp


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
print(jvp(Cube(), (x, y), (v, w)))
print(jvp(several, (x, y), (v, w)))
print(jvp(square, x, v))
