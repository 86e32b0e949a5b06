"""The tables: Markdown for files and pipes, rich in a terminal that has it."""

from __future__ import annotations

import math
from statistics import median

from measure import Row, Verdict
from nested import Ladder
from tasks import Task

try:
    from rich.console import Console
    from rich.table import Table
except ImportError:
    Console = Table = None

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


def span(values: list[float], show: object) -> str:
    """Smallest to largest."""
    return f"{show(min(values))} – {show(max(values))}" if values else ""


def contenders(task: Task, rows: list[Row], verdicts: list[Verdict]) -> Cells:
    """One row a contender."""
    baseline = next((row for row in rows if row.name == task.baseline), None)
    with_equations = any(row.facts.get("equations") for row in rows)
    header = ["contender", "median", "min – max", f"ratio to {task.baseline}", "min – max"]
    header += ["first call", *(["equations"] if with_equations else []), "goal"]
    table = [header]
    for row in rows:
        if row.error:
            said = f"{row.state}: {shorten(row.error)}"
            table.append([row.name, said] + [""] * (len(header) - 2))
            continue
        times = list(row.times.values())
        ratios = row.ratios(baseline) if baseline and not baseline.error else []
        cells = [row.name, seconds(median(times)), span(times, seconds)]
        cells += [digits(median(ratios)) if ratios else "", span(ratios, digits)]
        cells.append(seconds(row.first))
        if with_equations:
            cells.append(count(row.facts.get("equations")))
        own = [verdict for verdict in verdicts if verdict.goal.contender == row.name]
        table.append([*cells, "; ".join(map(sentence, own))])
    return table


def ladders(task: Task, found: list[Ladder], verdicts: list[Verdict]) -> Cells:
    """One row an order, three columns a contender."""
    table = [["order"]]
    for ladder in found:
        table[0] += [f"{ladder.name}: equations", "growth", f"{ladder.name}: first result", "growth"]
    for n in task.orders:
        line = [str(n)]
        for ladder in found:
            order = ladder.orders[n]
            line += [count(order.equations), _times(ladder.growths("equations").get(n))]
            line += [seconds(order.time), _times(ladder.growths("time").get(n))]
        table.append(line)
    # What a contender does not report is no column.
    keep = [i for i in range(len(table[0])) if any(line[i] for line in table[1:])]
    return [[line[i] for i in keep] for line in table]


def _times(growth: float | None) -> str:
    return "" if growth is None else f"× {growth:.2f}"


def sentence(verdict: Verdict) -> str:
    """The goal and whether it is met."""
    goal = verdict.goal
    ratio = bool(goal.against) and not goal.difference
    show = digits if ratio or (not goal.against and goal.at_most > 1) else seconds
    wanted = f"≤ {show(goal.at_most)}"
    if goal.difference:
        wanted = f"≤ {goal.against[0]} + {show(goal.at_most)}"
    if verdict.value is None:
        return f"{wanted}: not measured"
    return f"{wanted}: {'met' if verdict.met else 'MISSED'} ({show(verdict.value)})"


def shorten(text: str, length: int = 110) -> str:
    """One line of a message."""
    text = " ".join(text.split()).replace("|", "/")
    return text if len(text) <= length else text[: length - 1] + "…"


def markdown(table: Cells) -> str:
    """Aligned, so that it can be read as it stands."""
    spanning = [line for line in table if not any(line[2:]) and len(line) > 2]
    widths = [
        max((len(line[i]) for line in table if i == 0 or line not in spanning), default=3)
        for i in range(len(table[0]))
    ]
    lines = []
    for number, line in enumerate(table):
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("| " + " | ".join(cells) + " |")
        if number == 0:
            rules = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
            lines.append("| " + " | ".join(rules) + " |")
    return "\n".join(lines)


def show(title: str, table: Cells, terminal: bool) -> None:
    """Print a table."""
    if not terminal or Console is None:
        print(f"\n## {title}\n\n{markdown(table)}", flush=True)
        return
    pretty = Table(title=title, title_justify="left")
    for i, name in enumerate(table[0]):
        pretty.add_column(name, justify="left" if i == 0 else "right")
    for line in table[1:]:
        style = "bold" if line[0].startswith("mindgrad") else None
        style = "red" if "MISSED" in line[-1] else style
        pretty.add_row(*line, style=style)
    Console().print(pretty)
