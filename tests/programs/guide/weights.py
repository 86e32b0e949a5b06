"""get_by_list=True: a tuple with one derivative for each weight, in the order in which they are given."""

import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Parameter, ParameterTuple, Tensor
from mindspore import dtype as mstype


class Line(nn.Cell):
    """slope * x + offset, where nothing depends on the weight `idle`"""

    def __init__(self):
        super().__init__()
        self.slope = Parameter(Tensor([3.0, 0.5], mstype.float32), name="slope")
        self.offset = Parameter(Tensor([1.0], mstype.float32), name="offset")
        self.idle = Parameter(Tensor([[1.0, 1.0]], mstype.float32), name="idle")

    def construct(self, x):
        return self.slope * x + self.offset


class WeightGradient(nn.Cell):
    def __init__(self, net, weights):
        super().__init__()
        self.net = net
        self.weights = ParameterTuple(weights)
        self.gradient = ops.GradOperation(get_by_list=True)

    def construct(self, x):
        return self.gradient(self.net, self.weights)(x)


net = Line()
x = Tensor([[4.0, 8.0], [-1.0, 0.25]], mstype.float32)
print([weight.name for weight in net.trainable_params()])
print(WeightGradient(net, net.trainable_params())(x))
print(WeightGradient(net, [net.offset, net.slope])(x))
