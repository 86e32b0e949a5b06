"""Programs divided among the devices of several processes, each of which has its own rows of a batch.

Prints losses, gradients and a batch that programs have passed on; with one process it has all rows, and these
are the numbers that several must give.
"""

import json

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()


def normal(*shape, seed):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def own(x):
    rows = len(x) // SIZE
    return Tensor(x[RANK * rows : (RANK + 1) * rows])


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = ms.Parameter(Tensor(normal(8, 16, seed=1) / 4), name="first")
        self.second = ms.Parameter(Tensor(normal(16, 4, seed=2) / 4), name="second")
        self.matmul = ops.MatMul().shard(((1, 1), (1, 2)))

    def construct(self, x):
        return ops.tanh(self.matmul(x, self.first)) @ self.second


def run(**options):
    ms.set_auto_parallel_context(**options)
    net = Net()
    weights = net.trainable_params()
    optimiser = nn.Momentum(weights, 0.1, 0.9)
    gradient = ms.value_and_grad(lambda x, y, scale: (scale * (net(x) - y) ** 2).mean(), 0, weights)

    @ms.jit
    def step(x, y, scale):
        loss, (slope, slopes) = gradient(x, y, scale)
        optimiser(slopes)
        return loss, slope, slopes[0]

    for k in range(3):
        x, y = own(normal(12, 8, seed=10 + k)), own(normal(12, 4, seed=20 + k))
        loss, slope, weight = step(x, y, Tensor(2.0))
        print(json.dumps([float(loss), slope.asnumpy().tolist(), weight.asnumpy().tolist()]), flush=True)
    joint = ms.jit(lambda x: x * 2)(own(normal(12, 8, seed=1)))
    assert joint.shape == (12, 8)
    again = ms.jit(lambda x: (x - 1, x.sum()))(joint)  # the joint rows are not joined again
    print(json.dumps([again[0].asnumpy().tolist(), float(again[1])]), flush=True)
    ms.reset_auto_parallel_context()


def refused():
    ms.set_auto_parallel_context(parallel_mode="auto_parallel")
    texts = []
    for rows in (5, 6 + 2 * RANK):
        try:
            ms.jit(lambda x: x + 1)(Tensor(normal(rows, 2, seed=0)))
        except (RuntimeError, ValueError) as error:
            texts.append(str(error))
    assert "do not divide its 5 rows" in texts[0].replace("which ", ""), texts
    assert "the programs of ranks 0 and 1 differ" in texts[1], texts
    assert "Float32[12, 2]" in texts[1].replace("Float32[12,2]", "Float32[12, 2]"), texts
    ms.reset_auto_parallel_context()


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    run(parallel_mode="semi_auto_parallel")
    run(parallel_mode="semi_auto_parallel", dataset_strategy="data_parallel", enable_parallel_optimizer=True)
    run(parallel_mode="auto_parallel", full_batch=False)
    if SIZE > 1:
        refused()
