"""Burgers' equation by a physics-informed net, in plain MindSpore.

    python -m mindgrad examples/mindspore/burgers.py [steps]

A MindSpore user writes the program of examples/burgers.py like this. It imports mindspore, and also runs on
MindSpore 2.x: ``python examples/mindspore/burgers.py``.
"""

import sys
import time
from itertools import pairwise

import mindspore as ms
import numpy as np
from mindspore import Tensor, context, nn, ops
from mindspore.common.initializer import XavierUniform

NU = 0.01 / np.pi
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 30000


class Net(nn.Cell):
    def __init__(self, width=32, layers=4):
        super().__init__()
        sizes = [2] + [width] * layers
        cells = []
        for before, after in pairwise(sizes):
            cells += [nn.Dense(before, after, weight_init=XavierUniform(), bias_init="zeros"), nn.Tanh()]
        cells.append(nn.Dense(width, 1, weight_init=XavierUniform(), bias_init="zeros"))
        self.layers = nn.SequentialCell(cells)
        self.concat = ops.Concat(axis=1)
        self.sin = ops.Sin()

    def construct(self, t, x):
        return -self.sin(np.pi * x) + t * (1 - x * x) * self.layers(self.concat((2 * t - 1, x)))


class FirstGrad(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.grad = ops.GradOperation(get_all=True)

    def construct(self, t, x):
        return self.grad(self.net)(t, x)


class SlopeInX(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.first = FirstGrad(net)

    def construct(self, t, x):
        return self.first(t, x)[1]


class SecondGrad(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.slope = SlopeInX(net)
        self.grad = ops.GradOperation(get_all=True)

    def construct(self, t, x):
        return self.grad(self.slope)(t, x)[1]


class Residual(nn.Cell):
    """The loss: the mean squared residual of the equation."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.first = FirstGrad(net)
        self.second = SecondGrad(net)
        self.square = ops.Square()
        self.mean = ops.ReduceMean()

    def construct(self, t, x):
        u = self.net(t, x)
        u_t, u_x = self.first(t, x)
        residual = u_t + u * u_x - NU * self.second(t, x)
        return self.mean(self.square(residual))


def points(random, count):
    t = random.uniform(0, 1, (count, 1))
    x = random.uniform(-1, 1, (count, 1))
    near = count // 10
    x[:near] = np.clip(random.normal(0, 0.08, (near, 1)), -1, 1)
    return Tensor(t, ms.float32), Tensor(x, ms.float32)


def exact(t, x):
    y, weight = np.polynomial.hermite.hermgauss(100)
    at = x[..., None] - np.sqrt(4 * NU * t[..., None]) * y
    f = -np.cos(np.pi * at) / (2 * np.pi * NU)
    f = np.exp(f - f.max(-1, keepdims=True))
    return -(weight * np.sin(np.pi * at) * f).sum(-1) / (weight * f).sum(-1)


def main():
    context.set_context(mode=context.GRAPH_MODE)
    ms.set_seed(0)
    random = np.random.default_rng(0)
    net = Net()
    rates = nn.cosine_decay_lr(1e-6, 6e-3, STEPS, 1, STEPS)
    train = nn.TrainOneStepCell(Residual(net), nn.Adam(net.trainable_params(), learning_rate=rates))
    train.set_train()
    start = time.time()
    for step in range(STEPS):
        if step % 10 == 0:
            t, x = points(random, 1000)
        loss = train(t, x)
        if step % 1000 == 0 or step == STEPS - 1:
            print(
                f"step {step:6d}  loss {float(loss.asnumpy()):.2e}  {time.time() - start:.0f} s", flush=True
            )
    t, x = np.meshgrid(np.linspace(0, 1, 101), np.linspace(-1, 1, 257), indexing="ij")
    columns = [Tensor(each.reshape(-1, 1), ms.float32) for each in (t, x)]
    found = net(*columns).asnumpy().reshape(t.shape)
    truth = exact(t, x)
    print(f"relative L2 error {np.linalg.norm(found - truth) / np.linalg.norm(truth):.2e}")


if __name__ == "__main__":
    main()
