"""A task and its goals: what a table of the benchmark is made from."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Goal:
    """A bound on one contender.

    Attributes:
        contender: whom it binds.
        at_most: the bound.
        against: the bound is on the ratio to each of these; where empty, on the figure itself.
        of: what is bound: "time"; "result", its distance from that of the reference; or one of the
            facts that the contender reports, such as "temporary".
        difference: the bound is on seconds more than ``against`` instead of a ratio.
        growth: the bound is on the growth of the fact: from one order to the next where the task has
            orders, from the smallest size to the largest where it has sizes.
        sizes: the sizes that it is about; where empty, all of them, the worst of which counts.
        mean: the geometric mean over the sizes counts instead.
    """

    contender: str
    at_most: float
    against: tuple[str, ...] = ()
    of: str = "time"
    difference: bool = False
    growth: bool = False
    sizes: tuple[int, ...] = ()
    mean: bool = False


@dataclass(frozen=True)
class Task:
    """One table.

    Attributes:
        name: how it is asked for.
        title: what it is, in a line.
        baseline: the contender that ratios are taken to.
        contenders: "library:variant", in the order of the table.
        goals: what is to be reached.
        tolerance: how far a result may be from the reference's, relative to its largest number.
        reference: the contender that results are compared with; the baseline where empty.
        only_value: contenders without a gradient: their result is compared with the first array
            of the reference's.
        only_first: contenders that go another way from the second number on: the first number of their result
            is compared.
        orders: for the nested task, the orders of the derivative.
        size: what the sizes count; the name of the option that the contenders get.
        sizes: the task is done once for each.
        quick_sizes: those that a quick run looks at.
        most_rounds: no more rounds than this.
        patience: seconds that building it and its first call may take.
        program: the task whose program it is, where that is another's.
        warm: contenders run before they are timed until nothing is compiled in the background any more, and
            every call is awaited.
        processes: each contender is so many processes that compute together.
    """

    name: str
    title: str
    baseline: str
    contenders: tuple[str, ...]
    goals: tuple[Goal, ...] = ()
    tolerance: float = 1e-3
    reference: str = ""
    only_value: tuple[str, ...] = ()
    only_first: tuple[str, ...] = ()
    orders: tuple[int, ...] = ()
    size: str = ""
    sizes: tuple[int, ...] = ()
    quick_sizes: tuple[int, ...] = ()
    most_rounds: int | None = None
    patience: float = 300.0
    program: str = ""
    warm: bool = False
    processes: int = 1

    @property
    def compared_with(self) -> str:
        """The contender whose result is the right one."""
        return self.reference or self.baseline


#: after the name of the baseline where it takes part twice
CONTROL = " (again)"
#: after the name of a contender whose library is that of an earlier commit
BEFORE = " (before)"
#: how much slower than before a task may become
MOST = 1.03


def against_before(task: Task) -> list[Task]:
    """A task for each of mindgrad's contenders, which is compared with itself at an earlier commit."""
    return [
        replace(
            task,
            title=f"{name}, now and before",
            baseline=name + BEFORE,
            reference="",
            contenders=(name + BEFORE, name),
            goals=(Goal(name, MOST, against=(name + BEFORE,)),),
        )
        for name in task.contenders
        if name.startswith("mindgrad:") and not task.orders
    ]
