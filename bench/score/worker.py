"""Workers run test files: one fork a file, of a process that has imported MindSpore and pytest before.

``python -m mindgrad worker.py`` reads its settings and then the paths of test files, a line each, and answers
each with a line of JSON: the outcomes of its tests. A test that ends its process or runs too long loses
itself only: the file goes on behind it, in another process.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import selectors
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from outdated import is_outdated

HERE = str(Path(__file__).resolve().parent)
sys.path[:] = [
    folder for folder in sys.path if os.path.abspath(folder or ".") != HERE
]  # names of tests' own helpers
#: What is imported before the first fork, where it is there; jax starts no thread before it compiles.
PRELOADED = ("mindspore", "mindspore.nn", "mindspore.ops", "mindspore.numpy", "mindspore.scipy", "jax")
#: with so many files this is quicker than an import in each
MANY = 10
MOST_RESTARTS = 25
SETTINGS = [
    "-q",
    "-q",
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore",
    "-o",
    "addopts=",
    "--tb=short",
    "-c",
    os.devnull,
]


class Recorder:
    """A plugin that keeps the tests that count and have not been run, and writes what becomes of each."""

    def __init__(self, stream: int, settings: dict[str, Any], done: set[str]) -> None:
        self.stream, self.done = stream, done
        self.checkout = Path(settings["checkout"])
        self.marks, self.others = set(settings["marks"]), set(settings["others"])

    def write(self, **event: Any) -> None:
        os.write(self.stream, (json.dumps(event) + "\n").encode())

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept = []
        for item in items:
            marks = {mark.name for mark in item.iter_markers()}
            if {*marks, ""} & self.marks and not marks & self.others and item.nodeid not in self.done:
                kept.append(item)
        items[:] = kept
        for item in kept:
            self.write(event="collected", test=item.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(event="lost", reason=message(report))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(event="start", test=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        outcome: str = report.outcome
        if report.failed and report.when != "call":
            outcome = "error"
        elif hasattr(report, "wasxfail"):
            outcome = "skipped"
        if report.when == "call" or outcome != "passed":
            reason = message(report) if outcome in ("failed", "error") else ""
            seconds = round(report.duration, 2)
            self.write(event="outcome", test=report.nodeid, outcome=outcome, reason=reason, seconds=seconds)

    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector, call: Any) -> None:
        if is_outdated(call.excinfo.value, self.checkout):
            self.write(event="outdated", test=node.nodeid)


def message(report: Any) -> str:
    """The error of a report, without its traceback."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message)[:400]
    lines = str(report.longrepr).splitlines()
    errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    named = [line for line in errors if line.split(":")[0].endswith(("Error", "Exception"))]
    return ([*named, *errors, *lines, ""])[0][:400]


class Child:
    """The process that runs what is left of a file.

    Attributes:
        collected: the tests that count, in order, as far as known.
        outcomes: the tests that are done.
        running: the test that runs, and since when.
        lost: why the file could not be collected.
        outdated: the tests, or the file, that call what NumPy or SciPy no longer have.
    """

    def __init__(self, settings: dict[str, Any], file: str, done: set[str]) -> None:
        self.collected: list[str] = []
        self.outcomes: dict[str, dict[str, Any]] = {}
        self.running: str | None = None
        self.since = time.monotonic()
        self.lost = ""
        self.outdated: set[str] = set()
        self.rest = b""
        self.folder = tempfile.mkdtemp(prefix="score-")
        sys.stdout.flush()
        self.stream, end = os.pipe()
        os.set_blocking(self.stream, False)
        self.process = os.fork()
        if self.process == 0:
            os.close(self.stream)
            self._run(settings, file, done, end)
        os.close(end)

    def _run(self, settings: dict[str, Any], file: str, done: set[str], end: int) -> None:
        status = 70
        try:
            os.setsid()
            os.chdir(self.folder)
            output = os.open("output", os.O_WRONLY | os.O_CREAT)
            nothing = os.open(os.devnull, os.O_RDONLY)
            for number, target in enumerate((nothing, output, output)):
                os.dup2(target, number)
            checkout = settings["checkout"]
            recorder = Recorder(end, settings, done)
            arguments = [*SETTINGS, "--rootdir", checkout, str(Path(checkout, file))]
            status = int(pytest.main(arguments, plugins=[recorder]))
        finally:
            os._exit(status)

    def read(self) -> bool:
        """Takes in the events that have come; whether there were any."""
        try:
            data = os.read(self.stream, 1 << 16)
        except BlockingIOError:
            return False
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            event = json.loads(line)
            kind, test = event.pop("event"), event.pop("test", "")
            if kind == "collected":
                self.collected.append(test)
            elif kind == "lost":
                self.lost = self.lost or event["reason"]
            elif kind == "outdated":
                self.outdated.add(test)
            elif kind == "start":
                self.running, self.since = test, time.monotonic()
            else:
                if (
                    test not in self.outcomes or event["outcome"] == "error"
                ):  # an error of the teardown counts
                    self.outcomes[test] = event
                self.running, self.since = None, time.monotonic()
        return bool(data)

    def watch(self, test_limit: float, deadline: float) -> str:
        """Waits for the process, at most to its limits; returns why it ended early, or nothing."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.stream, selectors.EVENT_READ)
            while True:
                process, status = os.waitpid(self.process, os.WNOHANG)
                if process:
                    self.process = 0
                    while self.read():
                        pass
                    if os.WIFSIGNALED(status):
                        return f"the process was ended by {signal.Signals(os.WTERMSIG(status)).name}"
                    return f"the process ended with status {os.WEXITSTATUS(status)}" if self.running else ""
                if selector.select(0.1) and not self.read():
                    time.sleep(0.05)  # the stream is closed, and the process about to end
                if time.monotonic() > deadline:
                    return "the time of the whole file was over"
                if time.monotonic() > self.since + test_limit:
                    return f"not done in {test_limit:g} s"

    def close(self) -> None:
        """Ends the process and those that it started, and removes its folder."""
        if self.process:
            with contextlib.suppress(OSError):
                os.killpg(self.process, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self.stream)
        shutil.rmtree(self.folder, ignore_errors=True)


def run_file(settings: dict[str, Any], file: str) -> dict[str, Any]:
    """Runs the tests of one file.

    Returns:
        ``tests``: the outcome of each test that counts; ``lost``: why the file could not be collected;
        ``outdated``: those of them, or the file, that call what NumPy or SciPy no longer have.
    """
    deadline = time.monotonic() + settings["file_limit"]
    collected: list[str] = []
    outcomes: dict[str, dict[str, Any]] = {}
    outdated: set[str] = set()
    for _ in range(MOST_RESTARTS):
        child = Child(settings, file, set(outcomes))
        try:
            reason = child.watch(settings["test_limit"], deadline)
        finally:
            child.close()
        collected = collected or child.collected
        outcomes.update(child.outcomes)
        outdated |= child.outdated
        if child.running is not None:
            outcomes[child.running] = {"outcome": "error", "reason": reason}
        elif reason and not collected:
            return {"tests": {}, "lost": child.lost or reason, "outdated": sorted(outdated)}
        elif child.lost:
            return {"tests": {}, "lost": child.lost, "outdated": sorted(outdated)}
        if not reason or child.running is None or time.monotonic() > deadline:
            break
    missed = {"outcome": "error", "reason": reason or "not reached"}
    tests = {test: outcomes.get(test, missed) for test in collected}
    return {"tests": tests, "lost": "", "outdated": sorted(outdated)}


def main() -> None:
    """Serves requests from standard input; the first line of it holds the settings."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs print does not come between the answers
    settings = json.loads(sys.stdin.readline())
    sys.path.insert(0, settings["checkout"])
    for name in PRELOADED if settings["files"] >= MANY else ():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(run_file(settings, line.strip())), file=answers, flush=True)


if __name__ == "__main__":
    main()
