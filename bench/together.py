"""mindgrad and jax in one process, in turns: what their programs take on one heap and one pool of threads.

python bench/together.py gradbench-ba-value hessian-dense   two tasks, every size of them
python bench/together.py gradbench --size 100000            GradBench's rows of that size

Contenders of ``scripts/bench`` have a process each, as users do, and processes differ, most likely in where
their memory lies (page faults are not it). Equal programs are then up to 1.6 times apart, either way.
Here a sample of one is followed by one of the other. *calls* are timed together, the last one awaited;
*awaited* is each call with its wait, of which ours leaves a NumPy array. jax's loops are compiled as ours.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from statistics import geometric_mean, median

import worker  # which finds the contenders
from job import Job
from machine import description
from pace import calibrate
from report import digits, seconds
from rich.progress import track
from task import Task
from tasks import GROUPS, TASKS

#: seconds of a sample, and the fewest calls in it
SAMPLE, LEAST = 0.02, 3
OURS = "mindgrad:graph"


def compared(task: Task) -> list[str]:
    """Our contender and those of jax that do the same work."""
    other = [name for name in task.contenders if name.startswith("jax:") and name not in task.only_value]
    return [OURS, *other] if OURS in task.contenders and other else []


def prepared(task: Task, name: str, options: dict[str, int]) -> Job | None:
    """A contender's job after its first call; ``None`` if it has none of this size."""
    library, variant = name.split(":")
    with_library = worker.importlib.import_module(f"with_{library}")
    try:
        job = with_library.prepare(task.name, variant, **options)
    except worker.Unavailable:
        return None
    job.finish(job.call())
    return None if job.timed_by_itself else job


def measured(jobs: dict[str, Job], rounds: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Seconds a call by contender, a number a round: of calls timed together, and of awaited ones."""
    together: dict[str, list[float]] = {name: [] for name in jobs}
    awaited: dict[str, list[float]] = {name: [] for name in jobs}
    calls = {
        name: max(LEAST, calibrate(lambda n, job=job: worker.sample(job, n), SAMPLE)["calls"])
        for name, job in jobs.items()
    }
    for number in range(rounds):
        for name in random.Random(number).sample(list(jobs), len(jobs)):
            worker.sample(jobs[name], 2)  # for the caches
            together[name].append(worker.sample(jobs[name], calls[name]))
            awaited[name].append(worker.sample(replace(jobs[name], every=True), calls[name]))
    return together, awaited


def ratio(times: dict[str, list[float]]) -> tuple[str, float]:
    """The fastest contender of jax, and the median of our time over its time, round by round."""
    fastest = min((name for name in times if name != OURS), key=lambda name: median(times[name]))
    return fastest, median(a / b for a, b in zip(times[OURS], times[fastest], strict=True))


def row(task: Task, size: int | None, rounds: int) -> tuple[list[str], float] | None:
    """The cells of a row of the table, and the ratio of calls; nothing where there is nothing to compare."""
    options = {} if size is None else {task.size: size}
    jobs = {name: job for name in compared(task) if (job := prepared(task, name, options)) is not None}
    if OURS not in jobs or len(jobs) == 1:
        return None
    together, awaited = measured(jobs, rounds)
    name, of_calls = ratio(together)
    title = task.name if size is None else f"{task.name}, {size:,} {task.size}"
    cells = [title, seconds(median(together[OURS])), seconds(median(together[name])), name]
    return [*cells, digits(of_calls), digits(ratio(awaited)[1])], of_calls


def print_line(cells: Sequence[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("task", nargs="+", help="a task or a group of scripts/bench")
    parser.add_argument("--size", type=int, action="append", help="of the sizes of a task this one")
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    names = {name for each in options.task for name in GROUPS.get(each, [each])}
    chosen = [task for task in TASKS if task.name in names and compared(task)]
    if not chosen:
        parser.error(f"no such task is compared with jax in one program: {' '.join(options.task)}")
    sizes = [(task, size) for task in chosen for size in task.sizes or (None,)]
    if options.size:
        sizes = [(task, size) for task, size in sizes if size in options.size]
    print_line(["row", "mindgrad", "jax", "", "calls", "awaited"])
    print_line(["---", "--:", "--:", "---", "--:", "--:"])
    ratios = []
    for task, size in track(sizes, description="in turns", disable=None, transient=True):
        found = row(task, size, options.rounds)
        if found is not None:
            print_line(found[0])
            ratios.append(found[1])
    if ratios:
        print(f"\nGeometric mean of {len(ratios)} rows: {geometric_mean(ratios):.2f}\n")
    for name, value in description():
        print(f"- {name}: {value}")


if __name__ == "__main__":
    main()
