"""Several processes on loopback: collectives, their derivatives, data-parallel training, differing programs."""

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.programs.conftest import launch
from tests.tolerances import assert_close

FOLDER = Path(__file__).parent / "parallel"
LOSSES = json.loads((FOLDER.parent / "training" / "losses.json").read_text())


def job(script, workers, *arguments):
    """What each rank of a job prints, line by line."""
    ran = launch("launch", "--workers", workers, FOLDER / script, *arguments)
    lines = {rank: [] for rank in range(workers)}
    for line in ran.stdout.splitlines():
        prefix, _, text = line.partition("] ")
        lines[int(prefix.removeprefix("[rank "))].append(text)
    return ran, lines


def test_training_in_parallel_is_that_of_one_process():
    ran, lines = job("training.py", 2)
    assert ran.returncode == 0, ran.stderr[-4000:]
    results = [list(map(json.loads, printed)) for printed in lines.values()]
    assert results[0] == results[1]
    names = ["heat", "lenet", "lstm", "overflow", "model"]
    assert [(mode, name) for mode, name, _ in results[0]] == list(product(["eager", "compiled"], names))
    for mode, name, losses in results[0]:
        if name in LOSSES:  # as with one process: Float32 in another order of sums
            assert_close(losses, LOSSES[name], "program", each=True, dtype=np.float32, what=f"{name}, {mode}")


@pytest.mark.timeout(150)
@pytest.mark.parametrize(
    ("workers", "names"),
    [
        (2, ["refused", "explained", "layers", "gpt", "resnet", "kept_parameters"]),
        (4, ["collectives", "burgers", "argon"]),
    ],
)
def test_collectives_and_steps_of_the_benchmark(workers, names):
    """Each step runs with one number of workers: the collectives are compared with closed forms on four."""
    ran, lines = job("equality.py", workers, *names)
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert lines == dict.fromkeys(range(workers), names)
    for rank in range(workers):  # the launcher's prefix, and none of the log's own
        text = rf"^\[rank {rank}\] \[WARNING\] \d.* of rank {rank}$"
        assert bool(re.search(text, ran.stderr, re.MULTILINE)) == ("collectives" in names)


@pytest.mark.parametrize(
    ("what", "texts"),
    [
        ("program", ["the programs of ranks 0 and 1 differ: collective 2 is all_max(Float32[4]) at differing.py:",
                     "but nothing more on rank 1"]),
        ("call", [": call 3 over ranks 0 and 1 was all_", "all_gather(Float32[4], axis=0) at differing.py:25"]),
    ],
)  # fmt: skip
def test_ranks_that_differ_are_an_error(what, texts):
    ran, _ = job("differing.py", 2, what)
    assert ran.returncode == 1
    assert [text for text in texts if text not in ran.stderr] == [], ran.stderr[-4000:]
