"""Each operator that the guide lists: its second derivative, everywhere, whatever the device."""

import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor
from mindspore import dtype as mstype


class One(nn.Cell):
    """An operator with one input."""

    def __init__(self, operator):
        super().__init__()
        self.operator = operator

    def construct(self, x):
        return self.operator(x)


class Two(nn.Cell):
    """An operator with two inputs, both made of x, so that the mixed derivatives count as well."""

    def __init__(self, operator):
        super().__init__()
        self.operator = operator

    def construct(self, x):
        return self.operator(x * x, x + 1.0)


class Gradient(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.gradient = ops.GradOperation()
        self.network = network

    def construct(self, x):
        return self.gradient(self.network)(x)


x = Tensor(np.array([0.5]), mstype.float32)
for name in ("Square", "Exp", "Neg", "Log", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Atanh"):
    print(name, Gradient(Gradient(One(getattr(ops, name)())))(x))
for name in ("Mul", "Div", "Pow"):
    print(name, Gradient(Gradient(Two(getattr(ops, name)())))(x))
print("MatMul", Gradient(Gradient(Two(ops.MatMul())))(Tensor([[1.0, 2.0], [0.5, -1.0]], mstype.float32)))
