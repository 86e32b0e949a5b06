"""Rounds: every contender in turn, in another order each time, compared within the round.

What disturbs a shared machine comes and goes within seconds and minutes. It then slows all
contenders of a round alike, and their ratio within the round stays; the median over the rounds
drops the rounds in which it hit only one of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Protocol

from contender import Failed
from task import CONTROL, Goal, Task

SLOW, ROUNDS_OF_SLOW = 0.3, 3
VERY_SLOW, ROUNDS_OF_VERY_SLOW = 5.0, 1
WARM = 0.03
MOST_SAMPLES = 40


#: says what happens now, and which share of the task is done
Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class Warm:
    """How long to run before anything is timed: at least, and at most, in seconds."""

    at_least: float = 3.0
    at_most: float = 20.0


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds, seconds per contender in a round, of a sample, warm-up, patience."""

    rounds: int
    seconds: float
    sample: float = 0.004
    warm: Warm | None = None
    patience: float = 300.0


class Askable(Protocol):
    """A contender's process or command."""

    def ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]: ...

    def close(self) -> None: ...


@dataclass
class Row:
    """What was measured of one contender.

    Attributes:
        name: "library:variant".
        first: seconds of the first call, compilation included.
        times: round to the median of that round's samples, in seconds per call.
        phases: phase to its seconds, one a round, where the contender reports phases.
        facts: what the contender reported besides.
        result: the fingerprint of its result.
        again: the same behind the warm-up, where there is one.
        busy: the contender still used a processor when the warm-up ended, and nobody called it.
        distance: how far they are from the reference's, relative to the largest number.
        state: "measured", "not available", "failed" or "wrong result".
        error: why there is nothing here, or why it is not to be believed.
    """

    name: str
    first: float = 0.0
    times: dict[int, float] = field(default_factory=dict)
    phases: dict[str, list[float]] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)
    result: list[list[float]] | None = None
    again: list[list[float]] | None = None
    busy: bool = False
    distance: float | None = None
    state: str = "measured"
    error: str = ""

    def ratios(self, other: Row) -> list[float]:
        """This contender's time over the other's, round by round."""
        return [self.times[i] / other.times[i] for i in sorted(self.times) if i in other.times]

    def differences(self, other: Row) -> list[float]:
        """Seconds more than the other, round by round."""
        return [self.times[i] - other.times[i] for i in sorted(self.times) if i in other.times]


def measure(
    task: Task,
    names: list[str],
    start: Callable[[str], Askable],
    effort: Effort,
    tell: Tell,
    **options: int,
) -> list[Row]:
    """The rows of one task: prepare each contender with these options, calibrate it, then the rounds."""
    rows = {name: Row(name) for name in names}
    running: dict[str, Askable] = {}
    plans: dict[str, dict[str, Any]] = {}
    try:
        title = " ".join([task.name, *(f"{value:,} {name}" for name, value in options.items())])
        steps = len(names) + effort.rounds
        for number, name in enumerate(names):
            tell(f"{title}: preparing {name}", number / steps)
            _attempt(
                rows[name], lambda name=name: _prepare(rows[name], start, running, effort, plans, options)
            )
        for i in range(effort.rounds):
            tell(f"{title}: round {i + 1} of {effort.rounds}", (len(names) + i) / steps)
            order = [name for name in names if name in plans and not rows[name].error]
            random.Random(i).shuffle(order)
            for name in order:
                if i < plans[name]["rounds"]:
                    _attempt(rows[name], lambda name=name, i=i: _round(i, rows[name], running, plans))
    finally:
        for contender in running.values():
            contender.close()
    _compare(rows, task)
    return list(rows.values())


def _attempt(row: Row, action: Callable[[], None]) -> None:
    """Do it; a failure is this contender's result, and the others go on."""
    try:
        action()
    except Failed as failure:
        row.error = str(failure)
        row.state = "not available" if failure.unavailable else "failed"


def _prepare(
    row: Row,
    start: Callable[[str], Askable],
    running: dict[str, Askable],
    effort: Effort,
    plans: dict[str, dict[str, Any]],
    options: dict[str, int],
) -> None:
    contender = running[row.name] = start(row.name)
    request = {"do": "prepare", "variant": row.name.split(":", 1)[1], "every": bool(effort.warm)}
    request["options"] = options
    reply = contender.ask(request, effort.patience)
    row.first, row.facts, row.result = reply["first"], reply["facts"], reply["result"]
    if effort.warm:
        reply = contender.ask({"do": "warm", **asdict(effort.warm)}, 300)
        row.again, row.busy = reply["result"], reply["busy"]
    pace = contender.ask({"do": "calibrate", "seconds": effort.sample}, 120)
    duration = pace["calls"] * pace["seconds"]
    rounds = effort.rounds
    if duration > SLOW:
        rounds = min(rounds, ROUNDS_OF_SLOW if duration <= VERY_SLOW else ROUNDS_OF_VERY_SLOW)
    plans[row.name] = {
        "do": "run",
        "calls": pace["calls"],
        "samples": max(1, min(MOST_SAMPLES, round(effort.seconds / duration))),
        "warm": 0 if duration > SLOW else max(1, round(WARM / pace["seconds"])),
        "rounds": rounds,
    }


def _round(i: int, row: Row, running: dict[str, Askable], plans: dict[str, dict[str, Any]]) -> None:
    reply = running[row.name].ask(plans[row.name], 300)
    row.times[i] = median(reply["seconds"])
    for phase, seconds in reply["phases"].items():
        row.phases.setdefault(phase, []).append(seconds)


def _compare(rows: dict[str, Row], task: Task) -> None:
    """Mark every contender whose result is not the reference's: its time means nothing."""
    expected = rows[task.compared_with].result if task.compared_with in rows else None
    if expected is None:
        return
    for row in rows.values():
        if row.result is not None and not row.error:
            wanted = expected[:1] if row.name.removesuffix(CONTROL) in task.only_value else expected
            if row.name.removesuffix(CONTROL) in task.only_first:
                wanted, row.result = [wanted[0][:1]], [row.result[0][:1]]
            results = [each for each in (row.result, row.again) if each is not None]
            row.distance = max(difference(each, wanted) for each in results)
            if not row.distance <= task.tolerance:
                row.state = "wrong result"
                row.error = f"{row.distance:.1e} from that of {task.compared_with}"


def difference(result: list[list[float]], expected: list[list[float]]) -> float:
    """The largest relative difference of two fingerprints, array by array; inf for other shapes."""
    if [len(part) for part in result] != [len(part) for part in expected]:
        return float("inf")
    worst = 0.0
    for part, reference in zip(result, expected, strict=True):
        scale = max(map(abs, reference), default=0.0) or 1.0
        for number, wanted in zip(part, reference, strict=True):
            distance = abs(number - wanted) / scale
            worst = distance if distance != distance else max(worst, distance)
            if worst != worst:
                return float("inf")
    return worst


@dataclass(frozen=True)
class Verdict:
    """A goal, what was measured for it (None where it could not be), at which size, and whether it is met."""

    goal: Goal
    value: float | None
    where: str = ""

    @property
    def met(self) -> bool:
        return self.value is not None and self.value <= self.goal.at_most


def judge(goal: Goal, rows: list[Row]) -> Verdict:
    """A goal against several contenders is judged on the one that makes it hardest."""
    by_name = {row.name: row for row in rows if row.times and not row.error}
    mine = by_name.get(goal.contender)
    if mine is None:
        return Verdict(goal, None)
    if goal.of != "time":
        value = mine.distance if goal.of == "result" else mine.facts.get(goal.of)
        others = [by_name[name].facts.get(goal.of) for name in goal.against if name in by_name]
        if value is None or not goal.against:
            return Verdict(goal, value)
        return Verdict(goal, max([value / other for other in others if other], default=None))
    if not goal.against:
        return Verdict(goal, median(mine.times.values()))
    values = []
    for name in goal.against:
        if name in by_name:
            pairs = mine.differences(by_name[name]) if goal.difference else mine.ratios(by_name[name])
            values += [median(pairs)] if pairs else []
    return Verdict(goal, max(values) if values else None)
