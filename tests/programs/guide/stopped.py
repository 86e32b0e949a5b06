"""stop_gradient: a value passes, its derivative does not; whatever it is, a result, an input, a weight."""

import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Parameter, ParameterTuple, Tensor
from mindspore import dtype as mstype
from mindspore.ops import stop_gradient


class Twice(nn.Cell):
    def __init__(self, stopped):
        super().__init__()
        self.matmul = ops.MatMul()
        self.stopped = stopped

    def construct(self, x, y):
        first = self.matmul(x, y)
        second = self.matmul(x, y)
        if self.stopped:
            second = stop_gradient(second)
        return first + second


class Frozen(nn.Cell):
    """input and weight, each once free and once stopped"""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor([5.0], mstype.float32), name="weight")

    def construct(self, x):
        return stop_gradient(x) * self.weight + x * stop_gradient(self.weight) * x


x = Tensor([[1.0, 2.0], [3.0, 4.0]], mstype.float32)
y = Tensor([[1.0, -0.5, 2.0], [0.25, 4.0, 1.0]], mstype.float32)
gradient = ops.GradOperation()
print(Twice(True)(x, y))
print(gradient(Twice(True))(x, y))
print(gradient(Twice(False))(x, y))

net = Frozen()
everything = ops.GradOperation(get_all=True, get_by_list=True)
print(everything(net, ParameterTuple(net.trainable_params()))(Tensor([3.0], mstype.float32)))
