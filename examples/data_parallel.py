"""Data-parallel training that goes on after a crash as if nothing had happened.

    python examples/data_parallel.py                                               one process
    python -m mindgrad launch --workers 2 --restarts 3 examples/data_parallel.py --crash-at 25

Each process computes the gradient of its rows of a batch, and all of them the same mean. After some steps
the state is saved: Parameters, moments and the number of steps; all processes call save_checkpoint, and one
of them writes. With --crash-at the last process kills itself before that step, in the first attempt; the
launcher starts all of them again, each loads the latest complete checkpoint, and the losses that follow are
those of a training that was left alone, to the last bit. Check: the loss has become small.
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
    """This process's rows of the batch of a step, which depends on nothing else."""
    x = np.random.default_rng([0, step]).uniform(-1, 1, (ROWS, INPUTS)).astype(np.float32)
    y = np.sin(x.sum(1, keepdims=True))
    mine = slice(rank * ROWS // size, (rank + 1) * ROWS // size)
    return Tensor(x[mine]), Tensor(y[mine])


def training():
    """The optimiser, and a step that gives the mean loss of all processes."""
    ms.set_seed(0)
    net = nn.SequentialCell(nn.Dense(INPUTS, 32), nn.Tanh(), nn.Dense(32, 1))
    optimiser = nn.Adam(net.trainable_params(), learning_rate=0.02)
    reduced = nn.DistributedGradReducer(optimiser.parameters)
    gradient = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimiser.parameters)
    mean = ops.AllReduce("avg")

    @ms.jit
    def step(x, y):
        loss, slopes = gradient(x, y)
        optimiser(reduced(slopes))
        return mean(loss)

    return optimiser, step


def resumed(optimiser, folder):
    """The first step that is left to do, with the state before it."""
    file = latest_checkpoint(folder)
    if file is None:
        return 0
    saved = ms.load_checkpoint(file)
    first = int(saved.pop("steps"))
    ms.load_param_into_net(optimiser, saved)
    return first


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--every", type=int, default=10, help="steps from one checkpoint to the next")
    parser.add_argument("--folder", type=Path, help="where checkpoints are; none are saved without")
    parser.add_argument("--crash-at", type=int, help="the step before which the last process dies once")
    options = parser.parse_args()

    communication.init()
    rank, size = communication.get_rank(), communication.get_group_size()
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    attempt = int(os.environ.get("MINDGRAD_RESTART", "0"))
    optimiser, step = training()
    first, loss = 0, None
    if options.folder:
        options.folder.mkdir(exist_ok=True)
        first = resumed(optimiser, options.folder)
    for number in range(first, options.steps):
        if number == options.crash_at and attempt == 0 and rank == size - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        loss = float(step(*rows_of(number, rank, size)))
        if rank == 0:
            print(f"step {number}: {loss:.6f} {loss.hex()}", flush=True)
        if options.folder and (number + 1) % options.every == 0:
            # the same on all ranks: one writes, the others wait until it is complete
            file = options.folder / f"state-{number + 1}.ckpt"
            ms.save_checkpoint(optimiser, file, append_dict={"steps": number + 1})
    print(f"process {rank} of {size}: steps {first} to {options.steps}, loss {loss}", flush=True)
    assert options.steps < 60 or loss is None or loss < 0.05
    ms.reset_auto_parallel_context()


if __name__ == "__main__":
    main()
