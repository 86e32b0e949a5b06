"""get_all=True and get_by_list=True: ((inputs...), (weights...)), tuples even where one thing is in them."""

import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Parameter, ParameterTuple, Tensor
from mindspore import dtype as mstype


class Product(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mul = ops.Mul()
        self.weight = Parameter(Tensor([5.0, -2.0], mstype.float32), name="weight")

    def construct(self, x, y):
        return self.mul(self.mul(x, y), self.weight)


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.factor = Parameter(Tensor([0.5], mstype.float32), name="factor")

    def construct(self, x):
        return x * x * self.factor


class Everything(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.weights = ParameterTuple(net.trainable_params())
        self.gradient = ops.GradOperation(get_all=True, get_by_list=True)

    def construct(self, *inputs):
        return self.gradient(self.net, self.weights)(*inputs)


x, y = Tensor([1.0, 2.0], mstype.float32), Tensor([3.0, 4.0], mstype.float32)
inputs, weights = Everything(Product())(x, y)
print(inputs)
print(weights)
print(Everything(Scaled())(Tensor([3.0], mstype.float32)))
