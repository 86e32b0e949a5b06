"""Programs divided among the devices of several processes, each of which has its own rows of a batch.

Prints losses, gradients and a batch that programs have passed on; with one process it has all rows, and these
are the numbers that several must give. With a folder as argument several also train by Model.train and save by
ModelCheckpoint there.
"""

import json
import os
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore import dataset as ds
from mindspore.communication import get_group_size, get_rank, init
from mindspore.train import CheckpointConfig, Model, ModelCheckpoint

init()
RANK, SIZE = get_rank(), get_group_size()


def tell(value):
    """A line of JSON at once, and on a line of its own: gloo writes to the same pipe, in pieces."""
    os.write(1, f"\n{json.dumps(value)}\n".encode())


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
    optimizer = nn.Momentum(weights, 0.1, 0.9)
    gradient = ms.value_and_grad(lambda x, y, scale: (scale * (net(x) - y) ** 2).mean(), 0, weights)

    @ms.jit
    def step(x, y, scale):
        loss, (slope, slopes) = gradient(x, y, scale)
        optimizer(slopes)
        return loss, slope, slopes[0]

    for k in range(2):
        x, y = own(normal(12, 8, seed=10 + k)), own(normal(12, 4, seed=20 + k))
        loss, slope, weight = step(x, y, Tensor(2.0))
        tell([float(loss), slope.asnumpy().tolist(), weight.asnumpy().tolist()])
    joint = ms.jit(lambda x: x * 2)(own(normal(12, 8, seed=1)))
    assert joint.shape == (12, 8)
    again = ms.jit(lambda x: (x - 1, x.sum()))(joint)  # the joint rows are not joined again
    tell([again[0].asnumpy().tolist(), float(again[1])])
    ms.reset_auto_parallel_context()


def refused():
    ms.set_auto_parallel_context(parallel_mode="auto_parallel")
    texts = []
    for rows in (5, 6 + 2 * RANK):
        try:
            ms.jit(lambda x: x + 1)(Tensor(normal(rows, 2, seed=0)))
        except (RuntimeError, ValueError) as error:
            texts.append(str(error))
    assert "do not divide its 5 samples" in texts[0].replace("which ", ""), texts
    assert "the programs of ranks 0 and 1 differ" in texts[1], texts
    assert "Float32[12, 2]" in texts[1].replace("Float32[12,2]", "Float32[12, 2]"), texts
    ms.reset_auto_parallel_context()


def callbacks(folder):
    """Each process has the callbacks: of one directory, of its own, and of sharded checkpoints."""
    x = normal(16, 4, seed=0)
    rows = ds.NumpySlicesDataset((x, x[:, :1]), ["x", "y"], shuffle=False, num_shards=SIZE, shard_id=RANK)
    for mode, is_whole in (("data_parallel", True), ("semi_auto_parallel", False)):
        ms.set_auto_parallel_context(
            parallel_mode=mode, gradients_mean=True, dataset_strategy="data_parallel"
        )
        net = nn.Dense(4, 1)
        if mode == "semi_auto_parallel":
            net.matmul.shard(((1, 4), (1, 4)))
        model = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))
        config = CheckpointConfig(1, keep_checkpoint_max=2, integrated_save=is_whole)
        savers = [ModelCheckpoint("net", f"{folder}/{mode}", config)]
        if is_whole:
            savers.append(ModelCheckpoint("net", f"{folder}/rank_{RANK}", config))
        for _ in range(2):
            model.train(1, rows.batch(2), callbacks=savers, dataset_sink_mode=False)
        assert os.path.exists(savers[0].latest_ckpt_file_name)
        ms.reset_auto_parallel_context()


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    run(parallel_mode="semi_auto_parallel")
    run(parallel_mode="semi_auto_parallel", dataset_strategy="data_parallel", enable_parallel_optimizer=True)
    if SIZE > 1:
        refused()
        callbacks(sys.argv[1])
