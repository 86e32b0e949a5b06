"""A task done at several sizes: the contenders compared at each, and the goals over all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import geometric_mean

import measure
from measure import Askable, Effort, Row, Tell, Verdict
from task import Goal, Task

Sweep = dict[int, list[Row]]


def sweep(
    task: Task,
    names: list[str],
    start: Callable[[str], Askable],
    effort: Effort,
    tell: Tell,
    sizes: Sequence[int],
) -> Sweep:
    """The rows at each size, in processes of their own."""
    return {
        size: measure.measure(
            task, names, start, effort, _from(tell, number, len(sizes)), **{task.size: size}
        )
        for number, size in enumerate(sizes)
    }


def _from(tell: Tell, number: int, total: int) -> Tell:
    """Tells of one of ``total`` parts of a task."""
    return lambda text, share: tell(text, (number + share) / total)


def judge(goal: Goal, found: Sweep) -> Verdict:
    """The worst of the sizes that the goal is about, or their mean; none where one of them was not measured.

    A quick run has only some of the sizes: the goal is judged on those of its sizes that took part.
    """
    sizes = [size for size in found if not goal.sizes or size in goal.sizes]
    values = [measure.judge(goal, found[size]).value for size in sizes]
    if any(value is None for value in values) or len(values) < (2 if goal.growth else 1):
        return Verdict(goal, None)
    if goal.growth:
        first, last = values[0], values[-1]
        growth = last / first if first else (1.0 if not last else math.inf)
        return Verdict(goal, growth, f"from {sizes[0]:,} to {sizes[-1]:,}")
    if goal.mean:
        return Verdict(goal, geometric_mean(values), "in the geometric mean over the")
    worst = max(values)
    return Verdict(goal, worst, f"at {sizes[values.index(worst)]:,}")
