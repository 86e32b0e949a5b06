"""The launcher: processes start with what they need to know, and end together, whatever becomes of one of them."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from mindgrad._base.error_line import error_line
from mindgrad.communication.board import FAILED, FINISHED, Ended
from mindgrad.launch import command, faults, msrun, supervisor, worker
from mindgrad.launch.plan import Plan

SOURCE = Path(__file__).parents[3] / "src"
#: a launcher whose workers are plain Python programs, which start at once
LAUNCHER = """
import sys
from mindgrad.launch import {module} as command, supervisor, worker
from mindgrad.launch.plan import Plan
Plan.command = lambda self: [sys.executable, "-S", "-c", self.program[0], *self.program[1:]]
supervisor.END_SECONDS = 1.0
sys.exit(command.main(sys.argv[1:]))
"""
SLEEP = "import time; time.sleep(60)"
#: a worker that does not care for SIGTERM and SIGINT, and has a child that does not either
STUBBORN = """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
os.fork()
os.write(1, b"ready\\n")
time.sleep(60)
"""


@pytest.fixture
def mark(tmp_path):
    """A word in the command line of all processes of a test, none of which are there at its end."""
    word = f"mark-{os.getpid()}-{tmp_path.name}"
    yield word
    latest = time.monotonic() + 5.0
    while running(word) and time.monotonic() < latest:
        time.sleep(0.05)
    assert running(word) == []


def running(word):
    """The processes with a word in their command line, other than those that have ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.fixture
def launch(mark, monkeypatch, capfd):
    """Run a Python program as workers; the exit status and what was shown."""
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("which processes run is read from /proc")
    monkeypatch.setattr(supervisor, "END_SECONDS", 1.0)
    monkeypatch.setattr(supervisor, "_SETTLE", 0.2)
    monkeypatch.setattr(worker, "STOPPED_SECONDS", 0.3)

    def run(program, workers=2, **changes):
        monkeypatch.setattr(
            Plan, "command", lambda plan: [sys.executable, "-S", "-c", "\n".join(plan.program), mark]
        )
        plan = Plan((program,), workers, 1, 0, "", "", "secret", 0, 10, 300, "", True, "launch")
        before = signal.getsignal(signal.SIGTERM)
        started = time.monotonic()
        status = supervisor.supervised(plan._replace(**changes))
        assert time.monotonic() - started < 60.0
        assert signal.getsignal(signal.SIGTERM) is before
        out, err = capfd.readouterr()
        return status, out, err

    return run


# --- what workers know, and what they show --------------------------------------------------------------


def test_workers_know_who_they_are(launch, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    status, out, err = launch(
        "import os\n"
        "for name in 'MINDGRAD_RANK MINDGRAD_WORLD_SIZE MINDGRAD_LOCAL_RANK MINDGRAD_LOCAL_SIZE RANK_ID RANK_SIZE "
        "DEVICE_ID DEVICE_NUM MS_WORKER_NUM MS_NODE_ID MINDGRAD_RESTART OMP_NUM_THREADS'.split():\n"
        "    print(name, os.environ[name])\n"
        "print(os.environ['MINDGRAD_COORDINATOR'].split(':')[0], int(os.environ['NPROC']) >= 1)"
    )
    assert (status, err) == (0, "")
    for rank in "01":
        lines = [line.removeprefix(f"[rank {rank}] ") for line in out.splitlines() if line[6] == rank]
        assert lines == [
            f"MINDGRAD_RANK {rank}", "MINDGRAD_WORLD_SIZE 2", f"MINDGRAD_LOCAL_RANK {rank}", "MINDGRAD_LOCAL_SIZE 2",
            f"RANK_ID {rank}", "RANK_SIZE 2", f"DEVICE_ID {rank}", "DEVICE_NUM 2", "MS_WORKER_NUM 2",
            f"MS_NODE_ID {rank}", "MINDGRAD_RESTART 0", "OMP_NUM_THREADS 3", "127.0.0.1 True",
        ]  # fmt: skip


def test_output_is_shown_by_lines_and_written_to_files(launch, tmp_path):
    status, out, err = launch(
        "import sys, os\n"
        "for part in ('a', 'b\\nc\\r', 'd\\r\\n', '\\xe9'): sys.stdout.write(part); sys.stdout.flush()\n"
        "print('x' * 200000, file=sys.stderr); print('[Gloo] Rank 0 is connected')",
        workers=1,
        log_dir=str(tmp_path / "logs"),
    )
    assert status == 0
    assert out.splitlines() == [
        "[rank 0] ab",
        "[rank 0] c",
        "[rank 0] d",
        "[rank 0] \xe9[Gloo] Rank 0 is connected",
    ]
    assert "".join(line.removeprefix("[rank 0] ") for line in err.splitlines()) == "x" * 200000
    log = (tmp_path / "logs" / "worker_0.log").read_text()
    assert sorted(log.split()) == sorted(
        ["ab", "c", "d", "\xe9[Gloo]", "Rank", "0", "is", "connected", *err.split()[2::3]]
    )


# --- faults ---------------------------------------------------------------------------------------------

RANK_1 = "import os, signal, sys, time\nif os.environ['MINDGRAD_RANK'] == '1': {}\ntime.sleep(60)"


@pytest.mark.parametrize(
    ("act", "status", "text"),
    [
        ("raise ValueError('no')", 1, r"rank 1 ended with status 1 \(ValueError: no\)"),
        ("sys.exit(7)", 7, "rank 1 ended with status 7"),
        (
            "os.kill(os.getpid(), 9)",
            137,
            r"rank 1 was killed by SIGKILL .*memory killer\); it used up to",
        ),
        ("os.kill(os.getpid(), 11)", 139, "rank 1 was killed by SIGSEGV"),
        ("os.kill(os.getpid(), signal.SIGSTOP)", 1, r"rank 1 was stopped \(SIGSTOP .* within 0\.3 s"),
        ("bytearray(1 << 60)", 1, r"rank 1 ended with status 1 \(MemoryError\)"),
    ],
)
def test_the_others_end_when_one_fails_and_the_last_line_says_why(launch, act, status, text):
    code, _, err = launch(RANK_1.format(act), workers=3)
    assert code == status
    assert re.fullmatch(rf"launch: {text}.*\. Ranks 0 and 2 were terminated\.", err.splitlines()[-1])


def test_a_reason_that_ends_with_a_full_stop_does_not_end_the_sentence():
    said = []
    launcher = SimpleNamespace(plan=SimpleNamespace(size=2, restarts=0), say=said.append)
    supervisor._Supervisor._report(launcher, Ended(1, FAILED, "raised ValueError: no such batch.", 1), 0)
    assert said == ["rank 1 raised ValueError: no such batch. Rank 0 was terminated."]


def test_a_process_that_goes_on_after_a_moment_has_not_failed(launch):
    status, _, err = launch(
        "import os, signal, subprocess, sys, time\n"
        "subprocess.Popen(['sh', '-c', f'sleep 0.1; kill -CONT {os.getpid()}'])\n"
        "os.kill(os.getpid(), signal.SIGSTOP)\n"
        "time.sleep(0.5)"
    )
    assert (status, err) == (0, "")


def test_whoever_does_not_heed_sigterm_is_killed_with_its_children(launch):
    program = f"import os\nif os.environ['MINDGRAD_RANK'] == '1': raise SystemExit(3)\n{STUBBORN}"
    status, _, err = launch(program)
    assert status == 3
    assert err.splitlines()[-1].endswith(". Rank 0 was terminated.")


def test_children_of_workers_that_ended_well_are_ended(launch):
    assert launch("import os, time\nif os.fork() == 0: time.sleep(60)")[0] == 0


def test_the_cause_is_told_from_its_consequences():
    abort = Ended(0, FAILED, "was killed by SIGABRT", 134)
    closed = Ended(2, FAILED, "raised ValueError: Gloo all-reduce failed: Connection closed by peer", 1)
    kill = Ended(1, FAILED, "was killed by SIGKILL", 137)
    mistake = Ended(3, FAILED, "raised ValueError: bad shape", 1)
    assert faults.cause_of([abort, closed, Ended(4, FINISHED, "has ended", 0), kill]) is kill
    assert faults.cause_of([abort, closed, mistake]) is mistake
    assert faults.cause_of([abort, closed]) is closed
    assert faults.cause_of([mistake, kill]) is kill, "whoever is killed has not failed by itself"
    crash = Ended(5, FAILED, "was killed by SIGSEGV", 139)
    try:
        raise RuntimeError("the values of w are lost. Load them.") from ValueError("Gloo all-reduce failed")
    except RuntimeError as error:
        lost = Ended(6, FAILED, f"raised {error_line(error)}", 1)
    assert lost.reason == (
        "raised RuntimeError: the values of w are lost. Load them (from ValueError: Gloo all-reduce failed)"
    )
    assert faults.cause_of([lost, crash]) is crash
    assert faults.cause_of([]) is None


def test_the_kernel_is_asked_whether_it_ran_out_of_memory(launch, monkeypatch):
    kills = iter([0, 0, 1, 1, 1, 1])
    monkeypatch.setattr(worker, "out_of_memory_kills", lambda: next(kills))
    _, _, err = launch(RANK_1.format("os.kill(os.getpid(), 9)"))
    assert "SIGKILL, probably because memory ran out (out-of-memory kills: 1); it used up to" in err
    assert isinstance(faults.out_of_memory_kills(), int)


# --- restarts -------------------------------------------------------------------------------------------


def test_all_are_started_again_and_know_it(launch):
    status, out, err = launch(
        "import os, time\n"
        "attempt = int(os.environ['MINDGRAD_RESTART']); print('attempt', attempt)\n"
        "if attempt < 2 and os.environ['MINDGRAD_RANK'] == '1': os.kill(os.getpid(), 9)\n"
        "if attempt < 2: time.sleep(60)",
        restarts=3,
    )
    assert status == 0
    assert set(out.splitlines()) >= {"[rank 1, restart 2] attempt 2", "[rank 0, restart 2] attempt 2"}
    restarts = [line for line in err.splitlines() if "Restarting all processes" in line]
    assert [line.rpartition(". ")[2] for line in restarts] == [
        "Restarting all processes: restart 1 of 3.",
        "Restarting all processes: restart 2 of 3.",
    ]


def test_a_job_that_always_fails_ends(launch):
    status, _, err = launch(RANK_1.format("sys.exit(5)"), restarts=1)
    assert status == 5
    assert len(err.splitlines()) == 2
    assert "Restarting all processes" not in err.splitlines()[-1]


# --- ends of the launcher itself ------------------------------------------------------------------------


@pytest.fixture
def started(mark):
    """Start launchers; they are ended at the end of a test."""
    processes = []

    def start(arguments, module="command", **changes):
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", LAUNCHER.format(module=module), *arguments],
                env={**os.environ, "PYTHONPATH": str(SOURCE), **changes},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return processes[-1]

    yield start
    for process in processes:
        with process:
            process.kill()


def lines_of(process, count):
    return sorted(process.stdout.readline().strip() for _ in range(count))


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)]
)
def test_the_workers_and_their_children_end_with_the_launcher(started, number, status):
    process = started(["--workers", "2", STUBBORN])
    assert lines_of(process, 4) == ["[rank 0] ready"] * 2 + ["[rank 1] ready"] * 2
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == status
    if number != signal.SIGKILL:
        assert err.splitlines()[-1] == (
            f"mindgrad launch: received {number.name} and terminated all processes of this machine."
        )


def test_a_second_interrupt_does_not_wait(started):
    process = started(["--workers", "2", STUBBORN], PYTHONDEVMODE="")
    lines_of(process, 4)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    moment = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert time.monotonic() - moment < 0.7, "sooner than the second that they have to end by themselves"


# --- machines -------------------------------------------------------------------------------------------


#: pairs of ports below those that the system gives to others, for each worker of the tests its own
PORTS = iter(range(20000 + 1000 * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 10), 32000, 2))


def free_port():
    for port in PORTS:
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
    raise AssertionError("no two free ports beside each other")


def test_two_machines_are_one_job(started):
    port = free_port()
    program = (
        "import os, time\n"
        "rank, attempt = (os.environ['MINDGRAD_' + name] for name in ('RANK', 'RESTART'))\n"
        "print(rank, attempt, os.environ['MINDGRAD_LOCAL_RANK'], os.environ['MINDGRAD_MACHINE'])\n"
        "if attempt == '0': os.kill(os.getpid(), 9) if rank == '3' else time.sleep(60)"
    )
    launchers = [
        started(
            ["--workers", "2", "--machines", "2", "--rank", str(machine), "--restarts", "1", "--coordinator",
             f"127.0.0.1:{port}", program],
            MINDGRAD_STORE_KEY="a secret of sixteen letters",
        )
        for machine in (1, 0)
    ]  # fmt: skip
    results = [(*process.communicate(timeout=60), process.returncode) for process in launchers]
    assert [status for *_, status in results] == [0, 0], results
    for (out, err, _), ranks, machine in zip(results, ((2, 3), (0, 1)), (1, 0), strict=True):
        lines = {f"[rank {rank}, restart 1] {rank} 1 {rank % 2} {machine}" for rank in ranks}
        assert lines <= set(out.splitlines())
        assert "rank 3 was killed by SIGKILL" in err


def test_a_machine_that_is_gone_ends_the_others(started):
    port = free_port()
    first, second = (
        started(
            ["--workers", "1", "--machines", "2", "--rank", str(machine), "--coordinator", f"127.0.0.1:{port}",
             "print('here', flush=True); " + SLEEP],
            MINDGRAD_STORE_KEY="a secret of sixteen letters",
        )
        for machine in (0, 1)
    )  # fmt: skip
    assert [process.stdout.readline() for process in (first, second)] == [
        "[rank 0] here\n",
        "[rank 1] here\n",
    ]
    second.kill()
    second.communicate(timeout=20)
    _, err = first.communicate(timeout=60)
    assert first.returncode == 1
    assert re.search(r"rank 1 is on machine 1 \(.*\), which does not answer", err.splitlines()[-1])


def test_a_port_in_use_is_an_error_at_once(launch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        status, out, err = launch("print('never')", coordinator=f"127.0.0.1:{port}")
    assert (status, out) == (1, "")
    assert re.search(rf"ports {port} and {port + 1} of 127\.0\.0\.1 cannot be used: .*--coordinator", err)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["x.py"], "--workers"),
        (["--workers", "2"], "no program given"),
        (["--workers", "0", "x.py"], "at least 1"),
        (["--workers", "2", "--machines", "2", "x.py"], "--coordinator"),
        (["--workers", "2", "--machines", "2", "--rank", "2", "--coordinator", "a:1", "x.py"], "from 0 to 1"),
        (["--workers", "2", "--machines", "2", "--coordinator", "a:1", "x.py"], "MINDGRAD_STORE_KEY"),
        (["--workers", "2", "--coordinator", "a", "x.py"], "host:port"),
        (["--workers", "2", "--restarts", "-1", "x.py"], "at least 0"),
        (["--works", "2", "x.py"], "--workers"),
    ],
)
def test_a_wrong_command_line_is_refused(arguments, text, capsys, monkeypatch):
    monkeypatch.delenv("MINDGRAD_STORE_KEY", raising=False)
    with pytest.raises(SystemExit) as end:
        command.main(arguments)
    assert end.value.code == 2
    assert text in capsys.readouterr().err


def test_the_programs_own_options_are_left_to_it():
    parser = command._parser()
    for program in (["x.py", "--workers", "3"], ["-m", "a.b", "-v"], ["-c", "print()", "--rank", "1"]):
        own = ["--workers", "2", "--restarts=3", "--log-dir", "-x"]
        assert command.divided(parser, own + program) == (own, program)


# --- msrun ----------------------------------------------------------------------------------------------


def test_msrun_takes_mindspores_options(started, tmp_path):
    program = "import os; print(os.environ['RANK_ID'], os.environ['MS_WORKER_NUM'])"
    process = started(
        [
            "--worker_num",
            "2",
            "--local_worker_num=2",
            "--join=True",
            "--log_dir",
            str(tmp_path / "o"),
            program,
        ],
        "msrun",
    )
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert sorted(out.splitlines()) == ["[rank 0] 0 2", "[rank 1] 1 2"]
    assert (tmp_path / "o" / "worker_1.log").read_text() == "1 2\n"


def test_join_may_be_followed_by_its_value():
    parser = msrun._parser("msrun")
    for own in (["--join", "True", "--worker_num", "2"], ["--bind_core=True", "--join"], ["--join", "false"]):
        assert command.divided(parser, [*own, "True.py", "False"]) == (own, ["True.py", "False"])
        assert parser.parse_args(own).join is (own[-1] != "false")


def test_msrun_goes_on_in_the_background_without_join(started, tmp_path):
    program = "import time; time.sleep(0.3); print('done')"
    process = started(
        ["--worker_num", "1", "--local_worker_num", "1", "--log_dir", str(tmp_path), program], "msrun"
    )
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert re.match(r"msrun: process \d+ runs 1 processes", out)
    log, latest = tmp_path / "worker_0.log", time.monotonic() + 20.0
    while not (log.exists() and log.read_text() == "done\n") and time.monotonic() < latest:
        time.sleep(0.05)
    assert log.read_text() == "done\n"


@pytest.mark.parametrize(
    "arguments",
    [["--worker_num", "3", "--local_worker_num", "2"], ["--worker_num", "4", "--local_worker_num", "2"]],
)
def test_msrun_refuses_what_it_cannot_divide(arguments, capsys):
    with pytest.raises(SystemExit):
        msrun.main([*arguments, "x.py"])
    assert re.search("multiple|--node_rank", capsys.readouterr().err)


# --- checkpoints ----------------------------------------------------------------------------------------

#: gradients of two processes are added through the store; each step's state is saved before the next begins
TRAINING = """
import json, os, signal, sys, types
for name in ("mindgrad", "mindgrad.communication"):  # their modules alone: what they import takes a second
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [os.path.join({source!r}, *name.split("."))]
from mindgrad.core.base.replacing import replaced
from mindgrad.communication.store import Store
rank, attempt = int(os.environ["RANK_ID"]), int(os.environ["MINDGRAD_RESTART"])
kills = {kills!r}[attempt:][:1]
store = Store(os.environ["MINDGRAD_STORE"], os.environ["MINDGRAD_STORE_KEY"].encode(), rank, 2, attempt)
step, weight, speed = 0, 1.0, 0.0
if os.path.exists({file!r}):
    with open({file!r}) as file:
        step, weight, speed = json.load(file)
while step < 12:
    gradient = sum(map(float, store.exchange("gradient", str(weight * (rank + 1) / 7).encode(), [0, 1], 60.0)))
    speed = 0.9 * speed + gradient
    weight -= 0.1 * speed
    step += 1
    if (rank, step) in kills:
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 0:
        with replaced({file!r}) as new:
            new.write_text(json.dumps([step, weight, speed]))
        os.write(1, f"{{step}} {{weight!r}}\\n".encode())
"""


def test_training_goes_on_from_its_checkpoint_as_if_nothing_had_happened(launch, tmp_path):
    def trained(kills, name):
        program = TRAINING.format(source=str(SOURCE), kills=kills, file=str(tmp_path / name))
        status, out, err = launch(program, restarts=len(kills), timeout=30)
        assert status == 0, err
        assert sum(line.startswith("launch: ") for line in err.splitlines()) == len(kills)
        return {line.partition("] ")[2] for line in out.splitlines()}

    undisturbed = trained([], "a.json")
    assert len(undisturbed) == 12
    assert trained([(1, 3), (0, 4), (0, 9)], "b.json") == undisturbed
