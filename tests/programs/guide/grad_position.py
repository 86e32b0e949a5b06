"""grad: grad_position says for which inputs; one int gives one derivative, a tuple a tuple in its order."""

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor
from mindspore.ops import grad


class Product(nn.Cell):
    def construct(self, x, y, z):
        return x * y * z


def product(x, y, z):
    return x * y * z


x = Tensor(np.array([[1, 2], [-1, 4]]).astype(np.float32))
y = Tensor(np.array([[5, -3], [2, 1]]).astype(np.float32))
z = Tensor(np.array([[0, 2], [8, -1]]).astype(np.float32))
net = Product()
print(grad(net)(x, y, z))
print(grad(net, grad_position=0)(x, y, z))
print(grad(net, 2)(x, y, z))
print(grad(net, grad_position=(1, 2))(x, y, z))
print(grad(product, grad_position=(2, 0))(x, y, z))
print(grad(net, grad_position=(1,))(x, y, z))
