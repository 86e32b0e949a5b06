"""Derivatives of derivatives in any mixture: Hessian times vector, and its columns, three ways."""

import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor
from mindspore import dtype as mstype
from mindspore.ops import grad, jvp, vjp


class Energy(nn.Cell):
    """sum of x**2 * z, where z are the elements of x in opposite order"""

    def construct(self, x):
        return ops.ReduceSum()(x * x * x[::-1])


class Slope(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.gradient = ops.GradOperation()

    def construct(self, x):
        return self.gradient(self.net)(x)


class Along(nn.Cell):
    """d/dt of net(x + t v)"""

    def __init__(self, net, v):
        super().__init__()
        self.jvp = nn.Jvp(net)
        self.v = v

    def construct(self, x):
        return self.jvp(x, self.v)[1]


x = Tensor([1.0, 2.0, -0.5], mstype.float32)
v = Tensor([1.0, 0.0, 2.0], mstype.float32)
net = Energy()
print(grad(net)(x))
print(jvp(Slope(net), x, v)[1])
print(grad(Along(net, v))(x))
print(vjp(Slope(net), x, v)[1])
print(Along(Along(net, v), v)(x))
