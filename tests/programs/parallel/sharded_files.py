"""Sharded checkpoints of several processes: written by all at once, read by another number of them, atomic.

    sharded_files.py write FOLDER       trains and saves; at the end rank 1 is killed while it writes again
    sharded_files.py read FOLDER OWN    loads what was saved, and trains on; of several processes each then saves
                                        its slices to a file of its own below the folder OWN, as MindSpore's do

The losses of two steps after the save are printed.
"""

import json
import os
import signal
import sys

import jax
import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

from mindgrad.train import sharded_checkpoint

init()
DEVICES = len(jax.devices())


def tell(value):
    """A line of JSON at once, and on a line of its own: gloo writes to the same pipe, in pieces."""
    os.write(1, f"\n{json.dumps(value)}\n".encode())


def normal(*shape, seed):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


class Perceptron(nn.Cell):
    """Columns of the first matrix and rows of the second on each device."""

    def __init__(self):
        super().__init__()
        self.first = Parameter(Tensor(normal(16, 64, seed=1) / 4), name="first")
        self.second = Parameter(Tensor(normal(64, 16, seed=2) / 8), name="second")
        self.columns = ops.MatMul().shard(((1, 1), (1, DEVICES)))
        self.rows = ops.MatMul().shard(((1, DEVICES), (DEVICES, 1)))

    def construct(self, x):
        return self.rows(ops.tanh(self.columns(x, self.first)), self.second)


def training():
    """A step of training and the optimizer, whose Parameters are all that it writes."""
    net = Perceptron()
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    gradient = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

    @ms.jit
    def step(x):
        loss, gradients = gradient(x)
        optimizer(gradients)
        return loss

    return step, optimizer


def losses(step, first, count):
    return [float(step(Tensor(normal(4, 16, seed=10 + k)))) for k in range(first, first + count)]


def fails_on_rank_1(folder, optimizer):
    """An error of one process is an error of all, and the old set stays."""
    before = sorted(os.listdir(folder))
    write = sharded_checkpoint.safetensors.write

    def full(*_):
        raise OSError(28, "No space left on device")

    sharded_checkpoint.safetensors.write = full if get_rank() == 1 else write
    failure = None
    try:
        ms.save_checkpoint(optimizer, folder, integrated_save=False)
    except (OSError, RuntimeError) as error:
        failure = error
    finally:
        sharded_checkpoint.safetensors.write = write
    assert type(failure) is (OSError if get_rank() == 1 else RuntimeError), failure
    assert get_rank() == 1 or "rank 1 could not write its part" in str(failure), failure
    assert "No space left" in str(failure), failure
    assert set(before) <= set(os.listdir(folder))


def write(folder):
    step, optimizer = training()
    losses(step, 0, 3)
    ms.save_checkpoint(optimizer, folder, integrated_save=False, append_dict={"step": 3})
    assert len([name for name in os.listdir(folder) if name.endswith("safetensors")]) == DEVICES
    tell(losses(step, 3, 2))
    fails_on_rank_1(folder, optimizer)
    read(folder)
    if get_rank() == 1:
        sharded_checkpoint.replaced = lambda path: os.kill(os.getpid(), signal.SIGKILL)
    ms.save_checkpoint(optimizer, folder, integrated_save=False)


def read(folder, own=None):
    if own:
        ms.set_auto_parallel_context(strategy_ckpt_save_file=f"{own}/strategy.json")
    step, optimizer = training()
    losses(step, 0, 1)  # lays the Parameters out: each process reads its slices
    ms.load_distributed_checkpoint(optimizer, folder, strict_load=True)
    tell(losses(step, 3, 2))
    if own and get_group_size() > 1:
        os.makedirs(f"{own}/rank_{get_rank()}")
        ms.save_checkpoint(optimizer, f"{own}/rank_{get_rank()}/net.ckpt", integrated_save=False)
        ms.save_checkpoint(optimizer, f"{own}/set", integrated_save=False)


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", full_batch=True)
    {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
