"""The benchmark's command line; see ``README.md`` beside this file."""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import devices
import environments
import machine
import measure
import nested
import report
import samples
import sweep
from contender import Command, Contender, Failed, Ranks
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from task import BEFORE, CONTROL, Task, against_before
from tasks import GROUPS, TASKS

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("jax", "torch", "tensorflow", "mindspore", "equinox", "folx", "asdex", "numpy", "autograd")
# All from one heap, none by mmap, nothing given back, and the heap grown in large steps.
KEEP_MEMORY = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(2**34),
    "MALLOC_TOP_PAD_": str(2**28),
}
# the word in the name of a contender whose eager mode runs every operator at once, with NumPy
IN_NUMPY = "numpy"
NO_JAX = (
    "import sys, numpy, mindgrad as ms\n"
    "from mindgrad import Tensor, ops\n"
    "ms.set_context(mode=ms.PYNATIVE_MODE)\n"
    "x = Tensor(numpy.arange(3, dtype=numpy.float32))\n"
    "gradient = ops.GradOperation()(lambda x: ops.sin(x) * x)(x).asnumpy()\n"
    "expected = numpy.cos(x.asnumpy()) * x.asnumpy() + numpy.sin(x.asnumpy())\n"
    "assert numpy.allclose(gradient, expected), gradient\n"
    "assert 'jax' not in sys.modules, 'jax was imported'\n"
)


def arguments() -> argparse.Namespace:
    """The parsed command line."""
    names = [task.name for task in TASKS]
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    groups = f"a group ({', '.join(GROUPS)})"
    parser.add_argument(
        "task", nargs="*", help=f"{groups}, or of {', '.join(names)}; all where none is named"
    )
    parser.add_argument(
        "--peers",
        default="jax,torch,mindspore,equinox,folx,numpy",
        help=f"comma-separated, of {', '.join(PEERS)}; a task's baseline always takes part",
    )
    parser.add_argument("--quick", action="store_true", help="few short rounds: a look, no figure")
    parser.add_argument(
        "--rounds",
        type=int,
        default=15,
        help="rounds of each task (15): fewer for many tasks, with wider spans",
    )
    parser.add_argument(
        "--control",
        action="store_true",
        help="the baseline takes part twice: how far from 1 its own ratio is, is the noise",
    )
    parser.add_argument(
        "--keep-memory",
        action="store_true",
        help="glibc keeps freed memory in every contender: what is left without page faults",
    )
    parser.add_argument(
        "--before",
        metavar="COMMIT",
        help="no peers: mindgrad is compared with itself at this commit of the repository",
    )
    parser.add_argument(
        "--device",
        choices=("cpu", "gpu"),
        default="cpu",
        help="where every contender computes; a library without programs for the card does not take part",
    )
    parser.add_argument(
        "--save", action="store_true", help="write bench/results/<date>-<cpu or card>.md, and .json"
    )
    parser.add_argument("--name", default="", help="what --save adds to the file's name: loops, rows, …")
    options = parser.parse_args()
    options.task = [task for name in options.task for task in GROUPS.get(name, (name,))]
    unknown = sorted(set(options.task) - set(names))
    if unknown:
        parser.error(f"no task {', '.join(unknown)}; the tasks are {', '.join([*GROUPS, *names])}")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.save and options.quick:
        parser.error("--quick is no figure to keep: run --save without it")
    if options.device == "gpu" and not devices.card():
        parser.error("no GPU: `nvidia-smi` tells of none. Without --device the tasks run on the CPU.")
    options.peers = [peer for peer in options.peers.split(",") if peer]
    strange = sorted(set(options.peers) - set(PEERS))
    if strange:
        parser.error(f"no peer {', '.join(strange)}; the peers are {', '.join(PEERS)}")
    return options


class Bench:
    """One run: what it starts, and what it has to say at the end."""

    def __init__(self, options: argparse.Namespace, tasks: list[Task]) -> None:
        self.options = options
        self.tasks = tasks
        self.pages: list[str] = []
        self.records: list[samples.Record] = []
        self.versions: dict[str, str] = {}
        self.failed = False
        self.done = 0
        # drawn between the rounds only: nothing of ours runs while a contender is timed
        columns = [TextColumn("{task.description}", markup=False), BarColumn(24)]
        columns += [TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("left")]
        console = Console(stderr=True)
        self.progress = Progress(
            *columns, console=console, auto_refresh=False, transient=True, disable=not console.is_terminal,
            speed_estimate_period=3600,
        )  # fmt: skip
        self.bar = self.progress.add_task("", total=len(tasks))

    def tell(self, text: str, share: float = 0.0) -> None:
        """What happens now, and the share of the task that is done, where somebody watches."""
        self.progress.update(self.bar, description=text, completed=self.done + share)
        self.progress.start()  # if it has not been
        self.progress.refresh()

    def run_all(self) -> None:
        """Measure every task."""
        try:
            for task in self.tasks:
                self.run(task)
        finally:
            self.progress.stop()

    def takes_part(self, task: Task, name: str) -> bool:
        library = name.split(":")[0]
        if self.options.device == "gpu" and library not in (*devices.ON_GPU, *devices.ON_HOST):
            return False
        needed = name in (task.baseline, task.compared_with)
        return needed or library in ("mindgrad", "python", *self.options.peers)

    def start(self, task: Task, name: str) -> Contender | Command | _OfTask:
        """A process for one contender of one task."""
        library = name.split(":")[0]
        contender: Contender | Ranks
        try:
            python = environments.python_of(library, self.options.device)
        except environments.NoEnvironment as failure:
            raise Failed(f"no environment: {failure}", unavailable=True) from None
        source = environments.source_of(self.options.before) if name.endswith(BEFORE) else ROOT / "src"
        variables = devices.variables(library, self.options.device)
        if library == "mindgrad":
            variables["PYTHONPATH"] = str(source)
        if library == "mindgrad" and IN_NUMPY in name.split():
            variables["MINDGRAD_EAGER"] = "numpy"
        if self.options.keep_memory:
            variables |= KEEP_MEMORY
        if task.name == "import":
            what = "pass" if library == "python" else f"import {library}"
            return Command([str(python), "-c", what], variables)
        log = environments.HOME / "logs" / f"{library}.log"
        if task.processes > 1:
            contender = Ranks(task.processes, machine.cores(), library, python, log, variables)
        else:
            contender = Contender(library, python, log, variables)
        try:
            self.versions.update(contender.ask({"do": "describe"}, 60)["versions"])
        except Failed:
            contender.close()
            raise
        return _OfTask(contender, task)

    def run(self, task: Task) -> None:
        """Measure one task and print its table."""
        names = [name for name in task.contenders if self.takes_part(task, name)]
        measured = self.climb if task.orders else self.sweep if task.sizes else self.compare
        table, notes = measured(task, names)
        self.done += 1
        self.progress.stop()  # the table takes its place
        title = f"{task.name}: {task.title}"
        report.show(title, table, notes)
        listed = "\n".join(f"- {note}" for note in notes)
        self.pages.append("\n\n".join([f"## {title}", report.markdown(table), listed]))

    def effort(self, task: Task) -> measure.Effort:
        """How long to measure this task."""
        effort = measure.Effort(3, 0.05) if self.options.quick else measure.Effort(self.options.rounds, 0.2)
        rounds = min(effort.rounds, task.most_rounds or effort.rounds)
        warm = (measure.Warm(1.0, 10.0) if self.options.quick else measure.Warm()) if task.warm else None
        return replace(effort, rounds=rounds, warm=warm, patience=task.patience)

    def with_control(self, task: Task, names: list[str]) -> list[str]:
        """The contenders, the baseline once more where that was asked for."""
        return [*names, task.baseline + CONTROL] if self.options.control else names

    def compare(self, task: Task, names: list[str]) -> tuple[report.Cells, list[str]]:
        """Contenders timed in rounds: the table and the notes."""
        names = self.with_control(task, names)
        rows = measure.measure(task, names, lambda name: self.start(task, name), self.effort(task), self.tell)
        notes = [f"ratio: to {task.baseline}"]
        notes += [f"{row.name}: {report.shorten(row.error)}" for row in rows if row.error]
        notes += [f"{row.name}: still busy in the background when it was timed" for row in rows if row.busy]
        notes += [report.phases(row) for row in rows if len(row.phases) > 1 and not row.error]
        verdicts = [measure.judge(goal, rows) for goal in task.goals]
        notes += [report.sentence(verdict, task) for verdict in verdicts]
        self.records.append(samples.of_task(task, verdicts, rows=samples.of_rows(rows)))
        if task.name == "import":
            notes.append(self.without_jax())
        self.failed |= any(row.error for row in rows if must_work(task, row.name))
        return report.contenders(task, rows), notes

    def sweep(self, task: Task, names: list[str]) -> tuple[report.Cells, list[str]]:
        """Contenders timed in rounds at each size: the table and the notes."""
        sizes = task.quick_sizes if self.options.quick else task.sizes
        names = self.with_control(task, names)
        swept = sweep.sweep(
            task, names, lambda name: self.start(task, name), self.effort(task), self.tell, sizes
        )
        notes = [f"ratio: to {task.baseline}"]
        notes += [
            f"{row.name}, {size:,} {task.size}: {report.shorten(row.error)}"
            for size, rows in swept.items()
            for row in rows
            if row.error
        ]
        verdicts = [sweep.judge(goal, swept) for goal in task.goals]
        notes += [report.sentence(verdict, task) for verdict in verdicts]
        rows_of_sizes = [{"at": size, **row} for size, rows in swept.items() for row in samples.of_rows(rows)]
        self.records.append(samples.of_task(task, verdicts, rows=rows_of_sizes))
        self.failed |= any(row.error for rows in swept.values() for row in rows if must_work(task, row.name))
        return report.sizes(task, swept), notes

    def climb(self, task: Task, names: list[str]) -> tuple[report.Cells, list[str]]:
        """Derivatives order by order: the table and the notes."""
        rounds = 1 if self.options.quick else 3
        climbed = nested.climb(task, names, lambda name: self.start(task, name), rounds, self.tell)
        notes = [f"{one.name}: {report.shorten(one.error)}" for one in climbed if one.error]
        verdicts = nested.judge(task, climbed)
        notes += [report.sentence(verdict, task) for verdict in verdicts]
        self.records.append(samples.of_task(task, verdicts, rows=[samples.of_ladder(one) for one in climbed]))
        self.failed |= any(one.error for one in climbed if must_work(task, one.name))
        return report.ladders(task, climbed), notes

    def without_jax(self) -> str:
        """Whether an import and an eager gradient leave jax alone."""
        try:
            Command([sys.executable, "-c", NO_JAX], {"PYTHONPATH": str(ROOT / "src")}).ask(
                {"do": "prepare"}, 60
            )
        except Failed as failure:
            self.failed = True
            return f"`import mindgrad` and an eager gradient: FAILED, {failure}"
        return "`import mindgrad` and an eager gradient do not import jax: checked"


def must_work(task: Task, name: str) -> bool:
    """Whose failure is a failure of the run."""
    return name.startswith("mindgrad:") or name in (task.baseline, task.compared_with)


class _OfTask:
    """A contender's process with the task filled in."""

    def __init__(self, contender: Contender | Ranks, task: Task) -> None:
        self.contender, self.task = contender, task

    def ask(self, request: dict, timeout: float) -> dict:
        if "variant" in request:
            variant = request["variant"].removesuffix(CONTROL).removesuffix(BEFORE)
            request = {"task": self.task.program or self.task.name, **request, "variant": variant}
        return self.contender.ask(request, timeout)

    def close(self) -> None:
        self.contender.close()


def main() -> int:
    """Run; 1 where mindgrad or the baseline could not do a task or had another result."""
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = [task for task in TASKS if not options.task or task.name in options.task]
    if options.before:
        chosen = [compared for task in chosen for compared in against_before(task)]
    bench = Bench(options, chosen)
    begin, (worked, stolen) = time.monotonic(), machine.busy()
    bench.run_all()
    elapsed = time.monotonic() - begin
    lines = machine.description()
    if options.device == "gpu":
        lines += devices.card()
    lines.append(("versions", ", ".join(f"{k} {v}" for k, v in sorted(bench.versions.items()))))
    lines.append(("effort", "quick: not for comparison" if options.quick else f"{options.rounds} rounds"))
    if options.before:
        lines.append(("before", environments.described(options.before)))
    lines.append(("memory kept by glibc", "yes" if options.keep_memory else "no (as users run)"))
    lines.append(("others", others(elapsed, worked, stolen)))
    text = "\n".join(f"- {name}: {value}" for name, value in lines)
    print(f"\n{text}")
    if options.save:
        suffix = "-before-and-now" if options.before else "-keep-memory" if options.keep_memory else ""
        suffix += f"-{options.name}" if options.name else ""
        name = dict(lines).get("card", machine.processor())
        path = ROOT / "bench" / "results" / f"{machine.slug(name)}{suffix}.md"
        path.parent.mkdir(exist_ok=True)
        samples.write(path.with_suffix(".json"), lines, bench.records)
        heading = f"# Benchmark, {lines[0][1]}, {name}"
        path.write_text("\n\n".join([heading, text, READING, *bench.pages]) + "\n")
        print(f"\nwritten to {path.relative_to(ROOT)}")
    return int(bench.failed)


READING = (
    "Times are medians over the rounds of each round's median; ratios are medians of the ratios\n"
    "within a round; min – max is over the rounds. `bench/README.md` says how they are taken."
)


def others(elapsed: float, worked: float, stolen: float) -> str:
    """What else ran on the machine during the measurement, as a share of it."""
    now_worked, now_stolen = machine.busy()
    ours = sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
    cores = machine.cores()
    foreign = max(0.0, now_worked - worked - ours) / (elapsed * cores)
    taken = max(0.0, now_stolen - stolen) / (elapsed * cores)
    quiet = "quiet" if foreign + taken < 0.03 else "NOT quiet: trust ratios, not times"
    return f"other processes used {foreign:.0%} of the cores, other machines took {taken:.0%}: {quiet}"


if __name__ == "__main__":
    sys.exit(main())
