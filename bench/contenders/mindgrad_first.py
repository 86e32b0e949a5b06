"""The first calls of a training step under eager mode, in a fresh process each time.

Run as a program, ``mindgrad_first.py perceptron 30`` makes so many calls and prints the seconds of each and
the losses, as JSON.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    import mindgrad

    mindgrad.install()

import mindspore as ms
import mindspore_training
import numpy as np
import training_problems
from job import Job

PROCESSES = 5


def first_calls(name: str, calls: int) -> dict[str, list[float]]:
    """Make them: the seconds of each, and the losses."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    job = mindspore_training.train(name, "eager")
    losses, seconds = [], []
    for _ in range(calls):
        begin = time.perf_counter()
        loss = job.call()
        job.finish(loss)
        seconds.append(time.perf_counter() - begin)
        losses.append(float(loss.asnumpy()))
    return {"seconds": seconds, "losses": losses}


def first(name: str, variant: str, calls: int) -> Job:
    """The first calls together: the median of some processes, which inherit this one's variables."""
    losses: list[float] = []

    def once() -> float:
        command = [sys.executable, __file__, name, str(calls)]
        answer = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        losses[:] = answer["losses"][: training_problems.STEPS_COMPARED]
        return sum(answer["seconds"])

    def call() -> dict[str, float]:
        return {"calls": median(once() for _ in range(PROCESSES))}

    def facts() -> dict[str, float]:
        return {"peak": 1024.0 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}

    def result(phases: dict[str, float]) -> list[np.ndarray]:
        return [np.array(losses)]

    return Job(call, lambda phases: None, result, timed_by_itself=True, facts=facts)


TASKS = {f"first-{name}": partial(first, name) for name in mindspore_training.NETWORKS}

if __name__ == "__main__":
    print(json.dumps(first_calls(sys.argv[1], int(sys.argv[2]))))
