"""Second derivatives of several inputs: a tuple of scales selects the first derivative to derive again."""

import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor


class Polynomial(nn.Cell):
    """x**3 * y**2"""

    def construct(self, x, y):
        return x * x * x * (y * y)


class First(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.gradient = ops.GradOperation(get_all=True, sens_param=False)
        self.network = network

    def construct(self, x, y):
        return self.gradient(self.network)(x, y)


class Second(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.gradient = ops.GradOperation(get_all=True, sens_param=True)
        self.network = network
        self.one = Tensor(np.array([1]).astype("float32"))
        self.zero = Tensor(np.array([0]).astype("float32"))

    def construct(self, x, y):
        dxdx, dxdy = self.gradient(self.network)(x, y, (self.one, self.zero))
        dydx, dydy = self.gradient(self.network)(x, y, (self.zero, self.one))
        return dxdx, dxdy, dydx, dydy


x, y = Tensor(np.array([2], np.float32)), Tensor(np.array([3], np.float32))
dx, dy = First(Polynomial())(x, y)
print(dx, dy)
dxdx, dxdy, dydx, dydy = Second(First(Polynomial()))(x, y)
print(dxdx, dxdy, dydx, dydy)
