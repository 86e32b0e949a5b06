"""grad of a net with several outputs: they are summed, or scaled with sens_param=True and a tuple first."""

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor
from mindspore.ops import grad


class Several(nn.Cell):
    def construct(self, x, y):
        return x**2 + y**2, x * y


class One(nn.Cell):
    def construct(self, x, y):
        return x * y


x = Tensor(np.array([[1, 2], [-1, 4]]).astype(np.float32))
y = Tensor(np.array([[5, -3], [2, 1]]).astype(np.float32))
v = Tensor(np.array([[1, -1], [0, 2]]).astype(np.float32))
w = Tensor(np.array([[3, 0], [1, -2]]).astype(np.float32))
print(grad(Several())(x, y))
print(grad(Several(), sens_param=True)(x, y, (v, w)))
print(grad(Several(), grad_position=(0, 1), sens_param=True)(x, y, (v, v)))
print(grad(One(), grad_position=1, sens_param=True)(x, y, w))
