"""Workers of a data-parallel training are killed at random moments; its losses are those of one left alone.

    python bench/kill_workers.py --kills 24 --workers 2 --seed 0 --steps 1000

The training saves Parameters and the optimizer's state after each step, atomically, and goes on from them
when `mindgrad launch --restarts` starts it again. One in four workers is stopped (SIGSTOP), the others are
killed (SIGKILL), at a random moment after a step, some of them while they begin. The result is one line; the
exit status is 0 if every loss was that of the undisturbed training, to the last bit.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAM = """
import os, sys
import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.communication import get_rank, init

def tell(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

tell("process", os.getpid())
init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(0)
ms.set_context(mode=ms.GRAPH_MODE)
file, steps = sys.argv[1], int(sys.argv[2])
net = nn.SequentialCell(nn.Dense(8, 32), nn.Tanh(), nn.Dense(32, 1))
optimizer = nn.Adam(net.trainable_params(), 0.01)
reducer = nn.DistributedGradReducer(optimizer.parameters)
gradient = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimizer.parameters)

@ms.jit
def step(x, y):
    loss, gradients = gradient(x, y)
    optimizer(reducer(gradients))
    return loss

first = 0
if os.path.exists(file):
    saved = ms.load_checkpoint(file)
    first = int(saved.pop("step").asnumpy())
    ms.load_param_into_net(optimizer, saved)
tell("begins", first)
for number in range(first, steps):
    x = np.random.default_rng([number, get_rank()]).normal(size=(16, 8)).astype(np.float32)
    loss = step(ms.Tensor(x), ms.Tensor(np.sin(x.sum(1, keepdims=True))))
    tell("step", number, float(loss).hex())
    if get_rank() == 0:
        ms.save_checkpoint(optimizer, file, append_dict={"step": number + 1})
"""


def main() -> int:
    """Run both trainings; the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=24)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        calm = Training(Path(folder), "calm", options)
        calm.run(Dice(options.seed, 0))
        disturbed = Training(Path(folder), "disturbed", options)
        started = time.monotonic()
        dice = Dice(options.seed, options.kills)
        status = disturbed.run(dice)
        seconds = time.monotonic() - started
        left = [process for process in disturbed.processes if is_running(process)]
    # another process than 0 may be ended before it tells the loss of a step that 0 has saved already
    steps = {step for rank, step in disturbed.losses if rank == 0}
    wrong = sum(calm.losses[key] != {value} for key, values in disturbed.losses.items() for value in values)
    is_right = status == 0 and not wrong and steps == set(range(options.steps)) and not left
    print(
        f"{'right' if is_right else 'WRONG'}: {dice.kills} workers of {options.workers} killed or stopped "
        f"({dice.stops}), {disturbed.restarts} restarts, {len(steps)} of {options.steps} steps, "
        f"{disturbed.computed - len(disturbed.losses)} losses told again, {wrong} other than undisturbed, "
        f"{len(left)} processes left, exit status {status}, {seconds:.0f} s"
    )
    return 0 if is_right else 1


class Dice:
    """Random moments, ranks and signals, of a number of kills."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = random.Random(seed)
        self.remaining = number
        self.kills = self.stops = 0

    def throw(self) -> tuple[float, int] | None:
        """Seconds after the beginning of an attempt, and the signal; None if there are to be no more."""
        if not self.remaining:
            return None
        self.remaining -= 1
        is_stop = self.random.random() < 0.25
        return self.random.random() ** 2 * 1.5, signal.SIGSTOP if is_stop else signal.SIGKILL


class Training:
    """A training under the launcher: the losses by rank and step, and the processes that there were."""

    def __init__(self, folder: Path, name: str, options: argparse.Namespace) -> None:
        self.folder, self.name, self.options = folder, name, options
        self.losses: dict[tuple[int, int], set[str]] = {}
        self.processes: list[int] = []
        self.restarts = self.computed = 0

    def run(self, dice: Dice) -> int:
        """Run it; the exit status of the launcher."""
        program = self.folder / "training.py"
        program.write_text(PROGRAM)
        command = [sys.executable, "-m", "mindgrad", "launch", "--workers", str(self.options.workers)]
        command += [
            "--restarts",
            "1000",
            str(program),
            str(self.folder / f"{self.name}.ckpt"),
            str(self.options.steps),
        ]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "MINDGRAD_CACHE_DIR": str(self.folder / "cache"),
        }
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as launcher:
            try:
                self._follow(self._lines(launcher), dice)
                return launcher.wait(60)
            finally:
                launcher.kill()

    def _lines(self, launcher: subprocess.Popen[str]) -> Iterator[str]:
        for line in launcher.stdout or ():
            if "mindgrad launch:" in line:
                print(line, end="", flush=True)
            yield line

    def _follow(self, lines: Iterator[str], dice: Dice) -> None:
        pids: dict[int, int] = {}
        for line in lines:
            match = re.match(r"\[rank (\d+)(?:, restart (\d+))?\] (process|begins|step) (.*)", line)
            if match is None:
                continue
            rank, attempt, words = int(match[1]), int(match[2] or 0), match[4].split()
            if match[3] == "process":
                pids[rank] = int(words[0])
                self.processes.append(pids[rank])
                self.restarts = attempt
                if len(pids) == self.options.workers:
                    self._strike(dict(pids), dice)
                    pids.clear()
            elif match[3] == "step":
                self.losses.setdefault((rank, int(words[0])), set()).add(words[1])
                self.computed += 1

    def _strike(self, pids: dict[int, int], dice: Dice) -> None:
        """Kill one of the workers of an attempt a moment after it has begun to train, or while it begins."""
        throw = dice.throw()
        if throw is None:
            return
        delay, number = throw
        victim = dice.random.choice(sorted(pids.values()))
        early = dice.random.random() < 0.2

        def strike() -> None:
            latest = time.monotonic() + 120.0
            count = self.computed
            while not early and self.computed == count and time.monotonic() < latest:
                time.sleep(0.01)
            time.sleep(delay)
            try:
                os.kill(victim, number)
            except ProcessLookupError:
                return
            dice.kills += 1
            dice.stops += number == signal.SIGSTOP

        threading.Thread(target=strike, daemon=True).start()


def is_running(process: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
