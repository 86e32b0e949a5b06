"""Files of several processes on loopback: sharded checkpoints, replicated ones, restarts."""

import json
import re
from pathlib import Path

import numpy as np

import mindgrad as ms
from tests.programs.conftest import launch

FOLDER = Path(__file__).parent / "parallel"
EXAMPLE = FOLDER.parents[2] / "examples" / "data_parallel.py"
DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}


def losses_of(ran, workers):
    """The losses that the processes of a job print, which are the same."""
    printed = [json.loads(line.rpartition("] [")[2].join("[]")[:-1]) for line in ran.stdout.splitlines()]
    assert printed[1:] == printed[:-1]
    assert len(printed) >= workers
    return printed[0]


def test_a_set_is_written_by_two_processes_and_read_by_one_two_and_four(tmp_path):
    folder, own = tmp_path / "net", tmp_path / "own"
    ran = launch("launch", "--workers", 2, FOLDER / "sharded_files.py", "write", folder, env=DEVICES)
    # rank 1 was killed in the middle of a second set
    assert ran.returncode == 137, ran.stderr[-4000:]
    losses = losses_of(ran, 4)
    index = json.loads((folder / "index.json").read_text())
    files = [piece[0].rpartition("-")[2] for piece in index["entries"]["first"]["slices"]]
    assert files == [f"0000{k}.safetensors" for k in range(4)]
    assert len(list(folder.glob("*.safetensors"))) > 4, "what was left behind goes with the next set"
    read = launch("launch", "--workers", 4, FOLDER / "sharded_files.py", "read", folder, own)
    assert read.returncode == 0, read.stderr[-4000:]
    np.testing.assert_allclose(losses_of(read, 4), losses, rtol=1e-5)
    assert ms.load_checkpoint(own / "rank_2" / "net.ckpt")["moment1.first"].shape == (16, 16)
    ms.transform_checkpoints(own, tmp_path / "one", "net", own / "strategy.json")
    joined = ms.load_checkpoint(tmp_path / "one" / "rank_0" / "net0.ckpt")
    for name, value in ms.load_checkpoint(own / "set").items():
        np.testing.assert_array_equal(joined[name].asnumpy(), value.asnumpy(), err_msg=name)
    content = ms.load_checkpoint(folder)
    assert int(content["step"]) == 3
    alone = launch(FOLDER / "sharded_files.py", "read", folder)
    np.testing.assert_allclose(json.loads(alone.stdout), losses, rtol=1e-5)


def test_the_rows_of_two_processes_are_one_batch():
    ran = launch("launch", "--workers", 2, FOLDER / "own_rows.py", env=DEVICES)
    assert ran.returncode == 0, ran.stderr[-4000:]
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    alone = [json.loads(line) for line in launch(FOLDER / "own_rows.py", env=flags).stdout.splitlines()]
    assert len(alone) == 12
    for rank in (0, 1):
        lines = [line for line in ran.stdout.splitlines() if line.startswith(f"[rank {rank}]")]
        for line, expected in zip(lines, alone, strict=True):
            for x, y in zip(json.loads(line.partition("] ")[2]), expected, strict=True):
                np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-6)


def test_training_goes_on_after_a_worker_was_killed_as_if_nothing_had_happened(tmp_path):
    options = ["--steps", 9, "--every", 2, "--folder"]
    calm = launch("launch", "--workers", 2, EXAMPLE, *options, tmp_path / "calm")
    assert calm.returncode == 0, calm.stderr[-4000:]
    folder = tmp_path / "disturbed"
    job = ["launch", "--workers", 2, "--restarts", 1, EXAMPLE]
    disturbed = launch(*job, *options, folder, "--crash-at", 5)
    assert disturbed.returncode == 0, disturbed.stderr[-4000:]
    assert "rank 1 was killed by SIGKILL" in disturbed.stderr
    losses, again = (set(re.findall(r"step \d+: .*", ran.stdout)) for ran in (calm, disturbed))
    assert len(losses) == 9
    assert again == losses
    for rank in (0, 1):
        assert f"[rank {rank}, restart 1] process {rank} of 2: steps 4 to 9" in disturbed.stdout
    for file in folder.iterdir():
        assert file.read_bytes() == (tmp_path / "calm" / file.name).read_bytes()
    assert sorted(file.name for file in folder.iterdir()) == [f"state-{k}.ckpt" for k in (2, 4, 6, 8)]
