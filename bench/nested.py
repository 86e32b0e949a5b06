"""Derivatives of order 1, 2, 3, ... by nesting ``grad``: equations and time to the first result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from contender import Failed
from measure import Askable, Tell, Verdict, difference
from task import Task


@dataclass
class Order:
    """One contender at one order: seconds to a first result, one a round, and the equations."""

    seconds: list[float] = field(default_factory=list)
    equations: float | None = None
    result: list[list[float]] | None = None

    @property
    def time(self) -> float | None:
        return median(self.seconds) if self.seconds else None


@dataclass
class Ladder:
    """One contender at every order, and why it stopped if it did."""

    name: str
    orders: dict[int, Order]
    error: str = ""

    def growths(self, of: str) -> dict[int, float]:
        """``equations`` or ``time`` of each order over those of the order before."""
        values = {n: getattr(order, of) for n, order in self.orders.items()}
        return {n: value / values[n - 1] for n, value in values.items() if value and values.get(n - 1)}


def climb(
    task: Task,
    names: list[str],
    start: Callable[[str], Askable],
    rounds: int,
    tell: Tell,
) -> list[Ladder]:
    """Every order in a new process a round, because a first result is first only once."""
    ladders = [Ladder(name, {n: Order() for n in task.orders}) for name in names]
    for i in range(rounds):
        for number, ladder in enumerate(ladders[i % len(ladders) :] + ladders[: i % len(ladders)]):
            if not ladder.error:
                share = (i + number / len(ladders)) / rounds
                tell(f"{task.name}: round {i + 1} of {rounds}, {ladder.name}", share)
                try:
                    _once(ladder, start)
                except Failed as failure:
                    ladder.error = str(failure)
    reference = next(ladder for ladder in ladders if ladder.name == task.baseline)
    for ladder in ladders:
        for n, order in ladder.orders.items():
            expected = reference.orders[n].result
            if order.result and expected and not ladder.error:
                distance = difference(order.result, expected)
                if not distance <= task.tolerance:
                    ladder.error = f"order {n}: another result than {task.baseline}"
    return ladders


def _once(ladder: Ladder, start: Callable[[str], Askable]) -> None:
    contender = start(ladder.name)
    mode = ladder.name.split(":", 1)[1]
    try:
        # The start of the compiler itself is not what is asked.
        warm = {"do": "prepare", "task": "t1", "variant": "jit" if mode == "grad" else mode}
        contender.ask({**warm, "every": False, "options": {}}, 180)
        for n, order in ladder.orders.items():
            request = {"do": "prepare", "task": "nested", "variant": mode, "every": False}
            request["options"] = {"order": n}
            reply = contender.ask(request, 300)
            order.seconds.append(reply["first"])
            order.equations = reply["facts"].get("equations")
            order.result = reply["result"]
    finally:
        contender.close()


def judge(task: Task, ladders: list[Ladder]) -> list[Verdict]:
    """The worst growth of the equations from one order to the next."""
    verdicts = []
    for goal in task.goals:
        ladder = next((ladder for ladder in ladders if ladder.name == goal.contender), None)
        growths = ladder.growths("equations") if ladder and not ladder.error else {}
        verdicts.append(Verdict(goal, max(growths.values()) if growths else None))
    return verdicts
