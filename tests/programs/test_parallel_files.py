"""Files of several processes on loopback: sharded checkpoints, replicated ones, restarts."""

import json
import os
import re
from pathlib import Path

import numpy as np

import mindgrad as ms
from mindgrad.train import latest_checkpoint
from tests.programs.conftest import launch
from tests.tolerances import assert_close

FOLDER = Path(__file__).parent / "parallel"
EXAMPLE = FOLDER.parents[2] / "examples" / "data_parallel.py"


def devices(count):
    """Environment variables of a process with ``count`` devices."""
    return {"XLA_FLAGS": f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count={count}"}


def told(ran, rank=None):
    """The lines of JSON that a program prints, or one process of a job."""
    start = "" if rank is None else f"[rank {rank}] "
    texts = [line.removeprefix(start) for line in ran.stdout.splitlines() if line.startswith(start)]
    return [json.loads(text) for text in texts if re.match(r"\[+-?\d", text)]


def losses_of(ran, workers):
    """The losses that the processes of a job print, which are the same."""
    losses = [values for rank in range(workers) for values in told(ran, rank)]
    assert losses[1:] == losses[:-1]
    assert len(losses) >= workers
    return losses[0]


def test_a_set_is_written_by_two_processes_and_read_by_one_two_and_four(tmp_path):
    folder, own = tmp_path / "net", tmp_path / "own"
    ran = launch("launch", "--workers", 2, FOLDER / "sharded_files.py", "write", folder, env=devices(2))
    # rank 1 was killed in the middle of a second set
    assert ran.returncode == 137, ran.stderr[-4000:]
    losses = losses_of(ran, 2)
    index = json.loads((folder / "index.json").read_text())
    files = [piece[0].rpartition("-")[2] for piece in index["entries"]["first"]["slices"]]
    assert files == [f"0000{k}.safetensors" for k in range(4)]
    assert len(list(folder.glob("*.safetensors"))) > 4, "what was left behind goes with the next set"
    read = launch("launch", "--workers", 4, FOLDER / "sharded_files.py", "read", folder, own)
    assert read.returncode == 0, read.stderr[-4000:]
    assert_close(losses_of(read, 4), losses, "program", each=True, dtype=np.float32)
    assert ms.load_checkpoint(own / "rank_2" / "net.ckpt")["moment1.first"].shape == (16, 16)
    ms.transform_checkpoints(own, tmp_path / "one", "net", own / "strategy.json")
    joined = ms.load_checkpoint(tmp_path / "one" / "rank_0" / "net0.ckpt")
    for name, value in ms.load_checkpoint(own / "set").items():
        np.testing.assert_array_equal(joined[name].asnumpy(), value.asnumpy(), err_msg=name)
    content = ms.load_checkpoint(folder)
    assert int(content["step"]) == 3
    alone = launch(FOLDER / "sharded_files.py", "read", folder)
    assert_close(told(alone)[0], losses, "program", each=True, dtype=np.float32)


def test_the_rows_of_two_processes_are_one_batch(tmp_path):
    ran = launch("launch", "--workers", 2, FOLDER / "own_rows.py", tmp_path, env=devices(2))
    assert ran.returncode == 0, ran.stderr[-4000:]
    alone = told(launch(FOLDER / "own_rows.py", env=devices(4)))
    assert len(alone) == 6
    for rank in (0, 1):
        for values, expected in zip(told(ran, rank), alone, strict=True):
            for x, y in zip(values, expected, strict=True):
                assert_close(x, y, "program", each=True, scale=0.1, dtype=np.float32)
    names = {path.name: sorted(file.name for file in path.iterdir()) for path in tmp_path.iterdir()}
    files = [f"{prefix}-1_{step}.ckpt" for prefix in ("net", "net_1") for step in (3, 4)]
    sets = [name.removesuffix(".ckpt") for name in files]
    assert names == {"data_parallel": files, "rank_0": files, "rank_1": files, "semi_auto_parallel": sets}
    assert latest_checkpoint(tmp_path / "semi_auto_parallel") == str(
        tmp_path / "semi_auto_parallel" / sets[-1]
    )
    assert ms.load_checkpoint(tmp_path / "semi_auto_parallel" / sets[-1])["weight"].shape == (1, 4)


def test_training_goes_on_after_a_worker_was_killed_as_if_nothing_had_happened(tmp_path):
    options = ["--steps", 9, "--every", 2, "--folder"]
    calm = launch("launch", "--workers", 2, EXAMPLE, *options, tmp_path / "calm")
    assert calm.returncode == 0, calm.stderr[-4000:]
    folder = tmp_path / "disturbed"
    job = ["launch", "--workers", 2, "--restarts", 1, EXAMPLE]
    disturbed = launch(*job, *options, folder, "--crash-at", 5)
    assert disturbed.returncode == 0, disturbed.stderr[-4000:]
    assert "rank 1 was killed by SIGKILL" in disturbed.stderr
    losses, again = (set(re.findall(r"step \d+: \S+ \S+", ran.stdout)) for ran in (calm, disturbed))
    assert len(losses) == 9
    assert again == losses
    for rank in (0, 1):
        assert f"[rank {rank}, restart 1] process {rank} of 2: steps 4 to 9" in disturbed.stdout
    for file in folder.iterdir():
        assert file.read_bytes() == (tmp_path / "calm" / file.name).read_bytes()
    assert sorted(file.name for file in folder.iterdir()) == [f"state-{k}.ckpt" for k in (2, 4, 6, 8)]


def test_tutorial_in_two_processes_prints_the_output_on_its_page(tmp_path):
    page = (EXAMPLE.parents[1] / "docs" / "tutorials" / "data_parallel.md").read_text()
    lines = [line[4:] for line in page.splitlines() if line.startswith((">>> ", "... "))]
    program = tmp_path / "train.py"
    program.write_text("\n".join(lines))
    ran = launch("launch", "--workers", 2, program)
    assert ran.returncode == 0, ran.stderr[-4000:]
    output = page.partition("```text\n")[2].partition("```")[0]
    assert sorted(ran.stdout.splitlines()) == sorted(output.splitlines())
