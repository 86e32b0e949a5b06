"""nn.Vjp: the output, and the derivatives of the outputs weighted with v; bare for one input."""

import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor
from mindspore import dtype as mstype


class Waves(nn.Cell):
    def __init__(self):
        super().__init__()
        self.sin = ops.Sin()
        self.cos = ops.Cos()

    def construct(self, x, y):
        return self.sin(x) + self.cos(y)


class Square(nn.Cell):
    def construct(self, x):
        return x * x


class Pair(nn.Cell):
    def construct(self, x, y):
        return x * y, x + y


class Reverse(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.vjp = nn.Vjp(net)

    def construct(self, x, y, v):
        return self.vjp(x, y, v)


x, y = Tensor([0.5, 0.25], mstype.float32), Tensor([0.75, 1.0], mstype.float32)
v, w = Tensor([1, 1], dtype=mstype.float32), Tensor([2, 0], dtype=mstype.float32)
print(Reverse(Waves())(x, y, v))
print(nn.Vjp(Square())(x, w))
print(Reverse(Pair())(x, y, (v, w)))
