"""When a training step runs compiled: eager mode compared with ``ms.jit``, from the first step of a process.

python bench/time_to_compiled.py                 LeNet and ResNet-20, three processes each, in turns
python bench/time_to_compiled.py lenet --rounds 5

The time of eager mode ends with the first step in which all of its calls ran as compiled programs, the time
of ``jit`` with its first step. The folder of the compile cache is empty. The exit status is 1 if eager mode
takes more than 1.5 times as long as ``jit``, by the median of the ratios.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

#: the most that eager mode may take, as a multiple of the time of ``jit``
MOST = 1.5
#: seconds after which eager mode is not compiled at all
MOST_SECONDS = 300.0
CONTENDERS = Path(__file__).parent / "contenders"


def seconds_until_compiled(name: str, compiled: bool) -> float:
    """Seconds from the start of the first step, in this process."""
    sys.path[:0] = [str(CONTENDERS)]
    import mindgrad

    mindgrad.install()
    import mindspore_training
    import numpy as np

    step, arguments, _, optimizer = mindspore_training.program(name, compiled)
    start = time.perf_counter()
    while True:
        lines = mindgrad.cache_info().eager
        is_compiled = len(lines) > 1 and all(": compiled:" in line for line in lines)
        np.asarray(step(*arguments))
        np.asarray(optimizer.parameters[-1])
        seconds = time.perf_counter() - start
        if compiled or is_compiled:
            return seconds
        if seconds > MOST_SECONDS:
            raise SystemExit(f"{name} is not compiled after {seconds:.0f} s: {lines}")


def measured(name: str, mode: str) -> float:
    """:func:`seconds_until_compiled` of a new process with an empty compile cache."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, name, "--mode", mode]
        environment = {**os.environ, "MINDGRAD_CACHE_DIR": folder}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "task", nargs="*", default=["lenet", "resnet"], help="tasks eager-TASK of scripts/bench"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mode", choices=["eager", "jit"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.mode:
        print(seconds_until_compiled(options.task[0], options.mode == "jit"))
        return 0
    is_missed = False
    for name in options.task:
        pairs = [(measured(name, "eager"), measured(name, "jit")) for _ in range(options.rounds)]
        ratio = median(eager / jit for eager, jit in pairs)
        is_missed |= ratio > MOST
        listed = ", ".join(f"{eager:.2f} / {jit:.2f}" for eager, jit in pairs)
        print(f"{name}: {ratio:.2f} (eager / jit in s: {listed}); at most {MOST}", flush=True)
    return int(is_missed)


if __name__ == "__main__":
    raise SystemExit(main())
