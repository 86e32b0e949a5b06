"""The score of MindSpore's own tests: how many of those in a checkout of its repository pass on mindgrad.

What counts is decided by rules (`selection.py`), each file runs in a process of its own (`worker.py`).
Nothing of the checkout is written to; tests start in an empty folder. With a reference only tests count that
pass there.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from report import difference, lines, show, summary
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from selection import OTHER_MARKS, SUITES, Source, marks_of, sources

ROOT = Path(__file__).resolve().parents[2]
WORKER = str(Path(__file__).with_name("worker.py"))
FILES_A_LINE = 25  # of progress, where it goes to a file


def arguments() -> argparse.Namespace:
    """The parsed command line."""
    parser = argparse.ArgumentParser(prog="scripts/score", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a folder with MindSpore's tests in tests/")
    parser.add_argument("paths", nargs="*", help="files or folders below it; all where none is named")
    parser.add_argument(
        "--suite", choices=SUITES, default="cpu", help="gradient: derivatives, mutable, hooks"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes at a time (1)")
    parser.add_argument("--test-limit", type=float, default=60, metavar="SECONDS", help="for one test (60)")
    parser.add_argument("--file-limit", type=float, default=600, metavar="SECONDS", help="for one file (600)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome there")
    parser.add_argument("--since", type=Path, metavar="FILE", help="compare with what --json wrote")
    parser.add_argument(
        "--reference",
        type=Path,
        metavar="PYTHON | FILE",
        help="an interpreter with MindSpore, or what --json wrote with one: only tests that pass there count",
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="put the score, and why the other tests fail, into a file of scores (docs/coverage/scores.json)",
    )
    parser.add_argument("--causes", type=int, default=40, metavar="N", help="reasons to show (40)")
    return parser.parse_intermixed_args()


class Worker:
    """A process that runs test files, one after the other; it is started again where it dies."""

    def __init__(self, command: list[str], environment: dict[str, str], settings: dict[str, Any]) -> None:
        self.command, self.environment, self.settings = command, environment, settings
        self.process: subprocess.Popen[str] | None = None

    def run(self, path: str) -> dict[str, Any]:
        """The outcomes of the tests of one file."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self._write(json.dumps(self.settings))
        self._write(path)
        assert self.process.stdout is not None
        answer = self.process.stdout.readline()
        if not answer:
            self.close()
            return {"tests": {}, "lost": "the process that runs the tests died", "outdated": []}
        return dict(json.loads(answer))

    def _write(self, line: str) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def started(command: list[str], options: argparse.Namespace, path: list[str], files: int) -> list[Worker]:
    """Workers for so many files that ``command`` starts, with ``path`` where Python looks for modules."""
    checkout = options.checkout.resolve()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, str(checkout)])}
    environment["PYTHONPYCACHEPREFIX"] = options.bytecode  # of what the tests share
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    settings = {
        "checkout": str(checkout),
        "marks": sorted(marks_of(options.suite)),
        "others": sorted(OTHER_MARKS),
        "test_limit": options.test_limit,
        "file_limit": options.file_limit,
        "files": files,
    }
    return [Worker([*command, WORKER], environment, settings) for _ in range(options.workers)]


def outcomes(
    chosen: list[Source], workers: list[Worker], title: str, console: Console
) -> Iterator[tuple[Source, dict[str, Any]]]:
    """The outcomes of each file, in order, with a line of progress."""
    idle: SimpleQueue[Worker] = SimpleQueue()
    for each in workers:
        idle.put(each)

    def run(source: Source) -> dict[str, Any]:
        each = idle.get()
        try:
            return each.run(source.path)
        finally:
            idle.put(each)

    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=console) as progress, ThreadPoolExecutor(len(workers)) as pool:
        task = progress.add_task(title, total=len(chosen))
        try:
            passed = 0
            for number, (source, result) in enumerate(zip(chosen, pool.map(run, chosen), strict=True), 1):
                passed += sum(test["outcome"] == "passed" for test in result["tests"].values())
                progress.update(task, advance=1, description=f"{title}: {passed} passed, {source.path}")
                if not console.is_terminal and number % FILES_A_LINE == 0:
                    console.print(f"{title}: {number} of {len(chosen)} files, {passed} tests passed")
                yield source, result
        finally:
            for each in workers:
                each.close()


def tests_of(source: Source, result: dict[str, Any], reference: dict[str, Any] | None) -> dict[str, Any]:
    """The tests of one file that count, with those that a file which could not be collected loses."""
    lost = {"outcome": "not collected", "reason": result["lost"] or "not collected"}
    if result["lost"] and result["outdated"]:
        lost["outcome"] = "outdated"
    tests = {
        name: {**test, "outcome": "outdated"} if name in result["outdated"] else test
        for name, test in result["tests"].items()
    }
    if reference is not None:
        names = [name for name, test in reference.items() if test["outcome"] == "passed"]
        spelled = {_spelled(name): test for name, test in tests.items()}
        return {name: spelled.get(_spelled(name), lost) for name in names}
    if not result["lost"]:
        return tests
    variants = [(f"{source.path}::{name}", number) for name, number in source.tests.items()]
    return {f"{name}[{i}]" if number > 1 else name: lost for name, number in variants for i in range(number)}


def _spelled(name: str) -> str:
    """The name of a test under NumPy 2, where the type of truth values has another in parametrised tests."""
    return re.sub(r"\bbool_(?=[-\]])", "bool", name)


def reference_of(
    options: argparse.Namespace, chosen: list[Source], console: Console
) -> dict[str, dict[str, Any]] | None:
    """The outcomes under a real MindSpore, for each file: run now, or read from an earlier result."""
    if options.reference is None:
        return None
    if options.reference.suffix == ".json":
        earlier: dict[str, dict[str, Any]] = json.loads(options.reference.read_text())["reference"]
        return {source.path: earlier.get(source.path, {}) for source in chosen}
    workers = started([str(options.reference.absolute())], options, [], len(chosen))
    runs = outcomes(chosen, workers, "reference", console)
    return {source.path: result["tests"] for source, result in runs}


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="score-") as options.bytecode:
        return measured(options)


def measured(options: argparse.Namespace) -> int:
    """Measures and reports; returns the exit status."""
    console = Console(soft_wrap=not sys.stdout.isatty(), width=None if sys.stdout.isatty() else 160)
    try:
        every = sources(options.checkout.resolve(), options.suite, options.paths)
    except FileNotFoundError as error:
        console.print(str(error), markup=False)
        return 2
    chosen = [source for source in every if not source.left_out]
    if not chosen:
        console.print("no test for a CPU there that counts")
        return 2
    reference = reference_of(options, chosen, console)
    if reference is not None:
        chosen = [s for s in chosen if any(t["outcome"] == "passed" for t in reference[s.path].values())]
        if not chosen:
            console.print("the reference has no test there that passes")
            return 2
    result: dict[str, Any] = {
        "checkout": options.checkout.name,
        "suite": options.suite,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "left_out": {source.path: source.left_out for source in every if source.left_out},
        "tests": {},
    }
    if reference is not None:
        result["reference"] = reference
    command = [sys.executable, "-m", "mindgrad"]
    workers = started(command, options, [str(ROOT / "src")], len(chosen))
    try:
        for source, file in outcomes(chosen, workers, "mindgrad", console):
            known = None if reference is None else reference[source.path]
            result["tests"].update(tests_of(source, file, known))
            result["files"] = result.get("files", 0) + 1
    except KeyboardInterrupt:
        console.print(f"interrupted after {result['files']} of {len(chosen)} files")
    show(console, result, options.causes)
    if options.since:
        newly, no_longer = difference(json.loads(options.since.read_text())["tests"], result["tests"])
        for line in [*lines("newly passing", newly), *lines("newly failing", no_longer)]:
            console.print(line, markup=False)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.record and result.get("files") == len(chosen):
        scores = json.loads(options.record.read_text()) if options.record.exists() else {}
        scores[f"{result['checkout']}, {result['suite']}"] = summary(result)
        options.record.write_text(
            json.dumps(dict(sorted(scores.items())), indent=1, ensure_ascii=False) + "\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
