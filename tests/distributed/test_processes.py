"""Processes of a job under jax: they meet, know each other, and none waits for one that has gone."""

import os
import re
import subprocess
import sys
import time
from copy import copy
from pathlib import Path

import pytest

import mindgrad as ms
from mindgrad import cli
from mindgrad._base import ending
from mindgrad.core.backend import device, xla
from mindgrad.distributed import process_mesh, processes
from mindgrad.frontend.programs.compiled import trace
from tests.unit.distributed.test_launch import free_port, mark, running  # noqa: F401

SOURCE = Path(__file__).parents[2] / "src"
BEGIN = """
import os, sys, time
import mindspore as ms
from mindspore import communication
from mindspore.communication import GlobalComm, create_group, get_group_size, get_local_rank, get_rank, init
from mindspore.communication.management import store
from mindgrad.distributed.processes import broadcast, entered, left
from mindgrad.communication import session
session.STUCK_SECONDS = session.END_SECONDS = 0.5
def tell(*words): os.write(1, (" ".join(map(str, words)) + "\\n").encode())
"""
MEET = """
try:
    get_rank()
except RuntimeError as error:
    tell("communication.init()" in str(error))
init("nccl")
init()
rank = get_rank()
create_group("last", [1])
assert (GlobalComm.INITED, get_group_size(), get_local_rank(), get_group_size("last")) == (True, 2, rank, 1)
assert communication.get_process_group_ranks("last") == [1]
assert communication.get_world_rank_from_group_rank("last", 0) == 1
assert communication.get_group_rank_from_world_rank(1, "last") == 0
assert communication.get_local_rank_size() == 2
try:
    tell(get_rank("last"))
except RuntimeError as error:
    tell("rank 0 is not in the group 'last'" in str(error))
assert store().exchange("ranks", b"%d" % rank, [1, 0], 20.0) == [b"1", b"0"]
"""
#: a program without collectives is each process's own, compiled or loaded from the disk for its own device
COMPUTE = """
net = ms.jit(lambda x: x * x + rank)
tell(float(net(ms.Tensor(3.0))))
"""
WAIT = """
if rank == {gone}:
    {act}
entered("AllReduce of 'step'")
broadcast(b"")
left()
"""


def environment(**changes):
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("MINDGRAD_", "JAX_"))
    }
    return {**inherited, "PYTHONPATH": str(SOURCE), **changes}


@pytest.fixture
def run(tmp_path, mark):  # noqa: F811
    """Run a program by the launcher; its exit status, and what it showed."""

    def start(program, *options, workers=2, **changes):
        file = tmp_path / "program.py"
        file.write_text(BEGIN + program)
        command = [
            sys.executable,
            "-m",
            "mindgrad",
            "launch",
            "--workers",
            str(workers),
            *options,
            str(file),
            mark,
        ]
        done = subprocess.run(
            command, env=environment(MINDGRAD_CACHE_DIR=str(tmp_path / "cache"), **changes),
            capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    return start


def alone(tmp_path, mark, program, environments):  # noqa: F811
    """Run a program once for each environment, without a launcher; exit statuses, and what was shown."""
    file = tmp_path / "program.py"
    file.write_text(BEGIN + program)
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "mindgrad", str(file), mark], env=environment(**changes),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for changes in environments
    ]  # fmt: skip
    try:
        texts = [process.communicate(timeout=100) for process in started]
    finally:
        for process in started:
            process.kill()
    return [(process.returncode, *text) for process, text in zip(started, texts, strict=True)]


def test_two_processes_meet(run):
    status, out, err = run(MEET + COMPUTE + "communication.release(); tell(GlobalComm.INITED)")
    assert (status, err) == (0, "")
    assert sorted(out.splitlines()) == [
        "[rank 0] 9.0", "[rank 0] False", "[rank 0] True", "[rank 0] True", "[rank 1] 0", "[rank 1] 10.0",
        "[rank 1] False", "[rank 1] True",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("gone", "act", "status", "text"),
    [
        (0, "os.kill(os.getpid(), 9)", 137, r"rank 0 was killed by SIGKILL.*\. Rank 1 was terminated"),
        (
            0,
            "sys.exit()",
            1,
            "rank 1 waits in AllReduce of 'step', but rank 0 has ended: .*different numbers of steps",
        ),
    ],
)
def test_nobody_waits_in_a_collective_for_one_that_has_gone(run, gone, act, status, text):
    started = time.monotonic()
    code, _, err = run("init()\nrank = get_rank()\n" + WAIT.format(gone=gone, act=act))
    assert code == status, err
    assert re.search(text, err.splitlines()[-1])
    assert time.monotonic() - started < 60.0


def test_who_does_not_come_to_the_start_is_named(run):
    program = "if os.environ['RANK_ID'] == '1':\n    time.sleep(60)\ninit()"
    status, _, err = run(program, "--start-timeout", "1")
    assert status == 1
    assert "rank 1 has not come to 'communication.init()' within 1 s" in err.splitlines()[-1]


def test_open_mpi_starts_processes(tmp_path, mark):  # noqa: F811
    uri = f"{(free_port() % 4096) << 12}.0;tcp://127.0.0.1:34911"
    results = alone(
        tmp_path, mark, MEET,
        [
            {"OMPI_MCA_orte_hnp_uri": uri, "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": rank,
             "OMPI_COMM_WORLD_LOCAL_RANK": rank, "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
            for rank in "01"
        ],
    )  # fmt: skip
    assert [status for status, *_ in results] == [0, 0], results


def test_slurm_starts_processes_and_they_end_with_each_other(tmp_path, mark):  # noqa: F811
    environments = [
        {"SLURM_JOB_ID": str(free_port() % 4096), "SLURM_STEP_NODELIST": "localhost", "SLURM_NTASKS": "2",
         "SLURM_NNODES": "1", "SLURM_PROCID": rank, "SLURM_LOCALID": rank}
        for rank in "01"
    ]  # fmt: skip
    environments[1]["SLURM_JOB_ID"] = environments[0]["SLURM_JOB_ID"]
    program = "init()\nrank = get_rank()\nms.log.warning('here')\n"
    program += WAIT.format(gone=1, act="raise ValueError('no such batch')")
    results = alone(tmp_path, mark, program, environments)
    assert [status for status, *_ in results] == [1, 1], results
    assert "ValueError: no such batch" in results[1][2]
    for rank, (*_, err) in enumerate(results):  # no launcher says who writes a line
        assert re.search(rf"^\[WARNING\] \[rank {rank}\] \d.* here$", err, re.MULTILINE), err
    assert "mindgrad: rank 1 raised ValueError: no such batch." in results[0][2]


def test_what_was_computed_before_is_an_error():
    program = "import jax; jax.devices()\nfrom mindgrad.distributed.processes import start\nstart(0, 2, '127.0.0.1:1')"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, timeout=60
    )
    assert "Call communication.init() before the first computation" in " ".join(done.stderr.split())


def test_a_wait_is_known_while_it_lasts():
    class Result:
        ready, size = False, 1

        def is_deleted(self):
            return False

        def is_ready(self):
            return self.ready

    try:
        assert processes.waited() is None
        processes.entered("step")
        assert processes.waited()[0] == "step"
        result = Result()
        processes.left([result, result])
        assert processes.waited()[0] == "step", "the call has returned, its results are under way"
        result.ready = True
        assert processes.waited() is None
    finally:
        processes._latest = processes._running = None


def test_a_divided_program_is_known_to_wait_and_its_calls_are_noted(monkeypatch):
    class Agreement:
        calls, waits = 0, None

        def noting(self, graph):
            return self.note

        def note(self):
            self.calls += 1

        def run(self, *groups):
            self.waits = processes.waited()
            return []

    agreement = Agreement()
    monkeypatch.setattr(process_mesh, "_agreement", agreement)
    program = process_mesh.noted(agreement.run, trace(lambda x: ms.ops.tanh(x), ms.Tensor([1.0])))
    assert (program([]), copy(program)([]), agreement.calls) == ([], [], 2)
    assert re.match(r"a divided program at test_processes\.py:\d+$", agreement.waits[0])
    assert processes.waited() is None
    monkeypatch.setattr(process_mesh, "_agreement", None)
    assert process_mesh.noted(agreement.run, None) == agreement.run, "one process"


def test_an_exit_status_is_told_to_the_others(monkeypatch):
    told = []
    monkeypatch.setattr(ending, "ending_listeners", [told.append])
    monkeypatch.setattr(cli, "install", lambda: None)
    for code, status in ((4, 4), ("a text", 1), (0, None), (None, None)):
        monkeypatch.setattr(cli, "_run_code", lambda _, code=code: sys.exit(code))
        with pytest.raises(SystemExit):
            cli.main(["-c", "code"])
        assert told == ([] if status is None else [status])
        told.clear()


def test_the_device_is_selected_after_the_processes_have_met(monkeypatch):
    asked = []
    monkeypatch.setattr(device, "_gpus", lambda: asked.append("jax's GPUs") or [])
    monkeypatch.setenv("MINDGRAD_WORLD_SIZE", "2")
    monkeypatch.setenv("MINDGRAD_COORDINATOR", "127.0.0.1:1")
    try:
        assert device.select_device("GPU", 1) == "GPU"
        assert asked == [], "jax would start, and communication.init() could not"
        assert xla._selected() is None
        assert asked == ["jax's GPUs"]
        device.select_device("GPU", 1)
        device.select_device("CPU")
        assert xla._selected() is None
        assert asked == ["jax's GPUs"], "another selection takes the place of one that waits"
    finally:
        device.select_device("CPU")
