"""Data-parallel training gives the losses of one process, eagerly and compiled.

The programs are those of ``../training``, whose losses are MindSpore's own with one process: here each rank
has its part of every batch. Prints a line of JSON for each check, with its mode, and the losses of all ranks
on average.
"""

import importlib.util
import json
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore import dataset as ds
from mindspore.communication import get_group_size, get_rank, init
from mindspore.train import Model

MODES = {"eager": ms.PYNATIVE_MODE, "compiled": ms.GRAPH_MODE}

init()
RANK, SIZE = get_rank(), get_group_size()
average = ops.AllReduce("avg")


def part(x):
    """This rank's rows."""
    rows = x.shape[0] // SIZE
    return Tensor(x.asnumpy()[RANK * rows : (RANK + 1) * rows])


def programs():
    """The programs of one process, each of whose steps gets this rank's part of its batch."""
    path = Path(__file__).parents[1] / "training" / "programs.py"
    spec = importlib.util.spec_from_file_location("training_programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def trained(step, *batches):
        parts = [[part(x) for x in batch] for batch in batches]
        losses = [step(*parts[i % len(parts)]) for i in range(module.STEPS)]
        return [float(average(loss)) for loss in losses]

    module.trained = trained
    return module


def reduced_gradients(forward, position, weights):
    """``ms.value_and_grad`` followed by the reducer, as MindSpore's users write it."""
    gradient, reducer = ms.value_and_grad(forward, position, weights), nn.DistributedGradReducer(weights)

    def both(*inputs):
        loss, gradients = gradient(*inputs)
        return loss, reducer(gradients)

    return both


class Namespace:
    """``ms`` or ``nn`` of a program, with names replaced."""

    def __init__(self, module, **names):
        self._module = module
        self.__dict__.update(names)

    def __getattr__(self, name):
        return getattr(self._module, name)


def training_programs():
    module = programs()
    yield "heat", module.heat()
    module.nn = Namespace(nn, BatchNorm2d=nn.SyncBatchNorm)
    yield "lenet", module.lenet()
    module.ms = Namespace(ms, value_and_grad=reduced_gradients)
    yield "lstm", module.lstm()


def overflow_on_one_rank():
    """A step whose gradients overflow on one rank is left out on all of them."""
    net = nn.Dense(3, 1)
    manager = nn.DynamicLossScaleUpdateCell(1024.0, 2, 100)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, manager)
    weight = net.weight.asnumpy().copy()
    x, y = np.ones((2, 3), np.float32), Tensor(np.zeros((2, 1), np.float32))
    _, overflow, _ = step(Tensor(x * (np.inf if RANK == SIZE - 1 else 1)), y)
    assert bool(overflow), RANK
    np.testing.assert_array_equal(net.weight.asnumpy(), weight)
    _, overflow, scale = step(Tensor(x * (RANK + 1)), y)
    assert not bool(overflow)
    assert float(scale) == 512.0
    assert (net.weight.asnumpy() != weight).all()
    return same_on_all_ranks(net)


def same_on_all_ranks(net):
    """The square sum of the Parameters, which are equal to the last bit on all ranks."""
    for parameter in net.get_parameters():
        both = ops.AllGather()(ops.reshape(parameter.value(), (1, -1))).asnumpy()
        np.testing.assert_array_equal(both, np.broadcast_to(both[0], both.shape), err_msg=parameter.name)
    return float(sum(np.sum(np.square(p.asnumpy(), dtype=np.float64)) for p in net.get_parameters()))


def dataset(**shards):
    drawn = np.random.default_rng(0)
    x = drawn.normal(size=(32, 4)).astype(np.float32)
    rows = [(row, np.float32([np.sin(row.sum())])) for row in x]
    return ds.GeneratorDataset(rows, ["x", "y"], shuffle=False, **shards)


def model_train():
    """``Model.train`` on shards of a dataset; the ranks start from different weights, and go on from rank 0's."""
    ms.set_seed(RANK)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 1))
    if RANK == 0:
        for k, p in enumerate(net.get_parameters()):
            p.set_data(Tensor(np.random.default_rng(k).normal(size=p.shape).astype(np.float32)))
    model = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9))
    model.train(3, dataset(num_shards=SIZE, shard_id=RANK).batch(8 // SIZE), dataset_sink_mode=False)
    return same_on_all_ranks(net)


def whole_train():
    """The same without shards, in one process."""
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 1))
    for k, p in enumerate(net.get_parameters()):
        p.set_data(Tensor(np.random.default_rng(k).normal(size=p.shape).astype(np.float32)))
    model = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9))
    model.train(3, dataset().batch(8), dataset_sink_mode=False)
    return float(sum(np.sum(np.square(p.asnumpy(), dtype=np.float64)) for p in net.get_parameters()))


def main(mode):
    ms.set_context(mode=MODES[mode])
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    for name, losses in training_programs():
        print(json.dumps([mode, name, losses]), flush=True)
    print(json.dumps([mode, "overflow", overflow_on_one_rank()]), flush=True)
    sharded = model_train()
    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    np.testing.assert_allclose(sharded, whole_train(), rtol=1e-5)
    print(json.dumps([mode, "model", sharded]), flush=True)


if __name__ == "__main__":
    for mode in MODES:
        main(mode)
