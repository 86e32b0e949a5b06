"""The tables: Markdown for files and pipes, rich's in a terminal."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from statistics import median

from measure import Row, Verdict
from nested import Ladder
from rich.console import Console
from rich.table import Table
from sweep import Sweep
from task import Task

Cells = list[list[str]]


def seconds(value: float | None) -> str:
    """Three digits and a unit."""
    if value is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if abs(value) >= size:
            return f"{digits(value / size)} {unit}"
    return "0 s"


def digits(value: float) -> str:
    """Three significant digits without an exponent."""
    places = 2 - math.floor(math.log10(abs(value))) if value else 2
    return f"{value:.{min(4, max(0, places))}f}"


def count(value: float | None) -> str:
    """A whole number, or nothing."""
    return "" if value is None else f"{value:.0f}"


def size_of_memory(value: float | None) -> str:
    """Three digits and a unit, in powers of 1000."""
    if value is None:
        return ""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{digits(value / size)} {unit}"
    return f"{value:.0f} B"


# What contenders report besides their times: the heading, and how it is written.
FACTS: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "equations": ("equations", count),
    "error": ("error", lambda value: "" if value is None else f"{value:.1e}"),
    "compile": ("compilation", seconds),
    "first": ("first result", seconds),
    "messages": ("all-reduces", count),
    "reduced": ("their bytes / the gradients'", lambda value: "" if value is None else digits(value)),
    "memory": ("memory of a device", size_of_memory),
    "slope": ("steepest slope", lambda value: "" if value is None else digits(value)),
    "equation": ("an equation", seconds),
    "arrays": ("peak / the array", lambda value: "" if value is None else digits(value)),
    "temporary": ("temporary memory", size_of_memory),
    "peak": ("peak resident memory", size_of_memory),
}


def span(values: list[float], show: Callable[[float], str]) -> str:
    """Smallest to largest."""
    return f"{show(min(values))} – {show(max(values))}" if values else ""


def contenders(task: Task, rows: list[Row]) -> Cells:
    """One row a contender."""
    # The peak says something where it can be compared with itself at another size.
    return _contenders(task, rows, [fact for fact in _reported(rows) if fact != "peak"])


def sizes(task: Task, sweep: Sweep) -> Cells:
    """One row a contender and size."""
    facts = _reported([row for rows in sweep.values() for row in rows])
    tables = {size: _contenders(task, rows, facts) for size, rows in sweep.items()}
    name, *headings = next(iter(tables.values()))[0]
    lines = [[row, f"{size:,}", *cells] for size, table in tables.items() for row, *cells in table[1:]]
    return [[name, task.size, *headings], *lines]


def _reported(rows: list[Row]) -> list[str]:
    """The facts that at least one of the contenders has."""
    return [fact for fact in FACTS if any(fact in row.facts and not row.error for row in rows)]


def _contenders(task: Task, rows: list[Row], facts: list[str]) -> Cells:
    """One row a contender, with these facts."""
    baseline = next((row for row in rows if row.name == task.baseline), None)
    table = [["contender", "median", "min – max", "ratio", "min – max", "first call"]]
    table[0] += [FACTS[fact][0] for fact in facts]
    for row in rows:
        if row.error:
            table.append([row.name, row.state] + [""] * (len(table[0]) - 2))
            continue
        times = list(row.times.values())
        ratios = row.ratios(baseline) if baseline and not baseline.error else []
        cells = [row.name, seconds(median(times)), span(times, seconds)]
        cells += [digits(median(ratios)) if ratios else "", span(ratios, digits), seconds(row.first)]
        table.append(cells + [FACTS[fact][1](row.facts.get(fact)) for fact in facts])
    return table


def ladders(task: Task, climbed: list[Ladder]) -> Cells:
    """One row an order, three columns a contender."""
    table = [["order"]]
    for ladder in climbed:
        table[0] += [f"{ladder.name}: equations", "growth", f"{ladder.name}: first result", "growth"]
    for n in task.orders:
        line = [str(n)]
        for ladder in climbed:
            order = ladder.orders[n]
            line += [count(order.equations), _times(ladder.growths("equations").get(n))]
            line += [seconds(order.time), _times(ladder.growths("time").get(n))]
        table.append(line)
    # What a contender does not report is no column.
    keep = [i for i in range(len(table[0])) if any(line[i] for line in table[1:])]
    return [[line[i] for i in keep] for line in table]


def _times(growth: float | None) -> str:
    return "" if growth is None else f"× {growth:.2f}"


def phases(row: Row) -> str:
    """The medians of a contender's phases."""
    parts = [f"{phase} {seconds(median(times))}" for phase, times in row.phases.items()]
    return f"{row.name}: {', '.join(parts)}"


def sentence(verdict: Verdict, task: Task) -> str:
    """The goal and whether it is met."""
    goal = verdict.goal
    heading, show = FACTS.get(goal.of, ("", seconds))
    subject = goal.contender
    if goal.growth:
        steps = (
            f"from the first of the {task.size} to the last" if task.sizes else "from any order to the next"
        )
        subject, show = f"growth of the {heading} of {goal.contender} {steps}", digits
    elif goal.of == "result":
        subject, show = (
            f"{goal.contender} from the result of {task.compared_with}",
            lambda value: f"{value:.0e}",
        )
    elif goal.of != "time":
        subject = f"{heading} of {goal.contender}"
        if goal.against:
            subject, show = f"{subject} / {' or '.join(goal.against)}", digits
    elif goal.difference:
        subject = f"{goal.contender} minus {' or '.join(goal.against)}"
    elif goal.against:
        subject, show = f"{goal.contender} / {' or '.join(goal.against)}", digits
    if goal.sizes:
        subject += f" at {', '.join(f'{size:,}' for size in goal.sizes)} {task.size}"
    result = "not measured"
    if verdict.value is not None:
        where = f" {verdict.where} {task.size}" if verdict.where else ""
        result = f"{show(verdict.value)}{where}, {'met' if verdict.met else 'MISSED'}"
    return f"goal: {subject} at most {show(goal.at_most)}: {result}"


def shorten(text: str, length: int = 160) -> str:
    """One line of a message."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"


def markdown(table: Cells) -> str:
    """Aligned, so that it can be read as it stands."""
    widths = [max(3, *(len(line[i]) for line in table)) for i in range(len(table[0]))]
    rules = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    lines = []
    for line in [table[0], rules, *table[1:]]:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def show(title: str, table: Cells, notes: list[str]) -> None:
    """Print a table and what is to be said about it."""
    plain = markdown(table)
    if not sys.stdout.isatty() or Console().width < plain.index("\n"):
        print(f"\n## {title}\n\n{plain}\n")
    else:
        pretty = Table(title=title, title_justify="left")
        for i, name in enumerate(table[0]):
            pretty.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
        for line in table[1:]:
            pretty.add_row(*line, style="bold" if line[0].startswith("mindgrad") else None)
        Console().print(pretty)
    for note in notes:
        print(f"- {note}", flush=True)
