"""Several processes on loopback: collectives, their derivatives, data-parallel training, differing programs."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.programs.conftest import launch

CHECKS = ["collectives", "messages", "derivatives", "groups", "random_numbers", "progress", "uneven"]
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


def test_collectives_of_four_processes():
    ran, lines = job("collectives.py", 4)
    assert ran.returncode == 0, ran.stderr[-4000:]
    for printed in lines.values():
        assert printed == CHECKS
    for rank in range(4):  # the launcher's prefix, and none of the log's own
        assert re.search(rf"^\[rank {rank}\] \[WARNING\] \d.* of rank {rank}$", ran.stderr, re.MULTILINE)


@pytest.mark.parametrize("mode", ["eager", "compiled"])
def test_training_in_parallel_is_that_of_one_process(mode):
    ran, lines = job("training.py", 2, mode)
    assert ran.returncode == 0, ran.stderr[-4000:]
    results = [dict(map(json.loads, printed)) for printed in lines.values()]
    assert results[0] == results[1]
    assert set(results[0]) == {"heat", "lenet", "lstm", "overflow", "model"}
    for name in ("heat", "lenet", "lstm"):
        # as with one process: Float32 in another order of sums
        np.testing.assert_allclose(results[0][name], LOSSES[name], rtol=2e-5)


@pytest.mark.timeout(150)
@pytest.mark.parametrize(
    ("workers", "names"),
    [
        (2, ["refused", "explained", "burgers", "argon", "layers", "gpt", "resnet"]),
        (4, ["burgers", "argon"]),
    ],
)
def test_steps_of_the_benchmark_are_those_of_one_process(workers, names):
    ran, lines = job("equality.py", workers, *names)
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert lines == dict.fromkeys(range(workers), names)


def test_parameters_stay_on_the_mesh_from_step_to_step():
    ran, lines = job("kept_parameters.py", 2)
    assert ran.returncode == 0, ran.stderr[-4000:]
    for printed in lines.values():
        assert printed == ["in_place", "holders", "programs_without_collectives", "checkpoints"]


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
