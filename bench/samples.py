"""The raw samples of a run as JSON: what ``docs/speed/page.py`` draws, and anybody else may."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from measure import Row, Verdict
from nested import Ladder
from task import Task

Record = dict[str, Any]


def of_rows(rows: Sequence[Row]) -> list[Record]:
    """Each contender's seconds, round by round, its first call and its facts."""
    return [
        {
            "name": row.name,
            "state": row.state,
            "error": row.error,
            "seconds": {str(i): float(f"{value:.6g}") for i, value in row.times.items()},
            "first": row.first,
            "facts": row.facts,
            "phases": row.phases,
        }
        for row in rows
    ]


def of_ladder(ladder: Ladder) -> Record:
    """One contender's seconds and equations, order by order."""
    orders = {
        str(n): {"seconds": order.seconds, "equations": order.equations} for n, order in ladder.orders.items()
    }
    return {"name": ladder.name, "error": ladder.error, "orders": orders}


def of_task(task: Task, verdicts: Sequence[Verdict], **measured: Any) -> Record:
    """A task with what was measured of it, and its goals."""
    goals = [
        {**asdict(verdict.goal), "value": verdict.value, "met": verdict.met, "where": verdict.where}
        for verdict in verdicts
    ]
    named = {"task": task.name, "title": task.title, "baseline": task.baseline, "size": task.size}
    named["only_value"] = list(task.only_value)
    return named | measured | {"goals": goals}


def write(path: Path, about: Sequence[tuple[str, str]], tasks: Sequence[Record]) -> None:
    """The file of a run; a line for each contender and size, so that a difference can be read."""
    lines = ["{", f' "about": {json.dumps(dict(about))},', ' "tasks": [']
    lines.append(",\n".join(_task(task) for task in tasks))
    path.write_text("\n".join([*lines, " ]", "}"]) + "\n")


def _task(task: Record) -> str:
    content = {key: value for key, value in task.items() if key != "rows"}
    rows = ",\n   ".join(json.dumps(row) for row in task.get("rows", ()))
    return f'  {json.dumps(content)[:-1]}, "rows": [\n   {rows}]}}'
