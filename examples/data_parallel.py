"""Data-parallel training that resumes from a checkpoint after a crash.

    python examples/data_parallel.py                                               one process
    python -m mindgrad launch --workers 2 --restarts 3 examples/data_parallel.py --crash-at 25

Each process computes the gradient of its part of the batch, and all of them use the mean gradient. With
--folder, the state is saved every few steps: Parameters, moments, and the number of steps. All processes call
save_checkpoint, and one of them writes the file. With --crash-at, the last process of the first attempt kills
itself before that step. The launcher then restarts all processes, and each loads the latest complete
checkpoint. The following losses are bitwise equal to the losses without a crash. Check: the final loss is
small.
"""

import argparse
import os
import signal
from pathlib import Path

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, communication, nn, ops
from mindgrad.train import latest_checkpoint

ROWS, INPUTS = 64, 4


def rows_of(step, rank, size):
    """The samples of this process in the batch of a step."""
    x = np.random.default_rng([0, step]).uniform(-1, 1, (ROWS, INPUTS)).astype(np.float32)
    y = np.sin(x.sum(1, keepdims=True))
    mine = slice(rank * ROWS // size, (rank + 1) * ROWS // size)
    return Tensor(x[mine]), Tensor(y[mine])


def training():
    """The optimizer, and a training step that returns the mean loss of all processes."""
    ms.set_seed(0)
    net = nn.SequentialCell(nn.Dense(INPUTS, 32), nn.Tanh(), nn.Dense(32, 1))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)
    reduced = nn.DistributedGradReducer(optimizer.parameters)
    gradient = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimizer.parameters)
    mean = ops.AllReduce("avg")

    @ms.jit
    def step(x, y):
        loss, slopes = gradient(x, y)
        optimizer(reduced(slopes))
        return mean(loss)

    return optimizer, step


def resumed(optimizer, folder):
    """Load the latest checkpoint; return the number of the next step."""
    file = latest_checkpoint(folder)
    if file is None:
        return 0
    saved = ms.load_checkpoint(file)
    first = int(saved.pop("steps"))
    ms.load_param_into_net(optimizer, saved)
    return first


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--every", type=int, default=10, help="number of steps between checkpoints")
    parser.add_argument("--folder", type=Path, help="folder of the checkpoints (default: save none)")
    parser.add_argument("--crash-at", type=int, help="kill the last process once before this step")
    options = parser.parse_args()

    communication.init()
    rank, size = communication.get_rank(), communication.get_group_size()
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    attempt = int(os.environ.get("MINDGRAD_RESTART", "0"))
    optimizer, step = training()
    first, loss = 0, None
    if options.folder:
        options.folder.mkdir(exist_ok=True)
        first = resumed(optimizer, options.folder)
    for number in range(first, options.steps):
        if number == options.crash_at and attempt == 0 and rank == size - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        loss = float(step(*rows_of(number, rank, size)))
        if rank == 0:
            print(f"step {number}: {loss:.6f} {loss.hex()}", flush=True)
        if options.folder and (number + 1) % options.every == 0:
            # called on all ranks: one writes, the others wait until the file is complete
            file = options.folder / f"state-{number + 1}.ckpt"
            ms.save_checkpoint(optimizer, file, append_dict={"steps": number + 1})
    print(f"process {rank} of {size}: steps {first} to {options.steps}, loss {loss}", flush=True)
    assert options.steps < 60 or loss is None or loss < 0.05
    ms.reset_auto_parallel_context()


if __name__ == "__main__":
    main()
